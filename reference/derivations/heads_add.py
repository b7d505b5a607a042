"""[O_1 … O_k] W + X = Σ_b O_b W_b + X: the heads of an attention layer add up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import sympy as sp

from formulas.matrices import index
from reference.derivations.proof import Context, Derivation, Premise, Refused, Rule, chain, defines
from reference.derivations.rules import algebra, blocks, definition


@dataclass(frozen=True)
class Besides:
    """left + term = right + term by `rule`, which proves left = right."""

    rule: Rule
    term: sp.Expr
    relation: str = field(default="=", init=False)

    @property
    def name(self) -> str:
        """Return the name of the rule."""
        return self.rule.name

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if the rule proves what remains of both sides without the term, raise Refused otherwise."""
        if self.rule.relation != "=":
            raise Refused("a term is added to equations here")
        self.rule.prove(left - self.term, right - self.term, context)


@dataclass(frozen=True)
class Blocked:
    """A matrix of blocks side by side (axis 1) or on top of one another (axis 0): `part`[b, …] is block b."""

    whole: sp.IndexedBase
    part: sp.IndexedBase
    axis: int

    def entry(self, indices: Iterable[sp.Expr], b: sp.Symbol, e: sp.Symbol) -> sp.Expr:
        """Return the entry whose index on the axis is the e-th of block b."""
        place = list(indices)
        place[self.axis] = e
        return self.part[(b, *place)]


@dataclass(frozen=True)
class InBlocks:
    """Index (b-1)d + e of a matrix in blocks is index e of block b, where b counts 1 … k and e counts 1 … d.

    Only under a sum over both is an index known to be of this form.
    """

    matrices: tuple[Blocked, ...]
    count: sp.Symbol
    width: sp.Symbol
    name: str = field(default="the blocks of a matrix", init=False)
    relation: str = field(default="=", init=False)

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if the two are equal once entries are written as those of blocks, raise Refused otherwise."""
        algebra.prove(self._in_blocks(left, {}), self._in_blocks(right, {}), context)

    def _in_blocks(self, expression: sp.Basic, ends: dict[sp.Symbol, sp.Expr]) -> sp.Basic:
        if isinstance(expression, sp.Sum):
            inside = {**ends, **{name: high for name, low, high in expression.limits if low == 1}}
            return sp.Sum(self._in_blocks(expression.function, inside), *expression.limits)
        if isinstance(expression, sp.Indexed):
            return self._entry(expression, ends)
        if not expression.args:
            return expression
        return expression.func(*(self._in_blocks(argument, ends) for argument in expression.args))

    def _entry(self, entry: sp.Indexed, ends: dict[sp.Symbol, sp.Expr]) -> sp.Expr:
        for matrix in self.matrices:
            for b, e in ((b, e) for b in ends for e in ends if entry.base == matrix.whole and b != e):
                position = sp.expand(entry.indices[matrix.axis] - (b - 1) * self.width - e)
                if position == 0 and ends[b] == self.count and ends[e] == self.width:
                    return matrix.entry(entry.indices, b, e)
        return entry


b, e, h, i, j, k, d, n, D = map(index, ("b", "e", "h", "i", "j", "k", "d", "n", "D"))
MHA, X = sp.MatrixSymbol("MHA", n, D), sp.MatrixSymbol("X", n, D)
C, W_O = sp.IndexedBase("C", real=True), sp.IndexedBase("W_O", real=True)
O, W, P = (sp.IndexedBase(name, real=True) for name in ("O", "W", "P"))
residual = sp.IndexedBase("X", real=True)[i, j]
place = (b - 1) * d + e
pairs = ((e, 1, d), (b, 1, k))

DERIVATION = Derivation(
    id="heads_add",
    title="The heads of an attention layer add up",
    source="S2.2a-c",
    shows="Each head writes into the residual stream by itself, through its own block of rows of the output matrix.",
    premises=(
        defines(MHA, sp.MatrixSymbol("C", n, k * d) * sp.MatrixSymbol("W_O", k * d, D) + X, "attention and residual"),
        Premise(sp.Eq(C[i, place], O[b, i, e], evaluate=False), "C holds the k heads' outputs O_b side by side"),
        Premise(sp.Eq(W_O[place, j], W[b, e, j], evaluate=False), "W_O is cut into k blocks W_b of d rows each"),
        defines(P[b, i, j], sp.Sum(O[b, i, e] * W[b, e, j], (e, 1, d)), "entry (i, j) of O_b W_b"),
    ),
    chains=(
        chain(
            sp.IndexedBase("MHA", real=True)[i, j],
            (
                sp.Sum(C[i, h] * W_O[h, j], (h, 1, k * d)) + residual,
                "A matrix product, entry by entry.",
                definition("MHA"),
            ),
            (
                sp.Sum(C[i, place] * W_O[place, j], *pairs) + residual,
                "Columns are counted head by head: h = (b - 1) d + e for one b and one e.",
                Besides(blocks, residual),
            ),
            (
                sp.Sum(O[b, i, e] * W[b, e, j], *pairs) + residual,
                "Column e of head b meets row e of block b.",
                InBlocks((Blocked(C, O, 1), Blocked(W_O, W, 0)), k, d),
            ),
            (sp.Sum(P[b, i, j], (b, 1, k)) + residual, "The inner sum is entry (i, j) of O_b W_b.", definition("P")),
        ),
    ),
    explains=("attention.multi_head_attention", "heads_add"),
)
