"""Bigrams, a small network, and characters. Plain Python and NumPy."""

import math

import numpy as np


# ---- counted bigrams: a dict of dicts, smoothed when asked


def train_bigram(tokens, vocabulary_size, smoothing=1.0):
    follow = {}
    words = [int(t) for t in tokens]
    for a, b in zip(words, words[1:]):
        row = follow.setdefault(a, {})
        row[b] = row.get(b, 0) + 1
    return {"follow": follow, "V": vocabulary_size, "s": smoothing}


def bigram_log_probs(model, tokens):
    words = [int(t) for t in tokens]
    out = []
    for a, b in zip(words, words[1:]):
        row = model["follow"].get(a, {})
        n_a = sum(row.values())
        out.append(math.log((row.get(b, 0) + model["s"]) / (n_a + model["s"] * model["V"])))
    return np.array(out, dtype=float)


# ---- a network: sigmoid hidden layer, mini-batch gradient descent


def _forward(X, p):
    h = 1 / (1 + np.exp(-(X @ p["W1"] + p["b1"])))
    z = h @ p["W2"] + p["b2"]
    z = z - z.max(axis=1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    return h, log_p


def train_neural_bigram(tokens, embeddings, hidden, steps, seed):
    rng = np.random.default_rng(seed)
    V, e = embeddings.shape
    p = {
        "W1": rng.normal(0, 1, (e, hidden)),
        "b1": np.zeros(hidden),
        "W2": rng.normal(0, 0.3, (hidden, V)),
        "b2": np.zeros(V),
    }
    x, y = tokens[:-1], tokens[1:]
    for _ in range(steps):
        batch = rng.integers(len(x), size=50)
        X = embeddings[x[batch]]
        h, log_p = _forward(X, p)
        dz = np.exp(log_p)
        dz[np.arange(50), y[batch]] -= 1
        dz /= 50
        da = dz @ p["W2"].T * h * (1 - h)
        grads = {"W1": X.T @ da, "b1": da.sum(0), "W2": h.T @ dz, "b2": dz.sum(0)}
        for k in p:
            p[k] = p[k] - 1.0 * grads[k]
    return p


def neural_log_probs(params, embeddings, tokens):
    _, log_p = _forward(embeddings[tokens[:-1]], params)
    return log_p[np.arange(len(tokens) - 1), tokens[1:]]


# ---- characters: trigrams backed off to bigrams, unigrams and a cell for the unknown


def train_char_model(text):
    counts = {}
    for n in (1, 2, 3):
        for i in range(len(text) - n + 1):
            gram = text[i : i + n]
            counts[gram] = counts.get(gram, 0) + 1
    before = {}
    for gram, c in counts.items():
        before[gram[:-1]] = before.get(gram[:-1], 0) + c
    return counts, before, set(text)


def char_log_probs(model, text):
    counts, before, alphabet = model

    def prob(context, c):
        if context is None:
            return 1 / (len(alphabet) + 1)
        shorter = prob(context[1:] if context else None, c)
        return (counts.get(context + c, 0) + 2 * shorter) / (before.get(context, 0) + 2)

    # every character that was never seen is the same unknown one
    known = "".join(c if c in alphabet else "\0" for c in text)
    return np.array([math.log(prob(known[max(0, i - 2) : i], known[i])) for i in range(1, len(known))])


def preprocess(text):
    for old, new in ("’", "'"), ("‘", "'"), ("“", '"'), ("”", '"'), ("—", "-"), ("–", "-"):
        text = text.replace(old, new)
    return text.lower()
