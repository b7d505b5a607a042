"""A zygote that is started before the rest is imported: it is used if it locks its workers in, and only then."""

import sys

import pytest

from engine import launching, sandbox, workers
from engine.checking import checked
from engine.pipeline import Options
from engine.records import Outcome, Source, Submission
from engine.rubric import STANDARD, read_rubric
from engine.worker import lockdown

ITEM = "attention.causal_mask"
OPTIONS = Options(examples=5, closer=False)
MASK = "import numpy as np\ndef causal_mask(n):\n    return np.triu(np.full((n, n), -np.inf), 1)\n"


def submission_of(text):
    return Submission("alice", "", (Source("attention.py", (text,)),))


@pytest.fixture
def started(monkeypatch):
    """Every zygote that is started, by its tier, and whether it was to try its lock-down."""
    read_rubric()  # without it nobody knows what a worker may use
    seen = []

    class Noted(launching.Launched):
        def __init__(self, tier, limits, *, with_torch, rehearse=False):
            seen.append((tier, rehearse))
            super().__init__(tier, limits, with_torch=with_torch, rehearse=rehearse)

    monkeypatch.setattr(launching, "Launched", Noted)
    monkeypatch.setattr(workers, "Launched", Noted)
    return seen


def outcome_of(submission, zygote):
    (item,) = checked(submission, read_rubric().public().only([ITEM]), OPTIONS, zygote).items
    return item.outcome


def test_the_zygote_that_was_started_ahead_is_the_one_that_is_used(started):
    if sandbox.probe() is sandbox.Tier.NONE:
        pytest.skip("nothing can be locked in here")
    with launching.ahead(submission_of(MASK), STANDARD) as zygote:
        assert outcome_of(submission_of(MASK), zygote) is Outcome.HELD
    assert started == [(sandbox.probe(), True)]
    assert zygote.process.poll() is not None


def test_one_that_cannot_be_locked_down_is_replaced_by_what_works_here(started, monkeypatch):
    monkeypatch.setattr(launching, "BOOTSTRAP", "import sys; sys.exit('no room')")
    with launching.ahead(submission_of(MASK), STANDARD) as zygote:
        monkeypatch.undo()
        assert outcome_of(submission_of(MASK), zygote) is Outcome.HELD


def test_one_with_other_limits_or_other_packages_is_left_alone(started):
    text = f"{MASK}torch = None\n"
    with launching.ahead(submission_of(text), STANDARD) as zygote:
        assert zygote.with_torch
        assert outcome_of(submission_of(MASK), zygote) is Outcome.HELD
    assert [rehearse for _, rehearse in started] == [True, False]


@pytest.mark.parametrize("text", ["", "def causal_mask(n):\n    raise NotImplementedError\n"])
def test_none_is_started_where_nothing_is_begun(text, started):
    with launching.ahead(submission_of(text), STANDARD) as zygote:
        assert zygote is None
    assert not started


def test_none_is_started_before_the_rubric_was_read_once(started, tmp_path):
    path = tmp_path / "rubric.toml"
    path.write_bytes(STANDARD.read_bytes() + b"\n# mine\n")
    with launching.ahead(submission_of(MASK), path) as zygote:
        assert zygote is None
    with launching.ahead(submission_of(MASK), tmp_path / "absent.toml") as zygote:
        assert zygote is None


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock and seccomp are Linux's")
def test_a_lock_down_that_does_not_hold_is_refused():
    class Open:
        def enter(self, _limits):
            pass

    with pytest.raises(lockdown.LockdownError, match="could still list the root folder"):
        lockdown.rehearsed(Open())
