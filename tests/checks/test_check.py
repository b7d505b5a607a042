"""Checks themselves: drawn from the seed alone, handed what they ask for, reported with the smallest input."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from checks import inputs
from checks.check import Check, check, given
from engine.rubric import all_checks

ROOT = Path(__file__).resolve().parents[2]


class TooLarge(Exception):
    """What the law under test raises."""


def a_check(name="law") -> Check:
    def body(softmax, truth, x, shape): ...

    body.__name__ = name
    law = given(x=inputs.grid((2, 3)), shape=inputs.sizes(3))(body)
    return check(of="attention.softmax", claim="A claim.", hint="A hint.")(law)


def drawn(law, number=0):
    examples = []
    law.run(
        lambda **each: examples.append((each["shape"], each["x"].tobytes())), number=number, examples=50, shrink=False
    )
    return examples


def test_ids_come_from_item_and_function_and_arguments_are_told_apart():
    law = a_check("shift")
    assert law.id == "attention.softmax.shift"
    assert law.functions == ("softmax",)
    assert law.needs_truth


def test_the_seed_and_the_id_alone_decide_what_is_drawn():
    assert drawn(a_check()) == drawn(a_check())
    assert drawn(a_check()) != drawn(a_check(), number=1)
    assert drawn(a_check()) != drawn(a_check("other"))


def test_another_process_with_other_modules_draws_the_same():
    program = (
        "import sys; sys.path.insert(0, {root!r})\n{imports}\n"
        "from tests.checks.test_check import a_check, drawn\nimport hashlib\n"
        "print(hashlib.sha256(repr(drawn(a_check())).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program.format(root=str(ROOT), imports=imports)],
            capture_output=True, text=True, check=True,
        ).stdout
        for imports in ("", "import engine.commands, engine.verify, checks.attention, engine.report.pages")
    }  # fmt: skip
    assert len(digests) == 1


def test_shrinking_ends_at_numbers_a_person_can_follow():
    law = a_check()
    failing = []

    def judge(x, **_):
        if (x > 0.3).any():
            failing.append(x)
            raise TooLarge

    with pytest.raises(TooLarge):
        law.run(judge, number=0, examples=100, shrink=True)
    assert sorted(failing[-1].ravel()) == [0.0, 0.0, 0.0, 0.0, 0.0, 0.5]


def test_a_check_that_draws_nothing_is_refused():
    with pytest.raises(TypeError, match="put @given under @check"):
        check(of="attention.softmax", claim="", hint="")(lambda softmax: None)


def test_grids_are_exact_in_single_precision():
    for limit in (0.5, 1, 2, 8, 32):
        values = inputs.GRID * (limit / 8)
        assert np.array_equal(values, values.astype(np.float32))
        assert len(set(values)) == 256
        assert abs(values).max() == limit


def test_masks_never_hide_a_whole_row():
    found = []
    strategy = inputs.masks((3, 4))
    law = check(of="attention.softmax", claim="", hint="")(given(mask=strategy)(lambda softmax, mask: None))
    law.run(lambda **drawn: found.append(drawn["mask"]), number=0, examples=100, shrink=False)
    assert not any(np.isneginf(mask).all(axis=-1).any() for mask in found)
    assert any(np.isneginf(mask).any() for mask in found)
    assert any(np.isfinite(mask).all() for mask in found)


def test_a_check_that_was_kept_finds_its_law_again():
    law = all_checks()["attention.softmax.rows_sum_to_one"]
    kept = pickle.loads(pickle.dumps(law))
    assert (kept, kept.law) == (law, None)
    assert kept.body is law.body
    assert kept.strategies is law.strategies
