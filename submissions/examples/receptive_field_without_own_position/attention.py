def receptive_field(heads, levels):
    reach = 1
    for _ in range(levels):
        reach *= heads
    return reach
