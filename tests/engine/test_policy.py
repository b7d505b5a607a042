"""What a rubric forbids: found by reading where that is certain, refused when called where it is not, and never by mistake."""

import ast
import builtins
import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from engine.corpus import draw
from engine.handout import write_handout
from engine.intake import take_in
from engine.pipeline import Judge, tier_for
from engine.policy import Policy, read_entries
from engine.records import Outcome, RubricError, Source, Status
from engine.rubric import read_rubric
from engine.worker.forbidden import HOOK, Refused, Watch

ITEM = "attention.scaled_dot_product_attention"
ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
SOFTMAX = "torch.nn.functional.softmax"


def rules_of(*files, forbid, item=ITEM, graded=(ITEM, "attention.softmax")):
    names = read_entries(list(forbid), "test")
    sources = [Source(name, tuple(map(textwrap.dedent, cells))) for name, *cells in files]
    return Policy({item: names}, {item: [item]}, graded).rules(sources)


def said_of(text, *, forbid=(ATTENTION, SOFTMAX, "torch.nn.MultiheadAttention")):
    """Return what is said about an attention.py whose function is the item."""
    return rules_of(("attention.py", text), forbid=forbid).found.get(ITEM, "")


HEAD = "def scaled_dot_product_attention(Q, K, V, mask=None):\n"

# What is written, the line that is to blame, what it does, and what to.
CERTAIN = {
    "the plain call": ("import torch.nn.functional as F\n" + HEAD + "    return F.scaled_dot_product_attention(Q, K, V)\n", 3, "calls", ATTENTION),
    "a full name": ("import torch\n" + HEAD + "    return torch.nn.functional.scaled_dot_product_attention(Q, K, V)\n", 3, "calls", ATTENTION),
    "a renamed package": ("import torch as t\n" + HEAD + "    return t.nn.functional.softmax(Q @ K.T, -1) @ V\n", 3, "calls", SOFTMAX),
    "a renamed function": ("from torch.nn.functional import scaled_dot_product_attention as sdpa\n" + HEAD + "    return sdpa(Q, K, V)\n", 3, "calls", ATTENTION),
    "a module from its package": ("from torch.nn import functional\n" + HEAD + "    return functional.softmax(Q @ K.T, dim=-1) @ V\n", 3, "calls", SOFTMAX),
    "an alias in the file": ("import torch.nn.functional as F\nf = F.softmax\n" + HEAD + "    return f(Q @ K.T, -1) @ V\n", 4, "calls", SOFTMAX),
    "an alias of an alias": ("import torch.nn.functional as F\nG = F\nf = G.softmax\n" + HEAD + "    g = f\n    return g(Q @ K.T, -1) @ V\n", 6, "calls", SOFTMAX),
    "an alias in the function": ("import torch.nn.functional as F\n" + HEAD + "    f = F.softmax\n    return f(Q @ K.T, -1) @ V\n", 4, "calls", SOFTMAX),
    "getattr with a literal": ("import torch.nn.functional as F\n" + HEAD + "    return getattr(F, 'softmax')(Q @ K.T, -1) @ V\n", 3, "calls", SOFTMAX),
    "everything imported": ("from torch.nn.functional import *\n" + HEAD + "    return softmax(Q @ K.T, -1) @ V\n", 3, "calls", SOFTMAX),
    "importlib": ("import importlib\nF = importlib.import_module('torch.nn.functional')\n" + HEAD + "    return F.softmax(Q @ K.T, -1) @ V\n", 4, "calls", SOFTMAX),
    "__import__": (HEAD + "    return __import__('torch').nn.functional.softmax(Q @ K.T, -1) @ V\n", 2, "calls", SOFTMAX),
    "imported in the function": (HEAD + "    from torch.nn.functional import softmax as s\n    return s(Q @ K.T, -1) @ V\n", 3, "calls", SOFTMAX),
    "another name of the same thing": ("import torch\n" + HEAD + "    return torch._C._nn.scaled_dot_product_attention(Q, K, V)\n", 3, "calls", ATTENTION),
    "a class from where it is written": ("from torch.nn.modules.activation import MultiheadAttention\n" + HEAD + "    return MultiheadAttention(4, 1)(Q, K, V)\n", 3, "calls", "torch.nn.MultiheadAttention"),
    "in a function it calls": ("import torch.nn.functional as F\ndef inner(s):\n    return F.softmax(s, -1)\n" + HEAD + "    return inner(Q @ K.T) @ V\n", 3, "calls", SOFTMAX),
    "in a function inside": ("import torch.nn.functional as F\n" + HEAD + "    def inner(s):\n        return F.softmax(s, -1)\n    return inner(Q @ K.T) @ V\n", 4, "calls", SOFTMAX),
    "in a lambda": ("import torch.nn.functional as F\nsoft = lambda s: F.softmax(s, -1)\n" + HEAD + "    return soft(Q @ K.T) @ V\n", 2, "calls", SOFTMAX),
    "in a method": ("import torch.nn.functional as F\nclass Attend:\n    def __call__(self, s):\n        return F.softmax(s, -1)\n" + HEAD + "    return Attend()(Q @ K.T) @ V\n", 4, "calls", SOFTMAX),
    "in a comprehension": ("import torch.nn.functional as F\n" + HEAD + "    return [F.softmax(row, -1) for row in Q @ K.T]\n", 3, "calls", SOFTMAX),
    "made by a class": ("import torch\n" + HEAD + "    return torch.nn.MultiheadAttention(4, 1)(Q, K, V)[0]\n", 3, "calls", "torch.nn.MultiheadAttention"),
    "inherited from": ("import torch\nclass Mine(torch.nn.MultiheadAttention):\n    pass\n" + HEAD + "    return Mine(4, 1)(Q, K, V)[0]\n", 2, "uses", "torch.nn.MultiheadAttention"),
    "handed to something that calls it": ("import functools\nimport torch.nn.functional as F\n" + HEAD + "    return functools.partial(F.softmax, dim=-1)(Q @ K.T) @ V\n", 4, "uses", SOFTMAX),
    "as a default": ("import torch.nn.functional as F\n" + HEAD.replace("mask=None", "mask=None, f=F.softmax") + "    return f(Q @ K.T, -1) @ V\n", 2, "uses", SOFTMAX),
    "offered as one's own": ("from torch.nn.functional import scaled_dot_product_attention\n", 1, "uses", ATTENTION),
    "offered by assignment": ("import torch.nn.functional as F\nscaled_dot_product_attention = F.scaled_dot_product_attention\n", 2, "uses", ATTENTION),
    "made in the file for the function": ("import torch\nlayer = torch.nn.MultiheadAttention(4, 1)\n" + HEAD + "    return layer(Q, K, V)[0]\n", 2, "calls", "torch.nn.MultiheadAttention"),
    "in the one branch there is": ("try:\n    import torch.nn.functional as F\nexcept ImportError:\n    pass\n" + HEAD + "    return F.softmax(Q @ K.T, -1) @ V\n", 6, "calls", SOFTMAX),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "does", "name"), CERTAIN.values(), ids=CERTAIN.keys())
def test_what_reading_finds(text, line, does, name):
    ast.parse(text)
    assert said_of(text) == f"attention.py, line {line}: {does} {name}, which this exercise asks you to write yourself."


OWN = "    weights = np.exp(Q @ K.T)\n    return weights / weights.sum(-1, keepdims=True) @ V\n"
INNOCENT = {
    "in a comment, a string and a docstring": "import numpy as np\n" + HEAD + '    """Not F.softmax(x)."""\n    note = "torch.nn.functional.softmax(x)"  # F.softmax\n' + OWN,
    "an import nobody uses": "import numpy as np\nimport torch.nn.functional as F\nfrom torch.nn.functional import softmax, scaled_dot_product_attention as other\n" + HEAD + OWN,
    "in another function": "import numpy as np\nimport torch.nn.functional as F\ndef compare(Q, K, V):\n    return F.scaled_dot_product_attention(Q, K, V)\n" + HEAD + OWN,
    "in another item's function that it calls": "import torch.nn.functional as F\ndef softmax(x, axis=-1):\n    return F.softmax(x, axis)\n" + HEAD + "    return softmax(Q @ K.T) @ V\n",
    "a method of the same name": "class Maths:\n    def softmax(self, x):\n        return x\n" + HEAD + "    return Maths().softmax(Q @ K.T) @ V\n",
    "a function of one's own called F.softmax": "class F:\n    @staticmethod\n    def softmax(x):\n        return x\n" + HEAD + "    return F.softmax(Q @ K.T) @ V\n",
    "everything imported, then written anew": "from torch.nn.functional import *\ndef softmax(x):\n    return x\n" + HEAD + "    return softmax(Q @ K.T) @ V\n",
    "imported, then written anew": "from torch.nn.functional import softmax\ndef softmax(x):\n    return x\n" + HEAD + "    return softmax(Q @ K.T) @ V\n",
    "a local name that hides it": "from torch.nn.functional import softmax as s\n" + HEAD + "    s = Q @ K.T\n    return s @ V\n",
    "an argument that hides it": "from torch.nn.functional import softmax as f\ndef apply(f, x):\n    return f(x)\n" + HEAD + "    return apply(abs, Q @ K.T) @ V\n",
    "the other softmax": "import torch\n" + HEAD + "    return torch.softmax(Q @ K.T, -1) @ V\n",
    "only when run as a script": "import numpy as np\n" + HEAD + OWN + "if __name__ == '__main__':\n    import torch.nn.functional as F\n    print(F.scaled_dot_product_attention(1, 2, 3))\n",
    "a test in the file": "import numpy as np\nimport torch.nn.functional as F\n" + HEAD + OWN + "assert F.scaled_dot_product_attention is not None\n",
    "in an annotation": "import torch\nimport numpy as np\ndef scaled_dot_product_attention(Q: torch.nn.MultiheadAttention, K, V, mask=None) -> torch.nn.MultiheadAttention:\n    weights: torch.nn.MultiheadAttention = np.exp(Q @ K.T)\n    return weights / weights.sum(-1, keepdims=True) @ V\n",
    "asked whether it is one": "import torch\nimport numpy as np\n" + HEAD + "    if isinstance(Q, torch.nn.MultiheadAttention):\n        raise TypeError\n" + OWN,
    "its description copied": "import functools\nimport numpy as np\nimport torch.nn.functional as F\n@functools.wraps(F.scaled_dot_product_attention)\n" + HEAD + OWN + "scaled_dot_product_attention.__doc__ = F.softmax.__doc__\n",
    "not Python": "def scaled_dot_product_attention(Q, K, V:\n",
    "nested deeper than anybody reads": HEAD + "    return " + "-" * 900 + "Q\n",
    "a very long sum": HEAD + "    return " + " + ".join(["abs(Q)"] * 900) + "\n",
    "names that go round in circles": "a = b\nb = a\n" + HEAD + "    return a(Q)\n",
}  # fmt: skip


@pytest.mark.parametrize("text", INNOCENT.values(), ids=INNOCENT.keys())
def test_what_is_no_use(text):
    assert said_of(text) == ""


def test_a_module_may_not_even_be_imported():
    forbid = ["torch"]
    assert said_of("import numpy as np\nimport torch\n" + HEAD + OWN, forbid=forbid).startswith(
        "attention.py, line 2: imports torch, which this exercise asks you to do without."
    )
    inside = "import numpy as np\n" + HEAD + "    import torch.linalg\n" + OWN
    assert said_of(inside, forbid=forbid).startswith("attention.py, line 3: imports torch")
    used = "from torch import pi\n" + HEAD + "    return Q * pi\n"
    assert said_of(used, forbid=forbid).startswith("attention.py, line 3: uses torch")


def test_an_import_that_only_others_use_is_theirs():
    others = "import numpy as np\nimport torch\n" + HEAD + OWN + "class Model(torch.nn.Module):\n    pass\n"
    assert said_of(others, forbid=["torch"]) == ""


def test_a_module_forbids_what_is_in_it():
    text = "import torch\n" + HEAD + "    return torch.nn.functional.softmax(Q @ K.T, -1) @ V\n"
    assert "line 3: uses torch.nn.functional, which" in said_of(text, forbid=["torch.nn.functional"])


def test_other_files_are_followed():
    attention = (
        "attention.py",
        "from pieces import inner\nimport folder.more as more\n" + HEAD + "    return more.apply(inner(Q @ K.T), V)\n",
    )
    pieces = ("pieces.py", "from helpers.soft import *\ndef inner(s):\n    return soft(s)\n")
    soft = ("helpers/soft.py", "import torch.nn.functional as F\n\ndef soft(s):\n    return F.softmax(s, -1)\n")
    more = ("folder/more.py", "def apply(w, V):\n    return w @ V\n")
    rules = rules_of(attention, pieces, soft, more, forbid=[SOFTMAX])
    assert rules.found[ITEM].startswith("helpers/soft.py, line 4: calls")


def test_a_file_of_one_s_own_goes_before_a_package_of_its_name():
    attention = ("attention.py", "from nltk import softmax\n" + HEAD + "    return softmax(Q)\n")
    own = ("nltk.py", "def softmax(x):\n    return x\n")
    assert rules_of(attention, own, forbid=["nltk"]).found == {}
    assert ITEM in rules_of(attention, forbid=["nltk"]).found


def test_a_notebook_s_cell_is_named():
    cells = (
        "import torch.nn.functional as F\n",
        "%magic that is no Python\n",
        "\n" + HEAD + "    return F.softmax(Q @ K.T, -1)\n",
    )
    assert rules_of(("work.ipynb", *cells), forbid=[SOFTMAX]).found[ITEM].startswith("work.ipynb[3], line 3: calls")


def test_the_function_is_found_as_the_worker_finds_it():
    """A helper of the same name in another module's file is not the item, unless it can be called like it."""
    helper = ("network.py", "import torch.nn.functional as F\ndef softmax(z):\n    return F.softmax(z, -1)\n")
    own = ("solution.py", "def softmax(x, axis=-1):\n    return x\n")
    item = "attention.softmax"
    assert rules_of(helper, own, forbid=[SOFTMAX], item=item).found == {}
    alike = ("network.py", "import torch.nn.functional as F\ndef softmax(z, axis):\n    return F.softmax(z, -1)\n")
    assert rules_of(alike, own, forbid=[SOFTMAX], item=item).found[item].startswith("network.py, line 3")


BAD_ENTRIES = {
    "not a list": ("torch.nn.GRUCell", "forbid must be a list of names"),
    "not a name": (["torch.nn.GRUCell()"], "forbid takes names such as torch.nn.GRUCell, not 'torch.nn.GRUCell()'"),
    "not a text": ([3], "not 3"),
    "empty": ([""], "not ''"),
    "a keyword": (["torch.nn.class"], "not 'torch.nn.class'"),
    "misspelt": (["torch.nn.functional.sofmax"], "there is no torch.nn.functional.sofmax; did you mean softmax?"),
    "nothing to call": (["torch.pi"], "torch.pi is neither a module nor something that is called"),
    "a builtin": (["sorted"], "sorted is a builtin, and those cannot be forbidden"),
}


@pytest.mark.parametrize(("value", "says"), BAD_ENTRIES.values(), ids=BAD_ENTRIES.keys())
def test_an_entry_that_would_forbid_nothing_is_refused(value, says):
    with pytest.raises(RubricError) as caught:
        read_entries(value, "rubric.toml")
    assert says in str(caught.value)


RUBRIC = f"""
title = "Without help"
examples = 6

[item."attention.softmax"]
rows_sum_to_one = {{ points = 1, visibility = "public" }}
shift_invariance = {{ points = 1, visibility = "public" }}

[item."{ITEM}"]
forbid = ["{ATTENTION}", "torch.nn.MultiheadAttention", "torch.Tensor.softmax", "{SOFTMAX}", "numpy.tanh", "numpy.dot"]
agrees_with_definition = {{ points = 2, visibility = "hidden" }}
queries_are_independent = {{ points = 1, visibility = "public" }}
"""


@pytest.fixture(scope="module")
def rubric(tmp_path_factory):
    path = tmp_path_factory.mktemp("rubric") / "rubric.toml"
    path.write_text(RUBRIC, encoding="utf-8")
    return read_rubric(path)


@pytest.fixture(scope="module")
def judge(own_cache, rubric):
    with Judge(rubric, draw(rubric.code_checks, number=0, examples=6), tier_for(trusted=False)) as judge:
        yield judge


@pytest.fixture
def result(judge, tmp_path):
    def run(text, name="attention.py"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (submission,) = take_in([tmp_path])
        return judge.result(submission)

    return run


SOFT = """
import numpy as np
import torch
import torch.nn.functional as F
def softmax(x, axis=-1):
    return torch.softmax(torch.as_tensor(x), dim=axis)
"""
ATTEND = (
    HEAD
    + """\
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1]) + (0 if mask is None else mask)
    return softmax(scores).numpy() @ V
"""
)
RIGHT = SOFT + ATTEND

# Ways to the forbidden functions that reading does not see; the line is counted from SOFT's end.
HIDDEN = {
    "a name put together": (HEAD + "    return getattr(F, 'scaled_dot' + '_product_attention')(Q, K, V, attn_mask=mask)\n", 2, ATTENTION),
    "a captured name put together": ("f = vars(F)['soft' + 'max']\n" + HEAD + "    return f(Q @ K.mT, -1) @ V\n", 3, SOFTMAX),
    "eval": (HEAD + "    return eval('F.soft' + 'max')(Q @ K.mT, -1) @ V\n", 2, SOFTMAX),
    "a call in eval": (HEAD + "    return eval('F.soft' + 'max(Q @ K.mT, -1)') @ V\n", 2, SOFTMAX),
    "exec of a whole function": ("exec('def inner(s):\\n    return F.soft' + 'max(s, -1)')\n" + HEAD + "    return inner(Q @ K.mT) @ V\n", 3, SOFTMAX),
    "compile and exec": ("code = compile('g = lambda s: F.soft' + 'max(s, -1)', 'x', 'exec')\nspace = {'F': F}\nexec(code, space)\n" + HEAD + "    return space['g'](Q @ K.mT) @ V\n", 5, SOFTMAX),
    "a table of functions": ("table = {'s': F.softmax}\n" + HEAD + "    return table['s'](Q @ K.mT, -1) @ V\n", 3, SOFTMAX),
    "one of two names": ("if F:\n    f = F.softmax\nelse:\n    f = abs\n" + HEAD + "    return f(Q @ K.mT, -1) @ V\n", 6, SOFTMAX),
    "an attribute of an object": ("class Maths:\n    pass\nm = Maths()\nm.soft = F.softmax\n" + HEAD + "    return m.soft(Q @ K.mT, -1) @ V\n", 6, SOFTMAX),
    "a partial made before": ("import functools as ft\nf = [ft.partial(vars(F)['softmax'], dim=-1)]\n" + HEAD + "    return f[0](Q @ K.mT) @ V\n", 4, SOFTMAX),
    "map": (HEAD + "    (w,) = map(vars(F)['softmax'], [Q @ K.mT], [-1])\n    return w @ V\n", 2, SOFTMAX),
    "its own way of being called": (HEAD + "    return vars(F)['softmax'].__call__(Q @ K.mT, -1) @ V\n", 2, SOFTMAX),
    "a method in C": (HEAD + "    return (Q @ K.mT).softmax(-1) @ V\n", 2, "torch.Tensor.softmax"),
    "a method in C, unbound": (HEAD + "    return vars(torch)['Tensor'].softmax(Q @ K.mT, -1) @ V\n", 2, "torch.Tensor.softmax"),
    "a class by another way": (HEAD + "    return vars(torch.nn)['MultiheadAttention'](Q.shape[-1], 1)(Q, K, V)[0]\n", 2, "torch.nn.MultiheadAttention"),
    "an object made at import": ("layers = [vars(torch.nn)['MultiheadAttention'](4, 1)]\n" + HEAD + "    return layers[0](Q, K, V)[0]\n", 3, "torch.nn.MultiheadAttention"),
    "the forward method of one": ("layers = [vars(torch.nn)['MultiheadAttention'](4, 1)]\n" + HEAD + "    return layers[0].forward(Q, K, V)[0]\n", 3, "torch.nn.MultiheadAttention"),
    "a function of NumPy in C": ("names = ['tan' + 'h']\n" + HEAD + "    return getattr(np, names[0])(Q)\n", 3, "numpy.tanh"),
    "a function of NumPy with a dispatcher": (HEAD + "    return vars(np)['dot'](Q, K.swapaxes(-1, -2))\n", 2, "numpy.dot"),
    "refused and caught": (HEAD + "    try:\n        return vars(F)['softmax'](Q @ K.mT, -1) @ V\n    except BaseException:\n        return Q\n", 3, SOFTMAX),
    "only on some inputs": (ATTEND.replace("    scores", "    if len(Q) > 1:\n        vars(F)['softmax'](torch.ones(1), -1)\n    scores"), 3, SOFTMAX),
    "in a class, by super": ("class Mine(vars(torch.nn)['MultiheadAttention']):\n    def __init__(self):\n        super().__init__(4, 1)\n" + HEAD + "    return Mine()(Q, K, V)[0]\n", 5, "torch.nn.MultiheadAttention"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "name"), HIDDEN.values(), ids=HIDDEN.keys())
def test_what_reading_cannot_see_is_refused_when_it_is_called(result, text, line, name):
    graded = result(SOFT + text)
    blocked = graded.items[1]
    place = SOFT.count("\n") + line
    assert {check.verdict.outcome for check in blocked.checks} == {Outcome.BLOCKED}
    assert {check.verdict.message for check in blocked.checks} == {
        f"attention.py, line {place}: calls {name}, which this exercise asks you to write yourself."
    }
    assert blocked.score == 0
    assert graded.items[0].outcome is Outcome.HELD
    assert graded.status is Status.GRADED


@pytest.mark.parametrize(("text", "name"), [(text, name) for text, _, _, name in CERTAIN.values()], ids=CERTAIN.keys())
def test_what_reading_finds_is_blocked_and_nothing_else(result, text, name):
    graded = result(text, name="solution.py")
    assert {check.verdict.outcome for check in graded.items[1].checks} == {Outcome.BLOCKED}
    assert f" {name}, which this exercise asks you to write yourself." in graded.items[1].checks[0].verdict.message
    assert graded.items[1].score == 0
    assert graded.items[0].outcome is not Outcome.BLOCKED


ALLOWED = {
    "one's own": RIGHT,
    "another item's function may use what this one may not": "import numpy as np\nimport torch\nimport torch.nn.functional as F\ndef softmax(x, axis=-1):\n    return vars(F)['softmax'](torch.as_tensor(x), dim=axis)\n" + ATTEND,
    "torch's own use of it": "import torch\n" + RIGHT.replace("torch.softmax(torch.as_tensor(x), dim=axis)", "torch.nn.Softmax(axis)(torch.as_tensor(x))").replace("softmax(scores).numpy()", "torch.nn.Softmax(-1)(torch.as_tensor(scores)).numpy()"),
    "called while the file is imported": RIGHT + "table = vars(F)['softmax'](torch.ones(3), -1)\nlayer = torch.nn.MultiheadAttention(4, 1)\n",
    "code of every kind": RIGHT.replace("    scores", """\
    class Base:
        __slots__ = ("__x",)
        def __init__(self):
            self.__x = 1
        def get(self):
            return self.__x
    class Heir(Base):
        def __init__(self):
            super().__init__()
        def get(self, *given, **named):
            return super().get(*given, **named)
    def numbers(count):
        for n in range(count):
            yield n
    assert Heir().get() == 1 and eval("1 + len([Q])") == 2 and sorted(locals())[0] == "Base"
    assert [f(2) for f in (lambda x: x + 1, abs)] == [3, 2] and sum(map(abs, numbers(3))) == 3
    assert f"{len('ab')!r:>3}" == "  2" and (lambda *a, **k: len(k))(**dict(x=1)) == 1
    space = {}
    exec("def g(x): return abs(x)", space)
    assert space["g"](-3) == 3
    scores"""),
}  # fmt: skip


@pytest.mark.parametrize("text", ALLOWED.values(), ids=ALLOWED.keys())
def test_what_is_not_forbidden_goes_on_as_ever(result, text):
    graded = result(text)
    assert graded.score == graded.max_score, [c.verdict.message for i in graded.items for c in i.checks]


def test_a_worker_s_successor_refuses_as_well(result, rubric):
    """A worker too slow for a whole batch is replaced in the middle of a check; the rule must not go with it."""
    recording = next(each for each in draw(rubric.code_checks, number=0, examples=6) if each.check.of == ITEM)
    last = recording.examples[-1].calls[0].arguments[0]
    sly = f"    import time; time.sleep(0.4)\n    if Q.tobytes() == {last.tobytes()!r}:\n        vars(F)['softmax'](torch.ones(1), -1)\n    scores"
    blocked = result(SOFT + ATTEND.replace("    scores", sly)).items[1]
    assert {check.verdict.outcome for check in blocked.checks} == {Outcome.BLOCKED}


def test_who_has_to_do_without_torch_is_given_no_tensors(tmp_path, own_cache):
    path = tmp_path / "rubric.toml"
    path.write_text(
        'forbid = ["torch"]\n[item."attention.softmax"]\nrows_sum_to_one = { points = 1, visibility = "public" }\n',
        encoding="utf-8",
    )
    rubric = read_rubric(path)
    text = (
        "import torch\nclass Other(torch.nn.Module):\n    pass\ndef softmax(x, axis=-1):\n    return x.softmax(axis)\n"
    )
    with Judge(rubric, draw(rubric.code_checks, number=0, examples=4), tier_for(trusted=False)) as judge:
        home = tmp_path / "alice"
        home.mkdir()
        (home / "attention.py").write_text(text, encoding="utf-8")
        (submission,) = take_in([home])
        (item,) = judge.result(submission).items
        assert item.outcome is Outcome.RAISED
        assert "'numpy.ndarray' object has no attribute 'softmax'" in item.checks[0].verdict.message
        sly = "t = __import__('to' + 'rch')\nclass torch: pass\ndef softmax(x, axis=-1):\n    return t.softmax(t.as_tensor(x), axis)\n"
        (home / "attention.py").write_text(sly, encoding="utf-8")
        (submission,) = take_in([home])
        (item,) = judge.result(submission).items
        assert (
            item.checks[0].verdict.message
            == "attention.py, line 4: uses torch, which this exercise asks you to do without."
        )


def test_a_rubric_says_what_is_forbidden_where(tmp_path):
    path = tmp_path / "rubric.toml"
    rows = 'rows_sum_to_one = { points = 1, visibility = "public" }\n'
    path.write_text(
        f'forbid = ["torch.nn.GRUCell"]\n[item."attention.softmax"]\nforbid = ["{SOFTMAX}"]\n{rows}', encoding="utf-8"
    )
    assert read_rubric(path).items[0].forbid == ("torch.nn.GRUCell", SOFTMAX)
    path.write_text(f'[item."attention.softmax"]\nforbid = "{SOFTMAX}"\n{rows}', encoding="utf-8")
    with pytest.raises(RubricError, match=r"rubric.toml: attention.softmax: forbid must be a list"):
        read_rubric(path)
    path.write_text(
        f'[item.dot_product_mean]\nforbid = ["{SOFTMAX}"]\nreads = {{ points = 1, visibility = "public" }}\n',
        encoding="utf-8",
    )
    with pytest.raises(RubricError, match="dot_product_mean is answered in words; forbid is for code"):
        read_rubric(path)


def test_the_standard_rubric_forbids_nothing():
    """Torch's own functions, wrapped, are right answers here (tests/engine/test_packages.py)."""
    assert not any(item.forbid for item in read_rubric().items)


def test_a_student_sees_it_at_home(rubric, tmp_path):
    home = tmp_path / "homework"
    write_handout(home, rubric)
    assert f"Write it without {ATTENTION}," in (home / "attention.py").read_text(encoding="utf-8")
    for text, line in ((CERTAIN["the plain call"][0], 3), (SOFT + HIDDEN["a table of functions"][0], 9)):
        (home / "attention.py").write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "grader.py", "check", ".", "--json", "--only", ITEM],
            cwd=home,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        (item,) = json.loads(done.stdout)["submissions"][0]["items"]
        assert item["outcome"] == "blocked"
        assert item["checks"][0]["message"].startswith(f"attention.py, line {line}: calls torch.nn.functional.")


@pytest.fixture
def watch():
    yield Watch(["numpy.linalg", "numpy.tanh"], ["mine.py"])
    del builtins.__dict__[HOOK]


def test_a_forbidden_module_s_functions_are_known_by_where_they_are(watch):
    watch.arm(["numpy.linalg"], [])
    for thing in (np.linalg.norm, np.linalg.LinAlgError):
        with pytest.raises(Refused):
            watch.called(thing)
    for thing in (np.tanh, np.dot, np.ones(3).sum, len, abs, str.join, "x".join, print):
        assert watch.called(thing) is thing


def test_only_what_is_armed_is_refused(watch):
    assert watch.called(np.tanh) is np.tanh
    watch.arm(["numpy.tanh"], [])
    with pytest.raises(Refused):
        watch.called(np.tanh)
    assert watch.met().name == "numpy.tanh"
    assert watch.met() is None
    watch.arm([], [])
    assert watch.called(np.tanh) is np.tanh


def test_two_functions_that_share_their_code_are_told_apart():
    """Torch makes its pooling functions by one maker; what was looked at before must not vouch for the other."""
    from torch.nn import functional

    assert functional.max_pool1d.__code__ is functional.max_pool2d.__code__
    watch = Watch(["torch.nn.functional.max_pool1d"], [])
    try:
        watch.arm(["torch.nn.functional.max_pool1d"], [])
        for _ in range(2):
            assert watch.called(functional.max_pool2d) is functional.max_pool2d
            with pytest.raises(Refused):
                watch.called(functional.max_pool1d)
    finally:
        del builtins.__dict__[HOOK]
