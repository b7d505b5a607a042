def receptive_field(heads, levels):
    # every layer adds one position per head
    return 1 + levels * heads
