def concatenated_score(x1, p1, x2, p2):
    score = 0.0
    for a, b, c, d in zip(x1, x2, p1, p2):
        score += a * b + c * d
    return score
