"""The audit: it finds wrong implementations, tells equal ones from them, and cannot be talked out of a survivor."""

import ast
import json
import os
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from checks.contract import SIGNATURES
from engine.audit import report, run, typical, variant
from engine.audit.apart import TimeIsUp, apart, within_time
from engine.audit.change import Mutant, compatible
from engine.audit.mutate import OPERATORS, wrong_changes
from engine.audit.rewrite import right_changes
from engine.audit.run import Accepted, Fate, ItemAudit, Kind
from engine.audit.sample import SCRIPTS, Sample
from engine.audit.source import Part, definitions, found_in, load, parts_of
from engine.commands import main
from engine.corpus import reference_module
from engine.handout import write_handout
from engine.records import GraderFault
from engine.rubric import read_rubric

SMALL = "attention.causal_mask"
CODE = [item.id for item in read_rubric().code_items]


def only_change(part, text):
    (found,) = [change for change in wrong_changes(part) if change.text == text]
    return found


def changed(item, part, text):
    mutant = Mutant(item, (only_change(part, text),))
    return load(item, mutant.trees(), [item.split(".")[1]]).module


# ------------------------------------------------------------------------------ mutants


def test_every_operator_finds_something_to_change():
    parts = {part for item in CODE for part in parts_of(item.split(".")[0], [item.split(".")[1]])}
    parts |= set(parts_of("language_model", ["train_char_model", "char_log_probs", "preprocess"]))
    found = Counter(change.operator for part in parts for change in wrong_changes(part))
    assert set(found) == set(OPERATORS)
    assert sum(found.values()) > 3000


def test_mutants_have_names_of_their_own_and_compile():
    found = wrong_changes(Part("gates", "_lstm_step"))
    mutants = [Mutant("gates.lstm_cell", (change,)) for change in found]
    assert len({mutant.name for mutant in mutants}) == len(mutants)
    assert len({mutant.diff() for mutant in mutants}) == len(mutants), "two that read the same are one"
    for mutant in mutants:
        for tree in mutant.trees().values():
            compile(ast.fix_missing_locations(tree), "mutant", "exec")


def test_a_change_is_named_by_what_it_does():
    part = Part("attention", "softmax")
    names = [change.name for change in wrong_changes(part)]
    assert "softmax: np.exp(shifted) → np.exp(-shifted) in weights = np.exp(shifted)" in names
    assert names == [change.name for change in wrong_changes(part)]


def test_an_item_is_made_of_what_it_calls_across_files():
    names = [f"{part.stem}.{part.name}" for part in parts_of("transformer", ["transformer_layer"])]
    assert names[0] == "transformer.transformer_layer"
    assert {"attention.self_attention", "attention.softmax", "attention._root", "transformer.layer_norm"} <= set(names)
    assert parts_of("transformer", ["CausalLM"])[0] == Part("transformer_modules", "CausalLM")


def test_a_change_in_another_file_reaches_the_item_and_leaves_the_reference_alone():
    before = reference_module("transformer.transformer_layer")
    text = "weights / weights.sum(axis=axis, keepdims=True) → weights"
    module = changed("transformer.transformer_layer", Part("attention", "softmax"), text)
    X, params = typical.X, typical.LAYER
    assert not np.allclose(module.transformer_layer(X, params, True), before.transformer_layer(X, params, True))
    assert reference_module("transformer.transformer_layer") is before
    assert typical.close(reference_module("attention.softmax").softmax(np.zeros(2)), [0.5, 0.5])


def test_two_changes_go_together_unless_one_replaces_the_other():
    part = Part("attention", "softmax")
    outer = only_change(part, "x - x.max(axis=axis, keepdims=True) → x")
    inner = only_change(part, "x.max(axis=axis, keepdims=True) → x.min(axis=axis, keepdims=True)")
    other = only_change(part, "np.exp(shifted) → np.exp(-shifted) in weights = np.exp(shifted)")
    assert not compatible(outer, inner)
    assert compatible(inner, other)
    diff = Mutant("attention.softmax", (inner, other)).diff()
    assert "x.min(axis=axis" in diff
    assert "np.exp(-shifted)" in diff


def test_pairs_are_the_same_every_time():
    single = wrong_changes(Part("attention", "softmax"))
    names = [mutant.name for mutant in run.pairs_of("attention.softmax", single)]
    assert len(names) == len(set(names)) == run.PAIRS
    assert names == [mutant.name for mutant in run.pairs_of("attention.softmax", single)]


# --------------------------------------------------------------------------- the sample


@pytest.fixture(scope="module")
def softmax_sample():
    return Sample("attention.softmax", [])


def test_the_sample_knows_the_reference_and_right_rewrites(softmax_sample):
    part = Part("attention", "softmax")
    assert softmax_sample.disagreement(found_in(reference_module("attention.softmax"))) is None
    for change in right_changes(part)[::3]:
        loaded = load("attention.softmax", Mutant("attention.softmax", (change,)).trees(), ["softmax"])
        assert softmax_sample.disagreement(loaded.find) is None, change.name


def test_the_sample_compares_texts(monkeypatch):
    script, _ = SCRIPTS["language_model.char_model"]
    monkeypatch.setitem(SCRIPTS, "language_model.char_model", (script, 5))
    ours = reference_module("language_model.char_model")
    texts = Sample("language_model.char_model", [])
    find = found_in(ours)
    assert texts.disagreement(find) is None
    assert texts.disagreement(lambda name: str.swapcase if name == "preprocess" else find(name)) == 0


@pytest.mark.parametrize("text", [
    "np.exp → np.exp2 in weights = np.exp(shifted)",
    "x - x.max(axis=axis, keepdims=True) → np.subtract(x, x.max(axis=axis, keepdims=True), out=x)",
    "axis=axis → axis=0 in return weights / weights.sum(axis=axis, keepdims=True)",
])  # fmt: skip
def test_the_sample_tells_a_wrong_one(softmax_sample, text):
    module = changed("attention.softmax", Part("attention", "softmax"), text)
    assert softmax_sample.disagreement(found_in(module)) is not None
    assert not softmax_sample.always_raises(found_in(module))


def test_what_raises_on_everything_is_known(softmax_sample):
    def broken(*_):
        raise ValueError

    assert softmax_sample.always_raises(lambda _: broken)


@pytest.mark.parametrize("item", [item for item in CODE if item != "transformer.CausalLM"])
def test_every_item_has_a_sample_on_which_its_reference_does_not_fail(item, monkeypatch):
    monkeypatch.setattr("engine.audit.sample.LARGER", 20)
    few = {name: (script, 2) for name, (script, _) in SCRIPTS.items()}
    monkeypatch.setattr("engine.audit.sample.SCRIPTS", few)
    sample = Sample(item, [])
    assert len(sample) in {2, 20}
    assert sample.disagreement(found_in(reference_module(item))) is None


# --------------------------------------------------------- processes of their own, time


def test_work_apart_gives_its_result_and_changes_nothing_here():
    place = []

    def work():
        place.append(1)
        return os.getpid()

    assert apart(work) != os.getpid()
    assert not place


def test_work_that_dies_is_none_and_a_fault_of_ours_is_told():
    assert apart(lambda: os._exit(3)) is None
    with pytest.raises(GraderFault, match="hung"):
        apart(lambda: time.sleep(60), patience=0.2)
    with pytest.raises(GraderFault, match="ZeroDivisionError"):
        apart(lambda: 1 / 0)


def test_an_endless_loop_is_stopped_by_its_processor_time():
    def endless():
        while True:
            try:
                while True:
                    pass
            except Exception:  # noqa: BLE001 - a mutant may catch all it likes
                continue

    with pytest.raises(TimeIsUp):
        within_time(endless, seconds=0.1)


# ------------------------------------------------------------------ the whole of one item


@pytest.fixture(scope="module")
def audited():
    return run.audit(read_rubric(), [SMALL], jobs=1, told=lambda _: None, fresh=True)


def test_an_item_is_audited(audited):
    (item,) = audited
    wrong = [fate for fate in item.mutants if fate.kind is Kind.WRONG]
    assert item.id == SMALL
    assert len(wrong) > 10
    assert all(fate.caught for fate in (*wrong, *item.pairs, *item.named))
    assert all(fate.diagnosis == (fate.name,) for fate in item.named)
    assert any(fate.kind is Kind.EQUAL for fate in item.mutants)
    assert {each.kind for each in item.variants} == {variant.BY_HAND, variant.BY_RULE, variant.BY_TYPE}
    assert not [each for each in item.variants if each.rejected]


@pytest.mark.deep
def test_the_number_of_jobs_changes_nothing(audited):
    again = run.audit(read_rubric(), [SMALL], jobs=2, told=lambda _: None, fresh=True)
    assert [replace(item, seconds=0.0) for item in again] == [replace(item, seconds=0.0) for item in audited]


def test_the_command_writes_a_page_and_json_and_says_whether_all_is_good(tmp_path, capsys, monkeypatch, audited):
    monkeypatch.setattr(run, "_audited", None)  # would fail if it were asked: this very code has audited it before
    page = tmp_path / "power.md"
    assert main(["audit", "--only", SMALL, "--jobs", "1", "--json", "--write", str(page)]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["good"] is True
    assert record["items"][0]["item"] == SMALL
    text = page.read_text(encoding="utf-8")
    assert f"| `{SMALL}` |" in text
    assert "wrong implementations, one change" in text


def test_a_function_is_judged_by_every_check_that_calls_it():
    (item,) = read_rubric().only(["language_model.bigram_log_probs"]).code_items
    judging = {check.of for check in read_rubric().code_checks if run.Court(item).is_judged_by(check)}
    assert judging == {"language_model.train_bigram", "language_model.bigram_log_probs"}


def test_a_right_implementation_that_is_turned_away_is_told(audited):
    (item,) = read_rubric().only([SMALL]).code_items
    court = run.Court(item)
    court.prepare()
    wrong = variant.Variant("wrong", variant.BY_HAND, lambda: lambda _: np.tri)
    rejected = court.try_variant(wrong).rejected
    assert rejected
    assert "causal_mask" in rejected[0]


def test_a_check_that_falls_over_is_a_problem(audited):
    (item,) = audited
    fallen = replace(item, mutants=(replace(item.mutants[0], faults=("a check fell over",)),))
    assert any("fell over" in problem for problem in report.Report([fallen], frozenset(), {}).problems)


# ------------------------------------------------------------------------------ survivors


def made_up(**fields):
    fate = Fate("attention.softmax | x → y", "axis", Kind.WRONG, {}, diff="-x\n+y")
    return ItemAudit("attention.softmax", ("a.check",), 10, (replace(fate, **fields),), (), (), (), 1.0)


def test_a_survivor_is_a_problem_until_it_is_explained_by_name():
    found = report.Report([made_up()], frozenset(), {})
    assert not found.good
    assert "-x\n+y" in str(found)
    assert report.QUESTION in str(found)
    assert report.Report([made_up()], frozenset(), {"attention.softmax | x → y": "equal for all that is asked"}).good


def test_an_explanation_without_a_survivor_is_a_problem():
    caught = made_up(kills={"a.check": 3})
    gone = {"attention.softmax | x → y": "was true once"}
    assert "no such survivor" in report.Report([caught], frozenset(), gone).problems[0]
    elsewhere = {"gates.sigmoid | x → y": "not part of this run"}
    assert report.Report([caught], frozenset(), elsewhere).good


def test_a_rejected_right_implementation_is_a_problem():
    item = replace(made_up(kills={"a.check": 1}), variants=(Accepted("right", variant.BY_HAND, ("a.check: off",)),))
    assert "right, but rejected" in report.Report([item], frozenset(), {}).problems[0]


def test_figures_of_checks_say_who_is_needed():
    item = made_up(kills={"a.check": 7})
    (figures,) = report.Report([item], frozenset({"a.check"}), {}).checks()
    assert (figures.alone, figures.alone_at_home, figures.median) == (1, 1, "7")


def test_every_explanation_names_an_item_and_gives_a_reason():
    for name, reason in report.read_explained().items():
        assert name.split(" | ")[0] in CODE, name
        assert reason.endswith("."), name


# ------------------------------------------------------ what the audit compares itself with


@pytest.mark.parametrize("item", CODE)
def test_the_typical_tests_accept_the_reference(item):
    assert not typical.catches(item, found_in(reference_module(item)))


def test_there_are_enough_right_implementations_by_hand_for_every_function():
    by_hand = Counter(each.of for each in variant._written())
    assert sum(by_hand.values()) >= 200
    assert all(by_hand[item] >= 3 for item in CODE)


@pytest.mark.parametrize("item", ["attention.head_queries", "positional.wavelengths", "perplexity.perplexity"])
def test_right_implementations_are_equal_to_the_reference(item, monkeypatch):
    monkeypatch.setattr("engine.audit.sample.LARGER", 100)
    sample = Sample(item, [])
    for each in variant.variants_of(item, [item.split(".")[1]]):
        if each.kind != variant.BY_TYPE:
            assert apart(lambda each=each: ("ran", sample.disagreement(each.find()))) == ("ran", None), each.name


def test_every_function_of_the_contract_is_reached():
    for name, signature in SIGNATURES.items():
        stem = signature.module
        assert parts_of(stem, [signature.name]), name
        assert definitions(stem)


def test_a_handout_holds_nothing_of_it(tmp_path):
    write_handout(tmp_path / "handout")
    assert not [path for path in (tmp_path / "handout").rglob("*") if "audit" in path.parts]
