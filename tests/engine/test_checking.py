"""What is begun: read from the source, so that nothing is drawn or run for what is not."""

import subprocess
import sys

import pytest

from engine.begun import Written
from engine.cache import ROOT
from engine.checking import NOT_BEGUN, checked, is_good
from engine.pipeline import Options
from engine.records import Outcome, Source, Submission
from engine.rubric import read_rubric

RUBRIC = read_rubric().public().only(["attention.softmax", "attention.causal_mask", "dot_product_variance"])
OPTIONS = Options(examples=5, closer=False)
MASK = "import numpy as np\ndef causal_mask(n):\n    return np.triu(np.full((n, n), -np.inf), 1)\n"
STUB = 'def softmax(x, axis=-1):\n    """What it is."""\n    raise NotImplementedError\n'


def result_of(*texts, answers=None, name="attention.py"):
    submission = Submission("alice", "", (Source(name, texts),), answers)
    result = checked(submission, RUBRIC, OPTIONS)
    return {item.id: item for item in result.items}, is_good(result, submission), result


@pytest.mark.parametrize(
    "stub",
    [
        STUB,
        "def softmax(x, axis=-1): ...\n",
        "def softmax(x, axis=-1):\n    pass\n",
        "def softmax(x, axis=-1):\n    raise NotImplementedError('to do')\n",
        "",
    ],
)
def test_what_is_as_it_was_handed_out_is_not_begun_and_not_wrong(stub):
    items, good, result = result_of(f"{MASK}{stub}", answers="[derivation]\n# dot_product_variance = ['']\n")
    assert [check.verdict.message for check in items["attention.softmax"].checks] == [NOT_BEGUN] * 6
    assert items["attention.causal_mask"].outcome is Outcome.HELD
    assert items["dot_product_variance"].outcome is Outcome.MISSING
    assert good
    assert [item.id for item in result.items] == [item.id for item in RUBRIC.items]
    assert result.max_score == sum(item.points for item in RUBRIC.items)


@pytest.mark.parametrize(
    ("text", "outcome", "says"),
    [
        ("def soft_max(x, axis=-1):\n    return x\n", Outcome.MISSING, "Found soft_max"),
        ("def softmx(x, axis=-1):\n    return x\n", Outcome.MISSING, "Found softmx"),
        ("def softmax(x, axis=-1):\n    return x\n", Outcome.BROKEN, ""),
        ("def softmax(x, axis=-1):\n    return (x\n", Outcome.RAISED, "SyntaxError"),
        ("softmax = make_it()\n", Outcome.RAISED, "NameError"),
        (f"{STUB}def softmax(x, axis=-1):\n    return x\n", Outcome.BROKEN, ""),
    ],
)
def test_what_is_begun_in_whatever_way_is_judged(text, outcome, says):
    items, good, _ = result_of(text)
    assert items["attention.softmax"].outcome is outcome
    assert says in items["attention.softmax"].checks[0].verdict.message
    assert not good


def test_a_module_of_torch_with_nothing_in_it_is_not_begun():
    rubric = read_rubric().public().only(["transformer.PositionalEncoding"])
    stub = "import torch\n\n\nclass PositionalEncoding(torch.nn.Module):\n    def __init__(self, d_model, max_len):\n        super().__init__()\n        raise NotImplementedError\n"
    result = checked(Submission("alice", "", (Source("transformer.py", (stub,)),)), rubric, OPTIONS)
    assert result.items[0].checks[0].verdict.message == NOT_BEGUN


@pytest.mark.parametrize(
    ("others", "kept"),
    [
        ({"transformer.py": f"import torch\n{STUB}"}, ["attention.py"]),
        ({"solution.py": MASK, "gates.py": "from solution import causal_mask as sigmoid\n"}, ["attention.py", "solution.py", "gates.py"]),
        ({"notes.py": "x = 1\n", "broken.py": "def f(:\n"}, ["attention.py", "notes.py", "broken.py"]),
    ],
)  # fmt: skip
def test_files_that_are_as_they_were_handed_out_are_not_run(others, kept):
    sources = [Source(name, (text,)) for name, text in {"attention.py": MASK, **others}.items()]
    assert [source.name for source in Written(sources).begun] == kept


def test_nothing_begun_is_not_good():
    items, good, result = result_of("")
    assert {item.outcome for item in items.values()} == {Outcome.MISSING}
    assert result.score == 0
    assert not good


def test_a_notebook_is_read_cell_by_cell():
    items, good, _ = result_of("this is no Python", MASK, STUB, name="homework.ipynb")
    assert items["attention.causal_mask"].outcome is Outcome.HELD
    assert items["attention.softmax"].checks[0].verdict.message == NOT_BEGUN
    assert good


def test_only_the_files_of_checks_that_are_asked_for_are_imported(tmp_path):
    """The rubric is read once; from then on it is known which checks there are without importing them."""
    (tmp_path / "attention.py").write_text(MASK, encoding="utf-8")
    told = "print(*sorted(name for name in sys.modules if name.startswith('checks.')), file=sys.stderr)"
    program = f"import sys; from engine.commands import main; main(sys.argv[1:]); {told}"
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", program, "check", tmp_path / "attention.py", "--examples", "5"],
            cwd=ROOT, check=True, capture_output=True, text=True,
        )  # fmt: skip
    assert not {"checks.gates", "checks.network", "checks.transformer"} & set(done.stderr.split())
