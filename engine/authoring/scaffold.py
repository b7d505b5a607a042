"""Files to begin an exercise with: they run, and say what is to be filled in.

Exercises are part of the checkout: the judge, the mutants of `audit`, `verify` and the handout all read the same
folders. A scaffold is therefore an edit of several files, made together or not at all; nothing is overwritten.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from pathlib import Path

from checks.contract import FILES, MODULES, SIGNATURES, Signature
from checks.question import IDS, Kind, questions
from engine.authoring import module, question
from engine.authoring.edits import ROOT, Edits, bound_names, closing_line
from engine.authoring.shapes import Parameter, is_name, read_parameters, read_returns, strategy
from engine.records import UsageError
from engine.rubric import all_checks
from engine.rubric_keys import near
from engine.sheet import CHECKS

RUBRIC = "checks/rubric.toml"
EXPECTED = "submissions/examples/expected.toml"
RIGHT = ("submissions/examples/right_numpy", "submissions/examples/right_torch")
OF_A_CHECK = ("Any", "st", "inputs", "Draw", "agreement", "unmodified")
OF_A_LAW = "from checks.check import check, given\nfrom checks.expect import call, expect_close\n"


@dataclass(frozen=True, slots=True)
class Written:
    """What was written, and what is left to do."""

    files: dict[str, str]  # what is new in each
    todo: list[str]

    def __str__(self) -> str:
        width = max(map(len, self.files))
        steps = [f"  {number}. {step}" for number, step in enumerate(self.todo, start=1)]
        return "\n".join(["written:", *(f"  {f:<{width}}  {what}" for f, what in self.files.items()), "next:", *steps])


def new_check(item: str, name: str, root: Path = ROOT) -> Written:
    """Begin a check of an item: a law that holds for every function, to be replaced by a better one."""
    _refuse_unless(is_name(name) and not name.startswith("test_"), f"{name!r} is no name for a check")
    if item not in SIGNATURES:
        known = {*SIGNATURES, *(check.of for check in all_checks().values())}
        about = " is over several functions: write it by hand, beside the others" if item in known else ""
        raise UsageError(f"{item}{about}" if about else f"there is no item {item!r}{near(item, known)}")
    _refuse_unless(f"{item}.{name}" not in all_checks(), f"{item} has a check {name} already")
    edits = Edits(root)
    stem = next((Path(check.file).stem for check in all_checks().values() if check.of == item), item.split(".", 1)[0])
    file = f"checks/{stem}.py"
    _refuse_unless(name not in bound_names(edits.text(file)), f"{file} has something called {name} already")
    edits.append(file, _law(SIGNATURES[item], name, _arguments(edits.text(file), item)), f"the check {name}")
    if "given" not in bound_names(edits.text(file)):  # the first law of a new module
        place = edits.text(file).splitlines().index("from checks import inputs") + 1
        edits.insert(file, place, OF_A_LAW, edits.what[file])
    row = f'{name} = {{ points = 1, visibility = "public" }}\n'
    edits.in_table(RUBRIC, rf'\[item\."{re.escape(item)}"\]', row, "its points")
    edits.write()
    return Written(
        edits.what,
        [
            f"{file}: the claim, the hint, and a law in place of `the same call gives the same`",
            f"{RUBRIC}: its points, and who sees it",
            f"grader verify --only {item}    # whether the reference holds, and which mistakes are caught",
        ],
    )


def _arguments(text: str, item: str) -> str:
    """Return how the arguments of an item are drawn: as the check against its definition draws them."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "agreement":
            given = {word.arg: word.value for word in node.keywords}
            if isinstance(of := given.get("of"), ast.Constant) and of.value == item:
                return ast.unparse(given["arguments"])
    raise UsageError(f"{item} is not compared with its definition by `agreement`: write the check by hand")


def _law(signature: Signature, name: str, arguments: str) -> str:
    function = signature.name
    _refuse_unless(
        all(
            not isinstance(result, str) or result not in ("object", "text", "parameters")
            for result in signature.returns
        )
        and not any(isinstance(result, dict) for result in signature.returns),
        f"{signature.id} returns more than arrays: write the check by hand, after its neighbours",
    )
    given = f"{function}: Any, arguments: tuple[Any, ...]"
    head = f"def {name}({given}) -> None:"
    body = [
        f"    first, second = {function}(*arguments), {function}(*arguments)",
        f'    expect_close(call("{function}", *arguments), got=first, want=second)',
    ]
    if len(signature.returns) > 1:
        body[1:] = [
            f"    for place in range({len(signature.returns)}):",
            f'        about = call("{function}", *arguments, then=f"[{{place}}]")',
            "        expect_close(about, got=first[place], want=second[place])",
        ]
    return "\n".join(
        [
            "@check(",
            f'    of="{signature.id}",',
            f'    claim="Fill in: a fact about every right {function}.",',
            '    hint="Fill in: where to look when it fails, without the answer\'s code.",',
            ")",
            f"@given(arguments={arguments})",
            head if len(head) <= 120 else f"def {name}(\n    {given}\n) -> None:",
            *body,
            "",
        ]
    )


# ── a function ──────────────────────────────────────────────────────────────────────────────────────────────────


def new_item(item: str, takes: str, returns: str, mistake: str, root: Path = ROOT) -> Written:
    """Begin a function to be written: contract, reference, checks, a mistake, right and wrong examples, points."""
    stem, _, function = item.partition(".")
    if not is_name(stem) or not is_name(function) or function[0].isupper():
        raise UsageError(f"{item!r} is no MODULE.FUNCTION; for a question say --kind")
    _refuse_unless(item not in SIGNATURES, f"there is an item {item} already")
    _refuse_unless(stem in MODULES or stem not in FILES, f"{stem} is no module of the contract")
    parameters = read_parameters(takes)
    results = read_returns(returns, parameters)
    edits = Edits(root)
    if stem not in MODULES:
        module.begin(edits, stem)
    _contract(edits, stem, function, parameters, results)
    called = ", ".join(each.name + (f"={each.default}" if each.default else "") for each in parameters)
    typed = ", ".join(f"{each.name}: Any" + (f" = {each.default}" if each.default else "") for each in parameters)
    edits.append(f"reference/{stem}.py", _reference(stem, function, typed), "the reference, to be filled in")
    _checks(edits, stem, function, parameters)
    slug = re.sub(r"\W+", "_", mistake).strip("_").lower()
    _refuse_unless(bool(slug) and mistake.isprintable(), f"{mistake!r} is no name for a mistake")
    example = f"{function}_{slug}"
    if edits.has(f"submissions/examples/{example}"):  # a function of that name in another module
        example = f"{stem}_{example}"
    wrong = _mistake(item, f"{function}_{slug}", mistake, typed, _computed(function, parameters, results))
    edits.append(f"checks/misconceptions/{stem}.py", wrong, f"a mistake: {mistake}")
    stub = f"def {function}({called}):\n    raise NotImplementedError\n"
    said = '"""Fill in: the mistake, as a student would write it."""\n\n\n'
    edits.create(f"submissions/examples/{example}/{stem}.py", said + stub, "an example of the mistake, to be filled in")
    row = f'[{example}]\nitem = "{item}"\noutcome = "broken"\ndiagnosis = {json.dumps(mistake, ensure_ascii=False)}\n'
    edits.append(EXPECTED, row, "its outcome", lines_between=1)
    for place in RIGHT:
        edits.append(f"{place}/{stem}.py", stub, "a right solution, to be filled in")
    edits.in_table(RUBRIC, rf'\[item\."{stem}\.', _rubric_rows(item), "its points")
    edits.write()
    return Written(
        edits.what,
        [
            f"reference/{stem}.py: what is right, and why; it must keep np.longdouble",
            f"checks/{stem}.py: what to draw, the claim and the hint",
            f"checks/misconceptions/{stem}.py: what the mistake computes, and why",
            f"submissions/examples/{example}/: that mistake as a student would write it",
            f"{' and '.join(RIGHT)}: right solutions",
            f"grader new-check {item} NAME    # laws that every right {function} obeys",
            f"grader verify --only {item}    # says what is still missing",
        ],
    )


def _contract(edits: Edits, stem: str, function: str, parameters: list[Parameter], results: list[str]) -> None:
    file = f"checks/contract/{stem}.py"
    shapes = ", ".join(f'"{p.name}": {"None" if p.shape is None else repr_of(p.shape)}' for p in parameters)
    shown = "".join(f"{repr_of(result)}, " for result in results).rstrip(" " if len(results) == 1 else ", ")
    defaults = ", ".join(f'"{p.name}": {repr_of(p.default)}' for p in parameters if p.default is not None)
    lines = [
        "    Signature(",
        f'        "{stem}",',
        f'        "{function}",',
        f"        {{{shapes}}},",
        f"        ({shown}),",
    ]
    lines += [f"        {{{defaults}}},"] if defaults else []
    block = "\n".join([*lines, "    ),", ""])
    edits.insert(file, closing_line(edits.text(file), "FUNCTIONS = ("), block, "the signature")


def repr_of(text: str) -> str:
    """Return a text as Python is formatted: in double quotes unless it holds some."""
    return repr(text) if '"' in text else json.dumps(text, ensure_ascii=False)


def _reference(stem: str, function: str, typed: str) -> str:
    return (
        f"def {function}({typed}) -> Any:\n"
        '    """Fill in: the formula, and why it is computed this way.\n\n'
        "    The floating dtype that is given is kept: the judge runs this file in extended precision.\n"
        '    """\n'
        f'    raise NotImplementedError("fill in {function} in reference/{stem}.py")\n'
    )


def _checks(edits: Edits, stem: str, function: str, parameters: list[Parameter]) -> None:
    file = f"checks/{stem}.py"
    missing = [name for name in OF_A_CHECK if name not in bound_names(edits.text(file))]
    _refuse_unless(not missing, f"{file} does not import {', '.join(missing)}: import them first (docs/authors.md)")
    of = f'    of="{stem}.{function}",\n    arguments={function}_arguments(),\n'
    claim = (
        f'    claim="Fill in: what {function} computes, as a fact.",\n'
        '    hint="Fill in: where to look when it differs, without the answer\'s code.",\n'
    )
    block = (
        f"{strategy(function, parameters)}\n\n"
        f"{function}_agrees = agreement(\n{of}{claim})\n\n"
        f"{function}_leaves_arguments_alone = unmodified(\n{of})\n"
    )
    edits.append(file, block, "two checks, and what they draw")


def _computed(function: str, parameters: list[Parameter], results: list[str]) -> str:
    """Return a body that is wrong for any function with values: its first result negated."""
    computed = f"right.{function}({', '.join(each.name for each in parameters)})"
    if len(results) > 1:
        return f"    first, *others = {computed}\n    return -first, *others  # fill in: what the mistake computes\n"
    return f"    return -{computed}  # fill in: what the mistake computes\n"


def _mistake(item: str, function: str, name: str, typed: str, body: str) -> str:
    return (
        "@misconception(\n"
        f'    of="{item}",\n'
        f"    name={repr_of(name)},\n"
        '    why="Fill in: what the student seems to have done.",\n'
        ")\n"
        f"def {function}({typed}) -> Any:\n{body}"
    )


def _rubric_rows(item: str) -> str:
    return (
        f'\n[item."{item}"]\ntitle = "Fill in: a title"\nfrom = "fill in: where on the sheet"\n'
        'agrees_with_definition = { points = 2, visibility = "hidden" }\n'
        'leaves_arguments_alone = { points = 0.5, visibility = "public" }\n'
    )


# ── a question ──────────────────────────────────────────────────────────────────────────────────────────────────


def new_question(name: str, kind: str, root: Path = ROOT) -> Written:
    """Begin a question to be answered in writing: the question, right answers in the examples, points."""
    if kind not in set(Kind):
        known = near(kind, list(Kind)) or f"; there are {', '.join(Kind)}"
        raise UsageError(f"there is no kind {kind!r}{known}")
    _refuse_unless(is_name(name), f"{name!r} is no id of a question; dot_product_mean is one")
    _refuse_unless(name not in IDS and name not in questions(), f"there is a question {name} already")
    edits = Edits(root)
    file = "checks/questions/course.toml"
    if not edits.has(file):
        edits.create(file, question.HEADER, "questions of this course")
    edits.append(file, question.asked(name, Kind(kind)), f"the question {name}", lines_between=1)
    for place in RIGHT:
        header = r"\[claim\." if kind == Kind.CLAIM else rf"\[{kind}\]"
        edits.in_table(f"{place}/answers.toml", header, question.answered(name, Kind(kind)), "its right answer")
    rows = "".join(
        f'{check} = {{ points = {0 if check in ("reads", "digits") else 1}, visibility = "{question.seen(check)}" }}\n'
        for check in CHECKS[Kind(kind)]
    )
    edits.append(RUBRIC, f"[item.{name}]\n{rows}", "its points", lines_between=1)
    edits.write()
    return Written(
        edits.what,
        [
            f"{file}: what is asked, in which symbols, what is true, and the wrong answers that have a name",
            f"{' and '.join(f'{place}/answers.toml' for place in RIGHT)}: right answers",
            f"{RUBRIC}: its points, and who sees which check",
            f"grader verify --only {name}    # whether the right answers hold",
        ],
    )


def _refuse_unless(fine: bool, why: str) -> None:
    if not fine:
        raise UsageError(why)
