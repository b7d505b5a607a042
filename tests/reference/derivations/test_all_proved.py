"""What holds for every derivation: it is proved, and it says where it comes from and what it is for."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from reference.derivations.proof import Derivation

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / "reference" / "derivations").glob("[a-z]*.py"))
MODULES = {path.stem: import_module(f"reference.derivations.{path.stem}") for path in FILES}
DERIVATIONS = {stem: module.DERIVATION for stem, module in MODULES.items() if hasattr(module, "DERIVATION")}
PLACE = re.compile(r"S[0-4]\.[0-9a-z.-]+")  # S3.7.3-4, S1.c.ii

each_derivation = pytest.mark.parametrize("stem", DERIVATIONS)


def known_ids():
    """Return the items of the rubric and the written answers."""
    rubric = tomllib.loads((ROOT / "checks" / "rubric.toml").read_text(encoding="utf-8"))
    return set(rubric["item"])


def test_every_file_but_the_two_of_the_proofs_own_has_a_derivation():
    assert MODULES.keys() - DERIVATIONS.keys() == {"proof", "rules"}


@each_derivation
def test_every_step_is_proved(stem):
    derivation = DERIVATIONS[stem]
    steps = list(derivation.steps)
    assert steps
    for step in steps:
        step.prove(derivation.context)


@each_derivation
def test_the_id_is_the_file_and_has_tests(stem):
    derivation = DERIVATIONS[stem]
    assert isinstance(derivation, Derivation)
    assert derivation.id == stem
    assert (Path(__file__).parent / f"test_{stem}.py").is_file()


@each_derivation
def test_every_chain_has_one_relation(stem):
    """A chain of = and of one other sign proves that sign between its ends; two other signs would prove nothing."""
    for chain in DERIVATIONS[stem].chains:
        assert chain.links
        assert chain.relation in {"=", "≤", "≥", "Θ", "⇔"}


@each_derivation
def test_a_reader_is_told_why(stem):
    """Reasons are sentences of their own, as is what the derivation shows; every premise says something."""
    derivation = DERIVATIONS[stem]
    for sentence in (derivation.shows, *(step.reason for step in derivation.steps)):
        assert sentence == sentence.strip()
        assert sentence.endswith(".")
        assert not sentence.endswith("..")
        assert not re.search(r"\b(clearly|obviously|trivial|trivially|simply|just)\b", sentence, re.IGNORECASE)
    assert derivation.title
    assert not derivation.title.endswith(".")
    assert all(premise.statement not in {"", None} for premise in derivation.premises)


@each_derivation
def test_the_source_is_a_place_in_the_sheets(stem):
    assert all(PLACE.fullmatch(place) for place in DERIVATIONS[stem].source.split(", "))


@each_derivation
def test_it_explains_what_there_is(stem):
    explains = DERIVATIONS[stem].explains
    assert explains
    assert len(set(explains)) == len(explains)
    assert set(explains) <= known_ids()
