"""What courses ship in place of properties: one or two small examples per function, a shape, a row that sums to one.

Written as a careful teaching assistant would, with values worked out once and copied in. The audit runs them on
the same wrong implementations, to have something to compare with.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from engine.audit.apart import TimeIsUp, within_time


def close(got: Any, want: Any) -> bool:
    return np.allclose(got, want, atol=1e-5)


Q = np.array([[1.0, 0.0], [0.0, 1.0]])
K = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
V = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
X = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]])
A = np.array([[0.1, 0.2], [0.3, 0.4]])
B = np.array([[0.5, -0.1], [0.2, 0.3]])
I = np.eye(2)
CAUSAL = np.array([[0.0, -np.inf, -np.inf], [0.0, 0.0, -np.inf], [0.0, 0.0, 0.0]])
GRU = {name: A * (k + 1) / 2 for k, name in enumerate(["W_z", "U_z", "W_r", "U_r", "W", "U"])}
LSTM_NAMES = ["W_i", "U_i", "W_f", "U_f", "W_o", "U_o", "W_c", "U_c"]
LSTM = {name: A * np.array([[1, 1], [1, -1]]) * (k + 1) / 2 for k, name in enumerate(LSTM_NAMES)}
NETWORK = {
    "W1": np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]), "b1": np.array([[0.1, 0.2, 0.3]]),
    "W2": np.array([[0.1, -0.2], [0.3, 0.4], [-0.5, 0.6]]), "b2": np.array([[0.1, -0.1]]),
}  # fmt: skip
BATCH, LABELS = np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
LAYER = {
    "W_q": A, "W_k": B, "W_v": I, "W1": A, "b1": np.array([0.1, -0.1]), "W2": B, "b2": np.array([0.2, 0.3]),
    "gamma1": np.array([1.0, 2.0]), "beta1": np.array([0.1, 0.2]),
    "gamma2": np.array([1.5, 0.5]), "beta2": np.array([0.0, 0.1]),
}  # fmt: skip


def softmax(f: Any) -> None:
    assert close(f.softmax(np.array([1.0, 2.0, 3.0])), [0.090031, 0.244728, 0.665241])
    assert close(f.softmax(np.array([[1.0, 2.0], [3.0, 5.0]])), [[0.268941, 0.731059], [0.119203, 0.880797]])
    assert close(f.softmax(np.array([[1.0, 2.0], [3.0, 5.0]])).sum(axis=-1), 1)
    assert close(f.softmax(np.array([1000.0, 1000.0])), [0.5, 0.5])


def dot_product_attention(f: Any) -> None:
    context, weights = f.dot_product_attention(np.array([1.0, 0.0]), K, V)
    assert close(context, [3.0, 4.0])
    assert close(weights, [0.422319, 0.155362, 0.422319])
    assert close(np.sum(weights), 1)


def scaled_dot_product_attention(f: Any) -> None:
    assert close(f.scaled_dot_product_attention(Q, K, V), [[3.0, 4.0], [3.406673, 4.406673]])
    mask = np.array([[0, -np.inf, 0], [0, 0, -np.inf]])
    assert close(f.scaled_dot_product_attention(Q, K, V, mask), [[3.0, 4.0], [2.339523, 3.339523]])
    batch = np.random.default_rng(0).normal(size=(2, 3, 4))
    assert np.shape(f.scaled_dot_product_attention(batch, batch, batch)) == (2, 3, 4)


def causal_mask(f: Any) -> None:
    assert np.array_equal(f.causal_mask(3), CAUSAL)
    assert np.shape(f.causal_mask(5)) == (5, 5)


def self_attention(f: Any) -> None:
    assert close(f.self_attention(X, A, B, I), [[2.09971, 3.09971], [2.681831, 3.681831], [1.662153, 2.662153]])
    masked = [[1.0, 2.0], [2.783198, 3.783198], [1.662153, 2.662153]]
    assert close(f.self_attention(X, A, B, I, CAUSAL), masked)


def multi_head_attention(f: Any) -> None:
    heads = np.stack([A, B])
    W_o = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
    output = f.multi_head_attention(X, heads, heads[::-1], np.stack([I, A]), W_o)
    assert np.shape(output) == (3, 2)
    assert close(output, [[6.510572, 4.227425], [8.050464, 5.048989], [5.366524, 3.613245]])


def relative_bias_attention(f: Any) -> None:
    output = f.relative_bias_attention(Q, Q[::-1], np.array([[1.0], [2.0]]), np.array([0.5, 0.0, 1.0]))
    assert close(output, [[1.817574], [1.119203]])
    assert np.shape(output) == (2, 1)


def argmax_attention(f: Any) -> None:
    assert close(f.argmax_attention(Q, K, V), [[1.0, 2.0], [3.0, 4.0]])
    assert close(f.argmax_attention(np.array([[1.0, 1.0]]), K, V), [[5.0, 6.0]])


def receptive_field(f: Any) -> None:
    assert f.receptive_field(1, 3) == 8
    assert f.receptive_field(2, 3) == 27


def additive_attention(f: Any) -> None:
    context, weights = f.additive_attention(np.array([1.0, 2.0]), X, A, B, np.array([1.0, -1.0]))
    assert close(context, [1.551392, 2.551392])
    assert close(weights, [0.327445, 0.407983, 0.264573])


def attentive_rnn(f: Any) -> None:
    states = f.attentive_rnn(X, np.array([0.5, -0.5]), A, B)
    assert np.shape(states) == (3, 2)
    assert close(states, [[0.664037, 0.781806], [1.538993, 1.775363], [2.027802, 2.427087]])


def projection_matrix(f: Any) -> None:
    basis = np.array([[0.6, 0.0], [0.8, 0.0], [0.0, 1.0]])
    M = f.projection_matrix(basis)
    assert close(M, basis @ basis.T)
    assert close(M @ M, M)


def averaging_query(f: Any) -> None:
    assert close(f.averaging_query(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), 10.0), [10.0, 10.0, 0.0])
    assert close(f.averaging_query(np.array([1.0, 2.0]), np.array([3.0, 4.0]), 2.0), [8.0, 12.0])


def head_queries(f: Any) -> None:
    first, second = f.head_queries(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), 10.0)
    assert close(first, [10.0, 0.0, 0.0])
    assert close(second, [0.0, 10.0, 0.0])


def sinusoidal_encoding(f: Any) -> None:
    table = f.sinusoidal_encoding(3, 4)
    assert np.shape(table) == (3, 4)
    assert close(table, [[0, 1, 0, 1], [0.841471, 0.540302, 0.01, 0.99995], [0.909297, -0.416147, 0.019999, 0.9998]])


def wavelengths(f: Any) -> None:
    assert close(f.wavelengths(4), [6.283185, 628.318531])
    assert close(f.wavelengths(4, 100.0), [6.283185, 62.831853])


def added_score(f: Any) -> None:
    given = [np.array(v, dtype=float) for v in ([1, 2], [3, 4], [5, 6], [7, 8])]
    assert close(f.added_score(*given), 132.0)
    assert np.ndim(f.added_score(*given)) == 0


def concatenated_score(f: Any) -> None:
    given = [np.array(v, dtype=float) for v in ([1, 2], [3, 4], [5, 6], [7, 8])]
    assert close(f.concatenated_score(*given), 70.0)
    assert np.ndim(f.concatenated_score(*given)) == 0


def relative_bias_matrix(f: Any) -> None:
    assert close(f.relative_bias_matrix(np.arange(5.0), 3), [[2, 1, 0], [3, 2, 1], [4, 3, 2]])
    assert np.shape(f.relative_bias_matrix(np.zeros(7), 4)) == (4, 4)


def relative_parameter_count(f: Any) -> None:
    assert f.relative_parameter_count(3, 2) == 10
    assert f.relative_parameter_count(1, 4) == 4


def sigmoid(f: Any) -> None:
    assert close(f.sigmoid(np.array([-1.0, 0.0, 2.0])), [0.268941, 0.5, 0.880797])
    assert close(f.sigmoid(np.array([-1000.0, 1000.0])), [0.0, 1.0])


def gru_cell(f: Any) -> None:
    state = f.gru_cell(np.array([1.0, -1.0]), np.array([0.5, 0.25]), GRU)
    assert np.shape(state) == (2,)
    assert close(state, [0.194575, 0.215751])


def lstm_cell(f: Any) -> None:
    hidden, cell = f.lstm_cell(np.array([1.0, -1.0]), np.array([0.5, 0.25]), np.array([1.0, -2.0]), LSTM)
    assert close(hidden, [0.251918, -0.634025])
    assert close(cell, [0.538101, -0.926281])


def lstm_weight_gradient(f: Any) -> None:
    gradient = f.lstm_weight_gradient(X, np.array([0.5, 0.25]), np.array([1.0, -2.0]), LSTM, np.ones((3, 2)))
    assert np.shape(gradient) == (2, 2)
    assert close(gradient, [[0.012095, 0.059878], [0.166424, 0.46081]])


def rnn_gradient_norms(f: Any) -> None:
    norms = f.rnn_gradient_norms(X, np.array([0.5, 0.25]), A, B, np.array([1.0, 0.0]))
    assert close(norms, [0.047746, 0.388038, 1.0])
    assert np.shape(norms) == (3,)


def softmax_cross_entropy(f: Any) -> None:
    assert close(f.softmax_cross_entropy(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0])), 0.407606)
    assert close(f.softmax_cross_entropy(np.zeros(4), np.array([0.0, 1.0, 0.0, 0.0])), np.log(4))


def softmax_cross_entropy_gradient(f: Any) -> None:
    theta, y = np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0])
    assert close(f.softmax_cross_entropy_gradient(theta, y), [0.090031, 0.244728, -0.334759])
    assert close(np.sum(f.softmax_cross_entropy_gradient(theta, y)), 0)


def forward(f: Any) -> None:
    assert close(f.forward(BATCH, NETWORK), [[0.353232, 0.646768], [0.397075, 0.602925]])
    assert close(np.sum(f.forward(BATCH, NETWORK), axis=1), 1)


def forward_backward(f: Any) -> None:
    cost, gradients = f.forward_backward(BATCH, LABELS, NETWORK)
    assert close(cost, 0.773297)
    assert all(np.shape(gradients[key]) == value.shape for key, value in NETWORK.items())
    assert close(gradients["W1"], [[0.025597, -0.009429, -0.106592], [-0.053039, 0.015117, 0.136568]])
    assert close(gradients["b2"], [[-0.124847, 0.124847]])


def input_gradient(f: Any) -> None:
    gradient = f.input_gradient(BATCH[:1], LABELS[:1], NETWORK)
    assert np.shape(gradient) == (1, 2)
    assert close(gradient, [[0.024219, 0.041834]])


def entropy(f: Any) -> None:
    assert close(f.entropy(np.array([0.5, 0.25, 0.25])), 1.5)
    assert close(f.entropy(np.full(8, 1 / 8)), 3.0)
    assert close(f.entropy(np.array([1.0, 0.0])), 0.0)


def cross_entropy(f: Any) -> None:
    assert close(f.cross_entropy(np.array([0.5, 0.5]), np.array([0.25, 0.75])), 1.207519)
    assert close(f.cross_entropy(np.array([1.0, 0.0]), np.array([0.25, 0.75])), 2.0)


def entropy_rate(f: Any) -> None:
    assert close(f.entropy_rate(np.array([[0.1, 0.2], [0.3, 0.4]]), 2), 0.92322)
    assert close(f.entropy_rate(np.full((2, 2, 2), 1 / 8), 3), 1.0)


def perplexity(f: Any) -> None:
    assert close(f.perplexity(np.log([0.5, 0.25])), 2.828427)
    assert close(f.perplexity(np.array([-1.0, -3.0]), 2.0), 4.0)


def sequence_perplexity(f: Any) -> None:
    assert close(f.sequence_perplexity(np.array([0.5, 0.25, 0.125])), 4.0)
    assert close(f.sequence_perplexity(np.full(5, 0.2)), 5.0)


def layer_norm(f: Any) -> None:
    ones, zeros = np.ones(3), np.zeros(3)
    normed = f.layer_norm(np.array([[1.0, 2.0, 3.0], [4.0, 6.0, 8.0]]), ones, zeros)
    assert close(normed, [[-1.224736, 0.0, 1.224736], [-1.224743, 0.0, 1.224743]])
    scaled = f.layer_norm(np.array([[1.0, 2.0, 3.0]]), np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3]))
    assert close(scaled, [[-1.124736, 0.2, 3.974207]])
    assert close(np.mean(normed, axis=-1), 0)


def feed_forward(f: Any) -> None:
    W1, W2 = np.array([[1.0, -1.0], [0.5, 2.0]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    output = f.feed_forward(BATCH, W1, np.array([0.1, -0.2]), W2, np.array([0.5, -0.5]))
    assert close(output, [[11.0, 14.9], [3.1, 4.7]])
    assert np.shape(output) == (2, 2)


def transformer_layer(f: Any) -> None:
    assert close(f.transformer_layer(X, LAYER), [[-1.499996, 0.599999]] * 3)
    first = [[0.36502, 4.48696], [2.36502, 6.48696], [-0.63498, 3.48696]]
    assert close(f.transformer_layer(X, LAYER, True), first)


def deep_averaging_network(f: Any) -> None:
    embeddings = np.array([[9.0, 9.0], [1.0, 2.0], [3.0, -1.0]])
    layers = [(A, np.array([0.1, 0.2])), (B, np.array([0.3, -0.3]))]
    logits = f.deep_averaging_network(np.array([[1, 2, 0], [2, 2, 1]]), embeddings, layers)
    assert np.shape(logits) == (2, 2)
    assert close(logits, [[0.643757, -0.142979], [0.577313, -0.157316]])


def train_bigram(f: Any) -> None:
    model = f.train_bigram(np.array([0, 1, 0, 1, 1]), 3)
    log_probs = f.bigram_log_probs(model, np.array([0, 1, 1, 2, 0]))
    assert np.shape(log_probs) == (4,)
    assert close(log_probs, [-0.510826, -0.916291, -1.609438, -1.098612])


def train_neural_bigram(f: Any) -> None:
    params = f.train_neural_bigram(np.array([0, 1] * 20), np.eye(2), 3, 300, 0)
    log_probs = f.neural_log_probs(params, np.eye(2), np.array([0, 1, 0]))
    assert np.shape(log_probs) == (2,)
    assert np.all(np.exp(log_probs) > 0.8)


def char_model(f: Any) -> None:
    model = f.train_char_model("abababab")
    log_probs = f.char_log_probs(model, "abab")
    assert np.shape(log_probs) == (3,)
    assert np.all(np.asarray(log_probs) <= 0)
    assert np.exp(-np.mean(log_probs)) < 2
    assert isinstance(f.preprocess("Hello, World!"), str)


def PositionalEncoding(f: Any) -> None:
    import torch

    module = f.PositionalEncoding(4, 10).eval()
    output = module(torch.zeros(2, 3, 4))
    assert output.shape == (2, 3, 4)
    table = [[0, 1, 0, 1], [0.841471, 0.540302, 0.01, 0.99995], [0.909297, -0.416147, 0.019999, 0.9998]]
    assert close(output[0].detach().numpy(), table)


def CausalLM(f: Any) -> None:
    import torch

    torch.manual_seed(0)
    model = f.CausalLM(11, 8, 2, 2, 16).eval()
    tokens = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])
    with torch.no_grad():
        logits = model(tokens)
        assert logits.shape == (2, 4, 11)
        changed = tokens.clone()
        changed[:, -1] = 0
        assert close(model(changed)[:, :-1].numpy(), logits[:, :-1].numpy())


TESTS: dict[str, Callable[[Any], None]] = {
    test.__name__: test
    for test in (
        softmax, dot_product_attention, scaled_dot_product_attention, causal_mask, self_attention, multi_head_attention,
        relative_bias_attention, argmax_attention, receptive_field, additive_attention, attentive_rnn,
        projection_matrix, averaging_query, head_queries, sinusoidal_encoding, wavelengths, added_score,
        concatenated_score, relative_bias_matrix, relative_parameter_count, sigmoid, gru_cell, lstm_cell,
        lstm_weight_gradient, rnn_gradient_norms, softmax_cross_entropy, softmax_cross_entropy_gradient, forward,
        forward_backward, input_gradient, entropy, cross_entropy, entropy_rate, perplexity, sequence_perplexity,
        layer_norm, feed_forward, transformer_layer, deep_averaging_network, train_bigram, train_neural_bigram,
        char_model, PositionalEncoding, CausalLM,
    )
} | {"bigram_log_probs": train_bigram, "neural_log_probs": train_neural_bigram}  # fmt: skip


def catches(item: str, find: Callable[[str], Callable[..., Any]]) -> bool:
    """Return whether the tests of an item fail, raise, or do not end for these functions."""
    functions = _Functions(find)
    try:
        with np.errstate(all="ignore"):
            within_time(partial(TESTS[item.split(".", 1)[1]], functions))
    except (Exception, TimeIsUp):  # noqa: BLE001 - a test that raises has caught something, too
        return True
    return False


class _Functions:
    """Functions as attributes, like those of a module a test file imports."""

    def __init__(self, find: Callable[[str], Callable[..., Any]]) -> None:
        self._find = find

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return self._find(name)
