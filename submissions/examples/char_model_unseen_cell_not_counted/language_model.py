import math

import numpy as np


def train_char_model(text):
    chars = sorted(set(text))
    counts = {}
    totals = {}
    for a, b in zip(text, text[1:]):
        counts[a, b] = counts.get((a, b), 0) + 1
        totals[a] = totals.get(a, 0) + 1
    return chars, counts, totals


def char_log_probs(model, text):
    chars, counts, totals = model
    size = len(chars)
    result = []
    for a, b in zip(text, text[1:]):
        p = (counts.get((a, b), 0) + 0.5) / (totals.get(a, 0) + 0.5 * size)
        result.append(math.log(p))
    return np.array(result)


def preprocess(text):
    return text.lower().replace("“", '"').replace("”", '"').replace("’", "'").replace("—", "-")
