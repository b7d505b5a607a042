"""Wrong positions: each function computes exactly what one mistake computes.

What is right in it is the reference's, so that a body shows the mistake and little else.
"""
# A misconception has the contract's signature even where the mistake is to ignore an argument
# (ARG001).
# ruff: noqa: ARG001

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from checks.misconception import misconception
from reference import attention
from reference import positional as right

if TYPE_CHECKING:
    from reference.positional import Array


def _pairs(d: int) -> Any:
    """Return i = 0 … d/2-1."""
    return np.arange(d // 2)


def _interleaved(sine_angles: Any, cosine_angles: Any) -> Any:
    """Return the table with sines in the even columns and cosines in the odd ones."""
    table = np.empty((len(sine_angles), 2 * sine_angles.shape[1]))
    table[:, 0::2] = np.sin(sine_angles)
    table[:, 1::2] = np.cos(cosine_angles)
    return table


def _angles(positions: Any, exponents: Any, base: float) -> Any:
    """Return k / base^exponent for each position k and each exponent."""
    return np.outer(positions, np.asarray(base, dtype=np.float64) ** -np.asarray(exponents, dtype=np.float64))


def _table(length: int, exponents: Any, base: float) -> Any:
    """Return the interleaved table with other exponents of the base."""
    angles = _angles(np.arange(length), exponents, base)
    return _interleaved(angles, angles)


# sinusoidal_encoding


@misconception(
    of="positional.sinusoidal_encoding",
    name="sine and cosine swapped",
    why="Even columns hold cosines and odd ones sines; the sheet's column 2i is the sine.",
)
def encoding_swapped(length: int, d: int, base: float = 10000.0) -> Any:
    table = right.sinusoidal_encoding(length, d, base)
    return table.reshape(length, -1, 2)[..., ::-1].reshape(length, d)


@misconception(
    of="positional.sinusoidal_encoding",
    name="halves in place of interleaved",
    why="All sines come first and all cosines after them, as in tensor2tensor and fairseq;"
    " the sheet has them take turns, column by column.",
)
def encoding_halves(length: int, d: int, base: float = 10000.0) -> Any:
    table = right.sinusoidal_encoding(length, d, base)
    return np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1)


@misconception(
    of="positional.sinusoidal_encoding",
    name="halves, cosines first",
    why="All cosines come first and all sines after them, as in diffusion models' time embeddings;"
    " the sheet has sine and cosine take turns.",
)
def encoding_halves_swapped(length: int, d: int, base: float = 10000.0) -> Any:
    table = right.sinusoidal_encoding(length, d, base)
    return np.concatenate([table[:, 1::2], table[:, 0::2]], axis=1)


@misconception(
    of="positional.sinusoidal_encoding",
    name="exponent i/d",
    why="The exponent of pair i is i/d in place of 2i/d, so the slowest pair turns by 1/sqrt(base) and not by 1/base.",
)
def encoding_half_exponent(length: int, d: int, base: float = 10000.0) -> Any:
    return _table(length, _pairs(d) / d, base)


@misconception(
    of="positional.sinusoidal_encoding",
    name="exponent 4i/d",
    why="The index already counts 0, 2, 4, … and is doubled once more, so the exponent of pair i is 4i/d.",
)
def encoding_double_exponent(length: int, d: int, base: float = 10000.0) -> Any:
    return _table(length, 4 * _pairs(d) / d, base)


@misconception(
    of="positional.sinusoidal_encoding",
    name="every column its own frequency",
    why="Column c uses the exponent c/d, so the cosine of a pair turns slower than its sine;"
    " columns 2i and 2i+1 share the exponent 2i/d.",
)
def encoding_column_exponent(length: int, d: int, base: float = 10000.0) -> Any:
    positions, columns = np.arange(length), np.arange(d)
    return _interleaved(_angles(positions, columns[0::2] / d, base), _angles(positions, columns[1::2] / d, base))


@misconception(
    of="positional.sinusoidal_encoding",
    name="column number taken for i",
    why="Column c uses the exponent 2c/d, as in a well-known tutorial: i counts pairs and not columns,"
    " and sine and cosine of a pair share it.",
)
def encoding_column_as_pair(length: int, d: int, base: float = 10000.0) -> Any:
    positions, columns = np.arange(length), np.arange(d)
    return _interleaved(
        _angles(positions, 2 * columns[0::2] / d, base), _angles(positions, 2 * columns[1::2] / d, base)
    )


@misconception(
    of="positional.sinusoidal_encoding",
    name="pairs counted from 1",
    why="The first pair has the exponent 2/d; with i from 0 it turns by one radian per position.",
)
def encoding_pairs_from_one(length: int, d: int, base: float = 10000.0) -> Any:
    return _table(length, 2 * (_pairs(d) + 1) / d, base)


@misconception(
    of="positional.sinusoidal_encoding",
    name="last pair reaches the base",
    why="The exponents run from 0 to 1 inclusive (i over d/2 - 1), as tensor2tensor spaces its time scales;"
    " the sheet's stop one step before 1.",
)
def encoding_inclusive(length: int, d: int, base: float = 10000.0) -> Any:
    return _table(length, _pairs(d) / max(d // 2 - 1, 1), base)


@misconception(
    of="positional.sinusoidal_encoding",
    name="tensor2tensor's table",
    why="This is tensor2tensor's table: first all sines, then all cosines, with exponents from 0 to 1 inclusive;"
    " the sheet interleaves them and uses 2i/d.",
)
def encoding_tensor2tensor(length: int, d: int, base: float = 10000.0) -> Any:
    angles = _angles(np.arange(length), _pairs(d) / max(d // 2 - 1, 1), base)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


@misconception(
    of="positional.sinusoidal_encoding",
    name="positions from 1",
    why="The first row encodes position 1; positions count from 0, and the first row is 0, 1, 0, 1, … throughout.",
)
def encoding_positions_from_one(length: int, d: int, base: float = 10000.0) -> Any:
    return right.sinusoidal_encoding(length + 1, d, base)[1:]


@misconception(
    of="positional.sinusoidal_encoding",
    name="base ignored",
    why="The number 10000 is written into the formula, so another base changes nothing.",
)
def encoding_base_ignored(length: int, d: int, base: float = 10000.0) -> Any:
    return right.sinusoidal_encoding(length, d)


@misconception(
    of="positional.sinusoidal_encoding",
    name="multiplied by the power",
    why="The position is multiplied by base^(2i/d) in place of divided (the exponent's sign is turned),"
    " so later pairs turn faster.",
)
def encoding_multiplied(length: int, d: int, base: float = 10000.0) -> Any:
    return _table(length, -2 * _pairs(d) / d, base)


@misconception(
    of="positional.sinusoidal_encoding",
    name="logarithm of the base forgotten",
    why="base^x = exp(x ln base): without ln base the frequencies are exp(-2i/d), whatever the base.",
)
def encoding_without_logarithm(length: int, d: int, base: float = 10000.0) -> Any:
    return _table(length, 2 * _pairs(d) / d, np.e)


@misconception(
    of="positional.sinusoidal_encoding",
    name="log10 in place of ln",
    why="base^x = exp(x ln base) needs the natural logarithm; with log10 the powers of the base are too small.",
)
def encoding_common_logarithm(length: int, d: int, base: float = 10000.0) -> Any:
    return _table(length, 2 * _pairs(d) / d * np.log10(base), np.e)


@misconception(
    of="positional.sinusoidal_encoding",
    name="integer division in the exponent",
    why="2i // d is 0 for every pair, so all pairs turn at the same speed.",
)
def encoding_integer_division(length: int, d: int, base: float = 10000.0) -> Any:
    return _table(length, 2 * _pairs(d) // d, base)


@misconception(
    of="positional.sinusoidal_encoding",
    name="sines only",
    why="Every column holds a sine; the odd ones must hold the cosine of the same angle.",
)
def encoding_sines(length: int, d: int, base: float = 10000.0) -> Any:
    return np.repeat(right.sinusoidal_encoding(length, d, base)[:, 0::2], 2, axis=1)


@misconception(
    of="positional.sinusoidal_encoding",
    name="odd columns left empty",
    why="Only the even columns are filled; the cosines are missing and those columns are zero.",
)
def encoding_without_cosines(length: int, d: int, base: float = 10000.0) -> Any:
    table = right.sinusoidal_encoding(length, d, base)
    table[:, 1::2] = 0
    return table


@misconception(
    of="positional.sinusoidal_encoding",
    name="sine and cosine by the parity of the position",
    why="Even rows hold sines and odd rows cosines; it is the column that decides, not the position.",
)
def encoding_by_row(length: int, d: int, base: float = 10000.0) -> Any:
    angles = np.repeat(_angles(np.arange(length), 2 * _pairs(d) / d, base), 2, axis=1)
    return np.where(np.arange(length)[:, np.newaxis] % 2 == 0, np.sin(angles), np.cos(angles))


@misconception(
    of="positional.sinusoidal_encoding",
    name="raw angles returned",
    why="Neither sine nor cosine is taken: the table holds the angles k / base^(2i/d) themselves.",
)
def encoding_raw_angles(length: int, d: int, base: float = 10000.0) -> Any:
    return np.repeat(_angles(np.arange(length), 2 * _pairs(d) / d, base), 2, axis=1)


@misconception(
    of="positional.sinusoidal_encoding",
    name="full turns in place of radians",
    why="The angle is multiplied by 2π, so the first pair makes a full turn per position and never changes.",
)
def encoding_full_turns(length: int, d: int, base: float = 10000.0) -> Any:
    angles = 2 * np.pi * _angles(np.arange(length), 2 * _pairs(d) / d, base)
    return _interleaved(angles, angles)


@misconception(
    of="positional.sinusoidal_encoding",
    name="angles taken as degrees",
    why="The angle is converted as if it were in degrees; k / base^(2i/d) is in radians.",
)
def encoding_degrees(length: int, d: int, base: float = 10000.0) -> Any:
    angles = np.deg2rad(_angles(np.arange(length), 2 * _pairs(d) / d, base))
    return _interleaved(angles, angles)


@misconception(
    of="positional.sinusoidal_encoding",
    name="positions divided by the length",
    why="Positions are scaled to [0, 1), so the same position is encoded differently in a longer sequence.",
)
def encoding_relative_to_length(length: int, d: int, base: float = 10000.0) -> Any:
    angles = _angles(np.arange(length) / length, 2 * _pairs(d) / d, base)
    return _interleaved(angles, angles)


@misconception(
    of="positional.sinusoidal_encoding",
    name="row 0 left empty",
    why="Position 0 is kept for padding and its row is zero, as in some translation models;"
    " the sheet encodes it like any other.",
)
def encoding_empty_first_row(length: int, d: int, base: float = 10000.0) -> Any:
    table = right.sinusoidal_encoding(length, d, base)
    table[0] = 0
    return table


@misconception(
    of="positional.sinusoidal_encoding",
    name="multiplied by sqrt(d)",
    why="The factor sqrt(d) belongs to the word embeddings of the original transformer, not to the positions.",
)
def encoding_scaled(length: int, d: int, base: float = 10000.0) -> Any:
    return right.sinusoidal_encoding(length, d, base) * d**0.5


@misconception(
    of="positional.sinusoidal_encoding",
    name="rows and columns exchanged",
    why="The table is (d, length): the contract has one row per position.",
)
def encoding_transposed(length: int, d: int, base: float = 10000.0) -> Any:
    return right.sinusoidal_encoding(length, d, base).T


@misconception(
    of="positional.sinusoidal_encoding",
    name="batch axis added",
    why="The table has a leading axis of size one, as a torch module keeps it; the contract's is (length, d).",
)
def encoding_batched(length: int, d: int, base: float = 10000.0) -> Any:
    return right.sinusoidal_encoding(length, d, base)[np.newaxis]


@misconception(
    of="positional.sinusoidal_encoding",
    name="power of the base overflows",
    why="base^(2i) is formed before the d-th root is taken, and is inf for wide tables; form the exponent 2i/d first.",
)
def encoding_overflowing(length: int, d: int, base: float = 10000.0) -> Any:
    powers = (np.float64(base) ** (2 * _pairs(d))) ** (1 / d)
    angles = np.outer(np.arange(length), 1 / powers)
    return _interleaved(angles, angles)


# wavelengths


@misconception(
    of="positional.wavelengths",
    name="2π forgotten",
    why="These are the divisors base^(2i/d) of the position; a full turn takes 2π times as many positions.",
)
def wavelengths_without_turn(d: int, base: float = 10000.0) -> Any:
    return np.float64(base) ** (2 * _pairs(d) / d)


@misconception(
    of="positional.wavelengths",
    name="angular frequencies returned",
    why="base^(-2i/d) is the angle per position; the wavelength is the number of positions per full turn.",
)
def wavelengths_as_angular_frequencies(d: int, base: float = 10000.0) -> Any:
    return np.float64(base) ** (-2 * _pairs(d) / d)


@misconception(
    of="positional.wavelengths",
    name="frequencies returned",
    why="These are full turns per position, base^(-2i/d) / 2π; the wavelength is their inverse.",
)
def wavelengths_as_frequencies(d: int, base: float = 10000.0) -> Any:
    return 1 / right.wavelengths(d, base)


@misconception(
    of="positional.wavelengths",
    name="2π divided by the power",
    why="The power base^(2i/d) already divides the position: a larger one makes the wavelength longer, not shorter.",
)
def wavelengths_divided(d: int, base: float = 10000.0) -> Any:
    return 2 * np.pi * np.float64(base) ** (-2 * _pairs(d) / d)


@misconception(
    of="positional.wavelengths",
    name="π in place of 2π",
    why="After π the sine has turned its sign; it is back where it was after 2π.",
)
def wavelengths_half_turn(d: int, base: float = 10000.0) -> Any:
    return right.wavelengths(d, base) / 2


@misconception(
    of="positional.wavelengths",
    name="full turn of 360",
    why="The angles of the encoding are radians: a full turn is 2π, not 360.",
)
def wavelengths_in_degrees(d: int, base: float = 10000.0) -> Any:
    return 360 * np.float64(base) ** (2 * _pairs(d) / d)


@misconception(
    of="positional.wavelengths",
    name="exponent i/d",
    why="The exponent of pair i is i/d in place of 2i/d, so the wavelengths reach only sqrt(base).",
)
def wavelengths_half_exponent(d: int, base: float = 10000.0) -> Any:
    return 2 * np.pi * np.float64(base) ** (_pairs(d) / d)


@misconception(
    of="positional.wavelengths",
    name="exponent 4i/d",
    why="The index already counts 0, 2, 4, … and is doubled once more, so the exponent of pair i is 4i/d.",
)
def wavelengths_double_exponent(d: int, base: float = 10000.0) -> Any:
    return 2 * np.pi * np.float64(base) ** (4 * _pairs(d) / d)


@misconception(
    of="positional.wavelengths",
    name="a wavelength for every column",
    why="i counts pairs of columns, so it stops at d/2 - 1; the sheet lists two indices that d = 4 does not have.",
)
def wavelengths_too_many(d: int, base: float = 10000.0) -> Any:
    return 2 * np.pi * np.float64(base) ** (2 * np.arange(d) / d)


@misconception(
    of="positional.wavelengths",
    name="pairs counted from 1",
    why="The first pair is i = 0 and has the wavelength 2π; here the list starts with the second and ends at 2π·base.",
)
def wavelengths_from_one(d: int, base: float = 10000.0) -> Any:
    return 2 * np.pi * np.float64(base) ** (2 * (_pairs(d) + 1) / d)


@misconception(
    of="positional.wavelengths",
    name="last wavelength reaches 2π·base",
    why="The exponents run from 0 to 1 inclusive (i over d/2 - 1), as tensor2tensor spaces them;"
    " the sheet's stop one step before 1.",
)
def wavelengths_inclusive(d: int, base: float = 10000.0) -> Any:
    return 2 * np.pi * np.float64(base) ** (_pairs(d) / max(d // 2 - 1, 1))


@misconception(
    of="positional.wavelengths",
    name="base ignored",
    why="The number 10000 is written into the formula, so another base changes nothing.",
)
def wavelengths_base_ignored(d: int, base: float = 10000.0) -> Any:
    return right.wavelengths(d)


@misconception(
    of="positional.wavelengths",
    name="logarithm of the base forgotten",
    why="base^x = exp(x ln base): without ln base the wavelengths are 2π exp(2i/d), whatever the base.",
)
def wavelengths_without_logarithm(d: int, base: float = 10000.0) -> Any:
    return right.wavelengths(d, np.e)


@misconception(
    of="positional.wavelengths",
    name="evenly spaced",
    why="The wavelengths grow by a fixed amount from 2π towards 2π·base; they grow by a fixed factor.",
)
def wavelengths_linear(d: int, base: float = 10000.0) -> Any:
    return 2 * np.pi * np.linspace(1, base, d // 2, endpoint=False)


@misconception(
    of="positional.wavelengths",
    name="longest first",
    why="The list is turned round; pair 0, the fastest, comes first.",
)
def wavelengths_reversed(d: int, base: float = 10000.0) -> Any:
    return right.wavelengths(d, base)[::-1]


@misconception(
    of="positional.wavelengths",
    name="power of the base overflows",
    why="base^(2i) is formed before the d-th root is taken, and is inf for wide tables; form the exponent 2i/d first.",
)
def wavelengths_overflowing(d: int, base: float = 10000.0) -> Any:
    return 2 * np.pi * (np.float64(base) ** (2 * _pairs(d))) ** (1 / d)


# added_score


@misconception(
    of="positional.added_score",
    name="cross terms missing",
    why="x1·x2 + p1·p2 is the score of concatenated embeddings; adding also lets words meet positions.",
)
def added_without_cross_terms(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return x1 @ x2 + p1 @ p2


@misconception(
    of="positional.added_score",
    name="p1·x2 missing",
    why="Three of the four terms are there; the position of the first word also meets the second word.",
)
def added_without_position_word(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return x1 @ x2 + x1 @ p2 + p1 @ p2


@misconception(
    of="positional.added_score",
    name="x1·p2 missing",
    why="Three of the four terms are there; the first word also meets the position of the second word.",
)
def added_without_word_position(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return x1 @ x2 + p1 @ x2 + p1 @ p2


@misconception(
    of="positional.added_score",
    name="p1·p2 missing",
    why="Three of the four terms are there; the two positions also meet each other.",
)
def added_without_positions_term(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return x1 @ x2 + x1 @ p2 + p1 @ x2


@misconception(
    of="positional.added_score",
    name="cross terms alone",
    why="x1·p2 + p1·x2 is the difference to the concatenated score, not the score itself.",
)
def added_cross_terms_alone(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return x1 @ p2 + p1 @ x2


@misconception(
    of="positional.added_score",
    name="words added to words",
    why="(x1 + x2)·(p1 + p2) pairs the arguments wrongly: each word is added to its own position.",
)
def added_words_to_words(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return (x1 + x2) @ (p1 + p2)


@misconception(
    of="positional.added_score",
    name="positions ignored",
    why="x1·x2 compares the words alone; both positions must be added first.",
)
def added_words_alone(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return x1 @ x2


@misconception(
    of="positional.added_score",
    name="position added to the first word only",
    why="(x1 + p1)·x2 leaves the second word without its position; the key is z = x + p like the query.",
)
def added_to_query(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return (x1 + p1) @ x2


@misconception(
    of="positional.added_score",
    name="position added to the second word only",
    why="x1·(x2 + p2) leaves the first word without its position; the query is z = x + p like the key.",
)
def added_to_key(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return x1 @ (x2 + p2)


@misconception(
    of="positional.added_score",
    name="one position for both words",
    why="p1 is added to both words; the second word stands at p2.",
)
def added_one_position(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return (x1 + p1) @ (x2 + p1)


@misconception(
    of="positional.added_score",
    name="positions exchanged",
    why="p2 is added to the first word and p1 to the second, so that each word meets its own position.",
)
def added_exchanged(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return (x1 + p2) @ (x2 + p1)


@misconception(
    of="positional.added_score",
    name="positions subtracted",
    why="The positions are taken away in place of added, which turns the sign of the cross terms.",
)
def added_subtracted(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return (x1 - p1) @ (x2 - p2)


@misconception(
    of="positional.added_score",
    name="scaled by 1/sqrt(d)",
    why="The scale belongs to scaled dot-product attention; the sheet compares plain dot products.",
)
def added_scaled(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return right.added_score(x1, p1, x2, p2) / len(x1) ** 0.5


@misconception(
    of="positional.added_score",
    name="mean in place of the sum",
    why="The products are averaged over the d entries; a dot product adds them up.",
)
def added_mean(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return right.added_score(x1, p1, x2, p2) / len(x1)


@misconception(
    of="positional.added_score",
    name="cosine similarity",
    why="The score is divided by the lengths of both vectors; the sheet's score is the plain dot product.",
)
def added_cosine(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    first, second = x1 + p1, x2 + p2
    return first @ second / np.sqrt((first @ first) * (second @ second))


@misconception(
    of="positional.added_score",
    name="products not summed",
    why="`*` multiplies entry by entry and returns a vector; a dot product is one number.",
)
def added_not_summed(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return (x1 + p1) * (x2 + p2)


@misconception(
    of="positional.added_score",
    name="outer product",
    why="Every entry meets every other and a matrix comes back; a dot product is one number.",
)
def added_outer(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return np.outer(x1 + p1, x2 + p2)


@misconception(
    of="positional.added_score",
    name="modifies its input",
    why="`x1 += p1` writes into the caller's array; `x1 = x1 + p1` makes a new one.",
)
def added_in_place(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    x1 += p1
    x2 += p2
    return x1 @ x2


# concatenated_score


@misconception(
    of="positional.concatenated_score",
    name="added in place of concatenated",
    why="(x1 + p1)·(x2 + p2) has the cross terms x1·p2 and p1·x2 as well, and needs words and positions of one width.",
)
def concatenated_added(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return (x1 + p1) @ (x2 + p2)


@misconception(
    of="positional.concatenated_score",
    name="second vector in the other order",
    why="[x1, p1]·[p2, x2] lets the word meet the position; both vectors need the same order.",
)
def concatenated_other_order(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return np.concatenate([x1, p1]) @ np.concatenate([p2, x2])


@misconception(
    of="positional.concatenated_score",
    name="words concatenated with words",
    why="[x1, x2]·[p1, p2] pairs the arguments wrongly: each word is concatenated with its own position.",
)
def concatenated_words_with_words(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return np.concatenate([x1, x2]) @ np.concatenate([p1, p2])


@misconception(
    of="positional.concatenated_score",
    name="stacked in place of concatenated",
    why="Word and position become the rows of a matrix, which works only where they have the same width;"
    " concatenation puts them end to end.",
)
def concatenated_stacked(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return (np.stack([x1, p1]) * np.stack([x2, p2])).sum()


@misconception(
    of="positional.concatenated_score",
    name="matrix of all four products",
    why="Word and position become the rows of a matrix, and the product of two such matrices is 2 × 2;"
    " the score is one number.",
)
def concatenated_matrix(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return np.stack([x1, p1]) @ np.stack([x2, p2]).T


@misconception(
    of="positional.concatenated_score",
    name="stops at the shorter part",
    why="`zip` over words and positions together ends with the shorter one; the rest of the longer one is lost.",
)
def concatenated_zipped(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    shorter = min(len(x1), len(p1))
    return x1[:shorter] @ x2[:shorter] + p1[:shorter] @ p2[:shorter]


@misconception(
    of="positional.concatenated_score",
    name="positions ignored",
    why="x1·x2 compares the words alone; the positions' product is the second term.",
)
def concatenated_words_alone(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return x1 @ x2


@misconception(
    of="positional.concatenated_score",
    name="words ignored",
    why="p1·p2 compares the positions alone; the words' product is the first term.",
)
def concatenated_positions_alone(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return p1 @ p2


@misconception(
    of="positional.concatenated_score",
    name="terms multiplied",
    why="(x1·x2)(p1·p2) multiplies the two terms; in one dot product they are added.",
)
def concatenated_multiplied(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return (x1 @ x2) * (p1 @ p2)


@misconception(
    of="positional.concatenated_score",
    name="terms subtracted",
    why="x1·x2 - p1·p2 takes the second term away; in one dot product they are added.",
)
def concatenated_subtracted(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return x1 @ x2 - p1 @ p2


@misconception(
    of="positional.concatenated_score",
    name="terms averaged",
    why="The two terms are averaged; a dot product adds them up.",
)
def concatenated_averaged(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return (x1 @ x2 + p1 @ p2) / 2


@misconception(
    of="positional.concatenated_score",
    name="scaled by the root of the whole width",
    why="The scale belongs to scaled dot-product attention; the sheet compares plain dot products.",
)
def concatenated_scaled(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return right.concatenated_score(x1, p1, x2, p2) / (len(x1) + len(p1)) ** 0.5


@misconception(
    of="positional.concatenated_score",
    name="scaled by the root of the word's width",
    why="The scale belongs to scaled dot-product attention, and there with the width of the whole vector.",
)
def concatenated_scaled_by_word(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return right.concatenated_score(x1, p1, x2, p2) / len(x1) ** 0.5


@misconception(
    of="positional.concatenated_score",
    name="cosine similarity",
    why="The score is divided by the lengths of both vectors; the sheet's score is the plain dot product.",
)
def concatenated_cosine(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    first, second = np.concatenate([x1, p1]), np.concatenate([x2, p2])
    return first @ second / np.sqrt((first @ first) * (second @ second))


@misconception(
    of="positional.concatenated_score",
    name="products not summed",
    why="`*` multiplies entry by entry and returns a vector; a dot product is one number.",
)
def concatenated_not_summed(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return np.concatenate([x1, p1]) * np.concatenate([x2, p2])


@misconception(
    of="positional.concatenated_score",
    name="two terms returned apart",
    why="x1·x2 and p1·p2 come back as a pair; the dot product of the long vectors is their sum.",
)
def concatenated_pair(x1: Array, p1: Array, x2: Array, p2: Array) -> Any:
    return x1 @ x2, p1 @ p2


# relative_bias_matrix


def _offsets(n: int) -> Any:
    """Return i - j."""
    return np.arange(n)[:, np.newaxis] - np.arange(n)


@misconception(
    of="positional.relative_bias_matrix",
    name="bias index j-i for i-j",
    why="The index counts key minus query, as T5 and Shaw et al. do; the sheet has π_{i-j}, query minus key,"
    " so the matrix is transposed.",
)
def bias_transposed(bias: Array, n: int) -> Any:
    return right.relative_bias_matrix(bias, n).T


@misconception(
    of="positional.relative_bias_matrix",
    name="n-1 forgotten in the index",
    why="bias[i - j] reads from the end for negative distances; index 0 belongs to the distance 1 - n.",
)
def bias_without_shift(bias: Array, n: int) -> Any:
    return bias[_offsets(n)]


@misconception(
    of="positional.relative_bias_matrix",
    name="index shifted by n",
    why="bias[i - j + n] is one too far: the distance 0 is at n - 1, and the last index does not exist.",
)
def bias_shifted_by_n(bias: Array, n: int) -> Any:
    return bias[_offsets(n) + n]


@misconception(
    of="positional.relative_bias_matrix",
    name="index shifted by n-2",
    why="bias[i - j + n - 2] is one too low: the distance 0 is at n - 1, and -1 reads the last bias.",
)
def bias_shifted_too_little(bias: Array, n: int) -> Any:
    return bias[_offsets(n) + n - 2]


@misconception(
    of="positional.relative_bias_matrix",
    name="distance without its sign",
    why="bias[|i - j|] reads the first n biases and treats past and future alike; i - j has a sign.",
)
def bias_absolute(bias: Array, n: int) -> Any:
    return bias[np.abs(_offsets(n))]


@misconception(
    of="positional.relative_bias_matrix",
    name="future mirrored from the past",
    why="bias[|i - j| + n - 1] uses the biases of the past for the future too; there are 2n - 1 of them for a reason.",
)
def bias_mirrored(bias: Array, n: int) -> Any:
    return bias[np.abs(_offsets(n)) + n - 1]


@misconception(
    of="positional.relative_bias_matrix",
    name="index i+j",
    why="Row i is bias[i:i+n]: constant along the anti-diagonals (a Hankel matrix), for the index is i + j.",
)
def bias_hankel(bias: Array, n: int) -> Any:
    return bias[np.arange(n)[:, np.newaxis] + np.arange(n)]


@misconception(
    of="positional.relative_bias_matrix",
    name="rows upside down",
    why="The rows come in the wrong order, so the bias of distance 0 runs along the anti-diagonal.",
)
def bias_upside_down(bias: Array, n: int) -> Any:
    return right.relative_bias_matrix(bias, n)[::-1]


@misconception(
    of="positional.relative_bias_matrix",
    name="distance taken modulo n",
    why="bias[(i - j) mod n] wraps around (a circulant matrix): a key ahead is no key far behind.",
)
def bias_circulant(bias: Array, n: int) -> Any:
    return bias[_offsets(n) % n]


@misconception(
    of="positional.relative_bias_matrix",
    name="same row for every query",
    why="Each row holds the same n biases, so the entry depends on j only and not on i - j.",
)
def bias_rows_alike(bias: Array, n: int) -> Any:
    return np.tile(bias[:n], (n, 1))


@misconception(
    of="positional.relative_bias_matrix",
    name="future left at zero",
    why="Only keys at or before the query get their bias; a causal mask is another matter.",
)
def bias_lower_triangle(bias: Array, n: int) -> Any:
    return np.tril(right.relative_bias_matrix(bias, n))


@misconception(
    of="positional.relative_bias_matrix",
    name="diagonal left at zero",
    why="The distance 0 has a bias as well: bias[n - 1].",
)
def bias_without_diagonal(bias: Array, n: int) -> Any:
    return right.relative_bias_matrix(bias, n) * (1 - np.eye(n))


@misconception(
    of="positional.relative_bias_matrix",
    name="as many rows as biases",
    why="The matrix is (2n-1, 2n-1): there are 2n - 1 distances but n positions.",
)
def bias_too_large(bias: Array, n: int) -> Any:
    size = len(bias)
    return bias[np.clip(_offsets(size) + n - 1, 0, size - 1)]


@misconception(
    of="positional.relative_bias_matrix",
    name="softmax applied",
    why="The rows are normalised already; the biases are added to the scores first, and the softmax comes after.",
)
def bias_softmax(bias: Array, n: int) -> Any:
    return attention.softmax(right.relative_bias_matrix(bias, n))


@misconception(
    of="positional.relative_bias_matrix",
    name="exponentials of the biases",
    why="e^π is the factor a bias puts on the attention weight; the matrix holds the biases themselves.",
)
def bias_exponential(bias: Array, n: int) -> Any:
    return np.exp(right.relative_bias_matrix(bias, n))


@misconception(
    of="positional.relative_bias_matrix",
    name="modifies its input",
    why="The biases are turned round or shifted in place, in the caller's array; make a copy first.",
)
def bias_in_place(bias: Array, n: int) -> Any:
    matrix = right.relative_bias_matrix(bias, n)
    bias[:] = bias[::-1] + 1
    return matrix


# relative_parameter_count


@misconception(
    of="positional.relative_parameter_count",
    name="distance 0 forgotten",
    why="2(T-1) counts the distances ahead and behind; a position also has the distance 0 to itself.",
)
def count_without_zero(T: int, heads: int) -> Any:
    return 2 * (T - 1) * heads


@misconception(
    of="positional.relative_parameter_count",
    name="2T distances",
    why="Distances run from 1-T to T-1, which are 2T - 1: the distance 0 is counted twice here.",
)
def count_two_t(T: int, heads: int) -> Any:
    return 2 * T * heads


@misconception(
    of="positional.relative_parameter_count",
    name="2T+1 distances",
    why="2k+1 is the count when distances are clipped at k (Shaw et al.); the farthest key is T - 1 away, not T.",
)
def count_two_t_plus_one(T: int, heads: int) -> Any:
    return (2 * T + 1) * heads


@misconception(
    of="positional.relative_parameter_count",
    name="distances without their sign",
    why="T counts the distances 0 … T-1 in one direction; a key may stand ahead or behind.",
)
def count_one_direction(T: int, heads: int) -> Any:
    return T * heads


@misconception(
    of="positional.relative_parameter_count",
    name="a bias for every pair of positions",
    why="T² counts the entries of the matrix; all entries with the same i - j share one parameter.",
)
def count_pairs(T: int, heads: int) -> Any:
    return T * T * heads


@misconception(
    of="positional.relative_parameter_count",
    name="a bias for every unordered pair",
    why="T(T+1)/2 counts the entries of a triangle; all entries with the same i - j share one parameter.",
)
def count_triangle(T: int, heads: int) -> Any:
    return T * (T + 1) // 2 * heads


@misconception(
    of="positional.relative_parameter_count",
    name="heads ignored",
    why="2T - 1 is the count for one head; every head learns its own biases.",
)
def count_one_head(T: int, heads: int) -> Any:
    return 2 * T - 1


@misconception(
    of="positional.relative_parameter_count",
    name="heads added in place of multiplied",
    why="(2T-1) + heads gives each further head one parameter; it needs 2T - 1 of its own.",
)
def count_heads_added(T: int, heads: int) -> Any:
    return 2 * T - 1 + heads


@misconception(
    of="positional.relative_parameter_count",
    name="brackets forgotten",
    why="2(T-1) + 1·heads multiplies only the last term by the heads; the sheet has (2(T-1) + 1)·m.",
)
def count_without_brackets(T: int, heads: int) -> Any:
    return 2 * (T - 1) + 1 * heads


@misconception(
    of="positional.relative_parameter_count",
    name="brackets forgotten around 2T-1",
    why="2T - 1·heads multiplies only the 1 by the heads; the whole of 2T - 1 is needed once per head.",
)
def count_minus_heads(T: int, heads: int) -> Any:
    return 2 * T - 1 * heads


@misconception(
    of="positional.relative_parameter_count",
    name="heads squared",
    why="A bias for each pair of heads is counted; heads do not look at each other.",
)
def count_heads_squared(T: int, heads: int) -> Any:
    return (2 * T - 1) * heads**2


@misconception(
    of="positional.relative_parameter_count",
    name="counted once per position",
    why="Every position counts its 2T - 1 distances anew; all positions share the same biases.",
)
def count_per_position(T: int, heads: int) -> Any:
    return (2 * T - 1) * T * heads


@misconception(
    of="positional.relative_parameter_count",
    name="wraps around at 32 bits",
    why="The product is formed in 32-bit integers and wraps around beyond 2^31; Python's own integers do not.",
)
def count_wrapped(T: int, heads: int) -> Any:
    return int(np.array((2 * T - 1) * heads).astype(np.int32))
