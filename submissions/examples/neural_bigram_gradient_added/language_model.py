import numpy as np


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def train_neural_bigram(tokens, embeddings, hidden, steps, seed):
    rng = np.random.RandomState(seed)
    vocab, dim = embeddings.shape
    W1 = rng.randn(dim, hidden) * 0.5
    b1 = np.zeros(hidden)
    W2 = rng.randn(hidden, vocab) * 0.5
    b2 = np.zeros(vocab)
    lr = 0.5
    for step in range(steps):
        i = rng.randint(0, len(tokens) - 1, size=32)
        x, y = embeddings[tokens[i]], tokens[i + 1]
        h = np.tanh(x @ W1 + b1)
        dz = softmax(h @ W2 + b2)
        dz[np.arange(32), y] -= 1
        dz /= 32
        dh = dz @ W2.T * (1 - h**2)
        W1 += lr * x.T @ dh
        b1 += lr * dh.sum(axis=0)
        W2 += lr * h.T @ dz
        b2 += lr * dz.sum(axis=0)
    return {"W1": W1, "b1": b1, "W2": W2, "b2": b2}


def neural_log_probs(params, embeddings, tokens):
    h = np.tanh(embeddings[tokens[:-1]] @ params["W1"] + params["b1"])
    p = softmax(h @ params["W2"] + params["b2"])
    return np.log(p[np.arange(len(tokens) - 1), tokens[1:]])
