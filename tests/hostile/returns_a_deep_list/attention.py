"""Returns a list five thousand levels deep."""


def softmax(x, axis=-1):
    deep = [0.5]
    for _ in range(5_000):
        deep = [deep]
    return deep
