import math


def cross_entropy(m, p, base=2.0):
    total = 0.0
    for q, target in zip(p, m):
        if q == 0:
            continue
        if target == 0:
            return math.inf
        total -= q * math.log(target, base)
    return total
