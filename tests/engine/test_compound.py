"""Two mistakes at once, or a right function on a wrong one, are called by their names; a third is not guessed."""

import pytest

from engine.compound import inherited, pairs
from engine.diagnosis import misconceptions
from engine.intake import take_in
from engine.pipeline import Options, judged, tier_for
from engine.rubric import read_rubric
from reference import attention

ITEM = "attention.scaled_dot_product_attention"
HEAD = "import numpy as np\n"
NEGATED = """
def weights(s):
    e = np.exp(s.min(axis=-1, keepdims=True) - s)
    return e / e.sum(axis=-1, keepdims=True)
"""
WHOLE_ARRAY = """
def weights(s):
    e = np.exp(s - s.max())
    return e / e.sum()
"""
ATTENTION = """
def scaled_dot_product_attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / SCALE
    return weights(s if mask is None else s + mask) @ V
"""
ROOT, NONE, ODD = "np.sqrt(Q.shape[-1])", "1", "(3.7 + Q.shape[-1])"


@pytest.fixture
def diagnosis(tmp_path):
    def run(softmax, scale):
        (tmp_path / "attention.py").write_text(HEAD + softmax + ATTENTION.replace("SCALE", scale), encoding="utf-8")
        rubric = read_rubric().only([ITEM])
        options = Options(examples=20, closer=False)
        ((_, result),) = judged(take_in([tmp_path]), rubric, options, tier_for(trusted=False))
        (item,) = result.items
        return item.diagnosis

    return run


def test_a_right_function_on_a_wrong_softmax_is_told_whose_mistake_it_is(diagnosis):
    assert diagnosis(NEGATED, ROOT) == "in its softmax: exp(-x) in place of exp(x)"


def test_two_mistakes_at_once_are_both_named(diagnosis):
    assert diagnosis(WHOLE_ARRAY, NONE) == "no 1/sqrt(d), and in its softmax: normalises the whole array"


def test_a_mistake_without_a_name_gets_none_whatever_it_is_built_on(diagnosis):
    assert diagnosis(WHOLE_ARRAY, ODD) == ""


def test_the_reference_is_what_it_was_afterwards(diagnosis):
    before = vars(attention).copy()
    next(pairs(ITEM, misconceptions())).function(*[attention.np.eye(2)] * 3)
    assert vars(attention) == before


def test_every_pair_has_a_name_of_its_own():
    names = [each.name for made in (inherited, pairs) for each in made(ITEM, misconceptions())]
    assert len(names) == len(set(names)) > 500


@pytest.mark.parametrize("item", misconceptions())
def test_every_item_can_be_asked(item):
    """Also those made of several functions, and the torch modules: whoever has no building block has no pairs."""
    made = [*inherited(item, misconceptions()), *pairs(item, misconceptions())]
    assert all(each.of == item for each in made)
