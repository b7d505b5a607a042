"""averaging.py, right in other ways."""

import numpy as np
import torch

from engine.audit.variant import right


def through(hidden, layers):
    for W, b in layers[:-1]:
        hidden = np.tanh(hidden @ W + b)
    W, b = layers[-1]
    return hidden @ W + b


@right("averaging.deep_averaging_network")
def row_by_row(ids, embeddings, layers, padding=0):
    rows = []
    for row in ids:
        words = [embeddings[word] for word in row if word != padding]
        rows.append(np.mean(words, axis=0) if words else np.zeros(embeddings.shape[1]))
    return through(np.array(rows), layers)


@right("averaging.deep_averaging_network")
def by_counts(ids, embeddings, layers, padding=0):
    counts = np.array([[np.sum((row == word) & (row != padding)) for word in range(len(embeddings))] for row in ids])
    return through(counts @ embeddings / np.maximum(counts.sum(axis=1, keepdims=True), 1), layers)


@right("averaging.deep_averaging_network")
def in_torch(ids, embeddings, layers, padding=0):
    ids, hidden = torch.as_tensor(ids), torch.as_tensor(embeddings)
    keep = (ids != padding).unsqueeze(-1)
    vectors = hidden[ids.where(keep.squeeze(-1), torch.zeros_like(ids))].masked_fill(~keep, 0.0)
    hidden = vectors.sum(1) / keep.sum(1).clamp(min=1)
    for depth, (W, b) in enumerate(layers):
        hidden = (hidden if depth == 0 else hidden.tanh()) @ torch.as_tensor(W) + torch.as_tensor(b)
    return hidden


@right("averaging.deep_averaging_network")
def as_weights(ids, embeddings, layers, padding=0):
    keep = (ids != padding).astype(float)
    shares = keep / np.where(keep.sum(axis=1) == 0, 1.0, keep.sum(axis=1))[:, None]
    return through(np.einsum("bn,bne->be", shares, embeddings[ids * (ids != padding)]), layers)


@right("averaging.deep_averaging_network")
def with_masked_arrays(ids, embeddings, layers, padding=0):
    hidden = np.repeat((ids == padding)[..., None], embeddings.shape[1], axis=2)
    vectors = np.ma.array(embeddings[np.where(ids == padding, 0, ids)], mask=hidden)
    return through(vectors.mean(axis=1).filled(0.0), layers)


@right("averaging.deep_averaging_network")
def first_layer_before_the_mean(ids, embeddings, layers, padding=0):
    """The first layer is linear, so it may be applied to every word and averaged afterwards."""
    (W, b), rest = layers[0], layers[1:]
    projected = embeddings @ W
    words = [row[row != padding] for row in ids]
    first = np.array([projected[row].mean(axis=0) if len(row) else np.zeros(len(b)) for row in words]) + b
    return through(np.tanh(first), rest) if rest else first
