"""PE(k + s) is PE(k) with every pair rotated by its own angle ω_i s, so inner products see distances only."""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy as sp

from formulas.matrices import index
from reference.derivations.proof import Context, Derivation, Premise, chain, defines
from reference.derivations.rules import algebra, bound, definition


@dataclass(frozen=True)
class FullTurn:
    """left = right, because sine and cosine are the same after a full turn: sin(x + 2π) = sin x.

    Arguments are multiplied out; SymPy then drops whole turns as it builds the function.
    """

    name: str = "a full turn"
    relation: str = field(default="=", init=False)

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if the two are equal once full turns are dropped, raise Refused otherwise."""
        algebra.prove(self._dropped(left), self._dropped(right), context)

    def _dropped(self, expression: sp.Basic) -> sp.Basic:
        for function in (sp.sin, sp.cos):
            expression = expression.replace(function, lambda angle, f=function: f(sp.expand(angle)))
        return expression


full_turn = FullTurn()

i, h, d = map(index, "ihd")  # pair, number of pairs, width
k, l, s = sp.symbols("k l s", real=True)  # positions and a shift
base = sp.Symbol("b", positive=True)
omega = sp.IndexedBase("omega", positive=True)
S, C, length = sp.Function("S", real=True), sp.Function("C", real=True), sp.IndexedBase("Lambda", positive=True)

turn = omega[i] * s
inner = sp.Sum(S(i, k) * S(i, l) + C(i, k) * C(i, l), (i, 1, h))

DERIVATION = Derivation(
    id="positional_rotation",
    title="Positions as rotations",
    source="S0.1c, S3.7.1",
    shows="Moving on by s turns pair i by ω_i s, wherever one is; two positions meet in Σ cos(ω_i (k - l)).",
    premises=(
        Premise("PE(k) has the pairs (S_i(k), C_i(k)), i = 1 … h", "h = d/2 pairs, so that the width is d"),
        defines(S(i, k), sp.sin(omega[i] * k), "the entry that a table counting from 0 has in column 2(i-1)"),
        defines(C(i, k), sp.cos(omega[i] * k), "the entry beside it"),
        defines(omega[i], base ** (-2 * (i - 1) / d), "the frequency of pair i; used for the wavelengths alone"),
        defines(length[i], 2 * sp.pi / omega[i], "the wavelength of pair i: ω_i times it is a full turn"),
    ),
    chains=(
        chain(
            S(i, k + s),
            (sp.sin(omega[i] * (k + s)), "The sine of the new position.", definition("S")),
            (
                sp.cos(turn) * sp.sin(omega[i] * k) + sp.sin(turn) * sp.cos(omega[i] * k),
                "The sine of a sum.",
                algebra,
            ),
            (sp.cos(turn) * S(i, k) + sp.sin(turn) * C(i, k), "In entries of PE(k).", definition("S", "C")),
            title="The first entry of a pair, s positions on",
        ),
        chain(
            C(i, k + s),
            (sp.cos(omega[i] * (k + s)), "The cosine of the new position.", definition("C")),
            (
                -sp.sin(turn) * sp.sin(omega[i] * k) + sp.cos(turn) * sp.cos(omega[i] * k),
                "The cosine of a sum.",
                algebra,
            ),
            (-sp.sin(turn) * S(i, k) + sp.cos(turn) * C(i, k), "In entries of PE(k).", definition("S", "C")),
            title="The second entry",
        ),
        chain(
            S(i, k + s) ** 2 + C(i, k + s) ** 2,
            (S(i, k) ** 2 + C(i, k) ** 2, "Turning changes no length.", definition("S", "C")),
            (sp.Integer(1), "sin² + cos² = 1: every pair lies on the unit circle.", definition("S", "C")),
            title="It is a rotation",
        ),
        chain(
            S(i, k) ** 2,
            (sp.Integer(1), "1 - sin² is cos², which is not negative.", bound(sp.cos(omega[i] * k) ** 2, "S")),
            title="Every entry is in [-1, 1]",
        ),
        chain(
            inner,
            (
                sp.Sum(
                    sp.sin(omega[i] * k) * sp.sin(omega[i] * l) + sp.cos(omega[i] * k) * sp.cos(omega[i] * l), (i, 1, h)
                ),
                "The inner product of PE(k) and PE(l), pair by pair.",
                definition("S", "C"),
            ),
            (sp.Sum(sp.cos(omega[i] * (k - l)), (i, 1, h)), "The cosine of a difference, read backwards.", algebra),
            title="Inner products depend on the distance k - l only",
        ),
        chain(
            S(i, k + length[i]),
            (sp.sin(omega[i] * (k + 2 * sp.pi / omega[i])), "One wavelength on.", definition("S", "Lambda")),
            (sp.sin(omega[i] * k), "ω_i k + 2π is a full turn further, which is the same angle.", full_turn),
            (S(i, k), "The entry is back where it was.", definition("S")),
            title="A wavelength is a full turn",
        ),
        chain(
            length[i],
            (2 * sp.pi / omega[i], "A full turn, at ω_i for each position.", definition("Lambda")),
            (2 * sp.pi * base ** (2 * (i - 1) / d), "1/ω_i is the power with the other sign.", definition("omega")),
            title="The wavelengths",
        ),
    ),
    explains=(
        "positional.sinusoidal_encoding",
        "positional.wavelengths",
        "transformer.PositionalEncoding",
        "wavelengths",
    ),
)
