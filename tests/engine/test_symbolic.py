"""Functions run on symbols: the expressions have the values of the function, whatever NumPy it is written in."""

import math
import operator

import numpy as np
import pytest

from engine.worker import symbolic
from formulas.identity import values

HEAD = "import math\nimport operator\nimport numpy as np\nfrom numpy import exp as e_to\n"
X, Y = np.array([[0.5, -1.25, 0.75], [1.5, 0.25, -0.5]]), np.array([0.5, 2.0, 1.5])
NUMBERS = [np.arange(6).reshape(2, 3), np.arange(6, 9)]
OTHER = [  # points on the path of (X, Y): nothing changes its sign, or its order
    (X * 1.125, Y * 1.0625),
    (X + np.array([[0.05, -0.1, 0.1], [0.1, 0.05, -0.05]]), Y + 0.125),
]


def function_of(body):
    """Return f(x, y) with this body, and its globals; a body without `return` is an expression."""
    text = body if "return" in body else f"return {body}"
    space = {}
    exec(HEAD + "def f(x, y):\n    " + text.replace("\n", "\n    "), space)
    return space["f"], space


def traced(body):
    function, space = function_of(body)
    return symbolic.traced([(function, [X.copy(), Y.copy()], NUMBERS)], [], [space])


def value_of(reply, x, y):
    """Compute the expressions of a reply, in the form the function returned them."""
    found = values([tuple(row) for row in reply["nodes"]], np.concatenate([x.ravel(), y])[:, None])

    def filled(numbers):
        if isinstance(numbers, dict):
            return {key: filled(each) for key, each in numbers.items()}
        if isinstance(numbers, list | tuple):
            return type(numbers)(filled(each) for each in numbers)
        return np.vectorize(lambda number: float(found[number][0]), otypes=[float])(numbers)

    return filled(reply["results"])


# ── the same values ───────────────────────────────────────────────────────────────────────────────────────────────

SUPPORTED = {
    # arithmetic and functions
    "arithmetic": "(x + y) * (x - 2) / (3 - y) - -x",
    "powers": "x ** 2 + y ** 0.5 + y ** -1 + y ** -0.5 + y ** 3 + 2 ** x + y ** x + np.power(y, 1.5) + x ** 0",
    "ufuncs": "np.exp(x) + np.log(y) + np.sqrt(y) + np.square(x) + np.tanh(x) + np.sin(x) + np.cos(x) + np.reciprocal(y)",
    "more ufuncs": "np.log2(y) + np.log10(y) + np.log1p(y) + np.expm1(x) + np.exp2(x) + np.sinh(x) + np.cosh(x) + np.tan(x)",
    "two arguments": "np.logaddexp(x, y) + np.hypot(x, y) + np.maximum(x, y) + np.minimum(x, 0) + np.float_power(y, 2)",
    "signs": "np.abs(x) + abs(x) + np.sign(x) + np.fabs(x) + np.heaviside(x, 0.5) + np.clip(x, -1, 1) + x.clip(0, None)",
    "imported by name": "e_to(x)",
    "operators as functions": "operator.add(x, y)",
    "math": "[math.exp(v) + math.tanh(v) + math.fabs(v) + math.pow(v, 2) + math.expm1(v) for v in x[0]]",
    "more math": "[math.log(v) + math.log(v, 3) + math.log(v, v + 1) + math.sqrt(v) + math.log1p(v) + math.hypot(v, 1) for v in y]",
    "sums in math": "math.fsum(v * 2 for v in y) + math.prod(y) + math.dist(x[0], y)",
    "sum of one": "math.fsum(y[:1]) + math.prod(x[:1, 0]) + math.exp(np.asarray(y[0]))",
    "constants": "np.pi * x + np.e + 1 / 3",
    "in place": "x = x.copy()\nx -= y\nx *= 2\nx /= 3\nx **= 2\nreturn x",
    "out": "z = np.empty((2, 3))\nnp.exp(x, out=z)\nreturn z",
    "where of a ufunc": "return np.log(y, out=np.zeros_like(y), where=y > 1)",
    # products
    "matmul": "x @ y + (x @ x.T) @ np.ones(2) + np.matmul(x, y)",
    "dot": "np.dot(x, y) + x.dot(y) + np.vdot(y, y) + np.inner(x, y) + np.linalg.multi_dot([x, x.T, x, y])",
    "einsum": "np.einsum('ij,j->i', x, y) + np.einsum('ij,ij->i', x, x) + np.einsum(x, [0, 1], y, [1])",
    "einsum in steps": "np.einsum('ij,kj,k->i', x, x, np.arange(2.0), optimize=True)",
    "tensordot": "np.tensordot(x, y, axes=1) + np.tensordot(x, x, axes=([1], [1])) @ np.ones(2)",
    "outer": "np.outer(y, y) + np.multiply.outer(y, y) + np.kron(y, np.ones((3, 1)))",
    "diag": "np.diag(y) @ np.diag(np.outer(y, y)) + np.trace(np.outer(y, y))",
    # reductions
    "sums": "x.sum() + np.sum(x, axis=0) + x.sum(axis=1, keepdims=True) + np.sum([x, x], axis=0) + sum(y)",
    "means": "x.mean() + np.mean(x, axis=0) + np.mean(x, 1, keepdims=True) + np.average(x, axis=0)",
    "weighted": "np.average(x, axis=1, weights=y) + np.average(y, weights=y)",
    "variance": "x.var() + np.var(x, axis=0) + np.std(x, axis=1, keepdims=True, ddof=1) + np.var(x, axis=0, ddof=1)",
    "products": "np.prod(y) + x.prod(axis=0) + np.cumprod(y)",
    "cumulative": "np.cumsum(x, axis=1) + np.add.accumulate(y) + np.diff(y)[0]",
    "part of a sum": "np.sum(x, axis=1, where=np.array([True, False, True]))",
    "largest": "x.max() + np.max(x, axis=1, keepdims=True) + np.amin(x, axis=0) + np.max(x, initial=9) + max(y) + min(y)",
    "largest of two": "[max(0.0, v) + min(v, 1) for v in x[0]]",
    "along two axes": "np.stack([x, x]).max(axis=(1, 2))",
    "logarithms added up": "np.logaddexp.reduce(x, axis=1)",
    "norm": "np.linalg.norm(y) + np.linalg.norm(x, axis=1) + np.linalg.norm(x)",
    # shapes
    "reshape": "x.reshape(3, 2).T + x.reshape(-1)[0] + x.ravel()[1] + x.flatten()[2] + x.transpose()[0, 0]",
    "axes": "np.swapaxes(x, 0, 1) @ x + np.expand_dims(y, 0) + np.moveaxis(x[None], 0, 2).squeeze() @ y @ np.ones(2)",
    "joined": "np.concatenate([x, x], axis=1)[:, :3] + np.stack([y, y]) + np.vstack([y, y]) + np.hstack([x, x])[:, 3:]",
    "joined by index": "np.r_[y, x[0], 1.0, y[0]][:3] + np.c_[y, y].sum(1)",
    "ragged": "np.concatenate([y[:1], y, [y[0], 2.0]])",
    "split": "np.split(y, 3)[1] + np.array_split(x, 2)[0]",
    "repeated": "np.tile(y, (2, 1)) + np.repeat(y[None], 2, axis=0) + np.broadcast_to(y, (2, 3)) + np.roll(y, 1) + y[::-1]",
    "triangles": "np.triu(np.outer(y, y)) + np.tril(np.outer(y, y), -1) + np.eye(3) * y",
    "padded": "np.pad(y, 1)[:3] + np.flip(y)",
    "indices": "x[[1, 0]] + x[:, np.array([2, 0, 1])] + x[..., ::-1] + x[np.arange(2), [0, 1]][:, None] + np.take(y, [2, 1, 0])",
    "iteration": "[a * b for row in x for a, b in zip(row, y)]",
    # arrays that are filled
    "zeros filled": "z = np.zeros((2, 3))\nfor i in range(2):\n    z[i] = x[i] * y\n    z[i, 0] += 1\nreturn z",
    "like": "z = np.zeros_like(x)\nz += x\no = np.ones_like(y)\no[1:] = y[1:]\nf = np.full((3,), 0.5)\nf[0] = y[0]\ne = np.empty_like(y)\ne[:] = f\nreturn z + o + e",
    "a list made an array": "np.array([[v * 2 for v in row] for row in x]) + np.asarray([y[0], 0.0, y[1]], dtype=float)",
    "conversions": "np.asarray(x, dtype=np.float64) + np.array(y, copy=True) + x.astype(float) + np.float64(2) * y",
    "a slice is a view": "z = x.copy()\nrow = z[0]\nrow[:] = y\nreturn z",
    "add at": "z = np.zeros(2)\nnp.add.at(z, [0, 0, 1], y)\nreturn z",
    "dtype of another": "np.zeros(3, dtype=x.dtype) + y + x.dtype.type(2) + np.ones(3, dtype=np.result_type(x, y))",
    "is floating": "return y if np.issubdtype(x.dtype, np.floating) and x.dtype == float and x.dtype.kind == 'f' else 0",
    "numbers": "float(x[0, 0]) + y[0].item() + y[1].sum() + x[0, 0].reshape(1) + y[2][None] + x.item(1)",
    "a number that grows": "total = 0.0\nfor v in y:\n    total += v\n    total *= v\nreturn total",
    "lists of lists": "[[sum(a * b for a, b in zip(row, y))] for row in x.tolist()]",
    "vectorize": "np.vectorize(lambda v: v * v + 1)(x)",
    "apply along axis": "np.apply_along_axis(lambda row: row / (row * row).sum(), 1, x) + np.apply_along_axis(sum, 1, x)[:, None]",
    "dict": "{'a': x * 2, 'b': [y, 1.0]}",
    "tuple": "x, y.sum(), 3",
    # infinity
    "masked by infinity": "np.exp(y + np.array([0, -np.inf, 0])) + np.exp(-np.inf) * y",
    "largest of masked": "np.max(y + np.array([-np.inf, 0, 0]))",
    "where infinite": "m = np.array([0, -np.inf, 1])\nreturn np.where(np.isneginf(m), 0, y) + np.isinf(y) + np.isfinite(y) + np.nan_to_num(y)",
    # comparisons that stay expressions
    "where": "np.where(x > 0, x, 0) + np.where(x >= y, y, x) + (x < 0) * x + (x > 0).astype(float) + np.where(~(x <= 0), 1, x)",
    "and, or": "np.where((x > 0) & (y > 1), x, y) + np.where((x > 0) | (y > 1), 1, 0) + np.where(np.logical_not(x == 0), 1, 0)",
    "assigned where": "z = x.copy()\nz[z < 0] = 0\nreturn z",
    "counted": "(x > 0).sum(axis=1)",
    # comparisons that decide
    "if": "return x * 2 if x[0, 0] > 0 else y",
    "selected": "y[y > 1]",
    "assigned to selected": "z = np.zeros(3)\nz[y > 1] = y[y > 1] * 2\nreturn z",
    "argmax": "y[np.argmax(x, axis=1)] + y[x.argmin()] + np.eye(3)[x.argmax(1)] @ y",
    "sorted": "np.sort(y) + y[np.argsort(y)] + np.array(sorted(y))",
    "any, all": "return x if (y > 0).all() and np.any(x < 0) else y",
    "python's max by key": "x[:, max(range(3), key=lambda j: y[j])]",
    "nonzero": "y[np.nonzero(y > 1)] + np.count_nonzero(x > 0)",
}  # fmt: skip


@pytest.mark.parametrize("body", SUPPORTED.values(), ids=SUPPORTED.keys())
def test_expressions_have_the_values_of_the_function(body):
    reply = traced(body)
    for x, y in [(X, Y), *OTHER]:
        function, _ = function_of(body)
        want, got = function(x.copy(), y.copy()), value_of(reply, x, y)
        assert type(got) is type(want) or not isinstance(want, list | tuple | dict)
        parts = (want.items(), got.items()) if isinstance(want, dict) else ([(0, want)], [(0, got)])
        for (_, one), (_, other) in zip(*parts, strict=True):
            for a, b in zip(_flat(one), _flat(other), strict=True):
                np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-12)


def _flat(value):
    """Return a result as a list of arrays; a list of equal parts is one array."""
    if isinstance(value, list | tuple):
        return [array for part in value for array in _flat(part)]
    return [np.asarray(value, dtype=float)]


def test_a_constant_result_is_a_constant():
    reply = traced("np.where(np.tri(2) > 0, 0.0, -np.inf)")
    shown = [[reply["nodes"][number] for number in row] for row in reply["results"].tolist()]
    zero, hidden = ["constant", 0], ["constant", -math.inf]
    assert shown == [[zero, hidden], [zero, zero]]


# ── paths ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("body", "path"), [
    ("np.where(x > 0, x, 0)", []),
    ("np.maximum(x, 0) * (x > 1)", []),
    ("x - x.max(axis=1, keepdims=True)", []),
    ("max(y)", []),
    ("return x if y[0] > 1 else y", [("greater", False)]),
    ("return x if y[0] <= 1 else y", [("greater_equal", True)]),
    ("return x if y[0] == 1 else y", [("equal", False)]),
    ("return x if y[0] else y", [("not", True)]),
    ("return x if y[0] > 1 or y[0] > 1 else y", [("greater", False)]),
    ("y[y > 1]", [("greater", False), ("greater", True), ("greater", True)]),
    ("return x if y[0] > y[0] or y[0] < np.inf else y", []),
    ("np.argmax(y[:2])", [("greater", True)]),
])  # fmt: skip
def test_a_comparison_is_on_the_path_when_it_decides(body, path):
    reply = traced(body)
    assert [(reply["nodes"][node][0], outcome) for node, outcome in reply["path"]] == path


# ── what is not supported ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("body", "why"), [
    ("x // 2", "np.floor_divide"),
    ("x % 2", "np.remainder"),
    ("np.rint(x)", "np.rint"),
    ("round(y[0])", "round"),
    ("int(y[0])", "int(x)"),
    ("x.astype(int)", "made whole"),
    ("np.arctan(x)", "np.arctan"),
    ("math.erf(y[0])", "math.erf"),
    ("math.floor(y[0])", "math.floor"),
    ("range(y[0])", "an index"),
    ("z = np.arange(3)\nz[0] = y[0]\nreturn z", "int(x)"),
    ("y * np.inf", "infinity"),
    ("y / 0", "division by zero"),
    ("np.log(y, where=y > 1)", "never computed"),
    ("np.vecdot(x, y, axis=-1)", "np.vecdot with options"),
    ("np.sum(x, dtype=int)", "np.add with options"),
    ("y * np.nan", "is none"),
    ("None", "NoneType"),
    ("'text'", "str"),
    ("z = y[0]\nfor _ in range(30000):\n    z = z * y[1]\nreturn z", "too long"),
])  # fmt: skip
def test_what_has_no_expression_is_refused(body, why):
    with pytest.raises(symbolic.Unsupported, match=r"(?i)" + why.replace("(", r"\(").replace(")", r"\)")):
        traced(body)


@pytest.mark.parametrize("body", [
    "np.linalg.inv(x @ x.T)", "np.linalg.solve(x @ x.T, y[:2])", "np.fft.fft(y)", "np.round(x, 2)", "np.float64(y[0])",
    "z = np.arange(3) * 0.5\nz[0] = y[0]\nreturn z", "raise KeyError\nreturn 0",
])  # fmt: skip
def test_anything_else_raises(body):
    with pytest.raises(Exception):  # noqa: B017, PT011 - NumPy's own refusal of objects, or the student's exception
        traced(body)


# ── nothing is left behind ────────────────────────────────────────────────────────────────────────────────────────


def test_numpy_is_never_touched_and_globals_are_as_before():
    before = dict(vars(np)), dict(vars(math))
    function, space = function_of("assert np.zeros is not operator.zeros\nraise ZeroDivisionError\nreturn x")
    space["operator"] = type("Kept", (), {"zeros": np.zeros})
    names = dict(space)
    with pytest.raises(ZeroDivisionError):
        symbolic.traced([(function, [X, Y], NUMBERS)], [], [space])
    assert (dict(vars(np)), dict(vars(math))) == before
    assert space == names
    assert operator.add(1, 1) == 2


def test_what_the_call_itself_puts_into_its_globals_stays():
    function, space = function_of("global kept\nkept = 1\nreturn x")
    symbolic.traced([(function, [X, Y], NUMBERS)], [], [space])
    assert space["kept"] == 1


def test_a_call_takes_the_result_of_the_last():
    calls = [(lambda s: {"s": s * 2}, [3.0], [0]), (lambda model, k: model["s"] ** k, [3], [None])]
    reply = symbolic.traced(calls, [], [])
    found = values([tuple(row) for row in reply["nodes"]], np.array([[5.0]]))
    assert found[reply["results"]][0] == 1000


def test_whole_numbers_stay_whole():
    function, space = function_of("int(x) * (int(y) + 1) ** 2")
    reply = symbolic.traced([(function, [3, 4], [0, 1])], [], [space])
    assert values([tuple(row) for row in reply["nodes"]], np.array([[3.0], [4.0]]))[reply["results"]][0] == 75


def test_infinity_times_a_positive_symbol_is_infinity():
    function, space = function_of("x * np.inf + y")
    reply = symbolic.traced([(function, [2.0, 1.0], [0, 1])], [0], [space])
    assert reply["nodes"][reply["results"]] == ["constant", math.inf]
