"""Returns a list that contains itself."""


def softmax(x, axis=-1):
    circle = [0.5]
    circle.append(circle)
    return circle
