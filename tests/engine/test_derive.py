"""`derive`: what is proved is said, what is not is never said to be."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest
import sympy as sp

from engine import derive
from engine.commands import main
from engine.records import UsageError
from reference.derivations import NAMES, derivation
from reference.derivations.proof import Context, Derivation, Premise, chain
from reference.derivations.rules import algebra

x = sp.Symbol("x", real=True)


def made(*links):
    return Derivation("made", "Made for a test", "S0.1a", "Nothing.", (Premise("nothing"),), (chain(x, *links),))


class Endless:
    """A rule that never comes back."""

    name = "patience"
    relation = "="

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        while True:
            pass


def test_a_wrong_step_is_named_and_the_rest_still_judged():
    proof = derive.prove(made((x + 1, "Wrong.", algebra), (1 + x, "Right.", algebra)))
    assert not proof.proved
    assert [bool(step.refused) for step in proof.steps] == [True, False]
    assert "NOT PROVED: 1 of 2" in derive.as_text(proof)
    assert "!!! not proved" in derive.as_text(proof)


def test_a_proof_that_does_not_finish_is_not_proved():
    proof = derive.prove(made((x, "Right.", algebra), (x, "Never.", Endless()), (x, "After.", algebra)), seconds=0.3)
    assert not proof.proved
    assert proof.steps[0].refused == ""
    assert all("did not finish in 0.3 seconds" in step.refused for step in proof.steps[1:])


def test_an_unknown_id_lists_the_near_ones():
    with pytest.raises(UsageError, match="did you mean softmax_jacobian"):
        derive.chosen(["softmax_jacobain"])


def test_the_command_prints_a_proof(capsys):
    assert main(["derive", "softmax_jacobian"]) == 0
    printed = capsys.readouterr().out
    assert "given    p_i = exp(θ_i)/(Σ_{k=1..n} exp(θ_k))" in printed
    assert "hence    ∂p_i/∂θ_j = p_i·(δ_{ij} − p_j)" in printed
    assert "proved in 4 steps" in printed


def test_the_command_prints_records(capsys):
    assert main(["derive", "sigmoid_symmetry", "softmax_jacobian", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["id"], second["id"]) == ("sigmoid_symmetry", "softmax_jacobian")
    assert second["proved"]
    assert all(step["proved"] and step["reason"] for each in second["chains"] for step in each["steps"])


def test_an_unknown_id_is_wrong_usage(capsys):
    assert main(["derive", "nonsense"]) == 2
    assert "there is no derivation 'nonsense'" in capsys.readouterr().err


def test_the_page_has_mathematics_and_neither_scripts_nor_links_to_elsewhere(tmp_path, capsys):
    path = tmp_path / "deep" / "proofs.html"
    assert main(["derive", "softmax_jacobian", "projection_matrix", "--html", str(path)]) == 0
    page = path.read_text(encoding="utf-8")
    found = re.findall(r"<math.*?</math>", page, flags=re.DOTALL)
    assert len(found) > 20
    for each in found:
        ET.fromstring(each)
    assert "<script" not in page
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert 'id="softmax_jacobian"' in page


def test_a_page_that_cannot_be_written_is_wrong_usage(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["derive", "softmax_jacobian", "--html", str(tmp_path / "file" / "page.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_the_report_links_every_law_to_its_proof():
    library = derive.library()
    assert ("softmax_jacobian", "Jacobian of softmax") in library.behind["attention.softmax"]
    for pairs in library.behind.values():
        for name, _ in pairs:
            assert f'id="{name}"' in library.page


def test_every_file_is_listed(root):
    """A derivation that nobody lists is never proved."""
    here = {path.stem for path in (root / "reference" / "derivations").glob("*.py")}
    assert here - {"__init__", "proof", "rules"} == set(NAMES)
    assert all(derivation(name).id == name for name in NAMES)


def test_a_name_that_is_not_unfolded_is_no_constant():
    """∂CE/∂θ is not zero because the rule was not told what CE is."""
    from reference.derivations.proof import Refused, Step
    from reference.derivations.rules import differentiation
    from reference.derivations.softmax_cross_entropy_gradient import DERIVATION

    start = DERIVATION.chains[0].start
    with pytest.raises(Refused, match="depends on theta"):
        Step(start, sp.Integer(0), "", differentiation("p")).prove(DERIVATION.context)
