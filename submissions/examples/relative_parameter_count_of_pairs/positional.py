def relative_parameter_count(T, heads):
    return heads * T ** 2
