"""What every right positional.py does.

Inputs are designed for the mistakes they must expose: tables with d of 8 and more, positions
past 1 and bases other than 10000; words and positions of different widths where the contract
allows it, and of equal ones, so that a wrong pairing gets through to show its values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from checks import inputs
from checks.check import check, given
from checks.expect import call, expect, expect_close
from checks.inputs import Array, Draw
from checks.standard import agreement, unmodified

WIDTHS = (2, 4, 6, 8, 10, 12, 16)
BASES = (10000.0, 1000.0, 100.0, 10.0, 2.0)

# ---------------------------------------------------------------- sinusoidal encoding


@st.composite
def tables(draw: Draw) -> tuple[Any, ...]:
    """Draw a length, an even width and a base; the base is left out at times."""
    length = draw(st.sampled_from([1, 2, 3, 5, 7, 9, 11, 13]))
    d = draw(st.sampled_from(WIDTHS))
    base = draw(st.sampled_from([None, *BASES]))
    return (length, d) if base is None else (length, d, base)


@st.composite
def wide_tables(draw: Draw) -> tuple[int, int, float]:
    """Draw a table of at least three positions and two pairs of columns."""
    length = draw(st.sampled_from([3, 5, 7, 9, 11]))
    return length, draw(st.sampled_from(WIDTHS[1:])), draw(st.sampled_from(BASES))


@st.composite
def tables_and_steps(draw: Draw) -> tuple[int, int, float, int]:
    length, d, base = draw(wide_tables())
    return length, d, base, draw(st.integers(1, length - 2))


sinusoidal_encoding_agrees = agreement(
    of="positional.sinusoidal_encoding",
    arguments=tables(),
    claim="PE[k, 2i] = sin(k / base^(2i/d)) and PE[k, 2i+1] = cos(k / base^(2i/d)), with positions k from 0.",
    hint="Write down row 1 for d = 4: two pairs, i = 0 and i = 1. Which power of the base divides the position?",
)


@check(
    of="positional.sinusoidal_encoding",
    claim="Position 0 is encoded as 0, 1, 0, 1, …: the sine and the cosine of the angle 0, taking turns.",
    hint="Positions count from 0. Even columns hold sines, odd columns cosines: interleaved, not two halves.",
)
@given(table=wide_tables())
def position_zero_alternates(sinusoidal_encoding: Any, table: tuple[Any, ...]) -> None:
    first = sinusoidal_encoding(*table)[0]
    about = call("sinusoidal_encoding", *table, then="[0]")
    expect_close(about, got=first, want=np.tile([0.0, 1.0], table[1] // 2))


@check(
    of="positional.sinusoidal_encoding",
    claim="Every entry lies between -1 and 1.",
    hint="Each entry is one sine or one cosine; nothing multiplies it.",
)
@given(table=tables())
def entries_are_small(sinusoidal_encoding: Any, table: tuple[Any, ...]) -> None:
    encoding = sinusoidal_encoding(*table)
    about = call("sinusoidal_encoding", *table)
    expect(about, holds=bool((np.abs(encoding) <= 1 + 1e-6).all()), gave=encoding, expected="entries in [-1, 1]")


@check(
    of="positional.sinusoidal_encoding",
    claim="PE(k+s) is a fixed rotation of PE(k): each pair of columns 2i, 2i+1 turns by its angle at position s.",
    hint="sin(a + b) = sin a cos b + cos a sin b. A sine and a cosine of one pair must share their angle,"
    " stand side by side, and have the angle 0 at position 0.",
)
@given(case=tables_and_steps())
def later_rows_are_rotations(sinusoidal_encoding: Any, case: tuple[Any, ...]) -> None:
    *table, step = case
    encoding = sinusoidal_encoding(*table)
    sines, cosines = encoding[:-step, 0::2], encoding[:-step, 1::2]  # position k
    turned = np.empty_like(encoding[step:])
    with np.errstate(all="ignore"):
        turned[:, 0::2] = sines * encoding[step, 1::2] + cosines * encoding[step, 0::2]
        turned[:, 1::2] = cosines * encoding[step, 1::2] - sines * encoding[step, 0::2]
    about = call("sinusoidal_encoding", *table, then=f"[{step}:]")
    expect_close(about, got=encoding[step:], want=turned, scale=4.0,
                 sentence=f"Row k+{step} is not row k with each pair turned by its angle in row {step}.")  # fmt: skip


@check(
    of="positional.sinusoidal_encoding",
    claim="The inner product of two positions depends on their distance only.",
    hint="cos a cos b + sin a sin b = cos(a - b), if the sine and the cosine of a pair have the same frequency.",
)
@given(table=wide_tables())
def inner_products_depend_on_the_distance(sinusoidal_encoding: Any, table: tuple[Any, ...]) -> None:
    encoding = sinusoidal_encoding(*table)
    with np.errstate(all="ignore"):
        products = encoding @ encoding.T
    about = call("sinusoidal_encoding", *table)
    expect_close(about, got=products[1:, 1:], want=products[:-1, :-1], scale=float(table[1]),
                 sentence="PE(j+1)·PE(k+1) differs from PE(j)·PE(k) for some j and k.")  # fmt: skip


@check(
    of="positional.sinusoidal_encoding",
    claim="From position 0 to 1 the first pair turns by 1 radian, each further pair by a fixed part of the one before;"
    " after d/2 such steps 1/base would be left.",
    hint="The exponent of the base is 2i/d for pair i = 0, 1, …, d/2-1. If your i already counts 0, 2, 4, …, do not"
    " double it again. Is the argument `base` used?",
)
@given(table=wide_tables())
def angles_are_a_geometric_progression(sinusoidal_encoding: Any, table: tuple[Any, ...]) -> None:
    _, d, base = table
    row = sinusoidal_encoding(*table)[1]
    with np.errstate(all="ignore"):
        angles = np.arctan2(row[0::2], row[1::2])  # all in (0, 1] if they are right
        ratios = angles[1:] / angles[:-1]
    about = call("sinusoidal_encoding", *table, then="[1]")
    expect_close(about, got=angles[0], want=1.0, sentence="The first pair does not turn by 1 radian.")
    expect_close(about, got=ratios, want=np.full(d // 2 - 1, base ** (-2 / d)),
                 sentence="From pair to pair the angle arctan(sine / cosine) shrinks by another factor.")  # fmt: skip


@check(
    of="positional.sinusoidal_encoding",
    claim="A row depends on its position only: a longer table begins with the shorter one.",
    hint="The encoding must not know how long the sequence is. Do you divide positions by the length?",
)
@given(table=wide_tables())
def rows_do_not_depend_on_the_length(sinusoidal_encoding: Any, table: tuple[Any, ...]) -> None:
    length, *rest = table
    about = call("sinusoidal_encoding", length + 4, *rest, then=f"[:{length}]")
    longer = sinusoidal_encoding(length + 4, *rest)
    expect_close(about, got=longer[:length], want=sinusoidal_encoding(*table))


@check(
    of="positional.sinusoidal_encoding",
    claim="The base is 10000 where none is given.",
    hint="Give the parameter its default: base=10000.0.",
)
@given(table=wide_tables())
def encoding_has_a_default_base(sinusoidal_encoding: Any, table: tuple[Any, ...]) -> None:
    length, d, _ = table
    about = call("sinusoidal_encoding", length, d)
    expect_close(about, got=sinusoidal_encoding(length, d), want=sinusoidal_encoding(length, d, 10000.0))


@check(
    of="positional.sinusoidal_encoding",
    claim="Far out the table goes on as it began: from one position to the next every pair turns by its angle.",
    hint="Is the number of positions limited, or their type too small? Each row is computed from its own position.",
    examples=12,
)
@given(table=st.sampled_from([(1000, 2), (1200, 4), (1500, 8), (1000, 6, 100.0), (1300, 2, 2.0)]))
def long_tables_keep_turning(sinusoidal_encoding: Any, table: tuple[Any, ...]) -> None:
    encoding = sinusoidal_encoding(*table)
    sines, cosines = encoding[:, 0::2], encoding[:, 1::2]
    with np.errstate(all="ignore"):
        radius = sines**2 + cosines**2
        turned = sines[:-1] * cosines[1] + cosines[:-1] * sines[1]
    about = call("sinusoidal_encoding", *table)
    expect_close(
        about, got=radius, want=np.ones_like(radius), sentence="Sine and cosine of a pair do not fit together."
    )
    # Beyond position 1024 an angle in single precision is known to 6e-5, and two of them are compared.
    expect_close(about, got=sines[1:], want=turned, scale=32.0, sentence="Some row is not the one before it, turned.")


@check(
    of="positional.sinusoidal_encoding",
    claim="In a table hundreds of columns wide every pair still has an angle of its own, smaller than the one before.",
    hint="base^(2i) overflows for large i. Form the exponent 2i/d first, then one power; or work with logarithms.",
    examples=8,
)
@given(table=st.sampled_from([(2, 256), (3, 512), (2, 768), (3, 512, 1000.0)]))
def wide_tables_do_not_overflow(sinusoidal_encoding: Any, table: tuple[Any, ...]) -> None:
    sines = sinusoidal_encoding(*table)[1, 0::2]
    with np.errstate(all="ignore"):
        shrinks = (sines > 0) & (np.diff(sines, prepend=1.0) < 0)
    start = max(0, int(shrinks.argmin()) - 1)  # what is shown begins before the first offence
    expect(call("sinusoidal_encoding", *table, then=f"[1, {2 * start}:{2 * start + 6}:2]"), holds=bool(shrinks.all()),
           gave=sines[start : start + 3], expected="positive numbers, each smaller than the one before",
           sentence="The sines in row 1 do not shrink from pair to pair.")  # fmt: skip


# ------------------------------------------------------------------------ wavelengths


@st.composite
def widths(draw: Draw) -> tuple[Any, ...]:
    """Draw an even width and a base; the base is left out at times."""
    d = draw(st.sampled_from(WIDTHS))
    base = draw(st.sampled_from([None, *BASES]))
    return (d,) if base is None else (d, base)


@st.composite
def several_pairs(draw: Draw) -> tuple[int, float]:
    """Draw a width of at least two pairs, and a base."""
    return draw(st.sampled_from(WIDTHS[1:])), draw(st.sampled_from(BASES))


wavelengths_agree = agreement(
    of="positional.wavelengths",
    arguments=widths(),
    claim="Pair i has the wavelength 2π base^(2i/d), for i = 0 … d/2-1.",
    hint="sin(k / c) is back where it was when k / c has grown by 2π. There is one wavelength for each pair.",
)


@check(
    of="positional.wavelengths",
    claim="The first wavelength is 2π: the first pair turns by one radian per position.",
    hint="base^0 = 1 for the first pair, and a full turn is 2π radians. Pairs count from 0.",
)
@given(width=widths())
def shortest_wavelength_is_a_full_turn(wavelengths: Any, width: tuple[Any, ...]) -> None:
    about = call("wavelengths", *width, then="[0]")
    expect_close(about, got=wavelengths(*width)[0], want=2 * np.pi, scale=2 * np.pi)


@check(
    of="positional.wavelengths",
    claim="The wavelengths are a geometric progression; after d/2 steps they would have grown by the factor base.",
    hint="The exponents 2i/d run from 0 in steps of 2/d and stop one step before 1. Is the argument `base` used?",
)
@given(width=several_pairs())
def wavelengths_are_a_geometric_progression(wavelengths: Any, width: tuple[int, float]) -> None:
    d, base = width
    lengths = wavelengths(d, base)
    factor = base ** (2 / d)
    with np.errstate(all="ignore"):
        ratios = lengths[1:] / lengths[:-1]
    expect_close(call("wavelengths", d, base), got=ratios, want=np.full(d // 2 - 1, factor), scale=factor,
                 sentence="From pair to pair the wavelength grows by another factor.")  # fmt: skip


@check(
    of="positional.wavelengths",
    claim="Twice as many columns put one new wavelength behind each old one: every second one is as before.",
    hint="The exponent is a fraction of d, so pair 2i of a table of width 2d is pair i of one of width d.",
)
@given(width=several_pairs())
def wider_tables_keep_the_wavelengths(wavelengths: Any, width: tuple[int, float]) -> None:
    d, base = width
    narrow, wide = wavelengths(d, base), wavelengths(2 * d, base)
    about = call("wavelengths", 2 * d, base, then="[::2]")
    with np.errstate(all="ignore"):
        ratios = wide[::2] / narrow
    expect_close(about, got=ratios, want=np.ones(d // 2), scale=2.0,
                 sentence=f"Every second wavelength of width {2 * d} is not one of width {d}.")  # fmt: skip


@check(
    of="positional.wavelengths",
    claim="The base is 10000 where none is given.",
    hint="Give the parameter its default: base=10000.0.",
)
@given(width=several_pairs())
def wavelengths_have_a_default_base(wavelengths: Any, width: tuple[int, float]) -> None:
    d, _ = width
    with np.errstate(all="ignore"):
        ratios = wavelengths(d) / wavelengths(d, 10000.0)
    expect_close(call("wavelengths", d), got=ratios, want=np.ones(d // 2),
                 sentence="Without a base the result is not that of base 10000.")  # fmt: skip


@check(
    of="positional.wavelengths",
    claim="For hundreds of columns the wavelengths still grow from pair to pair and stay below 2π·base.",
    hint="base^(2i) overflows for large i. Form the exponent 2i/d first, then one power; or work with logarithms.",
    examples=8,
)
@given(width=st.sampled_from([(256,), (512,), (1024,), (512, 1000.0), (768, 1e6)]))
def many_wavelengths_do_not_overflow(wavelengths: Any, width: tuple[Any, ...]) -> None:
    lengths = wavelengths(*width)
    base = width[1] if len(width) > 1 else 10000.0
    with np.errstate(all="ignore"):
        grows = (np.diff(lengths, prepend=0.0) > 0) & (lengths < 2 * np.pi * base)
    start = max(0, int(grows.argmin()) - 1)  # what is shown begins before the first offence
    expect(call("wavelengths", *width, then=f"[{start}:{start + 3}]"), holds=bool(grows.all()),
           gave=lengths[start : start + 3], expected=f"growing numbers below 2π·{base:g}",
           sentence="The wavelengths do not grow from pair to pair, or grow too far.")  # fmt: skip


# ------------------------------------------------------- positions added, concatenated


@st.composite
def added(draw: Draw) -> tuple[Array, ...]:
    """Draw two words and two positions of one width."""
    d = draw(st.sampled_from([1, 2, 3, 4, 5]))
    return tuple(draw(inputs.grid((d,), limit=1)) for _ in range(4))


@st.composite
def concatenated(draw: Draw) -> tuple[Array, ...]:
    """Draw two words and two positions; words and positions have different widths, at times the same one.

    Different widths expose an addition by its shape. Equal ones let it through, so that its values can
    tell which mistake it is.
    """
    d, e = draw(inputs.sizes(2))
    if draw(st.booleans()):
        e = d
    x1, x2 = draw(inputs.grid((d,), limit=1)), draw(inputs.grid((d,), limit=1))
    p1, p2 = draw(inputs.grid((e,), limit=1)), draw(inputs.grid((e,), limit=1))
    return x1, p1, x2, p2


@st.composite
def added_and_shift(draw: Draw) -> tuple[Array, ...]:
    x1, p1, x2, p2 = draw(added())
    return x1, p1, x2, p2, draw(inputs.grid(x1.shape, limit=1))


added_score_agrees = agreement(
    of="positional.added_score",
    arguments=added(),
    claim="The score is (x1 + p1)·(x2 + p2), one number.",
    hint="Each word gets its own position added; then one dot product. How many terms are there when you multiply out?",
)

added_score_leaves_arguments_alone = unmodified(of="positional.added_score", arguments=added())


@check(
    of="positional.added_score",
    claim="The score holds all four terms: word·word, word·position, position·word and position·position.",
    hint="Multiply (x1 + p1)·(x2 + p2) out. Which of the four terms does your code not have?",
)
@given(case=added())
def added_score_has_four_terms(added_score: Any, case: tuple[Array, ...]) -> None:
    x1, p1, x2, p2 = case
    nothing = np.zeros_like(x1)
    terms = [added_score(x1, nothing, x2, nothing), added_score(x1, nothing, nothing, p2),
             added_score(nothing, p1, x2, nothing), added_score(nothing, p1, nothing, p2)]  # fmt: skip
    with np.errstate(all="ignore"):
        total = np.sum(terms)
    about = call("added_score", *case)
    expect_close(about, got=added_score(*case), want=total, scale=4.0,
                 sentence="The score is not the sum of its four terms, each asked for alone.")  # fmt: skip


@check(
    of="positional.added_score",
    claim="The cross terms count: what is left without word·word and position·position is x1·p2 + p1·x2.",
    hint="Adding lets words meet positions. Without cross terms this would be the score of concatenated embeddings.",
)
@given(case=added())
def cross_terms_are_there(added_score: Any, case: tuple[Array, ...]) -> None:
    x1, p1, x2, p2 = case
    nothing = np.zeros_like(x1)
    whole, words = added_score(*case), added_score(x1, nothing, x2, nothing)
    positions = added_score(nothing, p1, nothing, p2)
    with np.errstate(all="ignore"):
        cross = whole - words - positions
    about = call("added_score", *case)
    expect_close(about, got=cross, want=x1 @ p2 + p1 @ x2, scale=4.0, sentence="The cross terms are wrong or missing.")


@check(
    of="positional.added_score",
    claim="Only the sums count: what is taken from a word and given to its position changes nothing.",
    hint="x1 belongs to p1 and x2 to p2. After the addition nobody can tell what came from where.",
)
@given(case=added_and_shift())
def only_the_sums_count(added_score: Any, case: tuple[Array, ...]) -> None:
    x1, p1, x2, p2, shift = case
    moved = (x1 + shift, p1 - shift, x2 - shift, p2 + shift)
    expect_close(call("added_score", *moved), got=added_score(*moved), want=added_score(x1, p1, x2, p2), scale=8.0)


@check(
    of="positional.added_score",
    claim="Exchanging the two words together with their positions leaves the score unchanged.",
    hint="The dot product is symmetric. Is each word added to its own position?",
)
@given(case=added())
def added_words_can_be_exchanged(added_score: Any, case: tuple[Array, ...]) -> None:
    x1, p1, x2, p2 = case
    expect_close(
        call("added_score", x2, p2, x1, p1), got=added_score(x2, p2, x1, p1), want=added_score(*case), scale=4.0
    )


@check(
    of="positional.added_score",
    claim="Vectors a thousand times longer score a million times more: nothing is normalised or squashed.",
    hint="The score is a plain dot product. It is not divided by lengths or widths, and no softmax follows here.",
)
@given(case=added())
def added_score_grows_with_its_vectors(added_score: Any, case: tuple[Array, ...]) -> None:
    large = tuple(1024 * vector for vector in case)
    about = call("added_score", *large, then=" / 1024**2")
    expect_close(about, got=added_score(*large) / 1024**2, want=added_score(*case), scale=4.0)


concatenated_score_agrees = agreement(
    of="positional.concatenated_score",
    arguments=concatenated(),
    claim="The score is [x1, p1]·[x2, p2], one number; words and positions may have different widths.",
    hint="Put word and position end to end and take one dot product. Which parts of the two long vectors meet?",
)

concatenated_score_leaves_arguments_alone = unmodified(of="positional.concatenated_score", arguments=concatenated())


@check(
    of="positional.concatenated_score",
    claim="There are two terms: the score of the words alone plus the score of the positions alone.",
    hint="Words meet words and positions meet positions. Is a term missing, or one too many?",
)
@given(case=concatenated())
def concatenated_score_has_two_terms(concatenated_score: Any, case: tuple[Array, ...]) -> None:
    x1, p1, x2, p2 = case
    no_word, no_position = np.zeros_like(x1), np.zeros_like(p1)
    words = concatenated_score(x1, no_position, x2, no_position)
    positions = concatenated_score(no_word, p1, no_word, p2)
    about = call("concatenated_score", *case)
    with np.errstate(all="ignore"):
        total = words + positions
    expect_close(about, got=concatenated_score(*case), want=total, scale=4.0,
                 sentence="The score is not that of the words plus that of the positions.")  # fmt: skip


@check(
    of="positional.concatenated_score",
    claim="There are no cross terms: a word without a position scores 0 with a position without a word.",
    hint="In [x1, 0]·[0, p2] every number meets a zero. In (x1 + 0)·(0 + p2) it does not.",
)
@given(case=concatenated())
def words_never_meet_positions(concatenated_score: Any, case: tuple[Array, ...]) -> None:
    x1, p1, _, p2 = case
    crossed = (x1, np.zeros_like(p1), np.zeros_like(x1), p2)
    expect_close(call("concatenated_score", *crossed), got=concatenated_score(*crossed), want=0.0, scale=4.0)


@check(
    of="positional.concatenated_score",
    claim="Which part comes first does not matter: exchanging words and positions leaves the score unchanged.",
    hint="[x, p] and [p, x] hold the same products, if both vectors are put together in the same order.",
)
@given(case=concatenated())
def parts_can_be_exchanged(concatenated_score: Any, case: tuple[Array, ...]) -> None:
    x1, p1, x2, p2 = case
    other = (p1, x1, p2, x2)
    about = call("concatenated_score", *other)
    expect_close(about, got=concatenated_score(*other), want=concatenated_score(*case), scale=4.0)


@check(
    of="positional.concatenated_score",
    claim="A vector's score with itself is the sum of the squares of all its numbers, of word and position alike.",
    hint="Try x = [1], p = [1, 1]: three ones. Every number of both parts counts once, also where their widths differ.",
)
@given(case=concatenated())
def score_with_itself_is_the_squared_length(concatenated_score: Any, case: tuple[Array, ...]) -> None:
    x, p = case[:2]
    about = call("concatenated_score", x, p, x, p)
    expect_close(about, got=concatenated_score(x, p, x, p), want=(x**2).sum() + (p**2).sum(), scale=4.0)


@check(
    of="positional.concatenated_score",
    claim="Vectors a thousand times longer score a million times more: nothing is normalised or squashed.",
    hint="The score is a plain dot product. It is not divided by lengths or widths, and no softmax follows here.",
)
@given(case=concatenated())
def concatenated_score_grows_with_its_vectors(concatenated_score: Any, case: tuple[Array, ...]) -> None:
    large = tuple(1024 * vector for vector in case)
    about = call("concatenated_score", *large, then=" / 1024**2")
    expect_close(about, got=concatenated_score(*large) / 1024**2, want=concatenated_score(*case), scale=4.0)


# -------------------------------------------------------------------- relative biases


@st.composite
def biases(draw: Draw, *, shortest: int = 1) -> tuple[Array, int]:
    """Draw one bias for each distance, and the number of positions."""
    n = draw(st.sampled_from([size for size in (1, 2, 3, 4, 5, 6) if size >= shortest]))
    return draw(inputs.grid((2 * n - 1,), limit=8)), n


@st.composite
def one_distance(draw: Draw) -> tuple[int, int, float]:
    """Draw a number of positions, a distance and a bias for it that is not 0."""
    n = draw(st.sampled_from([2, 3, 4, 5, 6]))
    return n, draw(st.integers(1 - n, n - 1)), draw(st.sampled_from([1.0, -1.0, 2.5]))


@st.composite
def uneven_biases(draw: Draw) -> tuple[Array, int]:
    """Draw biases of which some are a trillion times larger than others."""
    bias, n = draw(biases(shortest=2))
    sizes = draw(st.binary(min_size=len(bias), max_size=len(bias)))
    return bias * 2.0 ** (8.0 * (np.frombuffer(sizes, dtype=np.uint8) % 9) - 24.0), n  # powers of two: exact


relative_bias_matrix_agrees = agreement(
    of="positional.relative_bias_matrix",
    arguments=biases(),
    claim="Entry (i, j) is bias[i - j + n - 1].",
    hint="Row i is the query, column j the key. For n = 2 write down which bias stands at (0, 1) and which at (1, 0).",
)

relative_bias_matrix_leaves_arguments_alone = unmodified(of="positional.relative_bias_matrix", arguments=biases())


@check(
    of="positional.relative_bias_matrix",
    claim="The matrix is Toeplitz: every diagonal holds one number, for it depends on i - j only.",
    hint="Moving query and key by one position keeps their distance. Does your index use i - j only?",
)
@given(case=biases(shortest=2))
def diagonals_are_constant(relative_bias_matrix: Any, case: tuple[Array, int]) -> None:
    matrix = relative_bias_matrix(*case)
    expect_close(call("relative_bias_matrix", *case, then="[1:, 1:]"), got=matrix[1:, 1:], want=matrix[:-1, :-1])


@check(
    of="positional.relative_bias_matrix",
    claim="The bias of distance s stands where i - j = s, and nowhere else: below the diagonal for a key in the past.",
    hint="bias[0] belongs to distance 1 - n, bias[n - 1] to 0. With j - i the past and the future change places.",
)
@given(case=one_distance())
def bias_stands_at_its_distance(relative_bias_matrix: Any, case: tuple[int, int, float]) -> None:
    n, distance, value = case
    bias = np.zeros(2 * n - 1)
    bias[distance + n - 1] = value
    about = call("relative_bias_matrix", bias, n)
    expect_close(about, got=relative_bias_matrix(bias, n), want=value * np.eye(n, k=-distance))


@check(
    of="positional.relative_bias_matrix",
    claim="Turning the biases round transposes the matrix.",
    hint="i - j and j - i are the two ends of `bias`, at the same distance from its middle. Is the middle at n - 1?",
)
@given(case=biases())
def reversed_biases_transpose_the_matrix(relative_bias_matrix: Any, case: tuple[Array, int]) -> None:
    bias, n = case
    turned = bias[::-1].copy()
    about = call("relative_bias_matrix", turned, n)
    expect_close(about, got=relative_bias_matrix(turned, n), want=relative_bias_matrix(bias, n).T)


@check(
    of="positional.relative_bias_matrix",
    claim="With one position less the two longest distances are gone, and the rest of the matrix stays as it was.",
    hint="The index of a distance shifts with n: the middle of `bias`, distance 0, is at n - 1.",
)
@given(case=biases(shortest=2))
def shorter_matrix_is_a_corner(relative_bias_matrix: Any, case: tuple[Array, int]) -> None:
    bias, n = case
    shorter = bias[1:-1].copy()
    about = call("relative_bias_matrix", shorter, n - 1)
    expect_close(about, got=relative_bias_matrix(shorter, n - 1), want=relative_bias_matrix(bias, n)[:-1, :-1])


@check(
    of="positional.relative_bias_matrix",
    claim="Biases are copied, not computed with: every one appears, unchanged, also beside a far larger one.",
    hint="Pick entries of `bias` by their index. Sums and differences of biases lose the small ones beside the large.",
)
@given(case=uneven_biases())
def biases_are_copied(relative_bias_matrix: Any, case: tuple[Array, int]) -> None:
    bias, n = case
    matrix = relative_bias_matrix(bias, n)
    copied = np.array_equal(np.unique(matrix), np.unique(bias))
    expect(
        call("relative_bias_matrix", bias, n), holds=copied, gave=matrix, expected="the entries of bias, all of them"
    )


contexts = st.sampled_from([(T, heads) for T in (1, 2, 3, 5, 8, 13, 64) for heads in (1, 2, 3, 4, 8, 12)])

relative_parameter_count_agrees = agreement(
    of="positional.relative_parameter_count",
    arguments=contexts,
    claim="There are (2(T-1) + 1) · heads = (2T-1) · heads biases to learn.",
    hint="How many values can i - j take when i and j run over T positions? Do not forget 0 and the negative ones.",
)


@check(
    of="positional.relative_parameter_count",
    claim="It is the number of different distances i - j in a T × T matrix, once for each head.",
    hint="Write down the matrix of i - j for T = 3 and count the different numbers in it.",
)
@given(context=contexts)
def distances_are_counted(relative_parameter_count: Any, context: tuple[int, int]) -> None:
    T, heads = context
    distances = {i - j for i in range(T) for j in range(T)}
    about = call("relative_parameter_count", T, heads)
    expect_close(about, got=relative_parameter_count(T, heads), want=float(len(distances) * heads))


@check(
    of="positional.relative_parameter_count",
    claim="Every head learns its own biases: so many heads need so many times what one head needs.",
    hint="The biases are per head. Does the number of heads multiply everything?",
)
@given(context=contexts)
def heads_cost_the_same(relative_parameter_count: Any, context: tuple[int, int]) -> None:
    T, heads = context
    one, about = relative_parameter_count(T, 1), call("relative_parameter_count", T, heads)
    with np.errstate(all="ignore"):
        wanted = heads * one
    expect_close(about, got=relative_parameter_count(T, heads), want=wanted)


@check(
    of="positional.relative_parameter_count",
    claim="One more position adds two distances per head, one ahead and one behind: the count is linear in T.",
    hint="A bias for each pair (i, j) would grow with T². Biases depend on i - j only.",
)
@given(context=contexts)
def one_position_more_adds_two(relative_parameter_count: Any, context: tuple[int, int]) -> None:
    T, heads = context
    shorter, about = relative_parameter_count(T, heads), call("relative_parameter_count", T + 1, heads)
    with np.errstate(all="ignore"):
        wanted = shorter + 2 * heads
    expect_close(about, got=relative_parameter_count(T + 1, heads), want=wanted)


@check(
    of="positional.relative_parameter_count",
    claim="Long contexts are counted in full: with a million positions and 10^5 heads, 2·10^11 biases.",
    hint="Python's integers have no limit; 32-bit ones wrap around at 2^31.",
    examples=12,
)
@given(context=st.sampled_from([(10**6, 10**5), (2**31, 3), (10**5, 10**5), (2**20 + 1, 2**12)]))
def large_parameter_counts_do_not_wrap_around(relative_parameter_count: Any, context: tuple[int, int]) -> None:
    T, heads = context
    count = relative_parameter_count(T, heads)
    exact = len(range(1 - T, T)) * heads  # the distances from 1-T to T-1
    with np.errstate(all="ignore"):
        fits = bool(abs(count / exact - 1) < 1e-9)
    expect(call("relative_parameter_count", T, heads), holds=fits, gave=count, expected=str(exact))
