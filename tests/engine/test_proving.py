"""Right functions are proved, wrong ones never, and a worker that lies proves nothing."""

import math
import tomllib

import numpy as np
import pytest

from checks.contract import SIGNATURES
from checks.misconception import functions_of
from engine import proving
from engine.corpus import reference_module
from engine.diagnosis import misconceptions
from engine.experiments import EXPERIMENTS
from engine.intake import take_in
from engine.pipeline import tier_for
from engine.proving import PATHS, POINTS, Unreadable, computation, prove, prove_in_process
from engine.records import Outcome, Verdict
from engine.worker import tools
from engine.workers import Budget, Zygotes

BUDGET = Budget(
    call_seconds=4.0, import_seconds=30.0, submission_seconds=60.0, cpu_seconds=60.0, memory_mib=1024, scratch_mib=16
)
HEAD = "import math\nimport numpy as np\n"
SOFTMAX = """
def softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
"""

# Functions written in NumPy: torch modules and the character model, which has no formula, are none.
IN_NUMPY = [name for name in SIGNATURES if name.split(".")[1] not in {
    "PositionalEncoding", "CausalLM", "train_char_model", "char_log_probs", "preprocess",
}]  # fmt: skip
# Parameters under names of the submission's own, found by gradient descent from random ones.
NOT_PROVED = {"language_model.train_neural_bigram", "language_model.neural_log_probs"}


@pytest.fixture(scope="module")
def zygotes():
    with Zygotes(tier_for(trusted=False), BUDGET) as running:
        yield running


@pytest.fixture
def in_worker(zygotes, tmp_path):
    """Prove a function of one file's text."""

    def run(item, text):
        (tmp_path / f"{item.split('.')[0]}.py").write_text(HEAD + text, encoding="utf-8")
        (submission,) = take_in([tmp_path])
        return prove(submission, [item], zygotes, BUDGET).get(item)

    return run


def proof_of_text(item, text):
    space = {}
    exec(HEAD + text, space)
    return prove_in_process(item, space.__getitem__, [space])


# ── right ones ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_numpy_function_of_a_plain_right_submission_is_proved(root, zygotes):
    (submission,) = take_in([root / "submissions" / "examples" / "right_numpy"])
    proofs = prove(submission, IN_NUMPY, zygotes, BUDGET)
    assert set(IN_NUMPY) - proofs.keys() == NOT_PROVED
    with_conditions = {item for item, proof in proofs.items() if proof.condition}
    assert with_conditions == {"attention.argmax_attention", "gates.rnn_gradient_norms"}


def test_the_reference_can_be_run_on_symbols_everywhere():
    for item, experiments in EXPERIMENTS.items():
        for place in range(len(experiments)):
            for column in PATHS:
                assert proving._reference(item, place, column).results is not None


RIGHT = {
    "attention.softmax": {
        "no keepdims": """
def softmax(x, axis=-1):
    e = np.exp(x - np.expand_dims(np.max(x, axis=axis), axis))
    return e / np.expand_dims(e.sum(axis=axis), axis)
""",
        "log-sum-exp": """
def softmax(x, axis=-1):
    return np.exp(x - np.logaddexp.reduce(x, axis=axis, keepdims=True))
""",
        "row by row": """
def one(row):
    e = np.exp(row - row.max())
    return e / e.sum()
def softmax(x, axis=-1):
    return np.apply_along_axis(one, axis, x)
""",
        "lists and math": """
def softmax(x, axis=-1):
    x = np.moveaxis(np.array(x, dtype=float), axis, -1)
    out = np.zeros(x.shape)
    for place in np.ndindex(x.shape[:-1]):
        row = [float(v) for v in x[place]]
        e = [math.exp(v - max(row)) for v in row]
        out[place] = [v / sum(e) for v in e]
    return np.moveaxis(out, -1, axis)
""",
        "in place on a copy": """
def softmax(x, axis=-1):
    x = np.array(x, copy=True)
    x -= x.max(axis=axis, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=axis, keepdims=True)
    return x
""",
        "a power of e, in single precision": """
def softmax(x, axis=-1):
    e = math.e ** (x - np.amax(x, axis=axis, keepdims=True)).astype(np.float32)
    return np.divide(e, np.add.reduce(e, axis=axis, keepdims=True))
""",
    },
    "attention.scaled_dot_product_attention": {
        "half a power, weights too": SOFTMAX + """
def scaled_dot_product_attention(Q, K, V, mask=None):
    s = (Q * K.shape[-1] ** -0.5) @ np.swapaxes(K, -2, -1)
    w = softmax(s if mask is None else np.where(np.isneginf(mask), -np.inf, s + np.where(np.isneginf(mask), 0, mask)))
    return w @ V, w
""",
        "loops": """
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.ndim > 2:
        return np.stack([scaled_dot_product_attention(q, k, v, mask) for q, k, v in zip(Q, K, V)])
    out = np.zeros((Q.shape[0], V.shape[1]))
    for i in range(Q.shape[0]):
        s = np.array([np.dot(Q[i], k) for k in K]) / np.sqrt(len(Q[i]))
        if mask is not None:
            s += mask[i]
        e = np.exp(s - s.max())
        for j, w in enumerate(e / e.sum()):
            out[i] += w * V[j]
    return out
""",
    },
    "attention.multi_head_attention": {
        "einsum": SOFTMAX + """
def multi_head_attention(X, W_q, W_k, W_v, W_o, mask=None):
    Q, K, V = (np.einsum('...nd,kdh->...knh', X, W) for W in (W_q, W_k, W_v))
    S = np.einsum('...knh,...kmh->...knm', Q, K) / np.sqrt(W_q.shape[-1])
    if mask is not None:
        S = S + np.asarray(mask)[..., None, :, :]
    O = np.einsum('...knm,...kmh->...nkh', softmax(S), V)
    return O.reshape(*O.shape[:-2], -1) @ W_o
""",
    },
    "attention.argmax_attention": {
        "one hot": "def argmax_attention(Q, K, V):\n    return np.eye(len(K))[(Q @ K.T).argmax(-1)] @ V\n",
        "python's max": "def argmax_attention(Q, K, V):\n    return np.array([V[max(range(len(K)), key=lambda j: q @ K[j])] for q in Q])\n",
    },
    "attention.additive_attention": {
        "tanh by exponentials": SOFTMAX + """
def tanh(z):
    return (np.exp(2 * z) - 1) / (np.exp(2 * z) + 1)
def additive_attention(q, H, W1, W2, v):
    w = softmax(np.array([np.dot(v, tanh(W1 @ q + W2 @ h)) for h in H]))
    return sum(a * h for a, h in zip(w, H)), w
""",
    },
    "positional.sinusoidal_encoding": {
        "through logarithms": """
def sinusoidal_encoding(length, d, base=10000.0):
    pe = np.zeros((length, d))
    angles = np.arange(length)[:, None] * np.exp(np.arange(0, d, 2) * -(np.log(base) / d))
    pe[:, 0::2], pe[:, 1::2] = np.sin(angles), np.cos(angles)
    return pe
""",
        "number by number": """
def sinusoidal_encoding(length, d, base=10000.0):
    def entry(k, j):
        return math.sin(k / base ** (j / d)) if j % 2 == 0 else math.cos(k / math.pow(base, (j - 1) / d))
    return np.array([[entry(k, j) for j in range(d)] for k in range(length)])
""",
    },
    "gates.sigmoid": {
        "textbook": "def sigmoid(x):\n    return 1 / (1 + np.exp(-x))\n",
        "by tanh": "def sigmoid(x):\n    return 0.5 * (1 + np.tanh(x / 2))\n",
        "where": "def sigmoid(x):\n    e = np.exp(-np.abs(x))\n    return np.where(x < 0, e, 1.0) / (1.0 + e)\n",
        "by its logarithm": "def sigmoid(x):\n    return np.exp(np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))))\n",
        "by its sign": "def sigmoid(x):\n    return 0.5 + np.sign(x) * (1 / (1 + np.exp(-np.abs(x))) - 0.5)\n",
    },
    "gates.lstm_cell": {
        "stacked": """
def sig(z):
    return 1 / (1 + np.exp(-z))
def lstm_cell(x, h, c, params):
    xh = np.concatenate([x, h])
    i, f, o, g = (np.hstack([params['W_' + k], params['U_' + k]]) @ xh for k in 'ifoc')
    c_new = sig(f) * c + sig(i) * np.tanh(g)
    return np.tanh(c_new) * sig(o), c_new
""",
    },
    "gates.rnn_gradient_norms": {
        "backwards": """
def rnn_gradient_norms(xs, h0, W, U, dh_last):
    hs = [h0]
    for x in xs:
        hs.append(np.tanh(W @ x + U @ hs[-1]))
    g, norms = dh_last, []
    for t in range(len(xs), 0, -1):
        norms.append(np.sqrt(np.sum(g ** 2)))
        g = U.T @ (g * (1 - hs[t] ** 2))
    return np.array(norms[::-1])
""",
    },
    "network.softmax_cross_entropy": {
        "needs shares": "def softmax_cross_entropy(theta, y):\n    m = theta.max()\n    return m + np.log(np.exp(theta - m).sum()) - y @ theta\n",
    },
    "network.softmax_cross_entropy_gradient": {
        "through the Jacobian": SOFTMAX + """
def softmax_cross_entropy_gradient(theta, y):
    p = softmax(theta)
    return -(y / p) @ (np.diag(p) - np.outer(p, p))
""",
    },
    "network.forward_backward": {
        "means": SOFTMAX + """
def forward_backward(X, Y, params):
    h = 0.5 * np.tanh(0.5 * (X @ params['W1'] + params['b1'])) + 0.5
    p = softmax(h @ params['W2'] + params['b2'])
    cost = np.mean(-np.sum(Y * np.log(p), axis=1))
    d2 = p - Y
    d1 = np.dot(d2, params['W2'].T) * (h - h * h)
    m = X.shape[0]
    W2 = np.einsum('bh,by->hy', h, d2) / m
    return cost, dict(W1=X.T.dot(d1) / m, b1=np.mean(d1, axis=0, keepdims=True), W2=W2, b2=d2.mean(0).reshape(1, -1))
""",
    },
    "perplexity.cross_entropy": {
        "early infinity": """
def cross_entropy(m, p, base=2.0):
    if np.any((p == 0) & (m > 0)):
        return np.inf
    return -sum(a * math.log(b, base) for a, b in zip(m, p) if a > 0)
""",
        "base ten": """
def cross_entropy(m, p, base=2.0):
    seen = m != 0
    return -np.dot(m[seen], np.log10(p[seen])) / np.log10(base)
""",
    },
    "perplexity.sequence_perplexity": {
        "root of a product": "def sequence_perplexity(probs):\n    return np.prod(probs) ** (-1 / len(probs))\n",
        "powers of two": "def sequence_perplexity(probs):\n    return np.exp2(-np.log2(probs).mean())\n",
    },
    "transformer.layer_norm": {
        "mean of squares": """
def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, -1, keepdims=True)
    var = np.mean(x ** 2, -1, keepdims=True) - mu ** 2
    return (x - mu) * (var + eps) ** -0.5 * gamma + beta
""",
        "number by number": """
def layer_norm(x, gamma, beta, eps=1e-5):
    if x.ndim > 1:
        return np.array([layer_norm(row, gamma, beta, eps) for row in x])
    mu = sum(x) / len(x)
    var = sum((v - mu) ** 2 for v in x) / len(x)
    return np.array([(v - mu) / math.sqrt(var + eps) * g + b for v, g, b in zip(x, gamma, beta)])
""",
    },
    "transformer.feed_forward": {
        "absolute values": "def feed_forward(X, W1, b1, W2, b2):\n    z = X @ W1 + b1\n    return ((z + abs(z)) / 2) @ W2 + b2\n",
        "set to zero": "def feed_forward(X, W1, b1, W2, b2):\n    z = X @ W1 + b1\n    z[z < 0] = 0\n    return z @ W2 + b2\n",
        "python's max": "def feed_forward(X, W1, b1, W2, b2):\n    return np.array([[max(0.0, v) for v in row] for row in X @ W1 + b1]) @ W2 + b2\n",
    },
    "language_model.bigram_log_probs": {
        "a table": """
def train_bigram(tokens, vocabulary_size, smoothing=1.0):
    c = np.full((vocabulary_size, vocabulary_size), smoothing)
    for a, b in zip(tokens[:-1], tokens[1:]):
        c[a, b] += 1
    return c / c.sum(axis=1, keepdims=True)
def bigram_log_probs(model, tokens):
    return np.log(model[tokens[:-1], tokens[1:]])
""",
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("item", "text"),
    [(item, text) for item, row in RIGHT.items() for text in row.values()],
    ids=[f"{item}: {name}" for item, row in RIGHT.items() for name in row],
)
def test_the_same_function_written_otherwise_is_proved(item, text):
    assert proof_of_text(item, text) is not None


# ── what is said ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_proof_without_branches_is_for_all_inputs(in_worker):
    proof = in_worker("positional.added_score", "def added_score(x1, p1, x2, p2):\n    return (x1 + p1) @ (x2 + p2)\n")
    assert proof.sentence == "Proved for all real inputs at x1 (2), p1 (2), x2 (2), p2 (2)."
    assert (proof.item, proof.condition) == ("positional.added_score", "")


BY_SIGN = """
def sigmoid(x):
    out = np.empty_like(x)
    out[x >= 0] = 1 / (1 + np.exp(-x[x >= 0]))
    out[x < 0] = np.exp(x[x < 0]) / (1 + np.exp(x[x < 0]))
    return out
"""


@pytest.mark.parametrize(
    ("item", "text", "paths"),
    [
        ("positional.added_score", "def added_score(x1, p1, x2, p2):\n    return (x1 + p1) @ (x2 + p2)\n", 1),
        ("gates.sigmoid", BY_SIGN, len(PATHS)),
    ],
)
def test_other_paths_are_followed_only_where_there_are_any(in_worker, monkeypatch, item, text, paths):
    rows = []
    proof = proving._proof
    monkeypatch.setattr(proving, "_proof", lambda *given: rows.extend(given[1]) or proof(*given))
    assert in_worker(item, text) is not None
    assert {len(row) for row in rows} == {paths}


def test_where_the_data_decide_the_path_is_said(in_worker):
    proof = in_worker("gates.sigmoid", BY_SIGN)
    assert proof.condition.startswith("x[0] >= 0 and x[1] >= 0")
    assert "x[0] < 0" in proof.condition
    assert proof.sentence.startswith("Proved at x (2); x (1,2), for real inputs where x[0]")


def test_long_conditions_are_cut():
    proof = proof_of_text(
        "attention.argmax_attention", "def argmax_attention(Q, K, V):\n    return V[np.argmax(Q @ K.T, axis=1)]\n"
    )
    assert "(Q[0,0] * K[1,0] + Q[0,1] * K[1,1]) > (Q[0,0] * K[0,0]" in proof.condition
    assert len(proof.condition) < 1500


def test_kinds_of_inputs_are_said():
    texts = {item: [each.text for each in rows] for item, rows in EXPERIMENTS.items()}
    assert texts["perplexity.entropy"] == ["p (3) > 0 with sum 1, base > 0", "p (3) > 0 with sum 1, p[1] = 0"]
    assert texts["attention.receptive_field"][0] == "heads whole, levels = 0"
    assert texts["attention.averaging_query"] == ["k_a (2), k_b (2), scale"]


# ── wrong ones ────────────────────────────────────────────────────────────────────────────────────────────────────

# In exact arithmetic these are right, or what is wrong with them is not what they return. Their checks fail.
OVERFLOWS = {
    "no maximum subtracted", "maximum of the whole array subtracted", "maximum of the whole batch subtracted",
    "exp overflows for large inputs", "sigmoid as exp(z) / (1 + exp(z))", "logarithm of a softmax that rounds to 0",
    "cost not finite at saturated logits", "product underflows on long text", "tanh overflows",
}  # fmt: skip
CHANGES_ARGUMENTS = {
    "modifies its input", "modifies its parameters", "overwrites the state it is given", "overwrites the cell it is given",
    "overwrites the dh_last it is given", "adds into the dh it is given", "parameters updated in place",
    "embedding of padding zeroed in place",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("item", EXPERIMENTS)
@pytest.mark.filterwarnings("ignore")
def test_no_misconception_is_proved(item):
    proved = set()
    for mistake in misconceptions().get(item, ()):
        find = functions_of(mistake, reference_module(item), tools)
        with np.errstate(all="ignore"):
            if prove_in_process(item, find, _globals_of("checks.misconceptions.", "reference.")):
                proved.add(mistake.name)
    assert proved <= OVERFLOWS | CHANGES_ARGUMENTS


def _globals_of(*packages):
    import sys

    return [vars(module) for name, module in list(sys.modules.items()) if name.startswith(packages)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_no_wrong_example_is_proved(root):
    examples = root / "submissions" / "examples"
    expected = tomllib.loads((examples / "expected.toml").read_text(encoding="utf-8"))
    tried = 0
    for name, row in expected.items():
        item = row.get("item")
        if item not in EXPERIMENTS:
            continue
        space = {}
        exec((examples / name / f"{item.split('.')[0]}.py").read_text(encoding="utf-8"), space)
        others = vars(reference_module(item))
        tried += 1
        with np.errstate(all="ignore"):
            proof = prove_in_process(item, lambda wanted: space.get(wanted) or others[wanted], [space, others])  # noqa: B023 - called at once
        assert proof is None or row["diagnosis"] in OVERFLOWS | CHANGES_ARGUMENTS, name
    assert tried > 200


WRONG = {
    "different on ties alone": ("attention.argmax_attention", "def argmax_attention(Q, K, V):\n    S = (Q @ K.T)[:, ::-1]\n    return V[::-1][S.argmax(1)]\n"),
    "wrong beyond its points": ("gates.sigmoid", "def sigmoid(x):\n    return np.where(x > 3, 1.0, 1 / (1 + np.exp(-x)))\n"),
    "clipped": ("attention.softmax", "def softmax(x, axis=-1):\n    e = np.exp(np.clip(x, -500, 500))\n    return e / e.sum(axis=axis, keepdims=True)\n"),
    "an epsilon": ("perplexity.entropy", "def entropy(p, base=2.0):\n    return -np.sum(p * np.log(p + 1e-12)) / np.log(base)\n"),
    "a large number for infinity": ("attention.self_attention", SOFTMAX + "def self_attention(X, W_q, W_k, W_v, mask=None):\n    S = X @ W_q @ np.swapaxes(X @ W_k, -1, -2) / np.sqrt(W_q.shape[1])\n    return softmax(S if mask is None else S + np.maximum(mask, -1e9)) @ (X @ W_v)\n"),
    "another epsilon": ("transformer.layer_norm", "def layer_norm(x, gamma, beta, eps=1e-5):\n    m = x.mean(-1, keepdims=True)\n    return gamma * (x - m) / np.sqrt(x.var(-1, keepdims=True) + 1.000001e-5) + beta\n"),
    "not every branch": ("transformer.feed_forward", "def feed_forward(X, W1, b1, W2, b2):\n    z = X @ W1 + b1\n    if (z > 0).all():\n        return z @ W2 + b2\n    return np.zeros_like(X)\n"),
}  # fmt: skip


@pytest.mark.parametrize(("item", "text"), WRONG.values(), ids=WRONG.keys())
def test_a_small_difference_is_no_proof(item, text):
    assert proof_of_text(item, text) is None


# ── what a worker says ────────────────────────────────────────────────────────────────────────────────────────────

SIGMOID = "def sigmoid(x):\n    return 1 / (1 + np.exp(-x))\n"
LIES = {
    "missing": "def other(x): return x\n",
    "fails at import": "raise ValueError\n",
    "raises": "def sigmoid(x): raise ValueError\n",
    "hangs": "def sigmoid(x):\n    while True: pass\n",
    "exits": "import os\ndef sigmoid(x): os._exit(0)\n",
    "right expressions, other values": SIGMOID.replace("return", "return 0 * x + 0.5 if type(x) is np.ndarray else"),
    "right expressions, values at one point": """
def sigmoid(x):
    y = 1 / (1 + np.exp(-x))
    return y if type(x) is not np.ndarray or x.flat[0] > 0 else y + 1e-3
""",
    "no expressions": "import sys\ndef sigmoid(x):\n    sys.modules['engine.worker.symbolic'].traced = lambda *a: {}\n    return x\n",
}  # fmt: skip


@pytest.mark.parametrize("text", LIES.values(), ids=LIES.keys())
def test_nothing_is_proved_of_who_cannot_be_believed(in_worker, text):
    assert in_worker("gates.sigmoid", text) is None
    assert in_worker("gates.sigmoid", SIGMOID) is not None


X = [["input", 0], ["input", 1]]
FORGED = [
    {}, {"nodes": 5}, {"nodes": []}, {"nodes": [[]], "results": [0, 1], "path": []},
    {"nodes": [*X, 7], "results": np.array([0, 1]), "path": []},
    {"nodes": [*X, ["input", 2]], "results": np.array([0, 1]), "path": []},
    {"nodes": [*X, ["input", -1]], "results": np.array([0, 1]), "path": []},
    {"nodes": [*X, ["input", True]], "results": np.array([0, 1]), "path": []},
    {"nodes": [*X, ["add", 0]], "results": np.array([0, 1]), "path": []},
    {"nodes": [*X, ["add", 0, 2]], "results": np.array([0, 1]), "path": []},
    {"nodes": [*X, ["add", 0, 5]], "results": np.array([0, 1]), "path": []},
    {"nodes": [*X, ["add", 0, "1"]], "results": np.array([0, 1]), "path": []},
    {"nodes": [*X, ["add", 0, 0.5]], "results": np.array([0, 1]), "path": []},
    {"nodes": [*X, ["add", 0, math.nan]], "results": np.array([0, 1]), "path": []},
    {"nodes": [*X, ["__import__", 0]], "results": np.array([0, 1]), "path": []},
    {"nodes": [*X, [["add"], 0, 1]], "results": np.array([0, 1]), "path": []},
    {"nodes": [*X, ["constant", "7"]], "results": np.array([0, 1]), "path": []},
    {"nodes": [*X, ["constant", math.nan]], "results": np.array([0, 1]), "path": []},
    {"nodes": [*X, ["constant", 10**400]], "results": np.array([0, 1]), "path": []},
    {"nodes": [*X, ["constant", [1]]], "results": np.array([0, 1]), "path": []},
    {"nodes": [*X, ["constant", 1, 2]], "results": np.array([0, 1]), "path": []},
    {"nodes": [*X, ["largest"]], "results": np.array([0, 1]), "path": []},
    {"nodes": X * 10_001, "results": np.array([0, 1]), "path": []},
    {"nodes": X, "results": None, "path": []},
    {"nodes": X, "results": np.array([0, 2]), "path": []},
    {"nodes": X, "results": np.array([0, -1]), "path": []},
    {"nodes": X, "results": np.array([0, 0.5]), "path": []},
    {"nodes": X, "results": np.array([0, math.nan]), "path": []},
    {"nodes": X, "results": np.array([0]), "path": []},
    {"nodes": X, "results": "01", "path": []},
    {"nodes": X, "results": np.array([0, 1])},
    {"nodes": X, "results": np.array([0, 1]), "path": [0]},
    {"nodes": X, "results": np.array([0, 1]), "path": [[0, True]]},
    {"nodes": [*X, ["greater", 0, 1]], "results": np.array([0, 1]), "path": [[2, 1]]},
    {"nodes": [*X, ["greater", 0, 1]], "results": np.array([0, 1]), "path": [[3, True]]},
]  # fmt: skip


@pytest.mark.parametrize("reply", FORGED, ids=range(len(FORGED)))
def test_what_is_no_list_of_nodes_is_not_read(reply):
    (experiment, _) = EXPERIMENTS["gates.sigmoid"]
    with pytest.raises((Unreadable, proving.Failure)):
        computation("gates.sigmoid", reply, experiment)


def test_what_is_one_is():
    (experiment, _) = EXPERIMENTS["gates.sigmoid"]
    nodes = [*X, ["greater", 0, 1], ["constant", -math.inf], ["where", 2, 0, 1]]
    read = computation("gates.sigmoid", {"nodes": nodes, "results": np.array([4, 3]), "path": [[2, True]]}, experiment)
    assert (read.nodes[4], read.results, read.path) == (("where", 2, 0, 1), [4, 3], [(2, True)])


@pytest.mark.parametrize("path", [[[3, False]], [[3, True], [4, True]]])
def test_a_path_that_its_point_does_not_take_proves_nothing(path):
    """Whoever makes up comparisons cannot make a proof speak of no input at all."""
    nodes = [*X, ["constant", 0], ["greater", 0, 2], ["greater", 2, 0]]
    reply = {"nodes": nodes, "results": np.array([0, 1]), "path": path}
    given = [np.array([0.5, 0.5])] * POINTS
    with pytest.raises(proving.identity.Unproved, match="does not take"):
        proving._proved_on_path("gates.sigmoid", 0, 0, reply, given)


SIGMOID_CHECKS = ["gates.sigmoid.agrees_with_definition", "gates.sigmoid.grows_with_its_input"]


@pytest.fixture
def with_proofs(zygotes, tmp_path):
    """Judge the sigmoid of one file's text by what could be proved, its checks having these outcomes."""

    def run(text, *outcomes):
        (tmp_path / "gates.py").write_text(HEAD + text, encoding="utf-8")
        (submission,) = take_in([tmp_path])
        checks = zip(SIGMOID_CHECKS, outcomes, strict=True)
        verdicts = [Verdict(check, outcome, examples=9) for check, outcome in checks]
        return verdicts, proving.with_proofs(verdicts, submission, zygotes, BUDGET)

    return run


def test_a_proof_is_said_where_the_function_agrees_with_its_definition(with_proofs):
    _, (agreement, growth) = with_proofs(SIGMOID, Outcome.HELD, Outcome.HELD)
    assert (agreement.proved, agreement.outcome, agreement.examples) == (True, Outcome.HELD, 9)
    assert agreement.message == "Proved for all real inputs at x (2); x (1,2)."
    assert not growth.proved


@pytest.mark.parametrize("worse", [Outcome.BROKEN, Outcome.RAISED, Outcome.TIMED_OUT, Outcome.BLOCKED])
def test_a_proof_is_not_tried_where_a_check_did_not_hold(with_proofs, worse):
    before, after = with_proofs(SIGMOID, Outcome.HELD, worse)
    assert before == after


def test_a_fault_of_ours_costs_the_proof_alone(with_proofs, monkeypatch, capsys):
    def fails(*given):
        raise IndexError("ours")

    monkeypatch.setattr(proving, "_proof", fails)
    before, after = with_proofs(SIGMOID, Outcome.HELD, Outcome.HELD)
    assert before == after
    assert "IndexError: ours" in capsys.readouterr().err


def test_equal_expressions_are_proved_once(in_worker, monkeypatch):
    text = SIGMOID.replace("def sigmoid(x):", "def sigmoid(x):\n    twice = 2 * x")
    first = in_worker("gates.sigmoid", SIGMOID)
    monkeypatch.setattr(proving.identity, "prove", None)  # would fail if it were asked
    assert first == in_worker("gates.sigmoid", text)


def test_an_item_without_experiments_has_no_proof(root, zygotes):
    (submission,) = take_in([root / "submissions" / "examples" / "right_numpy"])
    assert prove(submission, ["transformer.CausalLM"], zygotes, BUDGET) == {}


# ── experiments ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_points_lie_in_the_domain_and_the_last_is_tied():
    for rows in EXPERIMENTS.values():
        for experiment in rows:
            points = experiment.points(POINTS)
            assert points.shape == (len(experiment.inputs), POINTS)
            assert (points[experiment.positive] > 0).all()
            for calls in map(experiment.at, points.T):
                assert len(calls) == len(experiment.symbols)
    (entropy, _) = EXPERIMENTS["perplexity.entropy"]
    assert np.allclose(entropy.points(POINTS)[:3].sum(axis=0), 1)
    (scores,) = EXPERIMENTS["attention.argmax_attention"]
    assert len(set(scores.points(POINTS)[:, -1])) == 1
