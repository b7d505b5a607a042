"""What several tests need: a place to put submissions, and a judge that stays warm."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.corpus import draw
from engine.intake import take_in
from engine.pipeline import Judge, tier_for
from engine.rubric import read_rubric

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def root():
    return ROOT


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Drawn inputs are shared within a run of the tests, never with the user's own cache."""
    patch = pytest.MonkeyPatch()
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base  # one cache for all processes of the run
    patch.setenv("XDG_CACHE_HOME", str(shared / "cache"))
    yield
    patch.undo()


@pytest.fixture(scope="session")
def softmax_judge(own_cache):
    """Judges softmax on a few inputs per check: enough for every outcome there is."""
    rubric = read_rubric().only(["attention.softmax"])
    with Judge(rubric, draw(rubric.checks, number=0, examples=12), tier_for(trusted=False)) as judge:
        yield judge


@pytest.fixture
def judged(softmax_judge, tmp_path):
    """Judge one file's text as alice's attention.py (or another name) and return the item's result."""

    def run(text: str, name: str = "attention.py"):
        folder = tmp_path / "alice"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        (submission,) = take_in([folder])
        return softmax_judge.result(submission)

    return run
