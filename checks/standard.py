"""The two checks every function has: it agrees with its definition, and it leaves its arguments alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from checks.check import Check, Property
from checks.contract import SIGNATURES
from checks.expect import Expected, call, expect_close, expect_unchanged

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def agreement(*, of: str, arguments: SearchStrategy[Any], claim: str, hint: str) -> Check:
    """Check a function against the reference on the arguments drawn."""
    name = of.split(".", 1)[1]

    def body(truth: Any, arguments: tuple[Any, ...], **functions: Any) -> None:
        got = functions[name](*arguments)
        want = getattr(truth, name)(*arguments)
        for place, part, wanted in _parts(got, want):
            expect_close(call(name, *arguments, then=place), got=part, want=wanted)

    return Check(
        id=f"{of}.agrees_with_definition",
        of=of,
        claim=claim,
        hint=hint,
        examples=None,
        takes=(name, "truth"),
        file=sys._getframe(1).f_code.co_filename,  # noqa: SLF001 - the file of checks that asked for it
        law=Property(body, {"arguments": arguments}),
    )


def _parts(got: Any, want: Any, place: str = "") -> Iterator[tuple[str, Any, Expected]]:
    """Yield each array of a result with its truth and the index that leads to it."""
    if isinstance(want, Expected):
        yield place, got, want
        return
    keys = range(len(want)) if isinstance(want, tuple) else list(want)
    for key in keys:
        yield from _parts(got[key], want[key], f"{place}[{key!r}]")


def unmodified(*, of: str, arguments: SearchStrategy[Any]) -> Check:
    """Check that a call changes none of its arguments."""
    name = of.split(".", 1)[1]
    names = tuple(SIGNATURES[of].parameters)

    def body(arguments: tuple[Any, ...], **functions: Any) -> None:
        _, after = functions[name].with_arguments(*arguments)
        expect_unchanged(call(name, *arguments), before=arguments, after=after, names=names)

    return Check(
        id=f"{of}.leaves_arguments_alone",
        of=of,
        claim="The call changes none of its arguments.",
        hint="`x -= …`, `x *= …`, `out=x` and `x[…] = …` write into the caller's array. Make a new array instead.",
        examples=25,
        takes=(name,),
        file=sys._getframe(1).f_code.co_filename,  # noqa: SLF001 - the file of checks that asked for it
        law=Property(body, {"arguments": arguments}),
    )
