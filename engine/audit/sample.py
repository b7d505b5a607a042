"""Is a mutant equal to the reference? Inputs that no check has seen, many more of them, and larger.

Half of the sample comes from the checks' own strategies under another seed, for what they reach on
purpose: ties, extremes, single elements. The other half is drawn from the shapes of the contract
alone, up to three times as large, and off the grid.
"""

from __future__ import annotations

import random
import string
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from checks.contract import SIGNATURES, signature_of
from checks.contract.signature import Pattern, Signature
from checks.expect import ROUNDING, Expected, Failure, changed
from checks.subject import InProcess, Kept, Raised
from engine.audit.source import Find, found_in
from engine.corpus import Recording, reference_module
from engine.records import GraderFault
from engine.truth import expected

Random = np.random.Generator

LARGER = 2000  # trials drawn from the contract's shapes, for each function
LARGEST = 12  # size of an axis; the checks go up to 5
ALIKE = 1e-9  # relative: nearer than that needs no measured margin


@dataclass(frozen=True, slots=True)
class Step:
    """One call; `store` is the number its result is known by afterwards."""

    function: str
    arguments: tuple[Any, ...]
    store: int | None = None


Trial = tuple[Step, ...]
RAISED = "raised"


def reseed() -> None:
    """Start all generators anew: what a module draws must not depend on what ran before."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - the legacy generator is the global one
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


class Sample:
    """The trials of one item with what the reference replies."""

    def __init__(self, item: str, recordings: Sequence[Recording]) -> None:
        self._module = item.split(".", 1)[0]
        self._reference = reference_module(item)
        self.trials = [*_larger(item), *_recorded(recordings)]
        random.Random(item).shuffle(self.trials)  # noqa: S311 - any fixed order that mixes the two kinds
        find = self._functions(found_in(self._reference))
        self._replies = [self._replied(trial, find) for trial in self.trials]
        failed = [step for reply in self._replies for step in reply if isinstance(step, str) or step[1]]
        if failed:
            raise GraderFault(f"the reference of {item} fails on its sample: {failed[0]}")

    def __len__(self) -> int:
        return len(self.trials)

    def disagreement(self, find: Find) -> int | None:
        """Return the first trial on which these functions differ from the reference by more than rounding."""
        found = self._functions(find)
        for number, (trial, wanted) in enumerate(zip(self.trials, self._replies, strict=True)):
            if not self._agrees(trial, self._replied(trial, found), wanted):
                return number
        return None

    def always_raises(self, find: Find, among: int = 100) -> bool:
        """Return whether these functions raise on every one of the first trials."""
        found = self._functions(find)
        return all(self._replied(trial, found)[-1] == RAISED for trial in self.trials[:among])

    def _functions(self, find: Find) -> Callable[[str], InProcess]:
        return lambda name: InProcess(find(name), signature_of(self._module, name))

    def _replied(self, trial: Trial, find: Callable[[str], InProcess]) -> list[Any]:
        """Return the reply to each step, up to one that fails; with it, whether an argument was changed."""
        reseed()
        replies: list[Any] = []
        objects: dict[int, Any] = {}
        for step in trial:
            given = [objects[each.number] if isinstance(each, Kept) else each for each in step.arguments]
            try:
                value, after = find(step.function).with_arguments(*given)
            except Raised:
                return [*replies, RAISED]
            except Failure as failure:
                return [*replies, failure.sentence]
            if step.store is not None:
                objects[step.store] = value
                value = ()
            replies.append((value, any(changed(old, new) for old, new in zip(given, after, strict=True))))
        return replies

    def _agrees(self, trial: Trial, replies: list[Any], wanted: list[Any]) -> bool:
        if len(replies) != len(wanted):
            return False
        return all(map(self._step_agrees, trial, replies, wanted))

    def _step_agrees(self, step: Step, reply: Any, wanted: Any) -> bool:
        if isinstance(reply, str) or reply[1]:
            return False
        if _within(reply[0], wanted[0], lambda size: ALIKE * size):
            return True
        if isinstance(wanted[0], str):
            return False
        signature = SIGNATURES.get(f"{self._module}.{step.function}")
        if signature is None or any(isinstance(each, Kept) for each in step.arguments):
            return _within(reply[0], wanted[0], lambda size: ROUNDING * max(1.0, size))
        truth = expected(getattr(self._reference, step.function), signature, step.arguments)
        return _within(reply[0], truth, lambda _: 0.0)


def _within(got: Any, want: Any, margin: Callable[[float], float]) -> bool:
    """Return whether every array of a result is near enough; an Expected knows itself what is near."""
    if isinstance(want, tuple | dict):
        keys = range(len(want)) if isinstance(want, tuple) else want.keys()
        alike = len(got) == len(want) if isinstance(want, tuple) else got.keys() == want.keys()
        return alike and all(_within(got[key], want[key], margin) for key in keys)
    if isinstance(want, str):
        return bool(got == want)
    value = want.value if isinstance(want, Expected) else want
    finite = np.isfinite(value)
    if got.shape != value.shape or not np.array_equal(got[~finite], value[~finite], equal_nan=True):
        return False
    allowed = want.margin if isinstance(want, Expected) else margin(float(np.abs(value[finite]).max(initial=0.0)))
    with np.errstate(all="ignore"):
        return bool((np.abs(got[finite] - value[finite]) <= allowed).all())


def _recorded(recordings: Sequence[Recording]) -> Iterator[Trial]:
    for recording in recordings:
        for example in recording.examples:
            yield tuple(Step(call.function, call.arguments, call.store) for call in example.calls)


# ------------------------------------------------------ from the shapes of the contract


def _larger(item: str) -> Iterator[Trial]:
    rng = np.random.default_rng([len(item), *item.encode()])
    if item in SCRIPTS:
        script, count = SCRIPTS[item]
        yield from (script(rng) for _ in range(count))
        return
    signature = SIGNATURES[item]
    for _ in range(LARGER):
        yield (Step(signature.name, _arguments(signature, rng)),)


def _arguments(signature: Signature, rng: Random) -> tuple[Any, ...]:
    """Draw arguments of the contract's shapes; those with a default are left out at times."""
    sizes = _Sizes(rng)
    scale = float(rng.choice([0.25, 1.0, 1.0, 3.0]))
    given: dict[str, Any] = {}
    for name, pattern in signature.parameters.items():
        if name in signature.defaults and rng.random() < 0.4:
            break
        draw = DOMAINS.get(f"{signature.name}.{name}") or DOMAINS.get(name)
        given[name] = draw(rng, sizes, given) if draw else _array(pattern, rng, sizes, scale)
    return tuple(given.values())


class _Sizes(dict[str, int]):
    """The sizes of the axes by their names in the contract, drawn when they are first asked for."""

    def __init__(self, rng: Random) -> None:
        super().__init__()
        self._rng = rng
        self.batch = tuple(rng.integers(1, 4, size=rng.choice([0, 0, 1, 2])).tolist())

    def __missing__(self, name: str) -> int:
        if name.isdigit():
            return int(name)
        related = {"rows": lambda: self["heads"] * self["h"], "offsets": lambda: 2 * self["n"] - 1}
        size = related[name]() if name in related else int(self._rng.integers(1, LARGEST + 1))
        return self.setdefault(name, size)


def _array(pattern: Pattern, rng: Random, sizes: _Sizes, scale: float) -> Any:
    if isinstance(pattern, Mapping):
        return {key: _array(part, rng, sizes, scale) for key, part in pattern.items()}
    if pattern is None:
        raise LookupError("a parameter without a shape needs an entry in DOMAINS")
    if pattern.startswith("="):
        return sizes[pattern[1:]]
    shape = [size for axis in pattern.split() for size in (sizes.batch if axis == "..." else (sizes[axis],))]
    values = scale * rng.normal(size=shape)
    return np.round(values) if rng.random() < 0.1 else values  # ties


def _mask(rng: Random, queries: int, keys: int) -> Any:
    mask = rng.choice([0.0, 0.0, -np.inf, 1.5, -2.0], size=(queries, keys))
    mask[np.arange(queries), rng.integers(keys, size=queries)] = 0.0  # no row is hidden whole
    return mask


def _distribution(rng: Random, *shape: int) -> Any:
    if rng.random() < 0.3:
        return np.eye(shape[-1])[rng.integers(shape[-1], size=shape[:-1])]
    return rng.dirichlet(np.full(shape[-1], 0.7), size=shape[:-1])


# What a parameter may be, where that is more than an array of any numbers.
DOMAINS: dict[str, Callable[[Random, _Sizes, dict[str, Any]], Any]] = {
    "axis": lambda rng, _, given: int(rng.integers(-given["x"].ndim, given["x"].ndim)),
    "softmax.x": lambda rng, _, __: 4 * rng.normal(size=rng.integers(1, 8, size=rng.integers(1, 4))),
    "mask": lambda rng, sizes, _: _mask(rng, sizes["n"], sizes["m"] if "m" in sizes else sizes["n"]),
    "heads": lambda rng, _, __: int(rng.integers(1, 9)),
    "levels": lambda rng, _, __: int(rng.integers(1, 12)),
    "T": lambda rng, _, __: int(rng.integers(1, 200)),
    "scale": lambda rng, _, __: float(rng.choice([0.3, 1.0, 2.5, 12.0, -1.7])),
    "A": lambda rng, sizes, _: np.linalg.qr(rng.normal(size=(sizes["d"] + 3, sizes["d"])))[0],
    "sinusoidal_encoding.d": lambda rng, _, __: 2 * int(rng.integers(1, LARGEST)),
    "wavelengths.d": lambda rng, _, __: 2 * int(rng.integers(1, LARGEST)),
    "base": lambda rng, _, __: float(rng.choice([2.0, 3.0, 10.0, 123.4, 10000.0])),
    "y": lambda rng, sizes, given: _distribution(rng, *np.shape(given["theta"])) if "theta" in given
    else _distribution(rng, 1, sizes["Dy"]),
    "Y": lambda rng, sizes, _: _distribution(rng, sizes["B"], sizes["Dy"]),
    "m": lambda rng, sizes, _: _distribution(rng, sizes["k"]),
    "p": lambda rng, sizes, _: rng.dirichlet(np.ones(sizes["k"])),
    "entropy.p": lambda rng, sizes, _: _distribution(rng, sizes["k"]),
    "entropy_rate.p": lambda rng, sizes, _: _distribution(rng, sizes["a"] * sizes["b"]).reshape(sizes["a"], sizes["b"]),
    "entropy_rate.n": lambda rng, _, __: int(rng.integers(1, 9)),
    "log_probs": lambda rng, sizes, _: -rng.exponential(2.0, size=sizes["N"]),
    "probs": lambda rng, sizes, _: rng.uniform(0.001, 1.0, size=sizes["N"]),
    "eps": lambda rng, _, __: float(rng.choice([1e-6, 1e-3, 0.1])),
    "norm_first": lambda rng, _, __: bool(rng.integers(2)),
    "ids": lambda rng, sizes, _: rng.integers(-1, 9, size=(sizes["B"], sizes["n"])),
    "embeddings": lambda rng, sizes, _: rng.normal(size=(9, sizes["e"])),
    "layers": lambda rng, sizes, _: _layers(rng, sizes["e"]),
    "padding": lambda *_: -1,
}  # fmt: skip


def _layers(rng: Random, width: int) -> list[tuple[Any, Any]]:
    layers = []
    for _ in range(rng.integers(1, 4)):
        above = int(rng.integers(1, LARGEST))
        layers.append((rng.normal(size=(width, above)), rng.normal(size=above)))
        width = above
    return layers


# ----------------------------------------------------- functions that hand on an object


def _tokens(rng: Random, size: int, longest: int) -> Any:
    return rng.integers(size, size=rng.integers(2, longest))


def _bigram(rng: Random) -> Trial:
    size = int(rng.integers(2, 15))
    smoothing = () if rng.random() < 0.4 else (float(rng.choice([0.1, 0.5, 3.0])),)
    trained = Step("train_bigram", (_tokens(rng, size, 80), size, *smoothing), 0)
    return trained, Step("bigram_log_probs", (Kept(0), _tokens(rng, size, 40)))


def _neural(rng: Random) -> Trial:
    size, width = int(rng.integers(2, 9)), int(rng.integers(2, 9))
    embeddings = rng.normal(size=(size, width))
    task = _tokens(rng, size, 80), embeddings, int(rng.integers(2, 9)), 200, int(rng.integers(9))
    trained = Step("train_neural_bigram", task, 0)
    return trained, Step("neural_log_probs", (Kept(0), embeddings, _tokens(rng, size, 30)))


def _characters(rng: Random) -> Trial:
    letters = [*string.ascii_letters, *" .,!?’“—éß", "§"]
    text, other = ("".join(rng.choice(letters, size=rng.integers(2, most))) for most in (300, 40))
    trained = Step("train_char_model", (text,), 0)
    return Step("preprocess", (other,)), trained, Step("char_log_probs", (Kept(0), other))


def _encoding(rng: Random) -> Trial:
    d, longest = 2 * int(rng.integers(1, 12)), int(rng.integers(1, 40))
    x = rng.normal(size=(rng.integers(1, 5), rng.integers(1, longest + 1), d))
    made = Step("PositionalEncoding", (d, longest), 0)
    return made, Step("module_output", (Kept(0), x)), Step("module_sizes", (Kept(0),))


def _model(rng: Random) -> Trial:
    heads = int(rng.integers(1, 4))
    size, longest = int(rng.integers(3, 12)), int(rng.integers(4, 20))
    made = Step("CausalLM", (size, 4 * heads, heads, int(rng.integers(1, 4)), longest), 0)
    tokens = rng.integers(size, size=(3, longest))
    trained = Step("module_losses", (Kept(0), tokens, 3, 0.01))
    return made, trained, Step("module_logits", (Kept(0), tokens, size))


SCRIPTS: dict[str, tuple[Callable[[Random], Trial], int]] = {
    "language_model.train_bigram": (_bigram, LARGER),
    "language_model.bigram_log_probs": (_bigram, LARGER),
    "language_model.train_neural_bigram": (_neural, 40),  # each trains a network
    "language_model.neural_log_probs": (_neural, 40),
    "language_model.char_model": (_characters, 1000),
    "transformer.PositionalEncoding": (_encoding, 1000),
    "transformer.CausalLM": (_model, 40),
}
