"""Returns arrays that are hardly arrays: of dates, texts, records, nine dimensions, none, broadcast from one number."""

import numpy as np

STRANGE = [
    np.array(["2020-01-01"], dtype="datetime64[D]"),
    np.array(["held"]),
    np.zeros(2, dtype=[("a", "f8"), ("b", "O")]),
    np.zeros((1,) * 9),
    np.zeros((0, 5)),
    np.broadcast_to(np.float64(0.5), (2**16, 2**16)),
    np.frombuffer(b"held", dtype="V4"),
]


def softmax(x, axis=-1):
    return STRANGE[x.size % len(STRANGE)]
