"""What is claimed on the sheets, and whether the numbers a student gives refute it.

A witness against a false claim is a table of answers.toml, `{ h = [0.5], c = [1.0], W_i = [[1.0]] }`. What it leaves
out is zero, sizes are those of what it gives (1 if nothing tells), and a number stands for a vector or matrix of one
entry. It is run through `reference/gates.py`, has to satisfy the claim's premise, and has to refute its conclusion.
The sentence a student judges is in `checks/questions/`; the numbers are judged here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from checks.expect import shown
from reference import attention, gates

Array: TypeAlias = NDArray[np.floating[Any]]
Values: TypeAlias = Mapping[str, Array]

NEAR = 0.01  # the contract's: a gate this near its limit satisfies a premise
ROUNDING = 1e-9  # sigma(log 99) is 0.99 but for its last bit, and within 0.01 of 1
MARGIN = 1e-6  # what is not equal differs by more than this
REMEMBERED = 0.05  # a state that moved by no more than this is still remembered, though gates are off by 0.01
WIDE = 10.0  # a score ahead of 63 others by this has 0.997 of the weight
LONGEST = 64  # entries on a side
LARGEST = 1e6
ENTRIES_WRITTEN = 6  # of a longer vector the sentence names one entry


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, and what a witness may give. The names of a true claim are those its values are tried with."""

    id: str
    truth: bool
    takes: tuple[str, ...]  # x, h, c, W_i, U_i, …; empty where numbers decide nothing
    premise: str
    conclusion: str


@dataclass(frozen=True, slots=True)
class Witnessed:
    """Whether the values refute the claim, and a sentence that says why."""

    holds: bool
    sentence: str


class BadWitness(Exception):
    """A witness that cannot be tried: one sentence for the student who wrote it."""


# ── what a witness may give ──────────────────────────────────────────────────────────────────────────────────────

Shapes: TypeAlias = Mapping[str, tuple[str, ...]]

SIDES = {
    "input": "the input size",
    "hidden": "the hidden size",
    "width": "the width of query and keys",
    "keys": "the number of keys",
    "value": "the width of the values",
}
W, U = ("hidden", "input"), ("hidden", "hidden")
GRU: Shapes = {"x": ("input",), "h": ("hidden",), "W_z": W, "U_z": U, "W_r": W, "U_r": U, "W": W, "U": U}
LSTM: Shapes = {
    "x": ("input",), "h": ("hidden",), "c": ("hidden",),
    "W_i": W, "U_i": U, "W_f": W, "U_f": U, "W_o": W, "U_o": U, "W_c": W, "U_c": U,
}  # fmt: skip
WEIGHTS: Shapes = {"q": ("width",), "K": ("keys", "width")}
ATTENTION: Shapes = {**WEIGHTS, "V": ("keys", "value")}
NOTHING: Shapes = {}


def _read(shapes: Shapes, witness: Mapping[str, object]) -> Values:
    """Return every array of `shapes`, those not given as zeros, or raise BadWitness."""
    if not isinstance(witness, Mapping):
        raise BadWitness("A witness is a table such as { h = [0.5], c = [1.0] }.")
    given: dict[str, Array] = {}
    sizes: dict[str, tuple[int, str]] = {}  # a side's size, and what tells it
    for name, value in witness.items():
        if name not in shapes:
            raise BadWitness(_unknown(str(name), tuple(shapes)))
        array = given[name] = _vector(name, value) if len(shapes[name]) == 1 else _matrix(name, value)
        words = (("entry", "entries"),) if array.ndim == 1 else (("row", "rows"), ("column", "columns"))
        for side, size, (one, many) in zip(shapes[name], array.shape, words, strict=True):
            told = f"{name} has {size} {one if size == 1 else many}"
            known, by = sizes.setdefault(side, (size, told))
            if known != size:
                raise BadWitness(f"{by}, but {told}: both are {SIDES[side]}.")
    return {
        name: given[name] if name in given else np.zeros([sizes.get(side, (1, ""))[0] for side in sides])
        for name, sides in shapes.items()
    }


def _vector(name: str, value: object) -> Array:
    """Return a list of numbers, or one number, as a vector."""
    if not isinstance(value, list | tuple):
        return np.array([_number(name, value)])
    _measure(name, value, "entries")
    if any(isinstance(entry, list | tuple) for entry in value):
        raise BadWitness(f"{name} is a vector: write it as a list of numbers, such as [0.5, 1.0].")
    return np.array([_number(name, entry) for entry in value])


def _matrix(name: str, value: object) -> Array:
    """Return a list of rows, or one number, as a matrix."""
    if not isinstance(value, list | tuple):
        return np.array([[_number(name, value)]])
    _measure(name, value, "rows")
    for row in value:
        if not isinstance(row, list | tuple):
            raise BadWitness(f"{name} is a matrix: write it as a list of rows, such as [[0.5, 1.0]].")
        _measure(name, row, "columns")
    lengths = sorted({len(row) for row in value})
    if len(lengths) > 1:
        raise BadWitness(f"The rows of {name} differ in length: {lengths[0]} and {lengths[-1]} entries.")
    return np.array([_vector(name, row) for row in value])


def _measure(name: str, entries: Sequence[object], word: str) -> None:
    """Raise BadWitness if a list is empty or too long; nothing in it has been looked at yet."""
    if not entries:
        raise BadWitness(f"{name} is empty.")
    if len(entries) > LONGEST:
        raise BadWitness(f"{name} has {len(entries)} {word}: more than {LONGEST} are not tried.")


def _number(name: str, value: object) -> float:
    """Return one finite number of reasonable size."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadWitness(f"{name} holds {_kind(value)}, which is not a number.")
    if isinstance(value, float) and not math.isfinite(value):
        raise BadWitness(f"{name} holds {value}: every value has to be a finite number.")
    if abs(value) > LARGEST:  # compared before it becomes a float: whole numbers have no limit in TOML
        raise BadWitness(f"{name} holds a number whose size is above {LARGEST:.0f}: such values are not tried.")
    return float(value)


def _kind(value: object) -> str:
    """Say what stands where a number should, without writing out what may be very long."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return repr(value if len(value) <= 20 else f"{value[:20]}…")
    return "a table" if isinstance(value, Mapping) else f"a {type(value).__name__}"


def _unknown(name: str, takes: tuple[str, ...]) -> str:
    """Say what was not understood, and which name may have been meant."""
    clipped = name if len(name) <= 20 else f"{name[:20]}…"
    quoted = clipped if clipped.isidentifier() else repr(clipped)
    if f"W_{name}" in takes:
        return f"{quoted} is a gate, which is computed: give x, h, W_{name} and U_{name} that lead to it."
    by_case = {known.casefold(): known for known in takes}  # no two names differ in case only
    folded = name.casefold()
    matches = [folded] if folded in by_case else get_close_matches(clipped.casefold(), by_case, cutoff=0.5)
    near = {by_case[match] for match in matches}
    meant = f", did you mean {' or '.join(known for known in takes if known in near)}?" if near else "."
    return f"{quoted} is not one of {', '.join(takes)}{meant}"


# ── what is said of the values ───────────────────────────────────────────────────────────────────────────────────


def _near(values: Array, limit: float) -> bool:
    """Return whether every entry is as near its limit as a premise wants it."""
    return bool((np.abs(values - limit) <= NEAR + ROUNDING).all())


def _written(said: Callable[..., bool], *vectors: Array) -> tuple[str, ...]:
    """Write vectors with as few digits as will do: what is said of them is also true of what is written.

    >>> _written(lambda z: z[0] < 0.99, np.array([0.98999]))
    ('[0.98999]',)
    """
    for digits in (3, 6, 9, 13):
        if said(*(np.array([float(f"{entry:.{digits}g}") for entry in vector]) for vector in vectors)):
            return tuple(shown(vector, digits) for vector in vectors)
    return tuple(shown(vector, 17) for vector in vectors)


def _equation(said: Callable[..., bool], at: int, **vectors: Array) -> tuple[str, ...]:
    """Write "z = [0.73]" for each vector, or "entry 9 of z = 0.73" where they are long; `new_h` is written h'."""
    names = [f"{name.removeprefix('new_')}'" if name.startswith("new_") else name for name in vectors]
    parts = list(vectors.values())
    if len(parts[0]) <= ENTRIES_WRITTEN:
        return tuple(f"{name} = {text}" for name, text in zip(names, _written(said, *parts), strict=True))
    texts = _written(said, *(vector[at : at + 1] for vector in parts))
    return tuple(f"entry {at + 1} of {name} = {text.strip('[]')}" for name, text in zip(names, texts, strict=True))


def _off_limit(name: str, gate: Array, limit: float) -> str:
    """Say that a gate is not where the premise wants it, or return an empty text."""
    if _near(gate, limit):
        return ""
    at = int(np.abs(gate - limit).argmax())
    (text,) = _equation(lambda values: not _near(values, limit), at, **{name: gate})
    return f"{text} is not within {NEAR} of {limit:g}"


def _premise_fails(*reasons: str) -> str:
    told = ", and ".join(reason for reason in reasons if reason)
    return f"premise fails: {told}." if told else ""


def _gate(values: Values, name: str) -> Array:
    return gates.sigmoid(values[f"W_{name}"] @ values["x"] + values[f"U_{name}"] @ values["h"])


def _gru(values: Values) -> Array:
    return gates.gru_cell(values["x"], values["h"], values)


def _lstm(values: Values) -> tuple[Array, Array]:
    return gates.lstm_cell(values["x"], values["h"], values["c"], values)


def _lstm_derivatives(values: Values) -> tuple[Array, Array]:
    """Return dh'/dh and dc'/dh, (h, h) each, by the chain rule.

    It is written out because it is exact: a difference quotient needs a step that suits weights of 1e6 and states of
    1e6 at once, and the long doubles that would allow for it are ordinary floats on some machines, where the verdict
    would be another one. The tests compare it with central differences of the reference and with torch's autograd.
    """
    i, f, o = (_gate(values, name) for name in "ifo")  # (h,) × 3
    candidate = np.tanh(values["W_c"] @ values["x"] + values["U_c"] @ values["h"])  # (h,)
    squashed = np.tanh(_lstm(values)[1])  # (h,)
    by_cell = (
        (values["c"] * f * (1 - f))[:, np.newaxis] * values["U_f"]
        + (candidate * i * (1 - i))[:, np.newaxis] * values["U_i"]
        + (i * (1 - candidate**2))[:, np.newaxis] * values["U_c"]
    )  # (h, h)
    through_output = (squashed * o * (1 - o))[:, np.newaxis] * values["U_o"]  # (h, h)
    return through_output + (o * (1 - squashed**2))[:, np.newaxis] * by_cell, by_cell


# ── false claims ─────────────────────────────────────────────────────────────────────────────────────────────────


def _gru_update_one_reset_zero(values: Values) -> Witnessed:
    fails = _premise_fails(_off_limit("z", _gate(values, "z"), limit=1), _off_limit("r", _gate(values, "r"), limit=0))
    if fails:
        return Witnessed(False, f"The {fails}")
    h, new = values["h"], _gru(values)
    at = int(np.abs(new - h).argmax())

    def another(one: Array, other: Array) -> bool:
        return bool((np.abs(one - other) > REMEMBERED).any())

    if not another(new, h):
        after, before = _equation(lambda *pair: not another(*pair), at, new_h=new, h=h)
        return Witnessed(False, f"Here {after} is within {REMEMBERED} of {before}: this refutes nothing.")
    after, before = _equation(another, at, new_h=new, h=h)
    holds = f"z is within {NEAR} of 1 and r within {NEAR} of 0"
    return Witnessed(True, f"{holds}, and {after} is more than {REMEMBERED} from {before}: it is a witness.")


def _lstm_zero_input(values: Values) -> Witnessed:
    x, h = values["x"], values["h"]
    if x.any():
        (text,) = _equation(lambda entries: entries.any(), int(np.abs(x).argmax()), x=x)
        return Witnessed(False, f"The premise fails: {text} is not 0.")
    new, _ = _lstm(values)
    if np.abs(new - h).max() <= MARGIN:
        return Witnessed(False, "h' equals h here: this refutes nothing.")
    after, before = _equation(
        lambda one, other: not np.array_equal(one, other), int(np.abs(new - h).argmax()), new_h=new, h=h
    )
    return Witnessed(True, f"x = 0 holds, and {after} is not {before}: it is a witness.")


def _lstm_forget_zero(values: Values) -> Witnessed:
    fails = _premise_fails(_off_limit("f", _gate(values, "f"), limit=0))
    if fails:
        return Witnessed(False, f"The {fails}")
    for name, derivative in zip(("h'", "c'"), _lstm_derivatives(values), strict=True):
        row, column = divmod(int(np.abs(derivative).argmax()), derivative.shape[1])
        largest = derivative[row, column]
        if abs(largest) > MARGIN:
            of, by = (f"{name}_{row + 1}", f"h_{column + 1}") if derivative.size > 1 else (name, "h")
            text = f"∂{of}/∂{by} = {shown(largest, 3)}"
            return Witnessed(True, f"f is within {NEAR} of 0, and {text} is not 0: it is a witness.")
    return Witnessed(False, f"No derivative of h' or c' by h is above {MARGIN:.6f} in size here: this refutes nothing.")


def _lstm_gates_distribution(values: Values) -> Witnessed:
    for name in "fio":
        gate = _gate(values, name)
        if abs(gate.sum() - 1) > MARGIN:
            entries, total = _written(
                lambda entries, total: abs(entries.sum() - 1) > MARGIN and total[0] != 1, gate, gate.sum(keepdims=True)
            )
            text = f"{name} = {entries} sums" if gate.size <= ENTRIES_WRITTEN else f"The entries of {name} sum"
            return Witnessed(True, f"{text} to {total.strip('[]')}, not to 1: it is a witness.")
    return Witnessed(False, "The entries of f, of i and of o sum to 1 here: this refutes nothing.")


def _no_numbers(_: Values) -> Witnessed:
    return Witnessed(
        False, "This claim is about how models are built: no numbers can refute it, and none are asked for."
    )


# ── true claims: nothing refutes them, and the values are told how they satisfy it ───────────────────────────────


def _true(remark: str) -> Witnessed:
    return Witnessed(False, f"The claim is true: it has no counterexample; {remark}")


def _attention_weights_categorical(values: Values) -> Witnessed:
    _, weights = attention.dot_product_attention(values["q"], values["K"], np.zeros((len(values["K"]), 1)))
    return _true(
        f"here the smallest weight is {shown(weights.min(), 3)}, and the weights sum to {shown(weights.sum(), 6)}."
    )


def _copy_condition(values: Values) -> Witnessed:
    scores = values["K"] @ values["q"]  # (n,)
    best = int(scores.argmax())
    lead = float((scores[best] - np.delete(scores, best)).min(initial=np.inf))
    context, weights = attention.dot_product_attention(values["q"], values["K"], values["V"])
    if lead < WIDE:
        return _true(f"here the premise fails: the largest score is ahead of the next by {shown(lead, 3)} only.")
    ahead = f"score {best + 1} is ahead of all others by {shown(lead, 3)}" if len(scores) > 1 else "there is one score"
    off = np.abs(context - values["V"][best]).max()
    at = f"here {ahead}, its weight is {shown(weights[best], 6)}"
    return _true(f"{at}, and c differs from v_{best + 1} by at most {shown(off, 3)}.")


def _gru_update_gate_zero(values: Values) -> Witnessed:
    fails = _premise_fails(_off_limit("z", _gate(values, "z"), limit=0))
    if fails:
        return _true(f"here its {fails}")
    h, new = values["h"], _gru(values)  # |h' - h| = z |candidate - h| <= 0.01 (1 + |h|)
    after, before = _equation(lambda *_: True, int(np.abs(new - h).argmax()), new_h=new, h=h)
    return _true(f"here z is within {NEAR} of 0, and {after} is close to {before}.")


def _lstm_gates_non_negative(values: Values) -> Witnessed:
    smallest = min(_gate(values, name).min() for name in "fio")
    return _true(f"here the smallest entry of f, i and o is {shown(smallest, 3)}.")


def _unscaled_attention(_: Values) -> Witnessed:
    return _true("it is about d growing, so no single set of values is asked for.")


# ── illustrations of true claims ─────────────────────────────────────────────────────────────────────────────────


def _list(numbers: Iterable[Any], digits: int = 3) -> str:
    return ", ".join(shown(float(number), digits) for number in numbers)


def _show_weights() -> str:
    q, K = np.array([1.0, -2.0]), np.array([[0.0, -1.0], [1.0, 1.0], [0.5, 0.0]])
    _, weights = attention.dot_product_attention(q, K, K)
    told = f"Scores {_list(K @ q)} give the weights {_list(weights)}"
    return f"{told}: none is negative, and they sum to {shown(weights.sum(), 6)}."


def _show_copy() -> str:
    leads, V = (1.0, 5.0, 10.0, 20.0), np.array([[1.0], [0.0], [-1.0]])
    runs = [attention.dot_product_attention([lead], [[1.0], [0.0], [0.0]], V) for lead in leads]
    weights, off = [run[1][0] for run in runs], [abs(run[0][0] - 1) for run in runs]
    told = f"A score ahead of two others by {_list(leads)} has the weight {_list(weights, 5)}"
    return f"{told}, and c differs from its value by {_list(off)}."


def _show_saturation() -> str:
    def jacobian_norm(scores: Array) -> float:
        a = attention.softmax(scores)
        return float(np.sqrt(((np.diag(a) - np.outer(a, a)) ** 2).sum()))

    sizes, typical = (1, 16, 256, 4096), np.array([1.0, 0.0, -1.0])  # scores for d = 1
    norms = [jacobian_norm(math.sqrt(d) * typical) for d in sizes]
    told = f"With scores sqrt(d)·({_list(typical)}), as large as unscaled ones are for d = {', '.join(map(str, sizes))}"
    kept = f"divided by sqrt(d) they keep it at {shown(norms[0], 3)}"
    return f"{told}, the Jacobian of the softmax has the norm {_list(norms)}; {kept}."


def _show_gru() -> str:
    inputs, h = (0.0, 2.0, 5.0, 10.0), 0.5
    shapes = {name: np.zeros((1, 1)) for name in GRU if name[0] in "WU"}
    cells: list[Values] = [
        {**shapes, "W_z": np.array([[-1.0]]), "W": np.array([[1.0]]), "x": np.array([x]), "h": np.array([h])}
        for x in inputs
    ]
    closing, moved = [_gate(cell, "z")[0] for cell in cells], [abs(_gru(cell)[0] - h) for cell in cells]
    return f"With the update gate at {_list(closing)}, a state of {h} moves by {_list(moved)}."


def _show_gates() -> str:
    inputs = (-1000.0, -10.0, 0.0, 10.0)
    return f"Where W x + U h is {_list(inputs, 4)}, a gate is {_list(gates.sigmoid(np.array(inputs)))}: never negative."


# ── the claims ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Rule:
    """A claim, how its values are judged, and either what illustrates it or where a witness is looked for."""

    claim: Claim
    shapes: Shapes
    judge: Callable[[Values], Witnessed]
    show: Callable[[], str] | None = None
    search: tuple[str, ...] = ()  # the names that are varied
    hidden: int = 1  # the hidden size of the witness looked for


_RULES: Mapping[str, _Rule] = {rule.claim.id: rule for rule in (
    _Rule(Claim("attention_weights_categorical", True, tuple(WEIGHTS),
                "The weights are softmax of the scores K q, for any query and keys.",
                "No weight is negative, and the weights sum to 1."),
          WEIGHTS, _attention_weights_categorical, show=_show_weights),
    _Rule(Claim("copy_condition", True, tuple(ATTENTION),
                "One score exceeds all others by a wide margin.",
                "Its position has almost all the weight, and the context is close to its value."),
          ATTENTION, _copy_condition, show=_show_copy),
    _Rule(Claim("unscaled_attention", True, (),
                "Scores are dot products of d independent entries, and are not scaled.",
                "As d grows the softmax saturates, and its Jacobian tends to 0."),
          NOTHING, _unscaled_attention, show=_show_saturation),
    _Rule(Claim("gru_update_gate_zero", True, tuple(GRU),
                "Every entry of the update gate z is within 0.01 of 0.",
                "The state hardly changes: h' is close to h."),
          GRU, _gru_update_gate_zero, show=_show_gru),
    _Rule(Claim("gru_update_one_reset_zero", False, tuple(GRU),
                "Every entry of the update gate z is within 0.01 of 1, and every entry of the reset gate r of 0.",
                "The past state is remembered: h' is within 0.05 of h."),
          GRU, _gru_update_one_reset_zero, search=("h", "U_z", "U_r", "W")),
    _Rule(Claim("lstm_zero_input", False, tuple(LSTM),
                "The input x is the zero vector.",
                "The state does not change: h' = h."),
          LSTM, _lstm_zero_input, search=("h", "c")),
    _Rule(Claim("lstm_forget_zero", False, tuple(LSTM),
                "Every entry of the forget gate f is within 0.01 of 0.",
                "No error reaches the step before: h' and c' have the derivative 0 by h."),
          LSTM, _lstm_forget_zero, search=("h", "U_f", "U_c")),
    _Rule(Claim("lstm_gates_non_negative", True, tuple(LSTM),
                "f, i and o are the gates of an LSTM, for any input, state and weights.",
                "None of their entries is negative."),
          LSTM, _lstm_gates_non_negative, show=_show_gates),
    _Rule(Claim("lstm_gates_distribution", False, tuple(LSTM),
                "f, i and o are the gates of an LSTM, for any input, state and weights.",
                "The entries of each of them sum to 1."),
          LSTM, _lstm_gates_distribution, search=("h", "U_f"), hidden=2),
    _Rule(Claim("encoder_depends_on_decoder", False, (),
                "An encoder-decoder transformer translates a source sequence.",
                "The encoder's activations depend on the decoder's."),
          NOTHING, _no_numbers),
    _Rule(Claim("masked_autoencoder_position", False, (),
                "A token is masked for a masked autoencoder.",
                "Its positional encoding is replaced, as its embedding is."),
          NOTHING, _no_numbers),
)}  # fmt: skip

CLAIMS: Mapping[str, Claim] = MappingProxyType({name: rule.claim for name, rule in _RULES.items()})


def try_witness(claim: str, witness: Mapping[str, object]) -> Witnessed:
    """Return whether the values satisfy the claim's premise and refute its conclusion, or raise BadWitness.

    >>> try_witness("lstm_zero_input", {"h": [0.5], "c": [1.0], "W_i": [[1.0]]}).sentence
    "x = 0 holds, and h' = [0.231] is not h = [0.5]: it is a witness."
    >>> try_witness("lstm_forget_zero", {"h": 0.5, "U_f": -1}).sentence
    'The premise fails: f = [0.378] is not within 0.01 of 0.'
    """
    if claim not in _RULES:  # a course's own
        return Witnessed(holds=False, sentence="No numbers are tried on this claim.")
    rule = _RULES[claim]
    return rule.judge(_read(rule.shapes, witness) if rule.shapes else {})


def find_witness(claim: str) -> Mapping[str, list[Any]] | None:
    """Return the simplest witness of a small search, or None if the claim is true or numbers cannot refute it.

    >>> find_witness("lstm_forget_zero")
    {'h': [0.5], 'U_f': [[-16.0]], 'U_c': [[0.5]]}
    """
    if claim not in _RULES:
        return None
    return next((witness for witness in _candidates(_RULES[claim]) if try_witness(claim, witness).holds), None)


def _candidates(rule: _Rule) -> Iterator[Mapping[str, list[Any]]]:
    """Yield witnesses with few arrays first. One number fills a vector, or the diagonal of a matrix."""
    choices = product((0.0, 0.5, 16.0, -16.0), repeat=len(rule.search))
    for numbers in sorted(choices, key=lambda choice: len(choice) - choice.count(0.0)):
        filled = {name: number for name, number in zip(rule.search, numbers, strict=True) if number}
        if filled:
            yield {
                name: (number * (np.ones(rule.hidden) if len(rule.shapes[name]) == 1 else np.eye(rule.hidden))).tolist()
                for name, number in filled.items()
            }


def demonstrate(claim: str) -> str:
    """Return one sentence of numbers that illustrate a true claim; ValueError for a false one.

    >>> demonstrate("lstm_gates_non_negative")
    'Where W x + U h is -1000.0, -10.0, 0.0, 10.0, a gate is 0.0, 4.54e-05, 0.5, 1.0: never negative.'
    """
    show = _RULES[claim].show
    if show is None:
        raise ValueError(f"{claim} is false: there is nothing to illustrate.")
    return show()
