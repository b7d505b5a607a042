"""∂J/∂x = [((ŷ - y) W2ᵀ) ∘ h ∘ (1 - h)] W1ᵀ for a network with one sigmoid layer, from the loss down to the input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import sympy as sp
from sympy.matrices.expressions.special import OneMatrix

from formulas.calculus import Definition
from formulas.matrices import fresh_index, index
from formulas.normal import Facts
from reference.derivations.proof import Context, Derivation, Premise, Refused, chain, defines
from reference.derivations.rules import Equality, definition_and_premises, differentiation


def at(matrix: sp.MatrixSymbol, row: sp.Expr, column: sp.Expr) -> sp.Expr:
    """Return an entry of a matrix, counted from 1."""
    return sp.IndexedBase(matrix.name, real=True)[row, column]


@dataclass(frozen=True)
class ChainRule:
    """∂J/∂w = Σ_v ∂J/∂v · ∂v/∂w over all entries v of `through`, if w acts on J through them alone.

    `gradient` and `outer` are the matrices that premises define as ∂J/∂w and ∂J/∂v. Of the definitions, only those of
    `through` and of `unfold` are put in; that J and v depend on w in no other way is seen from all of them. `then` is
    the same for ∂J/∂v, one layer on.
    """

    gradient: sp.MatrixSymbol
    outer: sp.MatrixSymbol
    through: sp.MatrixSymbol
    unfold: tuple[str, ...] = ()
    then: ChainRule | None = None
    name: str = field(default="the chain rule", init=False)
    relation: str = field(default="=", init=False)

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if the two are equal once the gradient is written by the chain rule, raise Refused otherwise."""
        definitions, names = dict(context.definitions), self.unfold
        for link in (self, self.then) if self.then else (self,):
            definitions[link.gradient.name] = link.written(context.definitions)
            names += (link.gradient.name, link.through.name)
        changed = replace(context, definitions=definitions, forms={})  # forms found under the old ones are void
        Equality(self.name, names, derivatives=True).prove(left, right, changed)

    def written(self, known: Mapping[str, Definition]) -> Definition:
        """Return the definition of the gradient as the chain rule has it, once it is clear that the rule applies."""
        middle = self.through.name
        missing = [name for name in (self.gradient.name, self.outer.name, middle) if name not in known]
        if missing:
            raise Refused(f"no premise defines {missing[0]}")
        (loss, by), (again, passed) = (_derivative(known[each.name].body) for each in (self.gradient, self.outer))
        below = str(by.base)
        if again != loss or str(passed.base) != middle:
            raise Refused(f"{self.outer} is not the gradient with respect to {middle}")
        if below in _reached([str(loss)], known, without=middle):
            raise Refused(f"{below} does not act on the loss through {middle} alone")
        if below in _reached(_names(known[middle].body) - {below}, known):
            raise Refused(f"{below} acts on {middle} in a hidden way")
        r, c = fresh_index(), fresh_index()
        terms = at(self.outer, r, c) * sp.Derivative(at(self.through, r, c), by)
        limits = ((r, 1, self.through.rows), (c, 1, self.through.cols))
        return Definition(known[self.gradient.name].head, sp.Sum(terms, *limits))


def _derivative(body: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return what is differentiated, and by what."""
    of, (by, _) = body.args
    return of, by


def _names(expression: sp.Basic) -> set[str]:
    return {str(symbol) for symbol in expression.free_symbols}


def _reached(names: Iterable[str], definitions: Mapping[str, Definition], without: str = "") -> set[str]:
    """Return all names that definitions lead to, none of them by way of `without`."""
    reached: set[str] = set()
    ahead = set(names)
    while ahead:
        reached |= ahead
        ahead = {name for each in ahead if each in definitions for name in _names(definitions[each].body)}
        ahead -= reached | {without}
    return reached


i, j, k, Dx, Dh, Dy = map(index, ("i", "j", "k", "D_x", "D_h", "D_y"))
CE, J = sp.Symbol("CE", real=True), sp.Symbol("J", real=True)
x, W1, b1 = sp.MatrixSymbol("x", 1, Dx), sp.MatrixSymbol("W_1", Dx, Dh), sp.MatrixSymbol("b_1", 1, Dh)
z, h = sp.MatrixSymbol("z", 1, Dh), sp.MatrixSymbol("h", 1, Dh)
W2, b2 = sp.MatrixSymbol("W_2", Dh, Dy), sp.MatrixSymbol("b_2", 1, Dy)
u, yhat, y = sp.MatrixSymbol("u", 1, Dy), sp.MatrixSymbol("yhat", 1, Dy), sp.MatrixSymbol("y", 1, Dy)
G_u, G_h = sp.MatrixSymbol("G_u", 1, Dy), sp.MatrixSymbol("G_h", 1, Dh)
G_z, G_x = sp.MatrixSymbol("G_z", 1, Dh), sp.MatrixSymbol("G_x", 1, Dx)
U_h, H_z, Z_x = sp.MatrixSymbol("U_h", Dy, Dh), sp.MatrixSymbol("H_z", Dh, Dh), sp.MatrixSymbol("Z_x", Dh, Dx)

slope = sp.HadamardProduct(h, OneMatrix(1, Dh) - h)
exponentials = sp.Sum(sp.exp(at(u, i, k)), (k, 1, Dy))
scored = sp.Sum(at(y, 1, k) * at(u, 1, k), (k, 1, Dy))
backwards = sp.HadamardProduct((yhat - y) * W2.T, slope)

DERIVATION = Derivation(
    id="network_input_gradient",
    title="Gradient of the loss with respect to a network's input",
    source="S4.1b",
    shows="The error ŷ - y goes back through the transposed weights, and through the sigmoid's slope in between.",
    premises=(
        defines(z, x * W1 + b1, "into the hidden layer"),
        defines(at(h, i, j), 1 / (1 + sp.exp(-at(z, i, j))), "the hidden layer, a sigmoid of every entry"),
        defines(u, h * W2 + b2, "into the softmax"),
        defines(at(yhat, i, j), sp.exp(at(u, i, j)) / exponentials, "the prediction"),
        defines(CE, -sp.Sum(at(y, 1, k) * sp.log(at(yhat, 1, k)), (k, 1, Dy)), "cross-entropy"),
        defines(J, sp.log(exponentials.xreplace({i: sp.Integer(1)})) - scored, "the loss as a function of u"),
        Premise(
            sp.Eq(sp.Sum(at(y, 1, k), (k, 1, Dy)), 1, evaluate=False),
            "y is a distribution, one-hot or not",
            facts=Facts(totals={"y": Dy}),
        ),
        defines(at(G_u, i, j), sp.Derivative(J, at(u, i, j)), "a gradient has the shape of what it belongs to"),
        defines(at(G_h, i, j), sp.Derivative(J, at(h, i, j)), "at the hidden layer"),
        defines(at(G_z, i, j), sp.Derivative(J, at(z, i, j)), "before the sigmoid"),
        defines(at(G_x, i, j), sp.Derivative(J, at(x, i, j)), "at the input"),
        defines(at(U_h, i, j), sp.Derivative(at(u, 1, i), at(h, 1, j)), "a Jacobian: row i belongs to output i"),
        defines(at(H_z, i, j), sp.Derivative(at(h, 1, i), at(z, 1, j)), "the Jacobian of the sigmoid"),
        defines(at(Z_x, i, j), sp.Derivative(at(z, 1, i), at(x, 1, j)), "the Jacobian of the first layer"),
    ),
    chains=(
        chain(
            CE,
            (J, "ln ŷ_k = u_k - ln Σ e^u, and y sums to 1.", definition_and_premises("CE", "J", "yhat")),
            title="the loss",
        ),
        chain(
            G_u,
            (yhat - y, "∂ ln Σ e^u / ∂u_j is softmax.", differentiation("J", "yhat", "G_u")),
            title="at the logits u",
        ),
        chain(
            G_h,
            (G_u * U_h, "The chain rule: h acts on the loss through u alone.", ChainRule(G_h, G_u, u, ("U_h",))),
            (
                G_u * W2.T,
                "u = h W₂ + b₂ is linear in h: ∂u_i/∂h_j is entry (j, i) of W₂.",
                differentiation("u", "U_h"),
            ),
            ((yhat - y) * W2.T, "The gradient at u is known.", differentiation("J", "yhat", "G_u")),
            title="at the hidden layer h",
        ),
        chain(
            G_z,
            (G_h * H_z, "The chain rule: z acts on the loss through h alone.", ChainRule(G_z, G_h, h, ("H_z",))),
            (
                sp.HadamardProduct(G_h, slope),
                "h_i depends on z_i only, with the slope σ(1 - σ): the Jacobian is diagonal.",
                differentiation("h", "H_z"),
            ),
            (sp.HadamardProduct(G_u * W2.T, slope), "Back through u = h W₂ + b₂.", ChainRule(G_h, G_u, u)),
            (backwards, "The gradient at u is known.", differentiation("J", "yhat", "G_u")),
            title="before the sigmoid, at z",
        ),
        chain(
            G_x,
            (G_z * Z_x, "The chain rule: x acts on the loss through z alone.", ChainRule(G_x, G_z, z, ("Z_x",))),
            (G_z * W1.T, "z = x W₁ + b₁ is linear in x.", differentiation("z", "Z_x")),
            (
                backwards * W1.T,
                "The gradient at z is known.",
                differentiation("J", "yhat", "u", "h", "G_z"),
            ),
            title="at the input x",
        ),
    ),
    explains=("network.input_gradient", "input_gradient", "hidden_gradient"),
)
