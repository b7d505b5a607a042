"""What becomes of submissions: right ones in unusual clothes, wrong ones, and ones that cannot be run."""

import pytest

from engine.records import Outcome, Status

RIGHT = """
import numpy as np
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""

UNUSUAL = {
    "pure Python loops": """
import math
def softmax(x, axis=-1):
    x = x.tolist() if hasattr(x, "tolist") else x
    def depth(v):
        return 1 + depth(v[0]) if isinstance(v, list) else 0
    axis = axis % depth(x)
    def along(v, k):
        if k == 0:
            def get(u, path):
                for p in path: u = u[p]
                return u
            def paths(u):
                return [[i] + p for i, w in enumerate(u) for p in paths(w)] if isinstance(u, list) else [[]]
            def fill(u, path=()):
                if isinstance(u, list): return [fill(w, path + (i,)) for i, w in enumerate(u)]
                column = [get(w, path) for w in v]
                top = max(column)
                total = sum(math.exp(c - top) for c in column)
                return lambda c: math.exp(c - top) / total
            shape = fill(v[0])
            def apply(u, f):
                return [apply(a, b) for a, b in zip(u, f)] if isinstance(u, list) else f(u)
            return [apply(w, shape) for w in v]
        return [along(w, k - 1) for w in v]
    return along(x, axis)
""",
    "einsum and moveaxis": """
import numpy as np
def softmax(x, axis=-1):
    y = np.moveaxis(np.asarray(x), axis, -1)
    w = np.exp(y - y.max(-1)[..., None])
    return np.moveaxis(w * np.reciprocal(np.einsum("...i->...", w))[..., None], -1, axis)
""",
    "torch in float32": """
import torch
def softmax(x, axis=-1):
    return torch.softmax(torch.as_tensor(x).float(), dim=axis)
""",
    "torch that only takes tensors": """
import torch
def softmax(x, axis=-1):
    e = (x - x.amax(dim=axis, keepdim=True)).exp()
    return e / e.sum(dim=axis, keepdim=True)
""",
    "torch that only takes float32 tensors": """
import torch
def softmax(x, axis=-1):
    return torch.nn.functional.linear(x.softmax(dim=axis)[..., None], torch.ones(1, 1))[..., 0]
""",
    "a nested list returned": RIGHT.replace("return e / e.sum(axis=axis, keepdims=True)", "return (e / e.sum(axis=axis, keepdims=True)).tolist()"),
    "a matrix subclass returned": RIGHT.replace("return e /", "return np.ma.array(e) /"),
    "big-endian numbers returned": RIGHT + "\n_right = softmax\ndef softmax(x, axis=-1):\n    return _right(x, axis).astype('>f8')\n",
    "another argument name": RIGHT.replace("axis=-1", "dim=-1").replace("axis=axis", "axis=dim"),
    "a lambda": "import numpy as np\nsoftmax = lambda x, axis=-1: (lambda e: e / e.sum(axis, keepdims=True))(np.exp(x - x.max(axis, keepdims=True)))\n",
    "a small epsilon in the denominator": RIGHT.replace("keepdims=True)\n", "keepdims=True)\n", 1).replace("/ e.sum(axis=axis, keepdims=True)", "/ (e.sum(axis=axis, keepdims=True) + 1e-9)"),
    "debug prints on every call": RIGHT.replace("    e =", "    print('x is', x)\n    e ="),
    "a plotting import": "import matplotlib.pyplot as plt\nfrom tqdm import tqdm\nfig, ax = plt.subplots()\nax.plot([1, 2])\nplt.show()\n" + RIGHT,
    "helper with a type annotation from the future": "from __future__ import annotations\n" + RIGHT,
}  # fmt: skip


@pytest.mark.parametrize("text", UNUSUAL.values(), ids=UNUSUAL.keys())
def test_right_answers_in_unusual_clothes_score_full_marks(judged, text):
    result = judged(text)
    assert result.items[0].outcome is Outcome.HELD, [c.verdict.message for c in result.items[0].checks]
    assert result.score == result.max_score


BAD = {
    "syntax error": ("def softmax(x, axis=-1)\n    return x\n", Outcome.RAISED, "attention.py fails at import: SyntaxError: expected ':' (attention.py line 1"),
    "fails at import": ("import numpy as np\nvalues = np.zeros(3)[7]\n", Outcome.RAISED, "fails at import: IndexError: index 7 is out of bounds for axis 0 with size 3 (attention.py line 2"),
    "package that is not there": ("import jax\n", Outcome.RAISED, "fails at import: ModuleNotFoundError: No module named 'jax'"),
    "data file that is not there": ("open('vectors.txt')\n", Outcome.RAISED, "submissions run without files"),
    "near name": ("def soft_max(x, axis=-1):\n    return x\n", Outcome.MISSING, "attention.py has no function softmax. Found soft_max: is that the one?"),
    "not there at all": ("def relu(x):\n    return x\n", Outcome.MISSING, "attention.py has no function softmax."),
    "not a function": ("softmax = 3\n", Outcome.MISSING, "attention.py has no function softmax."),
    "wrong arity": ("def softmax():\n    return 1\n", Outcome.RAISED, "It raised TypeError: softmax() takes 0 positional arguments but"),
    "wrong shape": ("import numpy as np\ndef softmax(x, axis=-1):\n    return np.zeros((2, 2, 2))\n", Outcome.BROKEN, "softmax returned an array of shape (2, 2, 2); expected an array of shape (1,)."),
    "NaN": ("import numpy as np\ndef softmax(x, axis=-1):\n    return np.full(np.shape(x), np.nan)\n", Outcome.BROKEN, "The result contains NaN."),
    "None": ("def softmax(x, axis=-1):\n    print(x)\n", Outcome.BROKEN, "softmax returned None (is a `return` missing?); expected an array of shape"),
    "a string": ("def softmax(x, axis=-1):\n    return 'softmax'\n", Outcome.BROKEN, "softmax returned a str; expected an array of shape"),
    "an object": ("class Answer: pass\ndef softmax(x, axis=-1):\n    return Answer()\n", Outcome.BROKEN, "softmax returned an object of type Answer; expected an array"),
    "a ragged list": ("def softmax(x, axis=-1):\n    return [[1.0], [1.0, 2.0]]\n", Outcome.BROKEN, "expected an array of shape"),
    "complex numbers": ("def softmax(x, axis=-1):\n    return x + 1j\n", Outcome.BROKEN, "softmax returned complex; expected real numbers."),
    "a dict": ("def softmax(x, axis=-1):\n    return {1: x}\n", Outcome.BROKEN, "expected an array"),
    "an exception of its own": ("def softmax(x, axis=-1):\n    raise ValueError('not today')\n", Outcome.RAISED, "It raised ValueError: not today"),
    "an exception that cannot be printed": ("class Odd(Exception):\n    def __str__(self): raise RuntimeError\ndef softmax(x, axis=-1):\n    raise Odd\n", Outcome.RAISED, "It raised Odd: (its message could not be shown)"),
    "sys.exit": ("import sys\ndef softmax(x, axis=-1):\n    sys.exit()\n", Outcome.RAISED, "It raised SystemExit"),
    "endless recursion": ("def softmax(x, axis=-1):\n    return softmax(x, axis)\n", Outcome.RAISED, "It raised RecursionError"),
    "a list that holds itself": ("def softmax(x, axis=-1):\n    a = []\n    a.append(a)\n    return a\n", Outcome.RAISED, "It raised RecursionError"),
    "a constant": ("import numpy as np\ndef softmax(x, axis=-1):\n    return np.full(np.shape(x), 0.25)\n", Outcome.BROKEN, "same values for every input"),
    "an empty file": ("", Outcome.MISSING, "attention.py has no function softmax."),
}  # fmt: skip


@pytest.mark.parametrize(("text", "outcome", "says"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_clear_sentence(judged, text, outcome, says):
    result = judged(text)
    item = result.items[0]
    assert item.outcome is outcome
    assert any(says in check.verdict.message for check in item.checks), [c.verdict.message for c in item.checks]
    assert result.status is Status.GRADED


def test_the_student_s_own_line_is_shown_and_none_of_ours(judged):
    result = judged("def softmax(x, axis=-1):\n    return inner(x)\ndef inner(x):\n    return x / 'a'\n")
    shown = result.items[0].checks[0].verdict.counterexample.gave
    assert "attention.py line 4, in inner: return x / 'a'" in shown
    assert "serving" not in shown


def test_what_was_printed_is_kept_and_bounded(judged):
    result = judged(RIGHT.replace("    e =", "    print('hello' * 1000)\n    e ="))
    assert result.output.startswith("hello")
    assert len(result.output) <= 64 * 2**10
    assert result.score == result.max_score


def test_a_single_file_of_another_name_serves_the_module(judged):
    assert judged(RIGHT, name="solution.py").score == 7


def test_the_module_s_own_file_wins(judged):
    judged("def softmax(x, axis=-1):\n    return None\n", name="solution.py")
    assert judged(RIGHT, name="attention.py").score == 7


def test_files_of_a_submission_import_each_other(judged):
    judged(RIGHT.replace("softmax", "inner"), name="pieces.py")
    assert judged("from pieces import inner as softmax\n").score == 7


def test_the_smallest_counterexample_is_found(judged):
    result = judged(
        "import numpy as np\ndef softmax(x, axis=-1):\n    e = np.exp(x)\n    return e / e.sum(axis=axis, keepdims=True)\n"
    )
    (broken,) = [c.verdict for c in result.items[0].checks if c.verdict.outcome is not Outcome.HELD]
    assert broken.check == "attention.softmax.survives_extreme_logits"
    assert broken.counterexample.call == "softmax(np.array([[0.0, 1250.0]]))"
    assert result.items[0].diagnosis == "no maximum subtracted"


def test_an_answer_that_changes_from_call_to_call_is_not_our_fault(judged):
    text = "import itertools\ncount = itertools.count()\n" + RIGHT.replace("return e /", "return next(count) % 7 + e /")
    result = judged(text)
    assert result.items[0].outcome is Outcome.BROKEN
    assert result.status is Status.GRADED


def test_a_notebook_cell_that_fails_does_not_take_the_others_down(judged):
    import json

    cells = ["import numpy as np\n%matplotlib inline\n", "1 / 0\n", RIGHT, "raise SystemError('no')\n"]
    notebook = {"cells": [{"cell_type": "code", "source": cell} for cell in cells], "nbformat": 4, "metadata": {}}
    result = judged(json.dumps(notebook), name="work.ipynb")
    assert result.score == 7
    assert "ZeroDivisionError" in result.output


def test_a_lost_worker_costs_the_check_that_lost_it_and_no_other(judged):
    """The worker that takes its place has to find the functions again."""
    result = judged(RIGHT.replace("    e =", "    if np.abs(x).max() > 500:\n        import os; os._exit(1)\n    e ="))
    lost = [c.verdict for c in result.items[0].checks if c.verdict.outcome is not Outcome.HELD]
    assert [verdict.check for verdict in lost] == ["attention.softmax.survives_extreme_logits"]
    assert "ended the whole process" in lost[0].message
