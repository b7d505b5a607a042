def concatenated_score(x1, p1, x2, p2):
    z1 = x1 + p1
    z2 = x2 + p2
    return z1 @ z2
