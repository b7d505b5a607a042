"""Bulk downloads of course platforms: whose each file is, read off the names that the platforms give.

| platform | at the top of the download | id |
|---|---|---|
| Canvas | `lovelaceada_[LATE_]1234_567_attention[-1].py`: user, attachment, name; `…_1234_text.html` | user id |
| Moodle | `Ada Lovelace_1234_assignsubmission_file[_]/`, or the same before each file's name | participant |
| Gradescope | `submission_1234/` beside `submission_metadata.yml` | the folder's name |
| Blackboard | `Homework 1_ada12_attempt_2026-11-01-12-30-00_attention.py`, and a receipt `….txt` | username |
| GitHub Classroom | `homework-1-ada/`, a repository, in `homework-1-submissions/` | login |
| (by hand) | `ada_attempt_2.zip` | what stands before `attempt` |

The names of Canvas, Moodle and GitHub Classroom are those of their own programs (`lib/content_zipper.rb`,
`mod/assign/classes/downloader.php`, `gh-classroom`); the other two are as the tools of their users read them.

A platform is recognised by the whole listing, most of which must bear its names. No entry is lost: each is part of
a submission, or told in `Download.notices`, or left to the ordinary rules in `Download.rest`.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from engine.records import Student

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

METADATA = "submission_metadata.yml"
METADATA_LIMIT = 64 * 2**20  # it holds what every test of every attempt printed
WHO_LIMIT = 2**20  # of the part that says who handed in
RECEIPT_LIMIT = 2**12  # of which only the first line is read
LONGEST_NAME = 255  # of a file on any system; only archives made by hand have longer ones


@dataclass(frozen=True, slots=True)
class Listing:
    """The top of a folder or an archive that may be a download."""

    title: str  # of the folder or archive itself
    files: frozenset[str]
    folders: frozenset[str]
    repositories: frozenset[str]  # the folders that hold .git
    expected: frozenset[str]  # the names, without ending, of the files that are asked for
    read: Callable[[str, int], bytes | None]  # given n, the first n bytes of a file at most; None: it cannot be read

    @property
    def names(self) -> list[str]:
        """All entries, in the order of their names."""
        return sorted(self.files | self.folders)


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What one student or group handed in, by the names in the listing."""

    id: str
    students: tuple[Student, ...]
    late: bool
    files: dict[str, str]  # the student's own name for each file: its name in the listing
    folders: tuple[str, ...]  # whose content is theirs
    place: str  # one name that is nobody else's
    at: str = ""  # when it was handed in, where the platform tells


@dataclass(frozen=True, slots=True)
class Download:
    """A listing put in order."""

    platform: str
    handed_in: tuple[HandedIn, ...]
    rest: tuple[str, ...]  # not named by the platform
    notices: tuple[str, ...]


class _Piece(NamedTuple):
    """What one name of the listing says."""

    place: str
    key: str  # the same for all that was handed in together, and for earlier attempts at it
    id: str
    students: tuple[Student, ...]
    own: str = ""  # the student's own name for a file
    attempt: str = ""  # of several, the greatest counts
    number: int = 0  # of two files of one name, the one with the greater number counts
    late: bool = False
    at: str = ""  # when it was handed in
    unread: bool = False  # text that was typed into a page of the platform


class _Reading(NamedTuple):
    """What a platform's rules make of a listing."""

    pieces: list[_Piece]
    notices: tuple[str, ...] = ()


def recognised(listing: Listing) -> Download | None:
    """Put a listing in order if most of its names are a platform's; else the ordinary rules apply."""
    names = [name for name in listing.names if name != METADATA]
    if any(len(name) > LONGEST_NAME for name in names):
        return None
    for platform, read_names in _PLATFORMS.items():
        reading = read_names(listing)
        if 2 * len(reading.pieces) > len(names):
            return _in_order(platform, reading, names, listing)
    return None


def latest_attempt(names: Collection[str]) -> str | None:
    """Return the latest of several attempts at one thing, or nothing where they may be different things.

    >>> latest_attempt(["attempt_9", "attempt_10"]), latest_attempt(["work.zip", "work-1.zip", "work (2).zip"])
    ('attempt_10', 'work (2).zip')
    >>> latest_attempt(["week_1", "week_2"]), latest_attempt(["part-1.zip", "part-2.zip"])
    (None, None)
    """
    if any(len(name) > LONGEST_NAME for name in names):
        return None
    numbered = {name: _numbered(name) for name in names}
    things = {thing for thing, _, _ in numbered.values()}
    numbers = {number for _, number, _ in numbered.values()}
    # Copies count from the original on; without it, -1 and -2 may be the student's own numbers.
    clear = 0 in numbers or all(is_attempt for _, _, is_attempt in numbered.values())
    if len(things) != 1 or len(numbers) != len(names) or not clear:
        return None
    return max(numbered, key=lambda name: numbered[name][1])


# --- putting in order ------------------------------------------------------------------------------------------------


def _in_order(platform: str, reading: _Reading, names: Sequence[str], listing: Listing) -> Download:
    pieces = reading.pieces
    groups: dict[str, list[_Piece]] = {}
    for piece in pieces:
        groups.setdefault(piece.key, []).append(piece)
    handed_in = []
    notices = []
    for group in groups.values():
        one, left_out = _handed_in(group, listing)
        handed_in.append(one)
        if left_out:
            notices.append(f"{one.id}: earlier attempts are left out: {', '.join(sorted(left_out))}")
    unread = sorted(piece.place for piece in pieces if piece.unread)
    if unread:
        notices.append(f"typed into the platform, not read: {', '.join(unread)}")
    late = sum(one.late for one in handed_in)
    submissions = "1 submission" if len(handed_in) == 1 else f"{len(handed_in)} submissions"
    summary = f"read as {platform}: {submissions}" + (f", {late} of them late" if late else "")
    taken = {piece.place for piece in pieces}
    rest = tuple(name for name in names if name not in taken)
    return Download(platform, tuple(handed_in), rest, (summary, *reading.notices, *notices))


def _handed_in(group: Sequence[_Piece], listing: Listing) -> tuple[HandedIn, list[str]]:
    """Put together what counts of one student's files; return it, and the names of what came before."""
    latest = max(piece.attempt for piece in group)
    counting = [piece for piece in group if piece.attempt == latest]
    left_out = [piece.place for piece in group if piece.attempt != latest]
    files: dict[str, _Piece] = {}
    for piece in sorted(counting, key=lambda piece: (piece.number, piece.place)):
        if piece.own and not piece.unread:
            if piece.own in files:
                left_out.append(files[piece.own].place)
            files[piece.own] = piece
    kept = [*files.values(), *(piece for piece in counting if not piece.own or piece.unread)]
    in_hand = HandedIn(
        id=counting[0].id,
        students=counting[0].students,
        late=any(piece.late for piece in kept),
        files={own: piece.place for own, piece in files.items()},
        folders=tuple(piece.place for piece in counting if piece.place in listing.folders and not piece.unread),
        place=min(piece.place for piece in counting),
        at=max(piece.at for piece in counting),
    )
    return in_hand, left_out


# --- Canvas ----------------------------------------------------------------------------------------------------------

_CANVAS = re.compile(
    r"(?:(?P<unnamed>LATE_)?(?P<anonymous>anon_[0-9A-Za-z]+)|(?P<name>.+?)_(?P<late>LATE_)?(?P<user>\d+))"
    r"_(?:(?P<number>\d+)_(?P<own>.+)|(?P<typed>text|link)\.html)",
    re.DOTALL,
)
_COPY = re.compile(r"(?P<stem>.+?)(?:-(?P<number>\d+)| \((?P<copy>\d+)\))(?P<ending>\.\w+)")


def _canvas(listing: Listing) -> _Reading:
    matches = {name: match for name in listing.names if (match := _CANVAS.fullmatch(_composed(name)))}
    if not _clearly_canvas(list(matches.values()), listing.expected):
        return _Reading([])
    given: dict[str, set[str]] = {}
    for match in matches.values():
        given.setdefault(_user(match), set()).add(match["own"] or "")
    originals = {user: _originals(names, listing.expected) for user, names in given.items()}
    return _Reading(
        [
            _Piece(
                place=place,
                key=_user(match),
                id=_user(match),
                students=(Student(_user(match), match["name"] or ""),),
                own=originals[_user(match)][match["own"] or ""] if place in listing.files else "",
                number=int(match["number"] or 0),
                late=bool(match["late"] or match["unnamed"]),
                unread=bool(match["typed"]),
            )
            for place, match in matches.items()
        ]
    )


def _user(match: re.Match[str]) -> str:
    user: str = match["user"] or match["anonymous"]
    return user


def _clearly_canvas(matches: Sequence[re.Match[str]], expected: Collection[str]) -> bool:
    """Tell Canvas' numbers from others' (`hw_1_2_ada.py`): a user has one name, an attachment is one file."""
    names = {_user(match): match["name"] for match in matches}
    attachments = [match["number"] for match in matches if match["number"]]
    if any(match["name"] != names[_user(match)] for match in matches) or len(set(attachments)) != len(attachments):
        return False
    if len(set(names.values())) > 1 or all(match["anonymous"] for match in matches):
        return True
    # Under one name everybody may have been put: it is one person's only if the files are those asked for.
    return all(_stem(_plain(match["own"] or "")) in expected for match in matches)


def _originals(given: Collection[str], expected: Collection[str]) -> dict[str, str]:
    """Take off the -1 that Canvas adds when a file is handed in again, unless it may be the student's own.

    >>> _originals({"helper-2.py"}, ()), sorted(_originals({"part-1.py", "part-2.py"}, ()).values())
    ({'helper-2.py': 'helper.py'}, ['part-1.py', 'part-2.py'])
    """
    plain = {own: _plain(own) for own in given}
    alike = Counter(plain.values())
    return {
        own: name if alike[name] == 1 or name in given or _stem(name) in expected else own
        for own, name in plain.items()
    }


def _plain(own: str) -> str:
    match = _COPY.fullmatch(own)
    return match["stem"] + match["ending"] if match and match["number"] else own


def _stem(name: str) -> str:
    return name.rpartition(".")[0]


def _composed(name: str) -> str:
    """Return a name with its accents as one character each: some systems unpack them as two."""
    return unicodedata.normalize("NFC", name)


# --- Moodle ----------------------------------------------------------------------------------------------------------

_MOODLE = re.compile(r"(?P<who>.+?)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<own>.*))?", re.DOTALL)


def _moodle(listing: Listing) -> _Reading:
    pieces = []
    for place in listing.names:
        match = _MOODLE.fullmatch(_composed(place))
        if match is None or (place in listing.files and not match["own"]):
            continue
        name, _, number = match["who"].rpartition("_")
        if not name or not number.isdecimal():  # the group of all who are in none has no number
            name = number = match["who"]
        pieces.append(
            _Piece(
                place=place,
                key=match["who"],
                id=number,
                students=(Student(number, name),),
                own=match["own"] if place in listing.files else "",
                unread=match["kind"] == "onlinetext",
            )
        )
    return _Reading(pieces)


# --- Gradescope ------------------------------------------------------------------------------------------------------

_GRADESCOPE = re.compile(r"submission_(?P<number>\d+)")


def _gradescope(listing: Listing) -> _Reading:
    if METADATA not in listing.files:
        return _Reading([])
    submitters, times = _submitters(listing)
    pieces = []
    for place in sorted(listing.folders):
        match = _GRADESCOPE.fullmatch(place)
        if match:
            who = submitters.get(place, ())
            # Two people may have one name: only with a number or an address beside it is it the same person again.
            is_known = all(student.id != student.name for student in who)
            key = "\n".join(sorted(f"{student.id}\t{student.name}" for student in who)) if is_known else ""
            attempt = match["number"].zfill(20)
            at = times.get(place, "")
            pieces.append(_Piece(place=place, key=key or place, id=place, students=who, attempt=attempt, at=at))
    unknown = sorted(piece.place for piece in pieces if not piece.students)
    absent = sorted(submitters.keys() - {piece.place for piece in pieces})
    notices = []
    if unknown:
        notices.append(f"{METADATA} does not say who handed in: {', '.join(unknown)}")
    if absent:
        notices.append(f"{METADATA} lists what is not there: {', '.join(absent)}")
    return _Reading(pieces, tuple(notices))


def _submitters(listing: Listing) -> tuple[dict[str, tuple[Student, ...]], dict[str, str]]:
    """Return who handed in each folder, and when, as far as the platform's own list can be read."""
    import yaml  # only Gradescope writes it

    whole = (listing.read(METADATA, METADATA_LIMIT) or b"").decode("utf-8-sig", "replace")
    who = "".join(_who(io.StringIO(whole)))
    if len(who) > WHO_LIMIT:
        return {}, {}
    try:
        # The base loader makes strings, lists and tables of them and nothing else, whatever the file asks for.
        record = yaml.load(who, Loader=yaml.BaseLoader)  # noqa: S506 - it is safer than the safe loader
    except (yaml.YAMLError, RecursionError):
        return {}, {}
    named = record.items() if isinstance(record, dict) else ()
    rows = {folder: row for folder, row in named if isinstance(folder, str)}
    times = {folder: at for folder, row in rows.items() if isinstance(row, dict) and (at := row.get(":created_at"))}
    return (
        {folder: tuple(_students(row)) for folder, row in rows.items()},
        {folder: at for folder, at in times.items() if isinstance(at, str)},
    )


def _who(lines: Iterable[str]) -> Iterator[str]:
    """Keep the folders, who submitted them and when: the rest can be very long, and is none of our business."""
    wanted = False
    for line in lines:
        if not line.startswith("  "):
            wanted = _GRADESCOPE.match(line) is not None
        elif line[2] not in " -":
            wanted = line.startswith(("  :submitters:", "  :created_at:"))
        if wanted:
            yield line


def _students(row: object) -> Iterator[Student]:
    people = row.get(":submitters") if isinstance(row, dict) else None
    for person in people if isinstance(people, list) else ():
        if isinstance(person, dict):
            name, sid, email = (person.get(key) for key in (":name", ":sid", ":email"))
            known = [value for value in (sid, email, name) if isinstance(value, str) and value]
            if known:
                yield Student(known[0], name if isinstance(name, str) else "")


# --- Blackboard ------------------------------------------------------------------------------------------------------

_BLACKBOARD = re.compile(r"(?P<head>.+?)_attempt_(?P<when>\d{4}(?:-\d\d){5})(?:_(?P<own>.+)|\.txt)", re.DOTALL)


def _blackboard(listing: Listing) -> _Reading:
    matches = {name: match for name in listing.names if (match := _BLACKBOARD.fullmatch(_composed(name)))}
    receipts = {match["head"]: place for place, match in matches.items() if not match["own"]}
    who = {
        head: _blackboard_student(head, receipts.get(head), listing)
        for head in {match["head"] for match in matches.values()}
    }
    # Titles and usernames may hold underscores: where two seem to have one username, the whole head tells them apart.
    shared = Counter(student.id for student in who.values())
    return _Reading(
        [
            _Piece(
                place=place,
                key=match["head"],
                id=who[match["head"]].id if shared[who[match["head"]].id] == 1 else match["head"],
                students=(who[match["head"]],),
                own=(match["own"] or "") if place in listing.files else "",
                attempt=match["when"],
                at=_clock(match["when"]),
            )
            for place, match in matches.items()
        ]
    )


def _clock(when: str) -> str:
    """Return the time in a file's name as others write it; its zone is the course's.

    >>> _clock("2026-11-01-12-30-00")
    '2026-11-01 12:30:00'
    """
    year, month, day, *time = when.split("-")
    return f"{year}-{month}-{day} {':'.join(time)}"


def _blackboard_student(head: str, receipt: str | None, listing: Listing) -> Student:
    """Read name and username off the first line of the receipt, `Name: Ada Lovelace (ada12)`, in any language."""
    text = (listing.read(receipt, RECEIPT_LIMIT) or b"") if receipt else b""
    line = text.decode("utf-8-sig", "replace").partition("\n")[0].rstrip()
    name, _, user = line.removesuffix(")").partition(":")[2].rpartition("(")
    if user and line.endswith(")") and head.endswith(f"_{user}"):
        return Student(user, name.strip())
    return Student(head.rpartition("_")[2], "")


# --- GitHub Classroom, and attempts numbered by hand -----------------------------------------------------------------

_ATTEMPT = re.compile(
    r"(?:(?P<who>.+?)[ _-]+)?attempt[ _-]*(?P<number>\d+)(?P<ending>\.(?:zip|py|ipynb))?", re.IGNORECASE
)


def _github(listing: Listing) -> _Reading:
    repositories = sorted(listing.folders & listing.repositories)
    slug = f"{listing.title.removesuffix('-submissions')}-"
    if not all(name.startswith(slug) for name in repositories):
        slug = _common_start(repositories)
    logins = {place: place.removeprefix(slug) for place in repositories if slug}
    return _Reading(
        [_Piece(place=place, key=place, id=login, students=(Student(login, ""),)) for place, login in logins.items()]
    )


def _common_start(names: Sequence[str]) -> str:
    """Return the words, up to a hyphen each, that several names begin with.

    >>> _common_start(["lab-1-ada", "lab-1-al-an"]), _common_start(["ada", "alan"]), _common_start(["lab-1-ada"])
    ('lab-1-', '', '')
    """
    if len(names) < 2:
        return ""
    start = ""
    for word in names[0].split("-")[:-1]:
        if not all(name.startswith(f"{start}{word}-") and name != f"{start}{word}-" for name in names):
            break
        start += f"{word}-"
    return start


def _attempts(listing: Listing) -> _Reading:
    pieces = []
    for place in listing.names:
        match = _ATTEMPT.fullmatch(place)
        if match and (place in listing.folders) == (match["ending"] is None):
            who = match["who"] or listing.title
            own = place if place in listing.files else ""
            pieces.append(_Piece(place, who, who, (), own=own, attempt=match["number"].zfill(20)))
    return _Reading(pieces if len(pieces) > 1 else [])


def _numbered(name: str) -> tuple[tuple[str, str], int, bool]:
    """Return what a name is an attempt at, which one, and whether it says so."""
    attempt = _ATTEMPT.fullmatch(name)
    if attempt:
        return (attempt["who"] or "", attempt["ending"] or ""), int(attempt["number"]), True
    copy = _COPY.fullmatch(name)
    if copy:
        return (copy["stem"], copy["ending"]), int(copy["number"] or copy["copy"]), False
    stem, dot, ending = name.rpartition(".")
    return (stem, dot + ending) if dot else (name, ""), 0, False


_PLATFORMS: dict[str, Callable[[Listing], _Reading]] = {
    "a Gradescope export": _gradescope,
    "a Moodle download": _moodle,
    "a Blackboard download": _blackboard,  # before Canvas: a title such as HW_1_2 looks like its numbers
    "a Canvas download": _canvas,
    "GitHub Classroom repositories": _github,
    "numbered attempts": _attempts,
}
