"""M = A Aᵀ takes v_a out of the sum v_a + v_b, and nothing else does so on these two subspaces."""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy as sp

from formulas.matrices import index
from formulas.normal import Facts
from reference.derivations.proof import Context, Derivation, Premise, Refused, chain, defines
from reference.derivations.rules import algebra, definition, definition_and_premises, premises


@dataclass(frozen=True)
class Given:
    """left = right, once products are multiplied out and matrix equations that are premises, X Y = Z, are put in."""

    equations: tuple[sp.Eq, ...]
    name: str = "the matrix equations that are given"
    relation: str = field(default="=", init=False)

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if algebra finds the two equal after the equations are put in, raise Refused otherwise."""
        if not (isinstance(left, sp.MatrixExpr) and isinstance(right, sp.MatrixExpr)):
            raise Refused("this rule is about matrices")
        algebra.prove(self._put_in(left), self._put_in(right), context)

    def _put_in(self, matrix: sp.MatrixExpr) -> sp.MatrixExpr:
        matrix = matrix.expand()
        terms = matrix.args if isinstance(matrix, sp.MatAdd) else (matrix,)
        return sp.MatAdd(*map(self._in_product, terms)).doit()

    def _in_product(self, term: sp.MatrixExpr) -> sp.MatrixExpr:
        """Replace neighbours X, Y by Z, from the left to the right, until none are left."""
        factors = list(term.args) if isinstance(term, sp.MatMul) else [term]
        for equation in self.equations:
            pair = list(equation.lhs.args)
            for place in range(len(factors) - 1):
                if factors[place : place + 2] == pair:
                    return self._in_product(sp.MatMul(*factors[:place], equation.rhs, *factors[place + 2 :]))
        return term


d, m, p = map(index, "dmp")
A, B = sp.MatrixSymbol("A", d, m), sp.MatrixSymbol("B", d, p)
c, e = sp.MatrixSymbol("c", m, 1), sp.MatrixSymbol("e", p, 1)
v_a, v_b, s = (sp.MatrixSymbol(name, d, 1) for name in ("v_a", "v_b", "s"))
M, N = sp.MatrixSymbol("M", d, d), sp.MatrixSymbol("N", d, d)
zero = sp.ZeroMatrix(d, 1)

keeps = sp.Eq(N * A, A, evaluate=False)
removes = sp.Eq(N * B, sp.ZeroMatrix(d, p), evaluate=False)
given = Given((keeps, removes))

DERIVATION = Derivation(
    id="projection_matrix",
    title="The projection that separates two orthogonal subspaces",
    source="S4.5.2a",
    shows="A Aᵀ keeps the first subspace and sends the second to zero, so it extracts v_a from the sum.",
    premises=(
        Premise("AᵀA = I", "the columns of A are orthonormal", facts=Facts(orthonormal={"A": d})),
        Premise(
            "AᵀB = 0",
            "every column of A is orthogonal to every column of B",
            facts=Facts(orthogonal={frozenset({"A", "B"}): d}),
        ),
        defines(v_a, A * c, "v_a lies in the span of A"),
        defines(v_b, B * e, "v_b lies in the span of B"),
        defines(s, v_a + v_b, "the sum that is seen"),
        defines(M, A * A.T, "the matrix that is proposed"),
        Premise(keeps, "any other matrix N that keeps the columns of A"),
        Premise(removes, "and sends the columns of B to zero"),
    ),
    chains=(
        chain(
            M * v_a,
            (A * A.T * A * c, "Both stand for products.", definition("M", "v_a")),
            (A * c, "The product AᵀA in the middle is the identity.", premises),
            (v_a, "This is v_a again.", definition("v_a")),
            title="M keeps v_a",
        ),
        chain(
            M * v_b,
            (A * A.T * B * e, "Both stand for products.", definition("M", "v_b")),
            (zero, "The product AᵀB in the middle is zero.", premises),
            title="M sends v_b to zero",
        ),
        chain(
            M * s,
            (M * v_a + M * v_b, "A matrix acts on each term of a sum.", definition("s")),
            (v_a, "The first term is kept, the second is zero.", definition_and_premises("M", "v_a", "v_b")),
            title="M extracts v_a",
        ),
        chain(
            M**2,
            (A * A.T * A * A.T, "M is A Aᵀ.", definition("M")),
            (M, "The product AᵀA in the middle is the identity, which leaves A Aᵀ.", definition_and_premises("M")),
            title="Twice is once",
        ),
        chain(
            M.T,
            (M, "Transposing A Aᵀ exchanges the two factors, and each becomes the other.", definition("M")),
            title="M is symmetric",
        ),
        chain(
            sp.Trace(M),
            (sp.Trace(A.T * A), "The trace of a product does not change when its factors rotate.", definition("M")),
            (m, "AᵀA is the identity, with m ones on its diagonal.", premises),
            title="The trace is m",
        ),
        chain(
            N * (A * c + B * e),
            (N * A * c + N * B * e, "A matrix acts on each term of a sum.", algebra),
            (A * c, "N keeps the columns of A and sends those of B to zero.", given),
            (M * (A * c + B * e), "So does M.", definition_and_premises("M")),
            title="Another matrix that does the same is M wherever the two subspaces reach",
        ),
    ),
    explains=("attention.projection_matrix", "projection_matrix", "projection_applied"),
)
