"""Intake: from the paths on the command line to submissions that are read and never run.

What counts as one submission:

- A `.zip`, a `.py` or a `.ipynb` is one submission. Its id is its name without that ending.
- A folder is one submission if it directly holds a module of the contract (`attention.py`, `gates.ipynb`, …)
  or `answers.toml`. Its id is its name, dots included.
- A folder with a file of a general name (`solution.py`, `Untitled1.ipynb`, …) is one submission too, other files
  being its helpers, unless zips or whole submissions lie beside that file.
- A folder with one loose file and nothing else is one submission, named after the file.
- Any other folder is a folder of submissions: each visible sub-folder, zip, script and notebook in it is one.
- A folder or zip that a course platform made for a whole class is taken apart by `engine/downloads.py`.

Inside a submission we read the scripts, notebooks and `answers.toml` at its top, and then the scripts in its
sub-folders. Where the top has none of these, we go down into a single sub-folder, or read a single zip in its place,
or the latest of several that are attempts at one thing. What a platform hands out as several files of one student
is put together first, zips unpacked.

Whatever is wrong with one file becomes one sentence in `Submission.problems`, of which there are never too many to
read; the other files are still read.
Archives are read in memory and within bounds, links are never followed, only regular files are opened.
"""

from __future__ import annotations

import codecs
import errno
import hashlib
import io
import json
import os
import re
import stat
import struct
import sys
import tokenize
import unicodedata
import zipfile
import zlib
from collections import deque
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from engine.downloads import Download, HandedIn, Listing, latest_attempt, recognised
from engine.records import Source, Student, Submission, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

MODULES = (
    "attention",
    "positional",
    "gates",
    "network",
    "perplexity",
    "language_model",
    "transformer",
    "averaging",
)
ANSWERS = "answers.toml"

MEBIBYTE = 2**20
TEXT_LIMIT = MEBIBYTE  # of one script, or of answers.toml
NOTEBOOK_LIMIT = 20 * MEBIBYTE  # notebooks carry their plots with them
TOTAL_LIMIT = 50 * MEBIBYTE  # of all files of one submission, unpacked
CODE_LIMIT = 4 * MEBIBYTE  # of one submission's code, as UTF-8: it is handed to a worker in one frame
SOURCES_LIMIT = 200
ZIP_ENTRIES_LIMIT = 1_000
ZIP_READ_LIMIT = 4 * MEBIBYTE  # of one read by zipfile, which takes the size of the archive's directory on trust
ZIPS_LIMIT = 5  # of one student's upload to a course platform
DOWNLOAD_ENTRIES_LIMIT = 100_000  # of a zip that holds a whole class
DOWNLOAD_READ_LIMIT = 16 * MEBIBYTE
FOLDER_ENTRIES_LIMIT = 10_000
NESTING_LIMIT = 3
PROBLEMS_LIMIT = 50
SHOWN_LIMIT = 200  # characters of a name in a sentence

_GENERAL_NAMES = frozenset(
    {"solution", "submission", "main", "answer", "answers", "homework", "assignment", "notebook", "hw"}
)
_IGNORED_FOLDERS = frozenset({"__pycache__", "__MACOSX", "venv", "node_modules"})
_CODE = (".py", ".ipynb")
_EXPECTED = frozenset({*MODULES, "answers"})
_NOTHING_TO_GRADE = "nothing to grade: no .py file, notebook or answers.toml"
_NOT_FOLLOWED = "links are not followed"
_NOT_REGULAR = "not a regular file"
_NOT_A_ZIP = "not a readable zip archive"

# All that zipfile and zlib are known to raise on damaged or hostile archives.
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)


class UnreadableError(Exception):
    """Why one file of a submission cannot be used; it ends as a sentence in `Submission.problems`."""


def take_in(paths: Sequence[Path]) -> list[Submission]:
    """Read every submission at `paths`, sorted by id; the order of `paths` does not matter."""
    with taken_in(paths) as submissions:
        return list(submissions)


@contextmanager
def taken_in(paths: Sequence[Path]) -> Iterator[Iterator[Submission]]:
    """Find every submission at `paths` at once, and read one after the other, in the order of their ids."""
    found: dict[Path, _Found] = {}
    # Parents come before their children: a student's folder given along with the class keeps its id.
    ordered = sorted(paths, key=_real)
    with ExitStack() as open_downloads:
        for one in _in_downloads(ordered, open_downloads) or (one for path in ordered for one in _submissions_at(path)):
            found.setdefault(one.place, one)
        places = sorted(found, key=os.fsencode)
        named = dict(zip(_distinct([found[place].id for place in places]), places, strict=True))
        yield (_submission(found[named[identity]], identity) for identity in sorted(named))


@dataclass(frozen=True, slots=True)
class _Found:
    """A submission that is not yet read."""

    place: Path  # no place is read twice
    id: str
    tree: Callable[[ExitStack], _Tree]
    students: tuple[Student, ...] = ()
    late: bool = False
    handed_in: str = ""


# --- which paths are submissions -------------------------------------------------------------------------------------


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _submissions_at(given: Path) -> list[_Found]:
    """Return each submission at a path the user gave; that path itself may be a link."""
    path = _real(given)
    try:
        if not path.exists():
            raise UsageError(f"{_printable(str(given))} does not exist.")
        if path.is_dir():
            found = _submissions_in(path)
        else:
            found = [(path, _file_id(path.name))] if path.suffix.lower() in (".zip", *_CODE) else []
    except OSError as error:
        raise UsageError(f"{_printable(str(given))} cannot be read: {error.strerror}.") from error
    if not found:
        raise UsageError(f"{_printable(str(given))} holds no submission: give a folder, a .zip, a .py or a .ipynb.")
    return [_Found(place, identity, partial(_tree, place)) for place, identity in found]


def _submissions_in(folder: Path) -> list[tuple[Path, str]]:
    content = _Content.of(folder)
    if content.is_one_submission or (content.has_general_name and not _holds_submissions(folder, content)):
        return [(folder, _id(folder.name))]
    if len(content.code) == 1 and not content.folders and not content.zips:
        return [(folder, _file_id(content.code[0]))]
    whole = [(folder / name, _id(name)) for name in content.folders]
    return whole + [(folder / name, _file_id(name)) for name in content.zips + content.code]


def _holds_submissions(folder: Path, content: _Content) -> bool:
    """Tell a class with a stray solution.py in it from a student's solution.py with a data folder beside it."""
    if content.zips:
        return True
    readable = [folder / name for name in content.folders if os.access(folder / name, os.R_OK | os.X_OK)]
    inner = [_Content.of(path) for path in readable if not path.is_symlink()]
    return any(each.is_one_submission or each.has_general_name for each in inner)


@dataclass(frozen=True, slots=True)
class _Content:
    """The visible names in one folder that matter for telling submissions apart."""

    folders: list[str] = field(default_factory=list)
    zips: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    has_answers: bool = False

    @classmethod
    def of(cls, folder: Path) -> _Content:
        entries = _visible(folder)
        # A link to a folder counts here: its owner must not vanish, they are told that links are not followed.
        folders = {entry.name for entry in entries if _is_folder(entry)}
        files = [entry.name for entry in entries if entry.name not in folders]
        return cls(
            folders=sorted(folders),
            zips=[name for name in files if name.lower().endswith(".zip")],
            code=[name for name in files if name.lower().endswith(_CODE)],
            has_answers=ANSWERS in files,
        )

    @property
    def is_one_submission(self) -> bool:
        return self.has_answers or any(_without_ending(name) in MODULES for name in self.code)

    @property
    def has_general_name(self) -> bool:
        stems = [_without_ending(name).lower() for name in self.code]
        return any(stem in _GENERAL_NAMES or stem.startswith("untitled") for stem in stems)


def _sorted_entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _visible(folder: Path) -> list[os.DirEntry[str]]:
    return [entry for entry in _sorted_entries(folder) if not _is_ignored(entry.name)]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link in a circle
        return False


def _is_ignored(name: str) -> bool:
    return name.startswith(".") or name in _IGNORED_FOLDERS


# --- downloads of course platforms -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Shelf:
    """A folder or archive that may be a download: what its top holds, and the tree under each name there."""

    root: Path
    listing: Listing
    tree: Callable[[str], _Tree]


def _in_downloads(paths: Sequence[Path], open_downloads: ExitStack) -> list[_Found]:
    """Return what downloads of one platform hold; nothing unless all of `paths` are such downloads.

    One zip among the zips of a class may be made by a student to look like a download, and to hold somebody
    else's submission: it is then that student's submission like any other.
    """
    read: list[tuple[Path, _Shelf, Download]] = []
    for given in paths:
        opened = ((shelf, recognised(shelf.listing)) for shelf in _shelves(_real(given), open_downloads))
        shelf, download = next(((shelf, download) for shelf, download in opened if download), (None, None))
        if shelf is None or download is None or any(download.platform != other.platform for _, _, other in read):
            return []
        read.append((given, shelf, download))
    return [one for given, shelf, download in read for one in _in_download(given, shelf, download)]


def _in_download(given: Path, shelf: _Shelf, download: Download) -> Iterator[_Found]:
    gradable = (".zip", *_CODE)
    folders = shelf.listing.folders
    # A name with a slash is that of a path that leads out of an archive.
    others = [
        name for name in download.rest if name in folders or ("/" not in name and name.lower().endswith(gradable))
    ]
    left_out = [name for name in download.rest if name not in others]
    notices = [*download.notices]
    if others:
        notices.append(f"named otherwise, graded as submissions of their own: {', '.join(others)}")
    if left_out:
        notices.append(f"left out, nobody's: {', '.join(left_out)}")
    for notice in notices:
        print(f"grader: {_printable(f'{given}: {notice}')}", file=sys.stderr)
    for one in (*download.handed_in, *(_on_its_own(name, shelf.listing) for name in others)):
        students = tuple(Student(_printable(student.id), _printable(student.name)) for student in one.students)
        gathered = partial(_gathered, one, shelf.tree)
        yield _Found(shelf.root / one.place, _id(one.id), gathered, students, one.late, one.at)


def _on_its_own(name: str, listing: Listing) -> HandedIn:
    is_folder = name in listing.folders
    identity = name if is_folder else _without_ending(name)
    files = {} if is_folder else {name: name}
    return HandedIn(identity, (), late=False, files=files, folders=(name,) if is_folder else (), place=name)


def _shelves(path: Path, open_downloads: ExitStack) -> Iterator[_Shelf]:
    """Yield a folder or archive, and then what lies in it if that is a single folder."""
    try:
        if path.is_dir():
            yield from _folder_shelves(path)
        elif path.suffix.lower() == ".zip":
            yield from _zip_shelves(path, open_downloads)
    except OSError:  # the ordinary rules say what is wrong
        return


def _folder_shelves(root: Path) -> Iterator[_Shelf]:
    for _ in range(NESTING_LIMIT):
        entries = _visible(root)
        folders = frozenset(entry.name for entry in entries if _is_folder(entry))
        listing = Listing(
            title=root.name,
            files=frozenset(entry.name for entry in entries) - folders,
            folders=folders,
            repositories=frozenset(name for name in folders if os.access(root / name / ".git", os.F_OK)),
            expected=_EXPECTED,
            read=partial(_read_on_disk, root),
        )
        yield _Shelf(root, listing, partial(_entry_in, root))
        if len(entries) != 1 or not entries[0].is_dir(follow_symlinks=False):
            return
        root = root / entries[0].name


def _zip_shelves(path: Path, open_downloads: ExitStack) -> Iterator[_Shelf]:
    file = _OnDisk(path, DOWNLOAD_READ_LIMIT)
    tree = _zip_tree(path.name, file, open_downloads, DOWNLOAD_ENTRIES_LIMIT)
    root, title = path, path.stem
    for _ in range(NESTING_LIMIT):
        parts, folders = tree.parts(), tree.top_folders()
        listing = Listing(
            title=title,
            files=frozenset(parts) - folders,
            folders=frozenset(folders),
            repositories=frozenset(tree.repositories),
            expected=_EXPECTED,
            read=partial(_read_in_tree, tree),
        )
        yield _Shelf(root, listing, parts.__getitem__)
        if len(parts) != 1 or not folders:
            return
        (title,) = folders
        root, tree = root / title, tree.within(title)


def _entry_in(root: Path, name: str) -> _Tree:
    return _entry(root / name)


def _read_on_disk(root: Path, name: str, size: int) -> bytes | None:
    return _or_none(_OnDisk(root / name), size)


def _read_in_tree(tree: _Tree, name: str, size: int) -> bytes | None:
    return _or_none(tree.files[name], size) if name in tree.files else None


def _or_none(file: _File, size: int) -> bytes | None:
    try:
        return file(size)
    except UnreadableError:
        return None


def _gathered(one: HandedIn, tree_under: Callable[[str], _Tree], open_archives: ExitStack) -> _Tree:
    """Put together what one student handed in: their files by their own names, and what their zips hold."""
    tree = _Tree()
    for own, name in one.files.items():
        if not _is_ignored(own):
            part = tree_under(name)  # of one file, or of the reason why there is none
            for file in part.files.values():
                tree.files[own] = file
            for reason in part.refused.values():
                tree.refused[own] = reason
    for name in one.folders:
        _add(tree, tree_under(name), name)
    return _unpacked(_descended(tree), open_archives)


def _unpacked(tree: _Tree, open_archives: ExitStack) -> _Tree:
    zips = sorted(tree.top_zips())
    for name in zips[ZIPS_LIMIT:]:
        tree.refused[name] = f"not read, more than {ZIPS_LIMIT} zips"
    for name in zips[:ZIPS_LIMIT]:
        _add(tree, _descended(_zip_tree(name, tree.files[name], open_archives)), name)
    return tree


def _add(tree: _Tree, other: _Tree, called: str) -> None:
    """Put another tree beside this one; where both have a file, it is the first that counts, and that is told."""
    for name, file in other.files.items():
        if name in tree.files:
            tree.refused[f"{called}/{name}"] = "not read, there is another file of this name"
        else:
            tree.files[name] = file
    tree.folders |= other.folders
    tree.refused.update({name if name == called else f"{called}/{name}": why for name, why in other.refused.items()})


# --- ids -------------------------------------------------------------------------------------------------------------


def _without_ending(name: str) -> str:
    return name.rpartition(".")[0]


def _file_id(name: str) -> str:
    return _id(_without_ending(name))


def _id(name: str) -> str:
    return _printable(name) if name.strip() else "unnamed"


def _printable(name: str) -> str:
    """Replace what no report can show: bytes that are not UTF-8, control characters and line breaks."""
    hidden = {"Cc", "Cs", "Zl", "Zp"}
    return "".join("\ufffd" if unicodedata.category(letter) in hidden else letter for letter in name)


def _distinct(ids: Sequence[str]) -> Iterator[str]:
    """Append ~2, ~3, … to every repeated id, never making an id that another submission has by itself."""
    taken = set(ids)
    seen: set[str] = set()
    for identity in ids:
        if identity not in seen:
            seen.add(identity)
            yield identity
            continue
        number = 2
        while f"{identity}~{number}" in taken:
            number += 1
        taken.add(f"{identity}~{number}")
        yield f"{identity}~{number}"


# --- one submission --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Tree:
    """The visible files of a folder or an archive, by relative name; nothing is read before it is asked for."""

    files: dict[str, _File] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)  # why an entry cannot be used
    repositories: set[str] = field(default_factory=set)  # folders of an archive that hold .git

    def top(self) -> list[str]:
        """Return the files at the top that can be graded."""
        return [name for name in self.files if "/" not in name and (name == ANSWERS or name.lower().endswith(_CODE))]

    def top_zips(self) -> list[str]:
        return [name for name in self.files if "/" not in name and name.lower().endswith(".zip")]

    def top_folders(self) -> set[str]:
        implied = {name.split("/")[0] for name in self.files if "/" in name}
        return implied | {name.split("/")[0] for name in self.folders}

    def within(self, folder: str) -> _Tree:
        prefix = folder + "/"
        return _Tree(
            files={name.removeprefix(prefix): read for name, read in self.files.items() if name.startswith(prefix)},
            folders={name.removeprefix(prefix) for name in self.folders if name.startswith(prefix)},
            refused={name.removeprefix(prefix): reason for name, reason in self.refused.items()},
            repositories={name.removeprefix(prefix) for name in self.repositories if name.startswith(prefix)},
        )

    def parts(self) -> dict[str, _Tree]:
        """Return the tree of each name at the top, a file's being that file."""
        found: dict[str, _Tree] = {}
        for name, file in self.files.items():
            top, _, below = name.partition("/")
            found.setdefault(top, _Tree()).files[below or name] = file
        for name in self.folders:
            top, _, below = name.partition("/")
            found.setdefault(top, _Tree()).folders |= {below} - {""}
        for name, reason in self.refused.items():
            top, _, below = (name, "", "") if _leaves(name) else name.partition("/")
            found.setdefault(top, _Tree()).refused[below or name] = reason
        return found


@dataclass(slots=True)
class _Problems:
    """Sentences on what could not be read: the first of them, and how many more there are."""

    sentences: list[str] = field(default_factory=list)
    more: int = 0

    def add(self, name: str, reason: object) -> None:
        if len(self.sentences) < PROBLEMS_LIMIT:
            self.sentences.append(f"{_shown(name)}: {reason}")
        else:
            self.more += 1

    def told(self) -> list[str]:
        return [*self.sentences, f"{self.more:,} more problems of this kind"] if self.more else self.sentences


def _shown(name: str) -> str:
    shown = _printable(name)
    return shown if len(shown) <= SHOWN_LIMIT else f"{shown[: SHOWN_LIMIT - 1]}…"


def _submission(found: _Found, identity: str) -> Submission:
    unread = _Problems()
    with ExitStack() as open_archives:
        tree = found.tree(open_archives)
        for name, reason in sorted(tree.refused.items()):
            unread.add(name, reason)
        sources, answers = _read(tree, unread)
    problems = unread.told()
    if not sources and answers is None:
        problems.append(_NOTHING_TO_GRADE)
    return Submission(
        id=identity,
        origin=_printable(str(found.place)),
        sources=tuple(sources),
        answers=answers,
        problems=tuple(problems),
        digest=_digest(
            sources, answers, [problem.removeprefix(f"{_shown(found.place.name)}: ") for problem in problems]
        ),
        students=found.students,
        late=found.late,
        handed_in=found.handed_in,
    )


def _read(tree: _Tree, problems: _Problems) -> tuple[list[Source], str | None]:
    """Return the sources that can be used, and the answers."""
    sources: list[Source] = []
    answers = None
    left = CODE_LIMIT
    for name, data in _contents(tree, problems):
        try:
            if name == ANSWERS:
                answers = _utf8(data)
                continue
            source = _source(name, data, problems) if left >= 0 else Source(name, ())
        except UnreadableError as error:
            problems.add(name, error)
            continue
        left -= sum(len(cell.encode()) for cell in source.cells)
        if left >= 0:
            sources.append(source)
        else:
            problems.add(name, f"not read, the submission has more than {CODE_LIMIT // MEBIBYTE} MiB of code")
    return sources, answers


def _digest(sources: Iterable[Source], answers: str | None, problems: Iterable[str]) -> str:
    named = sorted((source.name, source.cells) for source in sources)
    return hashlib.sha256(json.dumps([named, answers, sorted(problems)]).encode()).hexdigest()


def _contents(tree: _Tree, problems: _Problems) -> Iterator[tuple[str, bytes]]:
    """Read the files that count, those at the top first, until a bound is met."""
    names = _names_that_count(tree)
    if len(names) > SOURCES_LIMIT:
        problems.sentences.append(f"more than {SOURCES_LIMIT} source files: only the first {SOURCES_LIMIT} are read")
    left = TOTAL_LIMIT
    for name in names[:SOURCES_LIMIT]:
        limit = NOTEBOOK_LIMIT if name.lower().endswith(".ipynb") else TEXT_LIMIT
        try:
            # One byte more than allowed shows that there is more; the size that a header states may be a lie.
            data = tree.files[name](min(limit, left) + 1)
        except UnreadableError as error:
            problems.add(name, error)
            continue
        if len(data) > left:
            problems.add(name, f"not read, the submission exceeds {TOTAL_LIMIT // MEBIBYTE} MiB")
        elif len(data) > limit:
            problems.add(name, f"larger than {limit // MEBIBYTE} MiB")
        else:
            yield name, data
        left = max(left - len(data), 0)


def _names_that_count(tree: _Tree) -> list[str]:
    top = sorted(tree.top(), key=lambda name: (name != ANSWERS, name))
    if not top:
        return []
    nested = [name for name in tree.files if "/" in name and name.lower().endswith(".py")]
    return top + sorted(nested, key=lambda name: (name.count("/"), name))


# --- folders, archives and single files as trees ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _OnDisk:
    """A file in a folder."""

    path: Path
    read_limit: int | None = None

    def __call__(self, size: int) -> bytes:
        """Return the first `size` bytes at most."""
        return _read_regular(self.path, size)

    def opened(self) -> IO[bytes]:
        """Return what zipfile can read; the caller closes it."""
        return _BoundedReads(_open_regular(self.path), self.read_limit)


@dataclass(frozen=True, slots=True)
class _Member:
    """A file in an archive."""

    archive: zipfile.ZipFile
    info: zipfile.ZipInfo

    def __call__(self, size: int) -> bytes:
        """Return the first `size` bytes at most."""
        return _read_member(self.archive, self.info, size)

    def opened(self) -> IO[bytes]:
        """Return what zipfile can read; the caller closes it."""
        data = self(TOTAL_LIMIT + 1)
        if len(data) > TOTAL_LIMIT:
            raise UnreadableError(f"larger than {TOTAL_LIMIT // MEBIBYTE} MiB: unpack the download first")
        return _BoundedBytes(data)


_File = _OnDisk | _Member


def _tree(path: Path, open_archives: ExitStack) -> _Tree:
    if path.is_dir() and not path.is_symlink():
        return _folder_tree(path, open_archives)
    if path.suffix.lower() == ".zip" and not path.is_symlink():
        return _descended(_zip_tree(path.name, _OnDisk(path), open_archives))
    return _entry(path)


def _entry(path: Path) -> _Tree:
    """Return the tree under one name of a folder, a file's being that file."""
    if path.is_symlink():
        return _Tree(refused={path.name: _NOT_FOLLOWED})
    return _walked(path) if path.is_dir() else _Tree(files={path.name: _OnDisk(path)})


def _descended(tree: _Tree) -> _Tree:
    """Go down through folders that hold one folder, or several attempts, and nothing to grade."""
    for _ in range(NESTING_LIMIT):
        folder = None if tree.top() else _latest(tree.top_folders(), tree)
        if folder is None:
            break
        tree = tree.within(folder)
    return tree


def _latest(names: Collection[str], tree: _Tree) -> str | None:
    """Return the only name, or the latest of several attempts; the ones before it are told."""
    latest = latest_attempt(names) if len(names) > 1 else next(iter(names), None)
    if latest is not None:
        reason = f"an earlier attempt, {_shown(latest)} counts"
        tree.refused.update({name: reason for name in names if name != latest})
    return latest


def _folder_tree(root: Path, open_archives: ExitStack) -> _Tree:
    tree = _descended(_walked(root))
    archive = None if tree.top() else _latest(tree.top_zips(), tree)
    if archive is None:
        return tree
    # Course platforms hand out one folder per student with the student's own zip in it.
    inner = _descended(_zip_tree(archive, tree.files[archive], open_archives))
    inner.refused.update(tree.refused)
    return inner


def _walked(root: Path) -> _Tree:
    tree = _Tree()
    waiting = deque([""])  # breadth first: what lies deep must not keep us from what lies at the top
    looked_at = 0
    while waiting:
        folder = waiting.popleft()
        try:
            entries = _sorted_entries(root / folder)
        except OSError as error:
            tree.refused[folder or root.name] = f"cannot be read ({error.strerror})"
            continue
        looked_at += len(entries)
        for entry in entries:
            if not _is_ignored(entry.name):
                _place(tree, f"{folder}/{entry.name}".lstrip("/"), entry, waiting)
        if looked_at > FOLDER_ENTRIES_LIMIT:
            tree.refused[root.name] = f"more than {FOLDER_ENTRIES_LIMIT:,} entries: deeper folders are not read"
            break
    return tree


def _place(tree: _Tree, name: str, entry: os.DirEntry[str], waiting: deque[str]) -> None:
    if entry.is_symlink():
        tree.refused[name] = _NOT_FOLLOWED
    elif entry.is_dir(follow_symlinks=False):
        tree.folders.add(name)
        waiting.append(name)
    elif entry.is_file(follow_symlinks=False):
        tree.files[name] = _OnDisk(Path(entry.path))
    else:
        tree.refused[name] = _NOT_REGULAR


def _open_regular(path: Path) -> int:
    """Open a regular file and nothing else: a device may act when opened, a FIFO would wait for ever."""
    try:
        _require_regular(path.lstat())
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            _require_regular(os.fstat(descriptor))  # it may have been replaced in between
        except UnreadableError:
            os.close(descriptor)
            raise
    except OSError as error:
        reason = _NOT_FOLLOWED if error.errno == errno.ELOOP else f"cannot be read ({error.strerror})"
        raise UnreadableError(reason) from error
    return descriptor


def _require_regular(status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise UnreadableError(_NOT_FOLLOWED)
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableError(_NOT_REGULAR)


def _read_regular(path: Path, size: int) -> bytes:
    descriptor = _open_regular(path)
    try:
        with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor has no path
            return stream.read(size)
    except OSError as error:
        raise UnreadableError(f"cannot be read ({error.strerror})") from error


# --- archives --------------------------------------------------------------------------------------------------------


class _BoundedReads(io.FileIO):
    """A file of which zipfile cannot take more than a bounded piece at once, whatever the archive's header asks."""

    def __init__(self, descriptor: int, limit: int | None) -> None:
        super().__init__(descriptor)
        self._limit = limit

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(_bounded(size, self._limit)) or b""


class _BoundedBytes(io.BytesIO):
    """The same for an archive within an archive, which is in memory."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(_bounded(size, None))


def _bounded(size: int | None, limit: int | None) -> int:
    limit = ZIP_READ_LIMIT if limit is None else limit
    if size is not None and size > limit:
        raise zipfile.BadZipFile("the directory of the archive is too large")
    return limit if size is None or size < 0 else size


def _zip_tree(name: str, file: _File, open_archives: ExitStack, entries_limit: int = ZIP_ENTRIES_LIMIT) -> _Tree:
    try:
        archive = open_archives.enter_context(zipfile.ZipFile(open_archives.enter_context(file.opened())))
    except UnreadableError as error:
        return _Tree(refused={name: str(error)})
    except _ZIP_ERRORS:
        return _Tree(refused={name: _NOT_A_ZIP})
    infos = [(info, _zip_name(info)) for info in archive.infolist()]
    visible = [(info, path) for info, path in infos if _leaves(path) or not any(map(_is_ignored, path.split("/")))]
    if len(visible) > entries_limit:
        return _Tree(refused={name: f"more than {entries_limit:,} entries"})
    tree = _Tree(repositories={path.partition("/.git/")[0] for _, path in infos if "/.git/" in path})
    for info, path in visible:
        _place_member(tree, path, info, archive)
    return tree


def _zip_name(info: zipfile.ZipInfo) -> str:
    r"""Return the name with forward slashes (some Windows tools write `\`) and without `./`."""
    name = re.sub(r"(?<=/)(\./|/)+", "", info.filename.replace("\\", "/"))
    return name.removeprefix("./")


def _leaves(name: str) -> bool:
    return name.startswith("/") or ".." in name.split("/") or re.match(r"[A-Za-z]:/", name) is not None


def _place_member(tree: _Tree, name: str, info: zipfile.ZipInfo, archive: zipfile.ZipFile) -> None:
    kind = stat.S_IFMT(info.external_attr >> 16)  # 0 where the archive was not made on Unix
    if _leaves(name):
        tree.refused[name] = "paths that lead out of the archive are not read"
    elif kind == stat.S_IFLNK:
        tree.refused[name.rstrip("/")] = _NOT_FOLLOWED
    elif name.endswith("/"):
        tree.folders.add(name.rstrip("/"))
    elif kind not in (0, stat.S_IFREG):
        tree.refused[name] = _NOT_REGULAR
    else:
        if name in tree.files:
            tree.refused[name] = "more than once in the archive, the last one counts"
        tree.files[name] = _Member(archive, info)


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, size: int) -> bytes:
    if info.flag_bits & 1:
        raise UnreadableError("encrypted")
    # zipfile unpacks the rarer methods without a bound on what one piece may grow to.
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnreadableError("packed by an unusual method: use an ordinary zip")
    if info.compress_size > 2 * size + MEBIBYTE:  # blocks that hold nothing would be read for ever
        raise UnreadableError("larger packed than it may be unpacked")
    try:
        with archive.open(info) as stream:
            return b"".join(_pieces(stream, size))
    except _ZIP_ERRORS as error:
        raise UnreadableError("damaged in the archive") from error


def _pieces(stream: IO[bytes], size: int) -> Iterator[bytes]:
    while size > 0 and (piece := stream.read(min(size, 2**16))):
        yield piece
        size -= len(piece)


# --- from bytes to text ----------------------------------------------------------------------------------------------


def _source(name: str, data: bytes, problems: _Problems) -> Source:
    shown = _printable(name)
    stem, _, ending = shown.rpartition(".")
    shown = f"{stem}.{ending.lower()}"  # `Source` knows notebooks by a lower-case ending
    if ending.lower() == "py":
        return Source(shown, (_python(data),))
    return Source(shown, tuple(_code_cells(shown, data, problems)))


def _utf8(data: bytes) -> str:
    _refuse_nul(data)
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"not valid UTF-8 (byte {error.start})") from error


def _python(data: bytes) -> str:
    """Decode a script as Python would: by its byte order mark or coding line, else as UTF-8."""
    _refuse_nul(data)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        _utf8(data)  # bad bytes in the first two lines end here too; these have a better sentence
        raise UnreadableError(str(error.msg)) from error
    encoding = codecs.lookup(encoding).name  # one name for utf8, UTF-8 and U8
    if encoding in ("utf-8", "utf-8-sig"):
        return _utf8(data)
    if encoding in ("idna", "punycode", "unicode-escape"):  # time that grows as the square of the length; warnings
        raise UnreadableError(f"unknown encoding: {encoding}")
    try:
        return _without_surrogates(data.decode(encoding))
    except UnicodeDecodeError as error:
        raise UnreadableError(f"not valid {encoding} (byte {error.start})") from error
    except (LookupError, UnicodeError) as error:
        raise UnreadableError(f"unknown encoding: {encoding}") from error


def _refuse_nul(data: bytes) -> None:
    if (position := data.find(0)) >= 0:
        raise UnreadableError(f"holds a NUL byte (byte {position}); is it saved as UTF-16?")


def _without_surrogates(text: str) -> str:
    r"""Replace halves of a pair such as a notebook's "\ud800": no file, pipe or report could carry them on."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


# --- notebooks -------------------------------------------------------------------------------------------------------


def _code_cells(name: str, data: bytes, problems: _Problems) -> Iterator[str]:
    left = TEXT_LIMIT  # a notebook may be large for its plots, its code no larger than a script
    for number, cell in enumerate(_cells(data), start=1):
        if isinstance(cell, dict) and cell.get("cell_type") != "code":
            continue
        text = _cell_text(cell)
        if text is None:
            problems.add(name, f"cell {number} is not a readable code cell")
            continue
        left -= len(text)
        if left < 0:
            raise UnreadableError(f"more than {TEXT_LIMIT // MEBIBYTE} MiB of code")
        if (python := _without_magics(text)) is not None:
            yield python


def _cells(data: bytes) -> list[Any]:
    text = _utf8(data)
    try:
        notebook = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise UnreadableError(f"not a notebook ({where})") from error
    except RecursionError as error:
        raise UnreadableError("not a notebook (nested too deeply)") from error
    except ValueError as error:  # a number of more digits than Python converts
        raise UnreadableError("not a notebook (a number is too long)") from error
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise UnreadableError("not a notebook (no list of cells)")
    return cells


def _cell_text(cell: Any) -> str | None:
    source = cell.get("source") if isinstance(cell, dict) else None
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str) or "\0" in source:
        return None
    return _without_surrogates(source.replace("\r\n", "\n"))


_KEPT_CELL_MAGIC = re.compile(r"%%(time|timeit|capture|proofmark)\b")
_MAGIC = re.compile(
    r"""\s*(
        [%!?].*                           # %matplotlib inline, !pip install x, ?name
        | [\w.*\[\]]+\s?\?{1,2}\s*        # name?, name??
        | \w[\w.,\[\]\ ]*=\s*[%!].*       # files = !ls
    )""",
    re.VERBOSE,
)


def _without_magics(cell: str) -> str | None:
    """Turn IPython's own lines into `pass`, keeping line numbers; None if the cell is not Python at all."""
    first = cell.lstrip()
    if first.startswith("%%") and not _KEPT_CELL_MAGIC.match(first):
        return None
    lines = []
    statement = _Statement()
    in_magic = False  # a magic, too, goes on after a backslash
    for line in cell.split("\n"):
        in_magic = in_magic or (statement.is_complete and _MAGIC.fullmatch(line) is not None)
        if not in_magic:
            statement.add(line)
            lines.append(line)
            continue
        code = line.lstrip()
        lines.append(f"{line[: len(line) - len(code)]}pass  # {code}")
        in_magic = line.endswith("\\")
    return "\n".join(lines)


class _Statement:
    """Whether the lines so far end a statement: a line within brackets or a string that starts with % is no magic."""

    _PIECE = re.compile(
        r"""
        \#.* | (?P<quotes>\"{3}|'{3}) | "(?:\\.|[^"\\])*+"? | '(?:\\.|[^'\\])*+'?
        | (?P<opening>[(\[{]) | (?P<closing>[)\]}])
        """,
        re.VERBOSE,
    )

    def __init__(self) -> None:
        self._depth = 0
        self._quotes = ""
        self._goes_on = False

    @property
    def is_complete(self) -> bool:
        return not (self._depth or self._quotes or self._goes_on)

    def add(self, line: str) -> None:
        self._goes_on = line.endswith("\\")
        position = 0
        while position < len(line):
            position = self._end_of_string(line, position) if self._quotes else self._end_of_piece(line, position)

    def _end_of_string(self, line: str, position: int) -> int:
        end = re.compile(rf"(?:\\.|(?!{self._quotes})[^\\])*+{self._quotes}").match(line, position)
        if end is None:
            return len(line)
        self._quotes = ""
        return end.end()

    def _end_of_piece(self, line: str, position: int) -> int:
        piece = self._PIECE.search(line, position)
        if piece is None:
            return len(line)
        self._quotes = piece["quotes"] or ""
        self._depth = max(self._depth + bool(piece["opening"]) - bool(piece["closing"]), 0)
        return piece.end()
