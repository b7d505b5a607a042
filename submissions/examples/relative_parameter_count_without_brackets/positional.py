def relative_parameter_count(T, heads):
    return 2 * (T - 1) + 1 * heads
