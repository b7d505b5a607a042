"""Formulas are shown as people write them, and what is shown has the value of what was meant."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import sympy as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sympy.matrices.expressions.matexpr import MatrixElement

from formulas.printing import mathml, read_name, text

x, y, z, a, b, c, p, t, H, CE = sp.symbols("x y z a b c p t H CE")
i, j, k, m, n, d, pos = sp.symbols("i j k m n d pos", integer=True, positive=True)
mu, sigma, lam = sp.symbols("mu sigma lam", positive=True)
theta, Y, yhat, W1, h_prev = (sp.IndexedBase(name) for name in ("theta", "y", "yhat", "W_1", "h_prev"))
f, g, E, Var, sigmoid, softmax = (sp.Function(name) for name in ("f", "g", "E", "Var", "sigmoid", "softmax"))
A, B, C, X = (sp.MatrixSymbol(name, n, n) for name in "ABCX")
Q, K, V = (sp.MatrixSymbol(name, n, d) for name in "QKV")
W_o = sp.MatrixSymbol("W_o", n, n)
total = sp.Sum(x, (k, 1, n))
half = sp.Rational(1, 2)


def unevaluated(kind, *arguments):
    return kind(*map(sp.sympify, arguments), evaluate=False)


NAMES = {
    "x": "x", "theta": "θ", "mu": "μ", "lam": "λ", "lambda": "λ", "Sigma": "Σ", "eps": "ε", "yhat": "ŷ", "y_hat": "ŷ",
    "thetahat": "θ̂", "Ctilde": "C̃", "c_tilde": "c̃", "xbar": "x̄", "W1": "W₁", "W_1": "W₁", "W_10": "W₁₀", "beta2": "β₂",
    "h_prev": "h_prev", "k_a": "k_a", "W_o": "W_o", "d_model": "d_model", "x_theta": "x_θ", "W_q_1": "W_{q,1}",
    "Wtilde_1": "W̃₁", "h'": "h′", "hprime": "h′", "CE": "CE", "W_{ih}": "W_ih", "hat": "hat", "rebar": "rebar",
    "x__y": "x__y", "x<y": "x<y", "a\x1b[0m\nb": "a�[0m�b",
}  # fmt: skip


@pytest.mark.parametrize(("name", "shown"), NAMES.items(), ids=repr)
def test_a_name_is_read_by_the_conventions_of_the_course(name, shown):
    assert text(sp.Symbol(name)) == shown


SHOWN = [
    # numbers
    (sp.Integer(0), "0"), (sp.Integer(-3), "−3"), (sp.Rational(3, 2), "3/2"), (sp.Rational(-3, 2), "−3/2"),
    (sp.Float(0.25), "0.25"), (sp.Float(2), "2.0"), (sp.Float(1e-5), "10^(−5)"), (sp.Float(-1.5e-7), "−1.5·10^(−7)"),
    (sp.pi, "π"), (sp.E, "e"), (sp.oo, "∞"), (-sp.oo, "−∞"), (sp.I * x, "i·x"),
    # sums and signs
    (x - 1, "x − 1"), (1 - x, "1 − x"), (-x - y, "−x − y"), (y - x, "y − x"), (-x + sp.Rational(-1, 2), "−x − 1/2"),
    (x**2 - 2 * x + 1, "x^2 + 1 − 2·x"), (unevaluated(sp.Add, x, unevaluated(sp.Add, y, z)), "x + (y + z)"),
    (unevaluated(sp.Mul, -1, a + b), "−(a + b)"), (unevaluated(sp.Add, a, unevaluated(sp.Mul, -1, b + c)), "a − (b + c)"),
    # products
    ((a + b) * c, "c·(a + b)"), (-(a + b) * c, "−c·(a + b)"), (-2 * x, "−2·x"), (-(x**2), "−x^2"),
    (unevaluated(sp.Mul, -1, x), "−x"), (unevaluated(sp.Mul, 2, -3), "−3·2"), (unevaluated(sp.Mul, -1, -2, x), "−2·(−1)·x"),
    (unevaluated(sp.Mul, x, unevaluated(sp.Mul, y, z)), "x·(y·z)"), ((1 - p) * p * sp.log(p) * 2, "2·p·ln(p)·(1 − p)"),
    (unevaluated(sp.Mul, -1, unevaluated(sp.Mul, -1, x)), "−(−x)"),
    # fractions
    (a / b, "a/b"), (a / (b * c), "a/(b·c)"), (a * c / b, "a·c/b"), (-a / 2, "−a/2"), (3 * x / 2, "3·x/2"),
    ((a + b) / (c + 1), "(a + b)/(c + 1)"), (1 / (1 + sp.exp(-x)), "1/(1 + exp(−x))"), (1 / x, "1/x"),
    (unevaluated(sp.Mul, a / b, 1 / c), "(a/b)/c"), (unevaluated(sp.Mul, x, a / b), "x·(a/b)"),
    (unevaluated(sp.Pow, a / b, -1), "1/(a/b)"),
    # powers
    ((a / b) ** 2, "a^2/b^2"), (unevaluated(sp.Pow, a / b, 2), "(a/b)^2"), ((a + b) ** 2, "(a + b)^2"), ((-x) ** y, "(−x)^y"),
    ((-2) ** x, "(−2)^x"), (half**x, "(1/2)^x"), ((x**y) ** z, "(x^y)^z"), (x ** (y**z), "x^(y^z)"), (x ** (y + 1), "x^(y + 1)"),
    (sp.sqrt(x), "√(x)"), (x**-half, "1/√(x)"), (a * x**-half, "a/√(x)"), (sp.sqrt(a + b), "√(a + b)"),
    (x ** sp.Rational(3, 2), "x^(3/2)"), (x ** sp.Rational(-3, 2), "1/x^(3/2)"), (sp.cbrt(x), "x^(1/3)"),
    (unevaluated(sp.Pow, sp.sqrt(x), 2), "(√(x))^2"), (x**-n, "x^(−n)"), (2**-H, "2^(−H)"), (a * x**-n, "a/x^n"),
    (2**-H / n, "2^(−H)/n"), (sp.sin(pos / 10000 ** (2 * i / d)), "sin(pos/10000^(2·i/d))"), (theta[i] ** 2, "θ_i^2"),
    # functions
    (sp.exp(x) ** 2, "exp(2·x)"), (sp.log(x), "ln(x)"), (sp.log(x) / sp.log(2), "ln(x)/ln(2)"), (1 - sp.tanh(x) ** 2, "1 − tanh(x)^2"),
    (sp.cosh(x), "cosh(x)"), (sp.cos(2 * x), "cos(2·x)"), (sp.Abs(x) / 2, "|x|/2"), (sp.Max(0, x), "max(0, x)"), (sp.Min(x, y), "min(x, y)"),
    (sp.binomial(n, k) * p**k, "p^k·binom(n, k)"), (f(x, y + 1), "f(x, y + 1)"), (f(), "f()"), (sigmoid(x) * (1 - sigmoid(x)), "σ(x)·(1 − σ(x))"),
    (sp.Function("sigma")(x), "σ(x)"), (sp.Function("f_1")(x), "f₁(x)"), (E((x - mu) ** 2) - E(x) ** 2, "E[(x − μ)^2] − E[x]^2"), (Var(x), "Var[x]"),
    # indices
    (theta[i], "θ_i"), (Y[1], "y_1"), (Y[10], "y_{10}"), (W1[i, j], "W₁_{ij}"), (W1[1, j], "W₁_{1,j}"), (Y[t - 1], "y_{t−1}"),
    (W1[i, t - 1], "W₁_{i,t−1}"), (h_prev[j], "h_{prev,j}"), (Y[sp.Symbol("i_1")], "y_{i₁}"), (Y[sp.Idx("k")], "y_k"), (Y, "y"),
    (sp.KroneckerDelta(i, j), "δ_{ij}"), (sp.KroneckerDelta(i, j + 1), "δ_{i,j+1}"),
    # sums, products, integrals, limits
    (sp.Sum(x + y, (k, 1, n)), "Σ_{k=1..n} (x + y)"), (sp.Sum(x * Y[k], (k, 0, n - 1)), "Σ_{k=0..n−1} x·y_k"), (sp.Sum(-x, (k, 1, n)), "Σ_{k=1..n} (−x)"),
    (total * y, "y·Σ_{k=1..n} x"), (total + y, "y + Σ_{k=1..n} x"), (total / n, "(1/n)·Σ_{k=1..n} x"), (-total / (2 * n), "−(1/(2·n))·Σ_{k=1..n} x"),
    (total**2, "(Σ_{k=1..n} x)^2"), (total * sp.Sum(y, (k, 1, n)), "(Σ_{k=1..n} x)·Σ_{k=1..n} y"), (sp.exp(-total), "exp(−Σ_{k=1..n} x)"),
    (x / total, "x/(Σ_{k=1..n} x)"), (sp.Sum(y, (k, 1, n)) / total, "(Σ_{k=1..n} y)/(Σ_{k=1..n} x)"),
    (sp.Sum(sp.Sum(W1[i, j], (j, 1, n)), (i, 1, m)), "Σ_{i=1..m} Σ_{j=1..n} W₁_{ij}"), (sp.Sum(W1[i, j], (j, 1, n), (i, 1, m)), "Σ_{i=1..m} Σ_{j=1..n} W₁_{ij}"),
    (sp.Product(1 - x, (k, 1, n)), "Π_{k=1..n} (1 − x)"), (sp.Product(yhat[k], (k, 1, n)) ** (-1 / n), "(Π_{k=1..n} ŷ_k)^(−1/n)"),
    (sp.Integral(sp.exp(-(x**2)), (x, -sp.oo, sp.oo)), "∫_{−∞..∞} exp(−x^2) dx"), (sp.Integral(x + 1, x), "∫ (x + 1) dx"),
    (sp.Integral(x * y, (x, 0, 1), (y, a, b)), "∫_{a..b} ∫_{0..1} x·y dx dy"),
    (sp.Limit((1 + 1 / t) ** t, t, sp.oo), "lim_{t→∞} (1 + 1/t)^t"), (sp.Limit(f(t), t, 0), "lim_{t→0⁺} f(t)"), (sp.Limit(f(t), t, 0, "+-"), "lim_{t→0} f(t)"),
    # derivatives
    (sp.Derivative(CE, theta[i]), "∂CE/∂θ_i"), (sp.Derivative(x**2 + y, x), "∂/∂x (x^2 + y)"), (sp.Derivative(f(x, y), x, x, y), "∂³f(x, y)/∂x²∂y"),
    (sp.Derivative(f(x), (x, n)), "∂^n f(x)/∂x^n"), (sp.Derivative(CE, x) / n, "(1/n)·(∂CE/∂x)"), (sp.Derivative(CE, Y[i]) * sp.Derivative(Y[i], x), "(∂CE/∂y_i)·(∂y_i/∂x)"),
    # relations and cases
    (sp.Eq(x, y), "x = y"), (sp.Ne(x, y), "x ≠ y"), (sp.Lt(x, y), "x < y"), (sp.Le(x, y), "x ≤ y"), (sp.Gt(x, y), "x > y"), (sp.Ge(x, y), "x ≥ y"),
    (sp.true, "true"), (sp.false, "false"), (sp.Tuple(x, y + 1), "(x, y + 1)"), (sp.And(x > 0, sp.Or(y < 0, sp.Ne(x, y))), "(y < 0 ∨ x ≠ y) ∧ x > 0"),
    (sp.Piecewise((x, x > 0), (0, True)), "{x if x > 0; 0 otherwise}"), (2 * sp.Piecewise((x, x > 0), (0, True)), "2·{x if x > 0; 0 otherwise}"),
    # matrices
    (A * B, "A B"), (A * (B + C) - 2 * X.T, "A (B + C) − 2·Xᵀ"), (Q * K.T / sp.sqrt(d), "Q Kᵀ/√(d)"), (x * A * B, "x·A B"), (-A, "−A"), (A - B, "A − B"),
    (sp.Transpose(A * B), "(A B)ᵀ"), (A.I, "A⁻¹"), (A.T.I, "(Aᵀ)⁻¹"), (A**2, "A^2"), (A**-2, "A^(−2)"), (W_o.T * A, "W_oᵀ A"), (sp.Trace(A * B), "tr(A B)"),
    (sp.HadamardProduct(A, B + C), "A ∘ (B + C)"), (sp.HadamardProduct(A, B * C), "A ∘ (B C)"), (A * sp.HadamardProduct(B, C), "A (B ∘ C)"), (sp.HadamardPower(A, 2), "A^(∘2)"),
    (sp.Identity(n), "I"), (sp.ZeroMatrix(n, n), "0"), (sp.OneMatrix(n, 1), "𝟏"), (sp.DiagMatrix(sp.MatrixSymbol("p", n, 1)), "diag(p)"),
    (A[i, j], "A_{ij}"), (MatrixElement(A * B, i, j), "(A B)_{ij}"), (A[0, j], "A_{0,j}"), (sp.BlockMatrix([[A, B], [C, A * B]]), "[A B; C (A B)]"),
    (sp.Matrix([[x + 1, -y], [x / 2, 0]]), "[(x + 1) −y; x/2 0]"), (sp.ImmutableMatrix([x, y]), "[x; y]"), (softmax(X), "softmax(X)"), (softmax(Q * K.T / sp.sqrt(d)), "softmax(Q Kᵀ/√(d))"),
    (X.applyfunc(sp.tanh), "tanh(X)"), (X.applyfunc(g), "g(X)"), (X.applyfunc(sp.exp), "exp(X)"),
    # whole lines
    (sp.Eq(sp.Derivative(CE, theta[i]), sp.Sum(Y[j] * (sp.KroneckerDelta(i, j) - yhat[i]), (j, 1, n))), "∂CE/∂θ_i = Σ_{j=1..n} y_j·(δ_{ij} − ŷ_i)"),
    (sp.Eq(CE, -sp.Sum(Y[i] * sp.log(yhat[i]), (i, 1, n))), "CE = −Σ_{i=1..n} y_i·ln(ŷ_i)"),
    (sp.Eq(yhat[i], sp.exp(theta[i]) / sp.Sum(sp.exp(theta[j]), (j, 1, n))), "ŷ_i = exp(θ_i)/(Σ_{j=1..n} exp(θ_j))"),
]  # fmt: skip


@pytest.mark.parametrize(("expr", "shown"), SHOWN, ids=[shown for _, shown in SHOWN])
def test_text(expr, shown):
    assert text(expr) == shown


@pytest.mark.parametrize("expr", [expr for expr, _ in SHOWN], ids=[shown for _, shown in SHOWN])
def test_mathml_is_well_formed_and_gives_each_element_its_children(expr):
    markup = mathml(expr)
    assert not re.search(r"&(?!#|lt;|gt;|amp;)", markup)
    arity = {"mfrac": 2, "msup": 2, "msub": 2, "msubsup": 3, "munder": 2, "munderover": 3, "mover": 2, "mroot": 2}
    for element in ET.fromstring(markup).iter():
        if tag(element) in arity:
            assert len(element) == arity[tag(element)], ET.tostring(element)
        if tag(element) in {"mi", "mn", "mo", "mtext"}:
            assert element.text
            assert not len(element)


def tag(element):
    return element.tag.removeprefix("{http://www.w3.org/1998/Math/MathML}")


def shape(expr):
    """The MathML as nested words, rows flattened into what surrounds them: (mfrac a b)."""

    def said(element):
        if tag(element) == "mspace":
            return ""
        if not len(element):
            return (element.text or "").translate(dict.fromkeys((0x2061, 0x2062, 0x2063)))
        inside = [word for word in map(said, element) if word]
        return f"{{{' '.join(inside)}}}" if tag(element) == "mrow" else f"({tag(element)} {' '.join(inside)})"

    (root,) = ET.fromstring(mathml(expr))
    return said(root)


@pytest.mark.parametrize(
    ("expr", "structure"),
    [
        (sp.Symbol("yhat"), "(mover y ^)"),
        (sp.Symbol("c_tilde"), "(mover c ~)"),
        (sp.Symbol("W1"), "(msub W 1)"),
        (sp.Symbol("h_prev"), "(msub h prev)"),
        (sp.Symbol("h'"), "(msup h ′)"),
        (a / (b * c), "(mfrac a {b c})"),
        ((a + b) / c, "(mfrac {a + b} c)"),
        (-(a + b) * c, "{− {c {( {a + b} )}}}"),
        (unevaluated(sp.Pow, a / b, 2), "(msup {( (mfrac a b) )} 2)"),
        (x**-half, "(mfrac 1 (msqrt x))"),
        (sp.cbrt(x), "(mroot x 3)"),
        (x ** sp.Rational(3, 2), "(msup x {3 / 2})"),
        (sp.exp(-x), "(msup e {− x})"),
        (sp.exp(-a / (b * c)), "(msup e {− {a / {( {b c} )}}})"),
        (unevaluated(sp.Mul, 2, 3), "{2 · 3}"),
        (unevaluated(sp.Mul, 3, half, x), "(mfrac {3 x} 2)"),
        (theta[i] ** 2, "(msubsup θ i 2)"),
        (W1[i, j], "(msub W {1 , {i j}})"),
        (Y[t - 1], "(msub y {t − 1})"),
        (sp.KroneckerDelta(i, j), "(msub δ {i j})"),
        (sp.Sum(x + y, (k, 1, n)), "{(munderover ∑ {k = 1} n) {( {x + y} )}}"),
        (sp.Product(x, (k, 1, n)), "{(munderover ∏ {k = 1} n) x}"),
        (total / n, "{(mfrac 1 n) {(munderover ∑ {k = 1} n) x}}"),
        (sp.Derivative(CE, theta[i]), "(mfrac {∂ CE} {∂ (msub θ i)})"),
        (sp.Derivative(f(x), x, x), "(mfrac {(msup ∂ 2) {f {( x )}}} {∂ (msup x 2)})"),
        (sp.Derivative(x**2, x), "{(mfrac ∂ {∂ x}) {( (msup x 2) )}}"),
        (sp.Integral(x, (x, 0, 1)), "{(msubsup ∫ 0 1) x {d x}}"),
        (sp.Limit(f(t), t, 0), "{(munder lim {t → (msup 0 +)}) {f {( t )}}}"),
        (E(x), "{E {[ x ]}}"),
        (sp.binomial(n, k), "{( (mfrac n k) )}"),
        (sp.Abs(x), "{| x |}"),
        (sp.Lt(x, y), "{x < y}"),
        (sp.Symbol("x<&y"), "x<&y"),
        (W_o.T, "(msubsup W o T)"),
        (A.T.I, "(msup {( (msup A T) )} {− 1})"),
        (A * (B + C), "{A {( {B + C} )}}"),
        (sp.BlockMatrix([[A, B], [B, A]]), "{[ (mtable (mtr (mtd A) (mtd B)) (mtr (mtd B) (mtd A))) ]}"),
        (
            sp.Piecewise((x, x > 0), (0, True)),
            "{{ (mtable (mtr (mtd x) (mtd {if\xa0 {x > 0}})) (mtr (mtd 0) (mtd otherwise)))}",
        ),
    ],
    ids=str,
)
def test_mathml(expr, structure):
    assert shape(expr) == structure


def test_letters_and_digits_of_neighbours_do_not_run_together():
    assert "<mspace" in mathml(CE * x)
    assert "<mspace" in mathml(x * sp.log(x))
    assert "<mspace" in mathml(sp.Derivative(CE, x) / n)
    assert "<mspace" not in mathml(x * y)
    assert "<mo>·</mo>" in mathml(unevaluated(sp.Mul, 2, unevaluated(sp.Pow, 3, x)))


def test_block_is_asked_for():
    assert ET.fromstring(mathml(x)).get("display") is None
    assert ET.fromstring(mathml(x, block=True)).get("display") == "block"


class Gate(sp.Function):
    """A function of ours, known to SymPy as a class."""


def test_functions_we_define_are_called_by_their_name():
    assert text(Gate(x)) == "Gate(x)"


@pytest.mark.parametrize(
    ("expr", "kind"),
    [
        (sp.Interval(0, 1), "Interval"),
        (sp.zeta(x) + 1, "zeta"),
        (sp.Lambda(x, x + 1), "Lambda"),
        (sp.nan, "NaN"),
        (sp.zoo, "ComplexInfinity"),
        (sp.Subs(f(x), x, 0), "Subs"),
        (X.applyfunc(sp.Lambda(x, x**2)), "ElementwiseApplyFunction"),
        (X.applyfunc(sp.zeta), "ElementwiseApplyFunction"),
        (sp.Adjoint(sp.MatrixSymbol("Z", 2, 2)), "Adjoint"),
        (sp.Integral(x, (x, 1)), "Integral"),
        ("x", "str"),
        (1, "int"),
    ],
    ids=str,
)
@pytest.mark.parametrize("show", [text, mathml])
def test_what_has_no_notation_is_refused_by_name(show, expr, kind):
    with pytest.raises(TypeError, match=rf"^no notation for {kind}\b"):
        show(expr)


def test_names_keep_their_meaning_when_read_again():
    assert read_name("W_1") == read_name("W1")
    assert read_name("W_1") != read_name("W_2")
    assert read_name("W_1").is_letter is False
    assert read_name("theta").is_letter is True


def test_output_does_not_depend_on_the_hash_seed():
    program = (
        "import sympy as sp\n"
        "from formulas.printing import mathml, text\n"
        "x, y, z = sp.symbols('x y z'); f = sp.Function('f')\n"
        "e = sp.And(x > 0, y > 1, z > 2), sp.Max(x, y, z, 1), f(x)*f(y)*x*y*z*(x + y) - z/x + sp.exp(x) - y\n"
        "print(ascii([show(part) for part in e for show in (text, mathml)]))\n"
    )
    root = Path(__file__).parents[2]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=root,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1


# What is shown, read by the rules of precedence alone, has the value of the expression.


def combined(parts):
    """Expressions over `parts`, also such as SymPy would not keep: 2·3, x·(y·z), −(−x)."""
    kept = st.booleans()
    exponents = st.sampled_from([sp.Integer(number) for number in (-3, -2, -1, 0, 1, 2, 3)] + [half, -half, z, -z])
    return st.one_of(
        st.builds(lambda left, right, keep: sp.Add(left, right, evaluate=keep), parts, parts, kept),
        st.builds(lambda left, right, keep: sp.Mul(left, right, evaluate=keep), parts, parts, kept),
        st.builds(
            lambda left, right, keep: sp.Mul(left, sp.Pow(right, -1, evaluate=keep), evaluate=keep), parts, parts, kept
        ),
        st.builds(lambda part, keep: sp.Mul(-1, part, evaluate=keep), parts, kept),
        st.builds(lambda base, exponent, keep: sp.Pow(base, exponent, evaluate=keep), parts, exponents, kept),
    )


LEAVES = st.sampled_from(
    [x, y, z, sp.Rational(1, 2), sp.Rational(-2, 3), *map(sp.Integer, (-3, -2, -1, 0, 1, 2, 3, 10))]
)
EXPRESSIONS = st.recursive(LEAVES, combined, max_leaves=8)
VALUES = {"x": sp.Rational(7, 3), "y": sp.Rational(-3, 5), "z": sp.Integer(2)}


def value(line):
    python = line.replace("·", "*").replace("^", "**").replace("−", "-").replace("√", "sqrt")
    return eval(re.sub(r"\d+", r"S(\g<0>)", python), {"S": sp.Integer, "sqrt": sp.sqrt, "i": sp.I, **VALUES})


def on_one_line(element):
    """MathML as a line to evaluate. Rows add no brackets: only what a reader sees may group."""
    inside = [on_one_line(child) for child in element]
    match tag(element):
        case "mfrac":
            return f"(({inside[0]})/({inside[1]}))"
        case "msup":
            return f"{inside[0]}^({inside[1]})"
        case "msqrt":
            return f"√({''.join(inside)})"
        case "mroot":
            return f"({inside[0]})^(1/{inside[1]})"
        case "mspace":
            return ""
        case "mo" if element.text == "\u2062":
            return "·"
        case "mi" | "mn" | "mo":
            return element.text
        case "mrow" | "math":
            return "".join(inside)
    raise AssertionError(tag(element))


@pytest.mark.parametrize("read", [text, lambda expr: on_one_line(ET.fromstring(mathml(expr)))], ids=["text", "mathml"])
@settings(max_examples=300, deadline=None, database=None, derandomize=True)
@given(expr=EXPRESSIONS)
def test_what_is_shown_has_the_value_of_what_was_meant(read, expr):
    assume(not expr.has(sp.zoo, sp.nan, sp.oo))
    want = expr.subs({sp.Symbol(name): number for name, number in VALUES.items()}).doit()
    assume(want.is_finite)
    got = value(read(expr))
    assert abs(sp.N(got - want, 20, chop=True)) < 1e-12 * (1 + abs(sp.N(want, 20)))
