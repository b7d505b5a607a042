"""A name is given to a mistake that agrees with it, never to one that merely fails as well."""

import pytest

from engine.corpus import draw
from engine.diagnosis import Diagnostician
from engine.judge import Judgement
from engine.records import Outcome, Verdict
from engine.rubric import read_rubric
from engine.verify import first_calls

ITEM = "positional.relative_bias_matrix"
MISTAKE = "index shifted by n"  # it runs out of the array on every input


@pytest.fixture(scope="module")
def diagnosed(own_cache):
    items = read_rubric().only([ITEM]).code_items
    recordings = draw(list(items[0].checks), number=0, examples=6)

    def run(reply):
        judgement = Judgement([Verdict(r.check.id, Outcome.RAISED) for r in recordings])
        judgement.replies = {r.check.id: [(call, reply(call)) for call in first_calls(r)] for r in recordings}
        return Diagnostician().diagnose(items, judgement)

    return run


def test_a_function_that_fails_on_everything_in_its_own_way_gets_no_name(diagnosed):
    assert diagnosed(lambda _call: {"raised": "MemoryError", "message": "", "trace": []}) == {}


def test_one_that_fails_in_just_the_same_way_gets_it(diagnosed):
    def reply(call):
        bias, n = call.arguments
        try:
            [[bias[i - j + n] for j in range(n)] for i in range(n)]
        except IndexError as error:
            return {"raised": "IndexError", "message": str(error), "trace": []}
        pytest.fail("this mistake should run out of the array")

    assert diagnosed(reply)[ITEM].name == MISTAKE
