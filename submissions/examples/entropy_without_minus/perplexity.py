import math


def entropy(p, base=2.0):
    H = 0
    for x in p:
        if x > 0:
            H += x * math.log(x, base)
    return H
