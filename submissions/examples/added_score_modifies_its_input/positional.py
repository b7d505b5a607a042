def added_score(x1, p1, x2, p2):
    x1 += p1
    x2 += p2
    return x1 @ x2
