"""The arguments and results of a new function, as its author writes them: `X: ... n d; mask; scale=1.0`."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass

from engine.records import UsageError

_TOKEN = re.compile(r"\.\.\.|\d+|[A-Za-z]\w*")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument: its shape as in checks/contract, None where it has none, and its default as it is written."""

    name: str
    shape: str | None
    default: str | None


def read_parameters(text: str) -> list[Parameter]:
    """Read what a function takes.

    >>> [(each.name, each.shape, each.default) for each in read_parameters("X: ... n d; scale=1.0")]
    [('X', '... n d', None), ('scale', None, '1.0')]
    """
    found: list[Parameter] = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        named, _, default = part.partition("=")
        name, colon, shape = (piece.strip() for piece in named.partition(":"))
        if not is_name(name):
            raise UsageError(f"--takes: {name!r} is no name of an argument")
        if found and found[-1].default is not None and not default:
            raise UsageError(f"--takes: {name} has no default and comes after one that has")
        found.append(Parameter(name, read_shape(shape) if colon else None, default.strip() or None))
    if not found:
        raise UsageError('--takes: a function takes something, as in "x: n"')
    return found


def read_returns(text: str, parameters: list[Parameter]) -> list[str]:
    """Read the shapes of the results; each size must be one of an argument."""
    known = {token for each in parameters for token in (each.shape or "").split()}
    found = [read_shape(part.strip()) for part in text.split(";")]
    for token in (token for shape in found for token in shape.split()):
        if token not in known and not token.isdigit():
            raise UsageError(f"--returns: no argument has the size {token!r}; --takes has {', '.join(sorted(known))}")
    return found


def read_shape(text: str) -> str:
    """Return a shape as the contract writes it; "" is a plain number."""
    tokens = text.split()
    for place, token in enumerate(tokens):
        if not _TOKEN.fullmatch(token) or (token == "..." and place) or keyword.iskeyword(token):  # noqa: S105
            raise UsageError(f"{text!r} is no shape; `n`, `n d`, `... n d` are")
    return " ".join(tokens)


def is_name(text: str) -> bool:
    """Return whether Python takes it for a name."""
    return text.isidentifier() and not keyword.iskeyword(text)


def strategy(function: str, parameters: list[Parameter]) -> str:
    """Return a strategy that draws the arguments, sizes pairwise different."""
    tokens = [token for each in parameters for token in (each.shape or "").split()]
    sizes = list(dict.fromkeys(token for token in tokens if token != "..." and not token.isdigit()))  # noqa: S105
    lines = [
        "@st.composite",
        f"def {function}_arguments(draw: Draw) -> tuple[Any, ...]:",
        f'    """Draw the arguments of {function}; sizes are pairwise different, so that an exchange shows."""',
    ]
    if sizes:
        among = f", {tuple(range(1, len(sizes) + 1))}" if len(sizes) > 5 else ""
        left = f"({sizes[0]},)" if len(sizes) == 1 else ", ".join(sizes)
        lines.append(f"    {left} = draw(inputs.sizes({len(sizes)}{among}))")
    if "..." in tokens:
        lines.append("    batch = draw(inputs.batches())")
    drawn = [_drawn(each) for each in parameters]
    if len(drawn) == 1:
        lines.append(f"    return ({drawn[0][0]},){drawn[0][1]}")
    else:
        lines += ["    return (", *(f"        {value},{remark}" for value, remark in drawn), "    )"]
    return "\n".join(lines) + "\n"


def _drawn(parameter: Parameter) -> tuple[str, str]:
    """Return how an argument is drawn, and a remark where that is to be filled in."""
    if not parameter.shape:
        return "draw(st.sampled_from([0.25, 0.5, 1.0]))", f"  # fill in: the values {parameter.name} may have"
    sides = ["*batch" if token == "..." else token for token in parameter.shape.split()]  # noqa: S105
    return f"draw(inputs.grid(({', '.join(sides)}{',' if len(sides) == 1 else ''})))", ""
