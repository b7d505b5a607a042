"""(x₁ + p₁)·(x₂ + p₂) has four terms, [x₁, p₁]·[x₂, p₂] has two: they differ by the cross terms."""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy as sp

from formulas.matrices import index
from reference.derivations.proof import Context, Derivation, Premise, Refused, chain
from reference.derivations.rules import algebra


@dataclass(frozen=True)
class Concatenation:
    """Σ_{i=1}^{d+e} f(z_i) = Σ_{i=1}^{d} f(x_i) + Σ_{i=1}^{e} f(p_i), where z is x and then p along its last index."""

    parts: tuple[tuple[sp.IndexedBase, sp.IndexedBase, sp.IndexedBase], ...]  # of each z: z, x, p
    lengths: tuple[sp.Expr, sp.Expr]  # d, e
    name: str = "counting the first part, then the second"
    relation: str = field(default="=", init=False)

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if the two are equal once every concatenation is taken apart, raise Refused otherwise."""
        algebra.prove(self._apart(left), self._apart(right), context)

    def _apart(self, expression: sp.Basic) -> sp.Basic:
        """Return the expression with every sum over 1 … d + e counted in two parts."""
        if isinstance(expression, sp.Sum) and len(expression.limits) == 1:
            i, low, high = expression.limits[0]
            if low == 1 and sp.expand(high - sum(self.lengths)) == 0:
                return sp.Add(*(self._part(expression.function, i, which) for which in (0, 1)))
        if isinstance(expression, sp.Indexed):
            if expression.base in {whole for whole, *_ in self.parts}:
                raise Refused(f"{expression} is not summed over the whole of its last index")
            return expression
        return expression.func(*map(self._apart, expression.args)) if expression.args else expression

    def _part(self, body: sp.Expr, i: sp.Symbol, which: int) -> sp.Expr:
        """Return the sum over one part: z_i is x_i there, or p_i, and i itself must not occur elsewhere."""
        named = {whole: both[which] for whole, *both in self.parts}
        entries = {e for e in body.atoms(sp.Indexed) if e.base in named and e.indices[-1] == i}
        held = {e: sp.Dummy() for e in entries}
        if i in body.xreplace(held).free_symbols or any(i in j.free_symbols for e in entries for j in e.indices[:-1]):
            raise Refused(f"{i} is more than the place in a concatenation")
        return sp.Sum(body.xreplace({e: named[e.base][e.indices] for e in entries}), (i, 1, self.lengths[which]))


d, e, i = map(index, "dei")
x1, x2, p1, p2, z1, z2 = (sp.IndexedBase(name, real=True) for name in ("x1", "x2", "p1", "p2", "z1", "z2"))
words_then_positions = ((z1, x1, p1), (z2, x2, p2))
apart = Concatenation(words_then_positions, (d, e))
apart_alike = Concatenation(words_then_positions, (d, d))


def dot(first: sp.IndexedBase, second: sp.IndexedBase, length: sp.Expr) -> sp.Expr:
    """Return the dot product of two vectors of this length."""
    return sp.Sum(first[i] * second[i], (i, 1, length))


added = sp.Sum((x1[i] + p1[i]) * (x2[i] + p2[i]), (i, 1, d))
four = dot(x1, x2, d) + dot(x1, p2, d) + dot(p1, x2, d) + dot(p1, p2, d)

DERIVATION = Derivation(
    id="added_against_concatenated",
    title="Positions added against positions concatenated",
    source="S1.b",
    shows="Adding positions to words compares words with positions too; concatenating them does not.",
    premises=(
        Premise("x₁ and x₂ are word embeddings of length d", "query and key are the embeddings themselves"),
        Premise("p₁ and p₂ are position embeddings", "of length d where they are added, of any length e elsewhere"),
        Premise("z₁ = [x₁, p₁] and z₂ = [x₂, p₂]", "words first, then positions"),
    ),
    chains=(
        chain(
            added,
            (
                sp.Sum(x1[i] * x2[i] + x1[i] * p2[i] + p1[i] * x2[i] + p1[i] * p2[i], (i, 1, d)),
                "The product of two sums has four terms.",
                algebra,
            ),
            (four, "A sum of sums is summed term by term.", algebra),
            title="Added",
        ),
        chain(
            dot(z1, z2, d + e),
            (
                dot(x1, x2, d) + dot(p1, p2, e),
                "The first d entries are the words', the e others the positions'.",
                apart,
            ),
            title="Concatenated",
        ),
        chain(
            added - dot(z1, z2, 2 * d),
            (added - dot(x1, x2, d) - dot(p1, p2, d), "The concatenation has two terms; here e = d.", apart_alike),
            (dot(x1, p2, d) + dot(p1, x2, d), "Of the four terms, these two are left.", algebra),
            title="The difference",
        ),
    ),
    explains=("positional.added_score", "positional.concatenated_score", "added_score", "added_vs_concatenated"),
)
