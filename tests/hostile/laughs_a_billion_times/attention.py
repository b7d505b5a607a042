"""Returns a small list that is huge when written out: ten levels of ten thousand times the same."""


def softmax(x, axis=-1):
    laughter = [0.5]
    for _ in range(10):
        laughter = [laughter] * 10_000
    return laughter
