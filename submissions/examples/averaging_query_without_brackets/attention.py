def averaging_query(k_a, k_b, scale):
    return scale * k_a + k_b
