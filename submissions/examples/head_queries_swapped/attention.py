def head_queries(mu_a, mu_b, scale):
    q_1 = mu_b * scale
    q_2 = mu_a * scale
    return q_1, q_2
