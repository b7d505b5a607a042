"""positional.py, right in other ways."""

import cmath
import math

import numpy as np
import torch

from engine.audit.variant import right

# ----------------------------------------------------------------- sinusoidal encoding


@right("positional.sinusoidal_encoding")
def entry_by_entry(length, d, base=10000.0):
    table = [[0.0] * d for _ in range(length)]
    for k in range(length):
        for i in range(d // 2):
            angle = k / math.pow(base, 2 * i / d)
            table[k][2 * i], table[k][2 * i + 1] = math.sin(angle), math.cos(angle)
    return table


@right("positional.sinusoidal_encoding")
def by_complex_numbers(length, d, base=10000.0):
    turns = np.exp(1j * np.outer(np.arange(length), base ** -(np.arange(0, d, 2) / d)))
    return np.stack([turns.imag, turns.real], axis=-1).reshape(length, d)


@right("positional.sinusoidal_encoding")
def every_second_column(length, d, base=10000.0):
    table = np.zeros((length, d))
    angles = np.arange(length)[:, None] * np.exp(np.arange(0, d, 2) * -(math.log(base) / d))
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles)
    return table


@right("positional.sinusoidal_encoding")
def turned_step_by_step(length, d, base=10000.0):
    steps = [cmath.exp(1j * base ** (-2 * i / d)) for i in range(d // 2)]
    turns, rows = [1 + 0j] * (d // 2), []
    for _ in range(length):
        rows.append([part for turn in turns for part in (turn.imag, turn.real)])
        turns = [turn * step for turn, step in zip(turns, steps)]
    return np.array(rows)


@right("positional.sinusoidal_encoding")
def cosine_as_a_shifted_sine(length, d, base=10000.0):
    columns = np.arange(d)
    angles = np.arange(length)[:, None] / np.power(base, 2 * (columns // 2) / d)
    return np.sin(angles + np.pi / 2 * (columns % 2))


@right("positional.sinusoidal_encoding")
def table_in_torch(length, d, base=10000.0):
    rates = torch.exp(torch.arange(0, d, 2, dtype=torch.float64) * (-math.log(base) / d))
    angles = torch.arange(length, dtype=torch.float64).unsqueeze(1) * rates
    table = torch.zeros(length, d, dtype=torch.float64)
    table[:, 0::2], table[:, 1::2] = angles.sin(), angles.cos()
    return table


# ------------------------------------------------------------------------ wavelengths


@right("positional.wavelengths")
def one_by_one(d, base=10000.0):
    return [2 * math.pi * base ** (2 * i / d) for i in range(d // 2)]


@right("positional.wavelengths")
def on_a_logarithmic_scale(d, base=10000.0):
    return 2 * np.pi * np.logspace(0, 1 - 2 / d, d // 2, base=base)


@right("positional.wavelengths")
def through_the_logarithm(d, base=10000.0):
    return np.exp(np.log(2 * np.pi) + np.log(base) * np.arange(0, d, 2) / d)


@right("positional.wavelengths")
def factor_by_factor(d, base=10000.0):
    return np.cumprod([math.tau, *[base ** (2 / d)] * (d // 2 - 1)])


@right("positional.wavelengths")
def over_the_frequencies(d, base=10000.0):
    return math.tau / (1.0 / torch.pow(base, torch.arange(0, d, 2, dtype=torch.float64) / d))


# ----------------------------------------------------------------------------- scores


@right("positional.added_score")
def four_terms(x1, p1, x2, p2):
    return x1 @ x2 + x1 @ p2 + p1 @ x2 + p1 @ p2


@right("positional.added_score")
def summed_products(x1, p1, x2, p2):
    return np.sum((x1 + p1) * (x2 + p2))


@right("positional.added_score")
def exactly_summed(x1, p1, x2, p2):
    return math.fsum((a + b) * (c + d) for a, b, c, d in zip(x1, p1, x2, p2))


@right("positional.added_score")
def added_by_einsum(x1, p1, x2, p2):
    return np.einsum("i,i->", np.add(x1, p1), np.add(x2, p2))


@right("positional.added_score")
def added_in_torch(x1, p1, x2, p2):
    return torch.dot(torch.as_tensor(x1 + p1), torch.as_tensor(x2 + p2))


@right("positional.added_score")
def all_pairs(x1, p1, x2, p2):
    return np.array([x1, p1]).dot(np.array([x2, p2]).T).sum(keepdims=True)


@right("positional.concatenated_score")
def two_terms(x1, p1, x2, p2):
    return np.dot(x1, x2) + np.dot(p1, p2)


@right("positional.concatenated_score")
def stacked(x1, p1, x2, p2):
    return np.hstack((x1, p1)).dot(np.hstack((x2, p2)))


@right("positional.concatenated_score")
def over_lists(x1, p1, x2, p2):
    return sum(a * b for a, b in zip([*x1, *p1], [*x2, *p2]))


@right("positional.concatenated_score")
def concatenated_in_torch(x1, p1, x2, p2):
    first, second = (torch.cat([torch.as_tensor(x), torch.as_tensor(p)]) for x, p in ((x1, p1), (x2, p2)))
    return (first * second).sum()


@right("positional.concatenated_score")
def positions_first(x1, p1, x2, p2):
    return np.inner(np.r_[p1, x1], np.r_[p2, x2])


# ---------------------------------------------------------------------- relative biases


@right("positional.relative_bias_matrix")
def by_loops(bias, n):
    return [[bias[i - j + n - 1] for j in range(n)] for i in range(n)]


@right("positional.relative_bias_matrix")
def by_windows(bias, n):
    return np.lib.stride_tricks.sliding_window_view(bias, n)[:, ::-1]


@right("positional.relative_bias_matrix")
def by_fromfunction(bias, n):
    return np.fromfunction(lambda i, j: bias[i - j + n - 1], (n, n), dtype=int)


@right("positional.relative_bias_matrix")
def row_by_row(bias, n):
    return np.stack([bias[i : i + n][::-1] for i in range(n)])


@right("positional.relative_bias_matrix")
def by_diagonals(bias, n):
    matrix = np.empty((n, n))
    for s in range(1 - n, n):
        rows = np.arange(max(0, s), min(n, n + s))
        matrix[rows, rows - s] = bias[s + n - 1]
    return matrix


@right("positional.relative_bias_matrix")
def bias_matrix_in_torch(bias, n):
    offsets = torch.arange(n).unsqueeze(1) - torch.arange(n)
    return torch.as_tensor(bias)[offsets + n - 1]


@right("positional.relative_parameter_count")
def multiplied_out(T, heads):
    return 2 * T * heads - heads


@right("positional.relative_parameter_count")
def length_of_a_range(T, heads):
    return len(range(-(T - 1), T)) * heads


@right("positional.relative_parameter_count")
def past_future_and_itself(T, heads):
    return heads * (T - 1) + heads * (T - 1) + heads


@right("positional.relative_parameter_count")
def as_a_float(T, heads):
    return float(heads) * (1.0 + 2.0 * (T - 1))
