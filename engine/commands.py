"""The command line: results on stdout, progress on stderr, exit codes as documented.

0 done (for check, derive, verify and audit: all good) · 1 not all good, or a score withheld ·
2 wrong usage, a folder that cannot be used, or a broken rubric · 3 a fault of the grader ·
130 and 143 stopped by Ctrl-C or SIGTERM.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.records import GraderFault, RubricError, Status, UsageError
from engine.stopping import Stopped, stoppable

if TYPE_CHECKING:
    from engine.authoring.scaffold import Written
    from engine.launching import Launched
    from engine.pipeline import Judges, Options
    from engine.records import Submission
    from engine.rubric import Item, Rubric

GOOD, NOT_GOOD, WRONG_USAGE, FAULT = 0, 1, 2, 3
EXPORTS = ("canvas", "csv", "github", "gradescope", "gradescope-zip", "junit", "moodle", "prairielearn")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = _parser()
    given = parser.parse_args(arguments)
    # What other packages plug into Hypothesis takes half a second to import, and might draw other inputs.
    os.environ.setdefault("HYPOTHESIS_NO_PLUGINS", "1")
    try:
        with stoppable():
            code: int = given.run(given)
            sys.stdout.flush()
    except (UsageError, RubricError) as error:
        print(f"grader: {error}", file=sys.stderr)
        return WRONG_USAGE
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return GOOD
    except Stopped as stop:
        print(f"grader: {stop}", file=sys.stderr)
        return stop.exit_code
    except GraderFault as fault:
        print(f"grader: a fault of the grader: {fault}", file=sys.stderr)
        return FAULT
    except Exception:  # noqa: BLE001 - the last line of defence: say it is ours
        traceback.print_exc()
        print("grader: a fault of the grader, please report the lines above", file=sys.stderr)
        return FAULT
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="grader", description="Grade submissions for a course on neural language models."
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    grade = _command(commands, "grade", _grade, "grade one submission or a folder of them")
    grade.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    grade.add_argument(
        "--out", type=Path, default=Path("graded"), metavar="DIR", help="where results go (default: graded)"
    )
    grade.add_argument("--jobs", type=_at_least_one, default=os.cpu_count() or 1, metavar="N", help="judges at a time")
    grade.add_argument(
        "--resume", action=argparse.BooleanOptionalAction, default=True, help="use results already known"
    )
    grade.add_argument("--fresh", action="store_true", help="grade everything anew")
    grade.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler to hand the work to")
    grade.add_argument(
        "--progress",
        choices=("auto", "json", "none"),
        default="auto",
        help="on stderr: a bar, a line of JSON each, none",
    )
    _judging_options(grade)

    check = _command(commands, "check", _check, "what a student runs: public checks, feedback on the terminal")
    check.add_argument("path", type=Path, metavar="PATH")
    _judging_options(check)

    derive = _command(commands, "derive", _derive, "prove the derivations, step by step")
    derive.add_argument("ids", nargs="*", metavar="ID", help="a derivation (default: all)")
    derive.add_argument("--html", type=Path, metavar="FILE", help="write the proofs as a page")
    derive.add_argument("--seconds", type=float, metavar="N", help="time for one derivation (default: 30)")

    verify = _command(commands, "verify", _verify, "the suite against itself")
    verify.add_argument("--only", action="append", default=[], metavar="ID", help="a module or an item (repeatable)")
    verify.add_argument("--jobs", type=_at_least_one, default=os.cpu_count() or 1, metavar="N")

    audit = _command(commands, "audit", _audit, "wrong implementations to catch, right ones to accept")
    audit.add_argument("--only", action="append", default=[], metavar="ID", help="a module or an item (repeatable)")
    audit.add_argument("--jobs", type=_at_least_one, default=os.cpu_count() or 1, metavar="N")
    audit.add_argument("--write", type=Path, metavar="FILE", help="write the figures as a page")
    audit.add_argument("--fresh", action="store_true", help="audit everything anew")

    mark = _command(commands, "mark", _mark, "take a person's marks for answers that wait for one")
    mark.add_argument("file", type=Path, metavar="FILE", help="a CSV file: submission, item, score, comment")
    _as_it_was_graded(mark)

    export = _command(commands, "export", _export, "results of the last run for another system")
    export.add_argument("--format", required=True, choices=EXPORTS, metavar="F", help=", ".join(EXPORTS))
    export.add_argument("--to", type=Path, metavar="PATH", help="where it goes (default: export/ in --out)")
    export.add_argument(
        "--roster", type=Path, metavar="FILE", help="Canvas' gradebook or Moodle's worksheet, to fill in"
    )
    export.add_argument("--column", default="", metavar="NAME", help="the roster's column that is filled in")
    export.add_argument("--scale", action="store_true", help="turn our points into those of the roster's maximum")
    export.add_argument("--source", type=Path, metavar="PATH", help="the submission in the repository (github)")
    _as_it_was_graded(export)

    compare = _command(commands, "compare", _compare, "judge formulas, one JSON record a line")
    compare.add_argument("file", metavar="FILE", help="a file of records, or - for standard input")

    _bench_command(commands)

    handout = _command(commands, "handout", _handout, "what students get: stubs, template, public checks")
    handout.add_argument("folder", type=Path, metavar="DIR")
    handout.add_argument("--rubric", type=Path, metavar="FILE")

    _authoring_commands(commands)

    listing = _command(commands, "list", _list, "what there is")
    listing.add_argument("--rubric", type=Path, metavar="FILE")

    explain = _command(commands, "explain", _explain, "one item's or check's law, hint and points")
    explain.add_argument("id", metavar="ID")
    explain.add_argument("--rubric", type=Path, metavar="FILE")
    return parser


def _bench_command(commands: Any) -> None:
    bench = _command(commands, "bench", _bench, "what grading costs, side by side with the other ways to do it")
    bench.add_argument("--rounds", type=_at_least_one, default=5, metavar="N")
    bench.add_argument("--peers", type=Path, default=Path(".bench"), metavar="DIR", help="where other graders are kept")
    bench.add_argument("--growth", action="store_true", help="measure classes of 10 to 5,000 in place of other graders")
    bench.add_argument("--write", type=Path, metavar="DIR", help="write the page, performance.md or growth.md, there")


def _authoring_commands(commands: Any) -> None:
    new_check = _command(
        commands, "new-check", _new_check, "begin a check of an item: its code and its row in the rubric"
    )
    new_check.add_argument("item", metavar="ITEM")
    new_check.add_argument("name", metavar="NAME", help="of the check, such as rows_sum_to_one")

    new_item = _command(commands, "new-item", _new_item, "begin an exercise: all the files it takes, to be filled in")
    new_item.add_argument("id", metavar="ID", help="MODULE.FUNCTION, or with --kind the id of a question")
    new_item.add_argument(
        "--kind", metavar="KIND", help="expression, derivation, claim, complexity, number, choice, text"
    )
    new_item.add_argument(
        "--takes", default="x: n", metavar="SHAPES", help='the arguments, as in "X: ... n d; scale=1.0"'
    )
    new_item.add_argument("--returns", default="n", metavar="SHAPES", help='the results, as in "... n; n n"')

    new_item.add_argument("--mistake", default="sign lost", metavar="NAME", help="the first mistake to be told by name")

    lint = _command(commands, "rubric", _lint, "everything that is wrong with a rubric, with lines")
    lint.add_argument("rubric", nargs="?", type=Path, metavar="FILE", help="(default: the standard rubric)")


def _command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], help_text: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=help_text, description=help_text)
    parser.set_defaults(run=run)
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    return parser


def _as_it_was_graded(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=Path, default=Path("graded"), metavar="DIR", help="where it was graded (default: graded)"
    )
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="as it was graded")
    parser.add_argument("--examples", type=_at_least_one, metavar="N", help="as it was graded")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="as it was graded")
    parser.add_argument("--rubric", type=Path, metavar="FILE", help="as it was graded")


def _judging_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--only", action="append", default=[], metavar="ID", help="a module, an item or a check (repeatable)"
    )
    parser.add_argument("--examples", type=_at_least_one, metavar="N", help="inputs per check (default: the rubric's)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="another seed draws other inputs")
    parser.add_argument("--rubric", type=Path, metavar="FILE")
    parser.add_argument("--trusted", action="store_true", help="run even where code cannot be locked in")


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return number


def _grade(given: argparse.Namespace) -> int:
    from engine import feedback, progress
    from engine.pipeline import Options, grade
    from engine.rubric import STANDARD

    options = Options(
        out=given.out, jobs=given.jobs, only=tuple(given.only), examples=given.examples, seed=given.seed,
        rubric=given.rubric or STANDARD, fresh=given.fresh or not given.resume, trusted=given.trusted,
    )  # fmt: skip
    with _judges(given.cluster, options) as judges, progress.shown(given.progress) as bar:
        try:
            results = grade(given.paths, options, told=bar.tell, started=bar.start, judges=judges)
        except Stopped as stop:
            kept = f"{bar.done} of {bar.total} submissions are graded and kept" if bar.total else "nothing was begun"
            again = "the same command without --fresh or --no-resume" if options.fresh else "the same command"
            raise Stopped(stop.number, f"stopped; {kept}, {again} goes on from there") from None
    if given.json:
        _print_file(options.out / "results.json")
    elif len(results) == 1:
        from engine.pipeline import texts_of
        from engine.rubric import read_rubric

        texts = texts_of(read_rubric(options.rubric))
        print(feedback.paint(feedback.submission_feedback(results[0], texts), colour=_colour()))
    else:
        width = max(len(feedback.one_line(result.id)) for result in results)
        for result in results:
            points = feedback.points(result.score, result.max_score)
            problem = f"  {feedback.one_line(result.problems[0])}" if result.problems else ""
            print(f"{feedback.one_line(result.id):<{width}}  {result.status:<8}  {points}{problem}")
    if not given.json:
        print(f"\nreport: {options.out / 'report' / 'index.html'}")
    return NOT_GOOD if any(result.status is Status.WITHHELD for result in results) else GOOD


@contextmanager
def _judges(address: str | None, options: Options) -> Iterator[Judges | None]:
    """Say how students' code is locked in here, or connect to those who judge elsewhere."""
    from engine.pipeline import tier_for

    if address is None:
        print(f"lock-down: {tier_for(trusted=options.trusted)}", file=sys.stderr)
        yield None
        return
    from engine.cluster import connected

    with connected(address, options) as cluster:
        print(f"judges of the cluster at {address}: {cluster.judges}", file=sys.stderr)
        yield cluster.judged


def _check(given: argparse.Namespace) -> int:
    from engine.cache import ROOT
    from engine.intake import take_in
    from engine.launching import ahead

    submissions = take_in([given.path])
    if len(submissions) != 1:
        raise UsageError(f"{given.path} holds {len(submissions)} submissions; check takes one, grade takes many")
    (submission,) = submissions
    with ahead(submission, given.rubric or ROOT / "checks" / "rubric.toml") as zygote:  # it imports while we do
        return _told_what_held(submission, zygote, given)


def _told_what_held(submission: Submission, zygote: Launched | None, given: argparse.Namespace) -> int:
    from engine import feedback
    from engine.checking import checked, is_good
    from engine.pipeline import Options, texts_of

    rubric = _rubric(given).public().only(given.only)
    result = checked(submission, rubric, Options(examples=given.examples, seed=given.seed, closer=False), zygote)
    if given.json:
        from engine.results import results_json

        sys.stdout.write(results_json([result], rubric=rubric.digest, seed=given.seed))
    else:
        told = f"{feedback.submission_feedback(result, texts_of(rubric))}\n{feedback.summary(result)}"
        print(feedback.paint(told, colour=_colour()), end="", flush=True)
    return GOOD if is_good(result, submission) else NOT_GOOD


def _derive(given: argparse.Namespace) -> int:
    from engine import derive

    proofs = []
    for proof in derive.proofs(derive.chosen(given.ids), given.seconds or derive.SECONDS):
        proofs.append(proof)
        if not given.json:
            print(derive.as_text(proof), flush=True)
    if given.json:
        print(json.dumps([derive.as_record(proof) for proof in proofs], indent=1, ensure_ascii=False))
    elif len(proofs) > 1:
        print(derive.summary(proofs))
    if given.html is not None:
        _write(given.html, derive.as_page(proofs))
        print(f"page: {given.html}", file=sys.stderr)
    return GOOD if all(proof.proved for proof in proofs) else NOT_GOOD


def _print_file(path: Path) -> None:
    """Copy a file to standard output, piece by piece: the results of thousands are large."""
    from shutil import copyfileobj

    with path.open(encoding="utf-8") as file:
        copyfileobj(file, sys.stdout)


def _write(path: Path, content: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def _verify(given: argparse.Namespace) -> int:
    from engine.verify import verify

    report = verify(jobs=given.jobs, only=given.only)
    print(json.dumps(report.as_record(), indent=1) if given.json else str(report))
    return GOOD if report.good else NOT_GOOD


def _audit(given: argparse.Namespace) -> int:
    from engine.audit.report import Report, read_explained
    from engine.audit.run import audit
    from engine.rubric import read_rubric

    rubric = read_rubric()

    def told(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    items = audit(rubric, given.only, given.jobs, told, fresh=given.fresh)
    report = Report(items, frozenset(check.id for check in rubric.public().code_checks), read_explained())
    print(json.dumps(report.as_record(), indent=1, ensure_ascii=False) if given.json else str(report))
    if given.write is not None:
        _write(given.write, report.as_page())
    return GOOD if report.good else NOT_GOOD


def _mark(given: argparse.Namespace) -> int:
    from engine.pipeline import Options, mark
    from engine.rubric import STANDARD

    options = Options(
        out=given.out, only=tuple(given.only), examples=given.examples, seed=given.seed, rubric=given.rubric or STANDARD
    )
    results, refused = mark(given.file, options)
    waiting = sum(result.status is Status.WAITING for result in results)
    for said in refused:
        print(f"not taken: {said}", file=sys.stderr)
    if given.json:
        _print_file(options.out / "results.json")
    else:
        print(f"{len(results) - waiting} of {len(results)} submissions have their marks, {waiting} still wait")
    return NOT_GOOD if refused else GOOD


def _export(given: argparse.Namespace) -> int:
    from engine.exports.export import How, export
    from engine.feedback import one_line
    from engine.pipeline import Options
    from engine.rubric import STANDARD

    options = Options(
        out=given.out, only=tuple(given.only), examples=given.examples, seed=given.seed, rubric=given.rubric or STANDARD
    )
    written = export(given.format, options, How(given.to, given.roster, given.column, given.scale, given.source))
    for said in (*written.told, *(f"left out: {said}" for said in written.left_out)):
        print(one_line(said), file=sys.stderr)
    if given.json:
        print(json.dumps({"files": list(map(str, written.paths)), "left_out": written.left_out}, indent=1))
    else:
        print(written.printed, end="")
        print("".join(f"{path}\n" for path in written.paths), end="")
    return NOT_GOOD if written.left_out else GOOD


def _compare(given: argparse.Namespace) -> int:
    from engine.compare import Tally, compare

    tally = Tally()
    try:
        with sys.stdin if given.file == "-" else Path(given.file).open(encoding="utf-8", errors="replace") as lines:
            for record in compare(lines, tally):
                print(json.dumps(record, ensure_ascii=False), flush=True)
    except OSError as error:
        raise UsageError(f"{given.file} cannot be read: {error.strerror}") from error
    print(tally, file=sys.stderr)
    return GOOD if tally.good else NOT_GOOD


def _bench(given: argparse.Namespace) -> int:
    from dataclasses import asdict

    from engine.bench import outlook, performance

    if given.growth:
        grown = outlook.figures()
        print(json.dumps(asdict(grown), indent=1) if given.json else outlook.page(grown))
        if given.write:
            outlook.write(grown, given.write)
        return GOOD
    told = performance.measured(given.rounds, given.peers, lambda line: print(line, file=sys.stderr, flush=True))
    print(json.dumps(asdict(told), indent=1) if given.json else performance.report(told))
    if given.write:
        performance.write(told, given.write)
    return GOOD


def _handout(given: argparse.Namespace) -> int:
    from engine.handout import write_handout

    written = write_handout(given.folder, _rubric(given))
    print(json.dumps([str(path) for path in written]) if given.json else "\n".join(map(str, written)))
    return GOOD


def _new_check(given: argparse.Namespace) -> int:
    from engine.authoring.scaffold import new_check

    return _told_written(new_check(given.item, given.name), given)


def _new_item(given: argparse.Namespace) -> int:
    from engine.authoring.scaffold import new_item, new_question

    if given.kind:
        return _told_written(new_question(given.id, given.kind), given)
    return _told_written(new_item(given.id, given.takes, given.returns, given.mistake), given)


def _told_written(written: Written, given: argparse.Namespace) -> int:
    record = {"written": [{"file": file, "what": what} for file, what in written.files.items()], "next": written.todo}
    print(json.dumps(record, indent=1) if given.json else written)
    return GOOD


def _lint(given: argparse.Namespace) -> int:
    from engine.rubric import STANDARD, examined

    path = given.rubric or STANDARD
    rubric, problems = examined(path)
    if given.json:
        rows = [{"line": p.line, "error": p.is_error, "text": p.text} for p in problems]
        print(json.dumps({"good": rubric is not None, "problems": rows}, indent=1, ensure_ascii=False))
    else:
        for problem in problems:
            print(f"{path.name}:{problem.line}: {'error' if problem.is_error else 'warning'}: {problem.text}")
        if rubric is not None:
            print(rubric.summary())
    return WRONG_USAGE if rubric is None else GOOD


def _list(given: argparse.Namespace) -> int:
    """Print what there is, or what was printed last time: importing every check takes longer than all the rest."""
    from engine import cache

    rubric = given.rubric or cache.ROOT / "checks" / "rubric.toml"
    digest = hashlib.sha256(rubric.read_bytes() if rubric.is_file() else b"").hexdigest()
    name = f"list-{digest[:16]}{'-json' if given.json else ''}"
    listing = cache.load(name)
    if listing is None:
        items = _rubric(given).items
        records = json.dumps([_item_record(item) for item in items], indent=1, ensure_ascii=False) if given.json else ""
        listing = records or "\n".join(line for item in items for line in _listed(item))
        cache.store(name, listing)
    print(listing)
    return GOOD


def _listed(item: Item) -> Iterator[str]:
    points = f"{float(item.points):g} points" + (f" + {float(item.bonus):g} bonus" if item.bonus else "")
    yield f"{item.id:<42} {len(item.checks)} checks  {points}  {item.title}"
    for check in item.checks:
        worth = item.worth[check.id]
        told = f"{float(worth.points):g}  {worth.visibility}{'  bonus' if worth.bonus else ''}"
        yield f"    {check.id.rsplit('.', 1)[1]:<46} {told}"


def _explain(given: argparse.Namespace) -> int:
    rubric = _rubric(given)
    for item in rubric.items:
        wanted = [check for check in item.checks if given.id in (item.id, check.id)]
        if wanted:
            record = _item_record(item)
            record["proofs"] = _proofs_behind(item)
            record["checks"] = [row for row in record["checks"] if row["id"] in {check.id for check in wanted}]
            print(json.dumps(record, indent=1, ensure_ascii=False) if given.json else _explained(record))
            return GOOD
    known = [item.id for item in rubric.items] + [check.id for check in rubric.checks]
    near = get_close_matches(given.id, known, n=3, cutoff=0.4)
    raise UsageError(f"there is no {given.id!r}" + (f"; did you mean {', '.join(near)}?" if near else ""))


def _proofs_behind(item: Item) -> list[str]:
    """Return the ids of the proofs behind an item; a handout has none, since they are the reference's."""
    from importlib.util import find_spec

    if find_spec("engine.derive") is None:
        return []
    from engine.derive import library

    return [name for name, _ in library().behind.get(item.id, ())]


def _explained(record: dict[str, Any]) -> str:
    lines = [f"{record['id']}: {record['title']}", f"    {record['signature']}"]
    if record["from"]:
        lines.append(f"    from {record['from']}, {record['points']:g} points")
    if "forbid" in record:
        lines.append(f"    to be written without {', '.join(record['forbid'])}")
    for check in record["checks"]:
        lines += [
            "",
            f"{check['id']}  ({check['points']:g} {'bonus ' if 'bonus' in check else ''}points, {check['visibility']})",
            check["claim"],
            f"Hint: {check['hint']}",
        ]
    if record["proofs"]:
        lines += ["", "The proof behind it:", *(f"    grader derive {name}" for name in record["proofs"])]
    return "\n".join(lines)


def _item_record(item: Item) -> dict[str, Any]:
    from checks.contract import TOOLS, signature_of

    if item.question is not None:
        from checks.question import published

        asked = published(item.question)
        return {
            "id": item.id,
            "title": item.title,
            "from": item.source,
            "signature": " ".join(item.question.ask.split()),
            "points": float(item.points),
            "question": asked,
            "checks": _check_records(item),
        }
    module = item.id.split(".", 1)[0]
    functions = dict.fromkeys(name for check in item.checks for name in check.functions if name not in TOOLS)
    return {
        "id": item.id,
        "title": item.title,
        "from": item.source,
        "signature": "; ".join(str(signature_of(module, name)) for name in functions),
        "points": float(item.points),
        **({"forbid": list(item.forbid)} if item.forbid else {}),
        "checks": _check_records(item),
    }


def _check_records(item: Item) -> list[dict[str, Any]]:
    return [
        {
            "id": check.id,
            "claim": check.claim,
            "hint": check.hint,
            "points": float(item.worth[check.id].points),
            "visibility": item.worth[check.id].visibility,
            **({"bonus": True} if item.worth[check.id].bonus else {}),
        }
        for check in item.checks
    ]


def _rubric(given: argparse.Namespace) -> Rubric:
    from engine.rubric import STANDARD, read_rubric

    return read_rubric(given.rubric or STANDARD)


def _colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ
