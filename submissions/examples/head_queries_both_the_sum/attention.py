def head_queries(mu_a, mu_b, scale):
    q1 = scale * (mu_a + mu_b)
    q2 = scale * (mu_a + mu_b)
    return q1, q2
