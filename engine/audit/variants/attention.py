"""attention.py, right in other ways."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from engine.audit.variant import right


def tensors(*arrays):
    return (torch.as_tensor(np.asarray(array, dtype=np.float64)) for array in arrays)


def weights_of(scores):
    shifted = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return shifted / np.sum(shifted, axis=-1, keepdims=True)


def one_at_a_time(scores, values):
    """Softmax and average in one pass over the keys, as fused attention kernels do it."""
    top, total, mixed = -math.inf, 0.0, np.zeros(values.shape[-1])
    for score, value in zip(scores, values):
        new = max(top, score)
        if new == -math.inf:
            continue
        old = math.exp(top - new) if top > -math.inf else 0.0
        total = total * old + math.exp(score - new)
        mixed = mixed * old + math.exp(score - new) * value
        top = new
    return mixed / total


# ---------------------------------------------------------------------------- softmax


@right("attention.softmax")
def by_logsumexp(x, axis=-1):
    return np.exp(x - np.logaddexp.reduce(x, axis=axis, keepdims=True))


@right("attention.softmax")
def row_by_row(x, axis=-1):
    def row(values):
        top = max(values)
        weights = [math.exp(value - top) for value in values]
        return [weight / math.fsum(weights) for weight in weights]

    return np.apply_along_axis(row, axis, x)


@right("attention.softmax")
def by_torch(x, axis=-1):
    return torch.softmax(torch.from_numpy(x), dim=axis)


@right("attention.softmax")
def as_odds(x, axis=-1):
    last = np.moveaxis(x, axis, -1)
    with np.errstate(over="ignore"):
        return np.moveaxis(1 / np.exp(last[..., None, :] - last[..., :, None]).sum(axis=-1), -1, axis)


@right("attention.softmax")
def in_base_two(x, axis=-1):
    powers = np.exp2((x - np.amax(x, axis=axis, keepdims=True)) / np.log(2))
    return powers / powers.sum(axis=axis, keepdims=True)


@right("attention.softmax")
def shifted_twice(x, axis=-1):
    x = x - x.min(axis=axis, keepdims=True)
    x = x - x.max(axis=axis, keepdims=True)
    weights = np.exp(x)
    return np.true_divide(weights, np.add.reduce(weights, axis=axis, keepdims=True))


@right("attention.softmax")
def by_log_softmax(x, axis=-1):
    return F.log_softmax(torch.from_numpy(x), dim=axis).exp().numpy()


# ------------------------------------------------------------- dot-product attention


@right("attention.dot_product_attention")
def key_by_key(q, K, V):
    scores = [sum(a * b for a, b in zip(q, k)) for k in K]
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    total = sum(weights)
    weights = [weight / total for weight in weights]
    return [sum(w * row[j] for w, row in zip(weights, V)) for j in range(V.shape[1])], weights


@right("attention.dot_product_attention")
def dot_by_einsum(q, K, V):
    weights = weights_of(np.einsum("nd,d->n", K, q))
    return np.einsum("n,nv->v", weights, V), weights


@right("attention.dot_product_attention")
def dot_in_torch(q, K, V):
    q, K, V = tensors(q, K, V)
    weights = torch.softmax(K.mv(q), dim=0)
    return V.t().mv(weights), weights


@right("attention.dot_product_attention")
def weighted_average(q, K, V):
    weights = weights_of(np.dot(q, K.T))
    return np.average(V, axis=0, weights=weights), weights


@right("attention.dot_product_attention")
def fused(q, K, V):
    return one_at_a_time(K @ q, V), weights_of(K @ q)


@right("attention.dot_product_attention")
def as_one_row(q, K, V):
    weights = weights_of(q[None] @ K.T)
    return (weights @ V)[0], weights[0]


# ------------------------------------------------------ scaled dot-product attention


@right("attention.scaled_dot_product_attention")
def scaled_by_einsum(Q, K, V, mask=None):
    scores = np.einsum("...nd,...md->...nm", Q, K) * Q.shape[-1] ** -0.5
    if mask is not None:
        scores = scores + mask
    return np.einsum("...nm,...mv->...nv", weights_of(scores), V)


@right("attention.scaled_dot_product_attention")
def queries_scaled_first(Q, K, V, mask=0.0):
    scores = (Q / np.sqrt(Q.shape[-1])) @ K.swapaxes(-2, -1) + mask
    return weights_of(scores) @ V


@right("attention.scaled_dot_product_attention")
def both_scaled_by_the_fourth_root(Q, K, V, mask=None):
    root = K.shape[-1] ** 0.25
    scores = np.matmul(Q / root, np.moveaxis(K / root, -1, -2))
    scores = scores if mask is None else np.add(scores, mask)
    return weights_of(scores) @ V, weights_of(scores)


@right("attention.scaled_dot_product_attention")
def by_torchs_own(Q, K, V, mask=None):
    Q, K, V = tensors(Q, K, V)
    mask = None if mask is None else torch.as_tensor(mask)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)


@right("attention.scaled_dot_product_attention")
def batch_by_batch(Q, K, V, mask=None):
    batch = np.broadcast_shapes(Q.shape[:-2], K.shape[:-2])
    out = np.empty((*batch, Q.shape[-2], V.shape[-1]))
    for place in np.ndindex(*batch):
        scores = Q[place] @ K[place].T / math.sqrt(Q.shape[-1])
        if mask is not None:
            scores = scores + (mask[place] if mask.ndim > 2 else mask)
        out[place] = [one_at_a_time(row, V[place]) for row in scores]
    return out


@right("attention.scaled_dot_product_attention")
def log_weights(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]) + (0 if mask is None else mask)
    log = scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    return np.exp(log) @ V


# ------------------------------------------------------------------------ causal mask


@right("attention.causal_mask")
def mask_by_comparison(n):
    return np.where(np.arange(n)[None, :] > np.arange(n)[:, None], -np.inf, 0.0)


@right("attention.causal_mask")
def mask_by_loops(n):
    return [[0.0 if j <= i else -math.inf for j in range(n)] for i in range(n)]


@right("attention.causal_mask")
def log_of_a_triangle(n):
    with np.errstate(divide="ignore"):
        return np.log(np.tri(n))


@right("attention.causal_mask")
def mask_in_torch(n):
    return torch.full((n, n), float("-inf")).triu(diagonal=1)


@right("attention.causal_mask")
def filled_in(n):
    mask = np.zeros((n, n), dtype=np.float32)
    mask[np.triu_indices(n, k=1)] = -np.inf
    return mask


# --------------------------------------------------------------------- self-attention


@right("attention.self_attention")
def bilinear_form(X, W_q, W_k, W_v, mask=None):
    scores = X @ (W_q @ W_k.T) @ np.swapaxes(X, -1, -2) / math.sqrt(W_k.shape[1])
    return weights_of(scores if mask is None else scores + mask) @ X @ W_v


@right("attention.self_attention")
def self_by_einsum(X, W_q, W_k, W_v, mask=None):
    q, k, v = (np.einsum("...nd,dh->...nh", X, W) for W in (W_q, W_k, W_v))
    scores = np.einsum("...nh,...mh->...nm", q, k) / q.shape[-1] ** 0.5
    scores = scores if mask is None else scores + mask
    return np.einsum("...nm,...mh->...nh", weights_of(scores), v)


@right("attention.self_attention")
def self_in_torch(X, W_q, W_k, W_v, mask=None):
    X, W_q, W_k, W_v = tensors(X, W_q, W_k, W_v)
    mask = None if mask is None else torch.as_tensor(mask)
    return F.scaled_dot_product_attention(X @ W_q, X @ W_k, X @ W_v, attn_mask=mask)


@right("attention.self_attention")
def values_projected_last(X, W_q, W_k, W_v, mask=None):
    Q, K = np.dot(X, W_q), np.dot(X, W_k)
    scores = np.matmul(Q, np.swapaxes(K, -2, -1)) * (1 / np.sqrt(W_q.shape[-1]))
    weights = weights_of(scores + (0.0 if mask is None else mask))
    return np.matmul(np.matmul(weights, X), W_v), weights


@right("attention.self_attention")
def one_big_projection(X, W_q, W_k, W_v, mask=None):
    Q, K, V = np.split(X @ np.concatenate([W_q, W_k, W_v], axis=1), 3, axis=-1)
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    return weights_of(scores if mask is None else scores + mask) @ V


# --------------------------------------------------------------- multi-head attention


@right("attention.multi_head_attention")
def head_by_head(X, W_q, W_k, W_v, W_o, mask=None):
    heads = [bilinear_form.function(X, *W, mask) for W in zip(W_q, W_k, W_v)]
    return np.concatenate(heads, axis=-1) @ W_o


@right("attention.multi_head_attention")
def heads_summed(X, W_q, W_k, W_v, W_o, mask=None):
    h = W_q.shape[-1]
    total = 0.0
    for i in range(len(W_q)):
        output = self_by_einsum.function(X, W_q[i], W_k[i], W_v[i], mask)
        total = total + output @ W_o[i * h : (i + 1) * h]
    return total


@right("attention.multi_head_attention")
def heads_by_einsum(X, W_q, W_k, W_v, W_o, mask=None):
    q, k, v = (np.einsum("...nd,adh->a...nh", X, W) for W in (W_q, W_k, W_v))
    scores = np.einsum("...nh,...mh->...nm", q, k) / np.sqrt(W_q.shape[2])
    out = weights_of(scores if mask is None else scores + mask) @ v
    return np.einsum("a...nh,ahd->...nd", out, W_o.reshape(len(W_q), -1, W_o.shape[1]))


@right("attention.multi_head_attention")
def heads_in_torch(X, W_q, W_k, W_v, W_o, mask=None):
    X, W_q, W_k, W_v, W_o = tensors(X, W_q, W_k, W_v, W_o)
    q, k, v = (torch.einsum("...nd,adh->...anh", X, W) for W in (W_q, W_k, W_v))
    mask = None if mask is None else torch.as_tensor(mask).unsqueeze(-3)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(-3, -2).flatten(-2) @ W_o


@right("attention.multi_head_attention")
def values_meet_the_output_first(X, W_q, W_k, W_v, W_o, mask=None):
    h = W_q.shape[-1]
    total = 0.0
    for i, (a, b, c) in enumerate(zip(W_q, W_k, W_v)):
        scores = (X @ a) @ np.swapaxes(X @ b, -1, -2) / math.sqrt(h)
        total = total + weights_of(scores if mask is None else scores + mask) @ (X @ (c @ W_o[i * h : (i + 1) * h]))
    return total


# ------------------------------------------------------------------ relative positions


@right("attention.relative_bias_attention")
def bias_by_loops(Q, K, V, bias):
    n = len(Q)
    scores = [[float(np.dot(Q[i], K[j])) + bias[i - j + n - 1] for j in range(n)] for i in range(n)]
    return np.array([one_at_a_time(row, V) for row in scores])


@right("attention.relative_bias_attention")
def bias_by_windows(Q, K, V, bias):
    windows = np.lib.stride_tricks.sliding_window_view(bias, len(Q))[:, ::-1]
    return weights_of(np.einsum("nd,md->nm", Q, K) + windows) @ V


@right("attention.relative_bias_attention")
def bias_in_torch(Q, K, V, bias):
    Q, K, V, bias = tensors(Q, K, V, bias)
    place = torch.arange(len(Q))
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=bias[place[:, None] - place + len(Q) - 1], scale=1.0)


@right("attention.relative_bias_attention")
def diagonal_by_diagonal(Q, K, V, bias):
    n = len(Q)
    scores = Q @ K.T + sum(bias[s + n - 1] * np.eye(n, k=-s) for s in range(1 - n, n))
    return weights_of(scores) @ V


@right("attention.relative_bias_attention")
def by_fromfunction(Q, K, V, bias):
    n = Q.shape[0]
    indices = np.fromfunction(lambda i, j: i - j + n - 1, (n, n), dtype=int)
    return np.matmul(weights_of(np.take(bias, indices) + np.dot(Q, np.transpose(K))), V)


# --------------------------------------------------------------------- hard attention


@right("attention.argmax_attention")
def best_by_loops(Q, K, V):
    out = []
    for q in Q:
        best, top = 0, -math.inf
        for j, k in enumerate(K):
            score = sum(a * b for a, b in zip(q, k))
            if score > top:
                best, top = j, score
        out.append(V[best])
    return out


@right("attention.argmax_attention")
def one_hot_product(Q, K, V):
    scores = Q @ K.T
    best = scores == scores.max(axis=1, keepdims=True)
    first = best & (np.cumsum(best, axis=1) == 1)
    return first.astype(float) @ V


@right("attention.argmax_attention")
def by_stable_sorting(Q, K, V):
    return np.take(V, np.argsort(-(Q @ K.T), axis=1, kind="stable")[:, 0], axis=0)


@right("attention.argmax_attention")
def transposed_scores(Q, K, V):
    return V[np.argmax(K @ Q.T, axis=0)]


@right("attention.argmax_attention")
def with_weights(Q, K, V):
    weights = np.eye(len(K))[np.argmax(np.einsum("nd,md->nm", Q, K), axis=1)]
    return weights @ V, weights


@right("attention.receptive_field")
def by_recursion(heads, levels):
    return 1 if levels == 0 else (heads + 1) * receptive_again(heads, levels - 1)


def receptive_again(heads, levels):
    return math.prod([heads + 1] * levels)


@right("attention.receptive_field")
def by_binomials(heads, levels):
    return sum(math.comb(levels, j) * heads**j for j in range(levels + 1))


@right("attention.receptive_field")
def as_a_float(heads, levels):
    return float(1 + heads) ** levels


@right("attention.receptive_field")
def counted_up(heads, levels):
    reach = 1
    for _ in range(levels):
        reach += heads * reach
    return reach


# ----------------------------------------------------------------- additive attention


@right("attention.additive_attention")
def state_by_state(q, H, W1, W2, v):
    scores = np.array([v @ np.tanh(W1 @ q + W2 @ h) for h in H])
    return one_at_a_time(scores, H), weights_of(scores)


@right("attention.additive_attention")
def one_joined_matrix(q, H, W1, W2, v):
    joined = np.hstack([np.tile(q, (len(H), 1)), H])
    weights = weights_of(np.tanh(joined @ np.hstack([W1, W2]).T) @ v)
    return weights @ H, weights


@right("attention.additive_attention")
def additive_by_einsum(q, H, W1, W2, v):
    hidden = np.tanh(np.einsum("sa,a->s", W1, q) + np.einsum("sb,nb->ns", W2, H))
    weights = weights_of(np.einsum("ns,s->n", hidden, v))
    return np.einsum("n,nb->b", weights, H), weights


@right("attention.additive_attention")
def additive_in_torch(q, H, W1, W2, v):
    q, H, W1, W2, v = tensors(q, H, W1, W2, v)
    weights = torch.tanh(F.linear(q, W1) + F.linear(H, W2)).mv(v).softmax(0)
    return weights @ H, weights


@right("attention.additive_attention")
def in_columns(q, H, W1, W2, v):
    hidden = np.tanh((W1 @ q)[:, None] + W2 @ H.T)
    weights = weights_of(v @ hidden)
    return H.T @ weights, weights


# ------------------------------------------------------ a recurrent network that attends


@right("attention.attentive_rnn")
def states_in_a_list(xs, h0, W, U):
    states = []
    for x in xs:
        s = np.tanh(W @ x + U @ (states[-1] if states else h0))
        states.append(s + one_at_a_time([s @ h for h in states], np.array(states)) if states else s)
    return np.array(states)


@right("attention.attentive_rnn")
def rnn_in_torch(xs, h0, W, U):
    xs, h, W, U = tensors(xs, h0, W, U)
    states = []
    for x in xs:
        s = torch.tanh(W @ x + U @ h)
        h = s
        if states:
            memory = torch.stack(states)
            h = s + (memory @ s).softmax(0) @ memory
        states.append(h)
    return torch.stack(states)


@right("attention.attentive_rnn")
def with_a_masked_memory(xs, h0, W, U):
    T = len(xs)
    memory = np.zeros((T, len(h0)))
    h = h0
    for t in range(T):
        h = np.tanh(xs[t] @ W.T + h @ U.T)
        if t > 0:
            scores = np.where(np.arange(T) < t, memory @ h, -np.inf)
            h = h + weights_of(scores) @ memory
        memory[t] = h
    return memory


@right("attention.attentive_rnn")
def inputs_projected_at_once(xs, h0, W, U):
    projected, states = xs @ W.T, np.zeros((0, len(h0)))
    for t, z in enumerate(projected):
        s = np.tanh(z + U @ (states[t - 1] if t else h0))
        attended = np.average(states, axis=0, weights=weights_of(states @ s)) if t else 0.0
        states = np.vstack([states, s + attended])
    return states


# ------------------------------------------------------- projections, queries that average


@right("attention.projection_matrix")
def sum_of_outer_products(A):
    return sum(np.outer(a, a) for a in A.T)


@right("attention.projection_matrix")
def least_squares(A):
    return A @ np.linalg.inv(A.T @ A) @ A.T


@right("attention.projection_matrix")
def by_the_pseudoinverse(A):
    return A @ np.linalg.pinv(A)


@right("attention.projection_matrix")
def complement_taken_away(A):
    vectors = np.linalg.svd(A)[0][:, A.shape[1] :]
    return np.eye(len(A)) - vectors @ vectors.T


@right("attention.projection_matrix")
def projection_in_torch(A):
    return torch.einsum("im,jm->ij", *tensors(A, A))


@right("attention.averaging_query")
def scaled_apart(k_a, k_b, scale):
    return scale * k_a + scale * k_b


@right("attention.averaging_query")
def entry_by_entry(k_a, k_b, scale):
    return [scale * (a + b) for a, b in zip(k_a, k_b)]


@right("attention.averaging_query")
def twice_the_mean(k_a, k_b, scale):
    return 2 * scale * np.mean([k_a, k_b], axis=0)


@right("attention.averaging_query")
def query_in_torch(k_a, k_b, scale):
    return torch.stack(list(tensors(k_a, k_b))).sum(0) * scale


@right("attention.head_queries")
def as_a_list(mu_a, mu_b, scale):
    return [mu_a * scale, mu_b * scale]


@right("attention.head_queries")
def rows_of_a_product(mu_a, mu_b, scale):
    first, second = scale * np.stack([mu_a, mu_b])
    return first, second


@right("attention.head_queries")
def head_queries_in_torch(mu_a, mu_b, scale):
    return tuple(torch.mul(mu, scale) for mu in tensors(mu_a, mu_b))


@right("attention.head_queries")
def through_a_diagonal_matrix(mu_a, mu_b, scale):
    stretch = scale * np.eye(len(mu_a))
    return stretch @ mu_a, stretch @ mu_b
