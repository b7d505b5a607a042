"""Multiply-adds counted in students' own code: exact for every way to write it, or no count at all."""

import contextlib
import io
import math

import numpy as np
import pytest
import sympy as sp
import torch
from torch.utils.flop_counter import FlopCounterMode

import reference.attention
from engine.counting import EXPERIMENTS, Counted, against_claim, count, counted_all, sizes_for
from engine.intake import take_in
from engine.pipeline import tier_for
from engine.worker import counting
from engine.workers import Budget, Zygotes
from formulas.growth import assumptions_of, growth_of
from formulas.reader import read
from formulas.symbols import declared
from reference.derivations import attention_costs

ENCODER = EXPERIMENTS["encoder_self_attention"]
CROSS = EXPERIMENTS["cross_attention"]
DECODER = EXPERIMENTS["decoder_self_attention"]
BUDGET = Budget(
    call_seconds=2.0, import_seconds=20.0, submission_seconds=30.0, cpu_seconds=30.0, memory_mib=1024, scratch_mib=16
)
M, N, k = sp.symbols("M N k")
STANDARD = "2 M² k + 3 M k²"

SOFTMAX = """
import math
import numpy as np
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
"""

# Different code for the same function, all of it 2 M² k + 3 M k².
SAME = {
    "matrix products": SOFTMAX + """
def self_attention(X, A, B, C):
    Q, K, V = X @ A, np.dot(X, B), X.dot(C)
    return np.matmul(softmax(Q @ K.T * (1 / np.sqrt(Q.shape[1]))), V)
""",
    "einsum and tensordot": SOFTMAX + """
def self_attention(X, A, B, C):
    X, A = np.float32(X), np.float64(A)
    Q, K, V = np.tensordot(X, A, axes=1), np.tensordot(X, B, axes=([1], [0])), np.einsum(X, [0, 1], C, [1, 2], [0, 2])
    S = np.einsum("...id,...jd->...ij", Q, K, optimize=True) / np.sqrt(Q.shape[-1])
    return np.einsum("ij,jv", softmax(S), V)
""",
    "three factors, an order chosen": SOFTMAX + """
def self_attention(X, A, B, C):
    S = np.einsum("id,jd->ij", *np.einsum("nd,adh->anh", X, np.stack([A, B])))
    return np.linalg.multi_dot([softmax(S / np.sqrt(A.shape[1])), X @ C])
""",
    "loops over inner products": SOFTMAX + """
def self_attention(X, A, B, C):
    Q, K, V = X @ A, X @ B, X @ C
    n, d = Q.shape
    S = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            S[i, j] = np.dot(Q[i], K[j]) / np.sqrt(d)
    W = softmax(S)
    out = np.zeros((n, d))
    for i in range(n):
        for j in range(n):
            out[i] += W[i, j] * V[j]
    return out
""",
    "everything written into new arrays": SOFTMAX + """
def self_attention(X, A, B, C):
    n, d = X.shape
    Q, K, V = np.zeros((n, d)), np.empty((n, d)), np.zeros_like(X)
    for i in range(n):
        Q[i], K[i], V[i] = X[i] @ A, np.vdot(X[i], X[i]) * 0 + np.inner(X[i], B.T), np.matmul(X[i], C)
    S = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for c in range(d):
                S[i, j] += Q[i, c] * K[j, c]
    return softmax(S / math.sqrt(d)) @ V
""".replace("np.vdot(X[i], X[i]) * 0 + ", ""),
    "lists and floats, no NumPy": """
import math
def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]
def self_attention(X, A, B, C):
    X, A, B, C = X.tolist(), A.tolist(), B.tolist(), C.tolist()
    Q, K, V = product(X, A), product(X, B), product(X, C)
    S = product(Q, list(zip(*K)))
    W = []
    for row in S:
        e = [math.exp((s - max(row)) / math.sqrt(len(Q[0]))) for s in row]
        W.append([x / sum(e) for x in e])
    return product(W, V)
""",
    "sums of mapped products": """
import functools, math, operator
def dot(a, b): return functools.reduce(operator.add, map(operator.mul, a, b), 0)
def self_attention(X, A, B, C):
    Q, K, V = ([[dot(x, w) for w in W.T] for x in X] for W in (A, B, C))
    S = [[math.fsum(a * b for a, b in zip(q, k)) / math.sqrt(len(q)) for k in K] for q in Q]
    W = [[math.exp(s) for s in row] for row in S]
    W = [[w / math.fsum(row) for w in row] for row in W]
    return [[dot(row, v) for v in zip(*V)] for row in W]
""",
    "products by broadcasting, then summed": SOFTMAX + """
def self_attention(X, A, B, C):
    Q, K, V = ((X[:, :, None] * W[None]).sum(1) for W in (A, B, C))
    S = np.sum(Q[:, None, :] * K[None, :, :], axis=-1) / np.sqrt(Q.shape[1])
    return (softmax(S)[:, :, None] * V[None]).sum(axis=1)
""",
    "products kept in a table, then summed": SOFTMAX + """
def self_attention(X, A, B, C):
    Q, K, V = X @ A, X @ B, X @ C
    n, d = Q.shape
    P = np.zeros((n, n, d))
    for i in range(n):
        for j in range(n):
            P[i, j] = Q[i] * K[j]
    W = softmax(P.sum(-1) / np.sqrt(d))
    return np.add.reduce([np.outer(W[:, j], V[j]) for j in range(n)])
""",
    "a first product, then more": SOFTMAX + """
def self_attention(X, A, B, C):
    Q, K, V = X @ A, X @ B, X @ C
    W = softmax(Q @ K.T / np.sqrt(Q.shape[1]))
    out = np.empty_like(V)
    for i in range(len(X)):
        out[i] = W[i, 0] * V[0]
        for j in range(1, len(X)):
            out[i] += W[i, j] * V[j]
    return out
""",
    "lists of arrays": SOFTMAX + """
def self_attention(X, A, B, C):
    Q, K, V = np.array([x @ A for x in X]), np.stack([x @ B for x in X]), np.vstack([x @ C for x in X])
    out = []
    for q in Q:
        scores = [np.sum([a * b for a, b in zip(q, k)]) / math.sqrt(len(q)) for k in K]
        w = np.exp(scores - np.max(scores))
        out.append(np.average(V, axis=0, weights=w / np.sum(w)))
    return np.array(out)
""",
    "plain arrays asked for": """
from math import sqrt
from numpy import asarray, ascontiguousarray, copy, dot, exp, zeros
TABLE = zeros((20, 20))
def self_attention(X, A, B, C):
    X, A, B, C = (asarray(each, dtype=float).astype("float32") for each in (X, A, B, C))
    Q, K, V = dot(X, A), dot(X, B), dot(X, C)
    S = TABLE[: len(X), : len(X)]
    S[:] = asarray((Q @ K.T).tolist()) / sqrt(K.shape[-1])
    W = exp(S)
    W /= W.sum(-1, keepdims=True)
    return copy(W) @ ascontiguousarray(V)
""",
    "checks and prints on the way": SOFTMAX + """
def self_attention(X, A, B, C):
    Q, K, V = X @ A, X @ B, X @ C
    S = np.where(np.tril(np.ones((len(X), len(X)))) >= 0, Q @ K.T / np.sqrt(Q.shape[-1]), -np.inf)
    S = S + (np.arange(len(X)) > len(X)).astype(float) * -1e9 + 0 * np.arange(len(X)) / len(X)
    print(S, S[0, 0], f"{S[0, 0]:.2f}", X.mean(), X.std(), np.linalg.norm(X), round(S[0, 0], 2))
    assert np.allclose(softmax(S).sum(-1), 1) and S.shape == Q.shape[:1] * 2 and np.isscalar(S[0, 0])
    return np.apply_along_axis(lambda row: np.exp(row) / np.exp(row).sum(), 1, S) @ V
""",
    "torch inside": """
import torch
def self_attention(X, A, B, C):
    X, A, B, C = torch.from_numpy(X), torch.tensor(A), torch.as_tensor(B), torch.from_numpy(C)
    Q, K, V = X @ A, X @ B, X @ C
    return (torch.softmax(Q @ K.T / Q.shape[1] ** 0.5, -1) @ V).numpy()
""",
}  # fmt: skip

# Code that takes tensors, all of it 2 M² k + 3 M k².
SAME_IN_TORCH = {
    "the fused kernel": """
def self_attention(X, A, B, C):
    return F.scaled_dot_product_attention(*((X @ W)[None, None] for W in (A, B, C)))[0, 0]
""",
    "the fused function of matrices": """
def self_attention(X, A, B, C):
    return F.scaled_dot_product_attention(X @ A, X @ B, X @ C)
""",
    "linear, einsum, bmm": """
def self_attention(X, A, B, C):
    Q, K, V = F.linear(X, A.T), torch.einsum("nd,dh->nh", X, B), torch.addmm(torch.zeros_like(X), X, C)
    return torch.bmm(torch.softmax(Q @ K.mT / Q.shape[1] ** 0.5, -1)[None], V[None])[0]
""",
    "matrix times vector": """
def self_attention(X, A, B, C):
    Q, K, V = (torch.stack([W.t().mv(x) for x in X]) for W in (A, B, C))
    return torch.stack([V.T @ torch.softmax(K @ q / len(q) ** 0.5, 0) for q in Q])
""",
    "loops over inner products": """
def self_attention(X, A, B, C):
    Q, K, V = X @ A, X @ B, X @ C
    S = torch.zeros(len(X), len(X), dtype=X.dtype)
    for i in range(len(X)):
        for j in range(len(X)):
            S[i, j] = torch.dot(Q[i], K[j])
    W = torch.softmax(S / Q.shape[1] ** 0.5, -1)
    return torch.stack([sum(W[i, j] * V[j] for j in range(len(V))) for i in range(len(X))])
""",
    "products by broadcasting, then summed": """
def self_attention(X, A, B, C):
    Q, K, V = ((X[:, :, None] * W[None]).sum(1) for W in (A, B, C))
    S = (Q[:, None] * K[None]).transpose(0, 1).contiguous().transpose(0, 1).sum(-1) / Q.shape[1] ** 0.5
    print(S, f"{S[0, 0]}")
    return torch.einsum("ij,jv->iv", torch.softmax(S, -1), V)
""",
    "NumPy for a part of it": """
import numpy as np
def self_attention(X, A, B, C):
    Q, K, V = X @ A, (X @ B).numpy(), np.asarray(X @ C)
    e = np.exp(np.asarray(Q) @ K.T / np.sqrt(Q.shape[1]))
    return torch.from_numpy(e / e.sum(-1, keepdims=True) @ V)
""",
}  # fmt: skip

# Code that does something else, and what.
OTHER = {
    "a square matrix too many": (SOFTMAX + """
def self_attention(X, A, B, C):
    Q, K, V = X @ A, X @ B, X @ C
    return softmax(Q @ K.T / np.sqrt(Q.shape[1])) @ np.eye(len(X)) @ V
""", "M³ + 2 M² k + 3 M k²"),
    "projections first multiplied with each other": (SOFTMAX + """
def self_attention(X, A, B, C):
    return softmax(X @ (A @ B.T) @ X.T / np.sqrt(A.shape[1])) @ X @ C
""", "2 M² k + 2 M k² + k³"),
    "three factors in one loop": (SOFTMAX + """
def self_attention(X, A, B, C):
    return softmax(np.einsum("id,je,ed->ij", X @ A, X, B) / np.sqrt(A.shape[1])) @ (X @ C)
""", "M² k² + M² k + 2 M k²"),
    "only the past": (SOFTMAX + """
def self_attention(X, A, B, C):
    Q, K, V = X @ A, X @ B, X @ C
    return np.array([softmax(K[: i + 1] @ Q[i]) @ V[: i + 1] for i in range(len(X))])
""", "M² k + 3 M k² + M k"),
    "a product with a mask that is summed": (SOFTMAX + """
def self_attention(X, A, B, C):
    Q, K, V = X @ A, X @ B, X @ C
    e = np.exp(Q @ K.T / np.sqrt(Q.shape[1])) * np.ones((len(X), len(X)))
    return e / e.sum(-1, keepdims=True) @ V
""", "2 M² k + 3 M k² + M²"),
}  # fmt: skip

# Code that takes the values out of sight.
LOST = {
    "float of an array": ("S = np.array([[float(q @ k) for k in K] for q in Q])", "float(x)"),
    "float of an entry": ("S = np.array([[float(a) for a in row] for row in Q @ K.T])", "float(x)"),
    "mapped to floats": ("S = np.array([list(map(float, row)) for row in (Q @ K.T).tolist()])", "float(x)"),
    "int of an entry": ("S = Q @ K.T + int(Q[0, 0])", "int(x)"),
    "float64 of an entry": ("S = Q @ K.T * np.float64(Q[0, 0])", "float(x)"),
    "an array by its class": ("S = np.ndarray((len(X), len(X))); S[:] = Q @ K.T", "an array of unknown origin"),
    "a flat iterator": ("S = np.reshape([a for a in (Q @ K.T).flat], (len(X), -1))", "x.flat"),
    "nditer": ("S = np.reshape([a.item() for a in np.nditer(Q @ K.T)], (len(X), -1))", "np.nditer"),
    "vectorize": ("S = np.vectorize(lambda a: a)(Q @ K.T)", "an array of objects"),
    "another class": ("S = (Q @ K.T).view(np.ndarray)", "x.view"),
    "an inverse": ("S = Q @ np.linalg.inv(np.linalg.inv(B)) @ X.T", "np.inv"),
    "a convolution": ("S = Q @ K.T + np.convolve(Q[0], K[0])[0]", "np.convolve"),
    "the distance of points": ("S = Q @ K.T + math.dist(Q[0], K[0]) + math.dist(list(Q[0]), list(K[0]))", "math.dist"),
}  # fmt: skip


def function_of(text, name="self_attention"):
    space = {"torch": torch, "F": torch.nn.functional}
    exec(text, space)
    return space[name], space


def call_in_process(function, space, experiment=ENCODER, convert=lambda array: array):
    """Return what `count` wants: multiply-adds by sizes, None when the count is lost."""

    def call(sizes):
        arguments = [convert(array) for array in experiment.arguments(sizes)]
        with contextlib.redirect_stdout(io.StringIO()):
            tally = counting.counted(function, arguments, [space])
        assert tally["lost"] == "", tally
        return tally["multiply_adds"]

    return call


def polynomial(function, space, experiment=ENCODER, **options):
    return count(call_in_process(function, space, experiment, **options), experiment.variables, "self_attention")


# ── in process ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("question", "derived"), [
    ("encoder_self_attention", attention_costs.encoder),
    ("decoder_self_attention", attention_costs.decoder),
    ("cross_attention", attention_costs.cross - attention_costs.cross.coeff(attention_costs.k, 2) * attention_costs.k**2),
])  # fmt: skip
def test_the_reference_does_what_the_derivation_says(question, derived):
    experiment = EXPERIMENTS[question]
    function = getattr(reference.attention, experiment.item.split(".")[1])
    found = polynomial(function, vars(reference.attention), experiment)
    renamed = derived.subs({symbol: sp.Symbol(symbol.name) for symbol in derived.free_symbols})
    assert sp.expand(found.polynomial - renamed) == 0


@pytest.mark.parametrize("text", SAME.values(), ids=SAME.keys())
def test_the_same_product_counts_the_same_however_it_is_written(text):
    function, space = function_of(text)
    assert polynomial(function, space).text == STANDARD


@pytest.mark.parametrize("text", SAME_IN_TORCH.values(), ids=SAME_IN_TORCH.keys())
def test_tensors_count_as_arrays_do(text):
    function, space = function_of("import torch\nimport torch.nn.functional as F\n" + text)
    assert polynomial(function, space, convert=torch.from_numpy).text == STANDARD


@pytest.mark.parametrize(("text", "expected"), OTHER.values(), ids=OTHER.keys())
def test_other_code_counts_what_it_does(text, expected):
    function, space = function_of(text)
    assert polynomial(function, space).text == expected


@pytest.mark.parametrize(("line", "how"), LOST.values(), ids=LOST.keys())
def test_a_value_out_of_sight_is_noticed(line, how):
    body = "    Q, K, V = X @ A, X @ B, X @ C\n    {}\n    return softmax(S) @ V\n"
    function, space = function_of(SOFTMAX + "def self_attention(X, A, B, C):\n" + body.format(line))
    assert counting.counted(function, ENCODER.arguments({"M": 5, "k": 3}), [space])["lost"] == how


@pytest.mark.parametrize("leave", ["item()", "tolist()", "__float__()"])
def test_a_tensor_that_becomes_plain_numbers_is_noticed(leave):
    function, space = function_of(f"def self_attention(X, A, B, C):\n    X[0, 0].{leave}\n    return X @ A\n")
    arguments = [torch.from_numpy(array) for array in ENCODER.arguments({"M": 5, "k": 3})]
    assert counting.counted(function, arguments, [space])["lost"].startswith("tensor.")


@pytest.mark.parametrize("result", ["1.0", "[[0.5]]", "None", "{'a': 0.5}", "np.float64(1)", "(X, 0.5)"])
def test_a_result_that_was_not_counted_is_noticed(result):
    function, space = function_of(f"import numpy as np\ndef self_attention(X, A, B, C):\n    return {result}\n")
    assert counting.counted(function, ENCODER.arguments({"M": 5, "k": 3}), [space])["lost"].startswith("the result")


@pytest.mark.parametrize("text", SAME.values(), ids=SAME.keys())
def test_counting_changes_no_value(text):
    function, space = function_of(text)
    arguments = ENCODER.arguments({"M": 5, "k": 3})
    results = []

    def keeping(*given):
        results.append(function(*given))
        return results[-1]

    with contextlib.redirect_stdout(io.StringIO()):
        counting.counted(keeping, [array.copy() for array in arguments], [space])
    want = reference.attention.self_attention(*arguments)
    np.testing.assert_allclose(np.array(counting._plain(results[0])), want, atol=1e-6)


def test_torchs_own_counter_agrees_where_it_counts():
    arguments = [torch.from_numpy(array) for array in ENCODER.arguments({"M": 5, "k": 3})]
    function, space = function_of(SAME_IN_TORCH["linear, einsum, bmm"])
    with FlopCounterMode(display=False) as counter:
        function(*arguments)
    assert counting.counted(function, arguments, [space])["multiply_adds"] * 2 == counter.get_total_flops()


def test_numpy_and_math_are_as_before_afterwards_even_if_the_function_raises():
    before = dict(vars(np)), dict(vars(math))

    def fails(_array):
        assert np.zeros is not before[0]["zeros"]
        raise ZeroDivisionError

    space = {"zeros": np.zeros, "kept": np.ones(3), "new": np.ones(2)}
    table = space["kept"]
    with pytest.raises(ZeroDivisionError):
        counting.counted(fails, [np.ones(2)], [space])
    assert (dict(vars(np)), dict(vars(math))) == before
    assert space["zeros"] is np.zeros
    assert space["kept"] is table


def test_elementwise_operations_are_counted_apart():
    tally = counting.counted(lambda x: np.exp(x - x.max(axis=-1, keepdims=True)), [np.ones((3, 5))])
    assert tally == {"multiply_adds": 0, "elementwise": 45, "lost": ""}


# ── the polynomial ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("call", "variables", "text"), [
    (lambda s: 2 * s["M"] ** 2 * s["k"] + 3 * s["M"] * s["k"] ** 2, "Mk", "2 M² k + 3 M k²"),
    (lambda s: s["N"] * (s["N"] + 1) // 2 * s["k"], "Nk", "1/2 N² k + 1/2 N k"),
    (lambda s: (s["M"] - 1) * s["k"] + 7, "Mk", "M k - k + 7"),
    (lambda s: s["M"] ** 3 * s["k"] + 1, "Mk", "M³ k + 1"),
    (lambda s: 2 * s["M"] * s["N"] * s["k"] + s["M"] ** 2 * s["N"] * s["k"], "MNk", "M² N k + 2 M N k"),
    (lambda s: s["n"] ** 3, "n", "n³"),
])  # fmt: skip
def test_a_polynomial_is_found_exactly(call, variables, text):
    assert count(call, tuple(variables)).text == text


@pytest.mark.parametrize("call", [
    lambda s: s["M"] ** 4,
    lambda s: s["M"] ** 3 * s["k"] ** 2,
    lambda s: 2 ** s["M"],
    lambda s: s["M"] ** 2 * s["k"] + (s["M"] == 12),
    lambda s: s["M"] * min(s["M"], s["k"]),
    lambda s: s["M"] * math.isqrt(s["k"]),
    lambda s: None if s["M"] == 12 else s["M"],
    lambda _: 0,
    lambda s: 10**6 - s["M"],
], ids=["degree", "two degrees", "exponential", "one off", "minimum", "root", "no count", "nothing", "falling"])  # fmt: skip
def test_what_is_no_polynomial_is_not_called_one(call):
    assert count(call, ("M", "k")) is None


@pytest.mark.parametrize("variables", ["n", "Mk", "MNk"])
def test_no_two_sizes_are_equal_and_some_are_left_to_test_the_polynomial(variables):
    sizes = sizes_for(tuple(variables))
    assert all(len(set(each.values())) == len(variables) for each in sizes)
    assert len(sizes) - {"n": 4, "Mk": 13, "MNk": 32}[variables] == 5
    assert len({tuple(each.values()) for each in sizes}) == len(sizes)


# ── against a claim ───────────────────────────────────────────────────────────────────────────────────────────────

CODE = Counted("self_attention", ("M", "k"), 2 * M**2 * k + 3 * M * k**2, STANDARD)
CUBIC = Counted("self_attention", ("M", "k"), M**3 + 2 * M**2 * k + 3 * M * k**2, "M³ + " + STANDARD)


@pytest.mark.parametrize(("code", "claim", "assumed", "says"), [
    (CODE, M**2 * k + M * k**2, (), ""),
    (CODE, 7 * M**2 * k + M * k**2 + M**2 + M, (), ""),
    (CODE, M * k * sp.Max(M, k), (), ""),
    (CODE, M**2 * k, (k <= M,), ""),
    (CODE, M**2, (k <= 8,), ""),
    (CODE, M**2 * k, (), "You claim O(M² k), your self_attention does 2 M² k + 3 M k² multiply-adds: it grows faster along k = t (M fixed)."),
    (CODE, M**2, (), "You claim O(M²), your self_attention does 2 M² k + 3 M k² multiply-adds: it grows faster along k = t (M fixed)."),
    (CODE, M**2 * k**2, (), "You claim O(M² k²), your self_attention does 2 M² k + 3 M k² multiply-adds: it grows more slowly along M = t, k = t, so a smaller bound holds."),
    (CUBIC, M**2 * k + M * k**2, (), "You claim O(M k² + M² k), your self_attention does M³ + 2 M² k + 3 M k² multiply-adds: it grows faster along M = t (k fixed)."),
    (CUBIC, M**3 + M * k**2, (), ""),
])  # fmt: skip
def test_a_claim_is_compared_with_the_count(code, claim, assumed, says):
    assert against_claim(code, growth_of(claim, [M, k]), assumptions_of(assumed)) == says


def test_a_claim_as_it_was_read_is_compared():
    symbols = declared({"M": {}, "k": {}, "N": {}})
    assert against_claim(CODE, read("O(M^2 k + M k^2)", symbols)) == ""
    assert against_claim(CODE, read("O(M^3 + k^3)", symbols)).endswith(
        "it grows more slowly along M = t (k fixed), so a smaller bound holds."
    )


@pytest.mark.parametrize("text", ["O(N^2 k)", "O(exp(M))", "M - M"])
def test_nothing_is_said_of_a_claim_that_cannot_be_compared(text):
    claim = read(text, declared({"M": {}, "k": {}, "N": {}}))
    assert against_claim(CODE, claim) == ""
    assert against_claim(CODE, growth_of(N**2, [N])) == ""


# ── through a worker ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def zygotes():
    with Zygotes(tier_for(trusted=False), BUDGET) as running:
        yield running


@pytest.fixture
def in_worker(zygotes, tmp_path):
    def run(text, experiment=ENCODER):
        (tmp_path / "attention.py").write_text(text, encoding="utf-8")
        (submission,) = take_in([tmp_path])
        return counted_all(submission, {experiment.item: experiment}, zygotes, BUDGET).get(experiment.item)

    return run


@pytest.mark.parametrize("name", ["right_numpy", "right_torch"])
@pytest.mark.parametrize(("experiment", "text"), [(ENCODER, STANDARD), (DECODER, "2 N² k + 3 N k²"), (CROSS, "2 M N k")], ids=["encoder", "decoder", "cross"])  # fmt: skip
def test_right_submissions_are_counted(root, zygotes, name, experiment, text):
    (submission,) = take_in([root / "submissions" / "examples" / name])
    found = counted_all(submission, {experiment.item: experiment}, zygotes, BUDGET)[experiment.item]
    assert found.text == text
    assert against_claim(found, growth_of(sp.sympify(found.polynomial), [M, N, k]), experiment.assuming) == ""


def test_a_claim_about_cross_attention_may_include_the_projections(in_worker):
    found = in_worker(SOFTMAX + "def scaled_dot_product_attention(Q, K, V): return softmax(Q @ K.T) @ V\n", CROSS)
    for claim in (M * N * k, M * N * k + M * k**2 + N * k**2):
        assert against_claim(found, growth_of(claim, [M, N, k]), CROSS.assuming) == ""
    assert "faster along N = t" in against_claim(found, growth_of(M**2 * k, [M, N, k]), CROSS.assuming)


@pytest.mark.parametrize("name", ["loops over inner products", "lists and floats, no NumPy", "plain arrays asked for"])
def test_naive_code_counts_the_same_in_a_worker(in_worker, name):
    assert in_worker(SAME[name]).text == STANDARD


def test_only_products_and_the_rest_together_are_called_less_than_a_claim(in_worker):
    found = in_worker("""
import numpy as np
def self_attention(X, A, B, C):
    np.minimum(X[:, None, None, :], X[None, :, None, :] - X[None, None, :, :])
    return X @ A
""")
    assert (found.text, sp.expand(found.rest)) == ("M k²", M**3 * k + M**2 * k)
    assert against_claim(found, growth_of(M**3 * k + M * k**2, [M, k])) == ""
    assert "faster along k = t" in against_claim(found, growth_of(M**3 * k, [M, k]))
    assert "slowly along M = t (k fixed)" in against_claim(found, growth_of(M**4 * k + M * k**2, [M, k]))
    unknown = Counted("f", ("M", "k"), found.polynomial, found.text, rest=None)
    assert against_claim(unknown, growth_of(M**4 * k + M * k**2, [M, k])) == ""


def test_a_cubic_one_is_told_so(in_worker):
    found = in_worker(OTHER["a square matrix too many"][0])
    said = against_claim(found, growth_of(M**2 * k + M * k**2, [M, k]))
    assert said == (
        "You claim O(M k² + M² k), your self_attention does M³ + 2 M² k + 3 M k² multiply-adds: "
        "it grows faster along M = t (k fixed)."
    )


NONE_OF_IT = {
    "missing": "def other(x): return x\n",
    "fails at import": "raise ValueError\n",
    "raises": "def self_attention(*given): raise ValueError\n",
    "converts to plain lists": SOFTMAX + """
def self_attention(X, A, B, C):
    X, A, B, C = ([[float(a) for a in row] for row in each] for each in (X, A, B, C))
    return X
""",
    "does no arithmetic": "def self_attention(X, A, B, C): return X\n",
    "exits": "import os\ndef self_attention(*given): os._exit(0)\n",
    "hangs": "def self_attention(*given):\n    while True: pass\n",
    "no polynomial": SOFTMAX + """
def self_attention(X, A, B, C):
    for _ in range(len(X).bit_length()): X = X @ A
    return X
""",
}  # fmt: skip


@pytest.mark.parametrize("text", NONE_OF_IT.values(), ids=NONE_OF_IT.keys())
def test_what_cannot_be_counted_gets_no_count(in_worker, text):
    assert in_worker(text) is None


LIES = {
    "a polynomial of its own": ("len(X)", "M"),
    "a huge number": ("10**3000", None),
    "a larger one": ("10**9000", None),
    "one above the limit": ("10**12 + 1", None),
    "not a number": ("float('nan')", None),
    "infinity": ("float('inf')", None),
    "a negative number": ("-len(X)", None),
    "a truth value": ("True", None),
    "a text": ("'7'", None),
    "an array": ("np.arange(3)", None),
    "a falling number": ("10**6 - len(X)", None),
    "anything": ("hash(X.tobytes()) % 1000", None),
}  # fmt: skip


@pytest.mark.parametrize(("value", "text"), LIES.values(), ids=LIES.keys())
def test_who_lies_about_the_count_changes_their_own_only(in_worker, value, text):
    found = in_worker(f"""
import numpy as np
def self_attention(X, A, B, C):
    type(X).__array_ufunc__.__globals__["_now"].multiply_adds = {value}
    return X
""")
    assert (found.text if found else None) == text
    assert in_worker(SAME["matrix products"]).text == STANDARD


@pytest.mark.parametrize(
    "reply", ["{}", "{'multiply_adds': 5}", "[1]", "{'multiply_adds': 5, 'elementwise': 5, 'lost': 0}", "float('nan')"]
)
def test_replies_of_another_form_are_refused(in_worker, reply):
    text = f"def self_attention(X, *W):\n    s = type(X).__array_ufunc__.__globals__\n    s['counted'] = lambda *given: {reply}\n    return X\n"
    assert in_worker(text) is None
