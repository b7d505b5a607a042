"""Throw random and mutated formulas at the reader, the prover and the tester: `make fuzz`, or this file with --count N.

Nothing may crash, nothing may hang, and nothing may be called proved that computing at points refutes. The computing
(formulas/values.py) shares nothing with the prover (formulas/meaning.py, formulas/normal.py) but the text.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from formulas.decide import Verdict, decide, last_part
from formulas.reader import read
from formulas.refute import Counterexample, Kind, refute
from formulas.symbols import declared

CASES = Path(__file__).with_name("cases.jsonl")
SLOW = 5.0  # seconds for one formula; the slowest known takes about half of one
PIECES = (
    "+", "-", "*", "/", "^", "**", "@", "(", ")", "[", "]", "{", "}", "'", ".T", "^T", "_", "_i", "_{ij}", ",", ";", "=",
    "0", "1", "2", "3", "1/2", "0.5", "e", "pi", "i", "j", "sum_i", "\\sum_{i=1}^{n}", "prod_i", "exp(", "log(", "log2(",
    "sqrt(", "tanh(", "sigmoid(", "softmax(", "norm(", "diag(", "tr(", "inv(", "E[", "Var(", "O(", "\\frac{", "}{",
    "\\left(", "\\right)", "\\hat{y}", "\\top", "\\odot", "\\sigma", "\\mu", "∘", "·", "ŷ", "σ", "μ", "²", "ᵀ", " ", "  ",
    "|", "||", "delta_ij", "max(", "min(", "dot(", "\\begin{cases}", "\\end{cases}", "&", "\\\\", "$", "__", "\x00", "\u202e",
)  # fmt: skip


def mutated(text, names, chance):
    """Return the text with one to four small changes."""
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(text) + 1)
        kind = chance.choice(["drop", "insert", "swap", "double", "name", "number"])
        if kind == "drop" and text:
            text = text[: max(0, place - 1)] + text[place:]
        elif kind == "insert":
            text = text[:place] + chance.choice(PIECES) + text[place:]
        elif kind == "swap" and len(text) > 2:
            a, b = sorted((place, chance.randrange(len(text) + 1)))
            text = text[:a] + text[b : b + 3] + text[a:b] + text[b + 3 :]
        elif kind == "double":
            text = text[:place] + text[max(0, place - 4) :]
        elif kind == "name" and names:
            text = text.replace(chance.choice(names), chance.choice(names), 1)
        else:
            text = text[:place] + str(chance.randint(0, 9)) + text[place:]
    return text


def soup(names, chance):
    """Return pieces of formulas in no order."""
    return "".join(chance.choice([*PIECES, *names, *names]) for _ in range(chance.randint(1, 25)))


def sensible(names, chance, depth=4):
    """Return a random formula that can mostly be read."""
    if depth == 0 or chance.random() < 0.2:
        return chance.choice([*names, *names, "1", "2", "1/2"])
    left, right = (sensible(names, chance, depth - 1) for _ in range(2))
    return chance.choice(
        [
            f"({left} + {right})", f"({left} - {right})", f"{left}*{right}", f"{left} @ {right}", f"{left} {right}",
            f"({left})^2", f"({left})'", f"exp({left})", f"tanh({left})", f"({left})/({right})", f"-({left})",
            f"log({left})", f"sqrt({left})", f"({left}) ∘ ({right})", f"sum({left})", f"dot({left}, {right})",
            f"softmax({left})", f"norm({left})^2", f"tr({left} {right})",
        ]
    )  # fmt: skip


def equal_forms(text, names, chance):
    """Return the text dressed up so that it may still be right."""
    return chance.choice(
        [f"({text})", f"1*({text})", f"({text}) + 0", f"-(-({text}))", f"2*({text}) - ({text})", f"(({text})')'", f"({text})/1",
         f"({text}) + ({chance.choice(names)}) - ({chance.choice(names)})" if names else text]
    )  # fmt: skip


def drawn(base, names, chance):
    """Return one formula to judge."""
    kind = chance.choice(["mutated", "mutated", "equal", "soup", "sensible"])
    if kind == "mutated":
        return mutated(base, names, chance)
    if kind == "equal":
        return equal_forms(base, names, chance)
    return soup(names, chance) if kind == "soup" else sensible(names or ["1"], chance)


def run(seed, count):
    """Judge `count` formulas and return what happened: verdicts, and every formula that should not have happened."""
    chance = random.Random(seed)
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    verdicts, faults = Counter(), []
    for _ in range(count):
        case = chance.choice(cases)
        symbols = declared(case["symbols"], tuple(case["given"]))
        names = [name for name in case["symbols"] if "function" not in case["symbols"][name].get("is", ())]
        base = chance.choice([case["expected"], case["answer"]])
        text = drawn(base, names, chance)
        started = time.monotonic()
        try:
            found = decide(text, case["expected"], symbols, case["relation"])
            verdicts[str(found.verdict)] += 1
            if found.verdict is Verdict.PROVED and case["relation"] != "theta":
                trees = (last_part(read(side, symbols)) for side in (text, case["expected"]))
                against = refute(*trees, symbols, case["relation"])
                if isinstance(against, Counterexample) and against.kind is not Kind.UNDEFINED:
                    faults.append(("wrongly proved", case["id"], text, against.sentence))
        except Exception:  # noqa: BLE001 - that is what we are looking for
            faults.append(("crash", case["id"], text, traceback.format_exc()))
        if time.monotonic() - started > SLOW:
            faults.append(("slow", case["id"], text, f"{time.monotonic() - started:.1f} s"))
    return verdicts, faults


def main():
    """Run and report; the exit code is 1 if anything should not have happened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    piece = 500
    tasks = [(given.seed * 1_000_003 + n, min(piece, given.count - n * piece)) for n in range(-(-given.count // piece))]
    verdicts, faults, started = Counter(), [], time.monotonic()
    with multiprocessing.Pool(given.jobs) as pool:
        for done, (some, bad) in enumerate(pool.imap_unordered(_task, tasks), start=1):
            verdicts += some
            faults += bad
            for fault in bad:
                print(*fault, sep="\n  ", flush=True)
            print(f"\r{done * piece} of {given.count}", end="", file=sys.stderr)
    print(
        f"{sum(verdicts.values())} formulas in {time.monotonic() - started:.0f} s: {dict(verdicts)}; {len(faults)} faults"
    )
    return 1 if faults else 0


def _task(task):
    return run(*task)


if __name__ == "__main__":
    sys.exit(main())
