"""What a student can put into a folder: archives, notebooks, scripts, answers and things that are no files at all.

Each maker writes one or more entries below the folder it is given. Names are bytes: no encoding can be relied on.
"""

from __future__ import annotations

import io
import json
import os
import socket
import stat
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

MEBIBYTE = 2**20
EXAMPLES = Path(__file__).resolve().parents[2] / "submissions" / "examples"
ANSWERS = b"\n".join(path.read_bytes() for path in sorted(EXAMPLES.glob("sheet_S*/answers.toml")))
SCRIPT = (EXAMPLES / "right_numpy" / "attention.py").read_bytes()

# fmt: off
NOTEBOOK = json.dumps({
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "text"]},
        {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [{"data": {"image/png": "iVBO"}}],
         "source": ["%matplotlib inline\n", "import numpy\n", "files = !ls\n", "s = '''\n", "%not a magic\n", "'''\n"]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": SCRIPT.decode()},
    ],
    "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
}, indent=1).encode()

NAMES = (
    b"attention.py", b"answers.toml", b"solution.py", b"gates.ipynb", b"notes.txt", b"data.zip", b"helper.py",
    b"ATTENTION.PY", b"network.IPYNB", b"caf\xe9.py", b"caf\xc3\xa9.py", b"cafe\xcc\x81.py", b"a\nb.py", b"\x1b[31m.py",
    b"=cmd.py", b" .py", b".py", b"..py", b"x.py.", b"-rf.py", b"\xe2\x80\xaetxt.py", b"a" * 200 + b".py", b"con.py",
    b"__init__.py", b".hidden.py", b"__pycache__", b"x.ipynb", b"x.zip", b"\xff\xfe", b"{}.py",
)
PLACES = (b"", b"", b"", b"work/", b"a/b/", b"a/b/c/d/e/", b"__MACOSX/", b".git/")
ZIP_NAMES = (
    *NAMES, b"/etc/passwd.py", b"../../escape.py", b"..\\..\\escape.py", b"C:\\windows\\x.py", b"c:/x.py",
    b"//host/share/x.py", b"./attention.py", b"a//b.py", b"a/./b.py", b"a/../b.py", b"x.py/", b"folder/", b"", b"/", b".",
    b"..", b"a\0b.py", b"a" * 3000 + b".py", b"\\", b"a\\b.py", b"x" * 65_000,
)
ZIP_FIELDS = (
    b"\0", b"\x01", b"\xff", b"\x08\0", b"\x09\0", b"\x0c\0", b"\x0e\0", b"\x63\0", b"\xff\xff", b"\xff\xff\xff\xff",
    b"\xfe\xff\xff\x7f", b"\0\0\0\0",
)
CROWDS = ("m%d.py", "../%d.py", "%d/", "a/%d.txt", "d%d/d%d/x.py", "x.py", "%d" + "é" * 500)
CODECS = (
    b"utf-8", b"utf-8-sig", b"latin-1", b"utf-7", b"utf-16", b"utf-32", b"cp437", b"shift_jis", b"gb18030", b"hz",
    b"iso2022_jp", b"idna", b"punycode", b"unicode_escape", b"raw_unicode_escape", b"zlib", b"hex", b"rot13", b"base64",
    b"undefined", b"mbcs", b"charmap", b"os", b"encodings", b"utf8mb4", b"ascii", b"big5", b"euc_kr", b"koi8-r", b"quopri",
    b"uu", b"bz2", b"aliases", b"..", b"a" * 500,
)
CODED = (SCRIPT, b"+AAA- ~{ \\u12 \\ud800 xn--a\n", "é€".encode() * 50, bytes(range(1, 256)))
MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\0", b"\xe9", b"\xef\xbb\xbf# coding: latin-1\n")
NESTED = (
    b"(", b"-", b"[", b"a.", b"not ", b"if 1:\n ", b"lambda:", b"\\\n", b"'", b'"""', b"f'{", b"1+", b"\t", b"\n", b"\r",
    b"x=1\n", b"\xc3\xa9", b"\xf0\x9f\x92\xa9",
)
IN_SCRIPTS = (b"\0", b"\xff", b"\r", b"\x0c", b"import ", b"def softmax(", b"\xed\xa0\x80")
JSON = (
    None, True, 0, -1, 1e308, float("nan"), 10**25, "", "code", "x = 1\n", "\ud800", "\0", "%magic\n", "%%bash\n", "é",
    "cells", [], {}, [1], ["x = 1\n", 2], ["a\n", "b"],
)
JSON_KEYS = ("cells", "source", "cell_type", "metadata", "outputs", "x")
JSON_UNITS = (b"0", b"{}", b"[]", b'""', b'{"cell_type":"code","source":""}', b"-9", b"1e5")
JSON_ODD = (b"9" * 5_000, b"NaN", b"-Infinity", b'"\\ud800"', b"1e999999999", b"tru")
LINES = (
    "\n", "%x\n", "'\n", "\\\n", "(\n", "a?\n", "x = !ls\n", "'''\n", " " * 1000 + "?\n", "\r\n", "é" * 100 + "\n",
    "[" * 500 + "?",
)
IN_NOTEBOOKS = (b"null", b"{}", b"[]", b'"', b"\\u0000", b"\\ud800", b"1e400", b",", b"}", b"]")
TABLES = (
    b"expression", b"derivation", b"claim", b"complexity", b"number", b"choice", b"text", b"claim.lstm_zero_input",
    b"nothing",
)
KEYS = (
    b"dot_product_mean", b"dot_product_variance", b"lstm_zero_input", b"attention_cost", b"die_entropy",
    b"encoder_or_seq2seq", b"why_positions", b"answer", b"witness", b'""',
)
VALUES = (
    b"1979-05-27T07:32:00Z", b"inf", b"-nan", b"true", b"[]", b"{}", b'""', b"''", b"[[[]]]", b'["x", 1]', b"{ a = 1 }",
    b"0x10", b"1_000", b'"\\uD800"', b'"\\u0000"', b"1e999999999", b"1e-999999999", b"0x" + b"f" * 9_000,
)
IN_ANSWERS = (
    b"=", b"[", b"]", b'"', b"'''", b"{", b"}", b"\n", b"\r", b"\x7f", b"\xff", b"#", b"[number]\n", b"inf", b"1979-05-27",
)
LINKS = (
    ".", "..", "/", "nowhere", "attention.py", "../good_neighbour", "../good_neighbour/attention.py", "x" * 255,
    "/dev/zero", "/dev/stdin", "/proc/self/mem", "/proc/kmsg", "/etc/shadow",
)
# fmt: on


def put(folder: Path, name: bytes, data: bytes) -> None:
    """Write a file; a name that the file system refuses is no case."""
    path = folder / os.fsdecode(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
    except OSError:
        return


def place(chance: Random) -> bytes:
    return chance.choice(PLACES) + chance.choice(NAMES)


def mutated(chance: Random, data: bytes, pieces: tuple[bytes, ...] = ()) -> bytes:
    """Return the bytes with a few small changes."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5, 30))):
        at = chance.randrange(len(changed) + 1)
        kind = chance.randrange(6)
        if kind == 0 and changed:
            changed[at % len(changed)] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del changed[at : at + chance.choice((1, 4, 50, 5_000))]
        elif kind == 2:
            changed[at:at] = chance.randbytes(chance.choice((1, 2, 16)))
        elif kind == 3 and pieces:
            changed[at:at] = chance.choice(pieces)
        elif kind == 4:
            changed[at:at] = changed[at : at + chance.choice((1, 20, 500))]
        else:
            changed[at : at + 4] = struct.pack("<I", chance.choice((0, 1, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF)))
    return bytes(changed)


# ── scripts, notebooks, answers ───────────────────────────────────────────────────────────────────────────────────


def script(chance: Random) -> bytes:
    kind = chance.randrange(8)
    if kind == 0:
        return chance.randbytes(chance.choice((0, 1, 10, 1_000, 100_000)))
    if kind == 1:
        return b"# -*- coding: " + chance.choice(CODECS) + b" -*-\n" + chance.choice(CODED)
    if kind == 2:
        return chance.choice(MARKS) + SCRIPT
    if kind == 3:
        return SCRIPT.decode().encode(chance.choice(("utf-16", "utf-32", "utf-8-sig", "utf-16-le")))
    if kind == 4:
        return chance.choice(NESTED) * chance.choice((10, 1_000, 100_000))
    if kind == 5:
        return SCRIPT + b"#" * (chance.choice((MEBIBYTE, MEBIBYTE + 1, 3 * MEBIBYTE)) - len(SCRIPT))
    return mutated(chance, SCRIPT, IN_SCRIPTS)


def anything(chance: Random, depth: int = 3) -> Any:
    """Return any value JSON has."""
    if depth == 0 or chance.random() < 0.5:
        return chance.choice(JSON)
    if chance.random() < 0.5:
        return [anything(chance, depth - 1) for _ in range(chance.choice((0, 1, 3)))]
    return {chance.choice(JSON_KEYS): anything(chance, depth - 1) for _ in range(chance.choice((0, 1, 3)))}


def cell(chance: Random) -> Any:
    row: dict[str, Any] = {"cell_type": "code", "source": "x = 1\n", "outputs": []}
    for key in row:
        if chance.random() < 0.3:
            row[key] = anything(chance)
    return row if chance.random() < 0.9 else anything(chance)


def notebook(chance: Random) -> bytes:
    kind = chance.randrange(9)
    if kind == 0:
        cells = [cell(chance) for _ in range(chance.choice((0, 1, 3, 30)))]
        return json.dumps({"cells": cells, "nbformat": 4}).encode()
    if kind == 1:
        return json.dumps(anything(chance, 5)).encode()
    if kind == 2:
        layer = chance.choice((b"[", b'{"a":', b'[{"source":'))
        return b'{"cells": ' + layer * chance.choice((100, 900, 1_100, 100_000))
    if kind == 3:  # a few bytes each, a great many of them
        unit = chance.choice(JSON_UNITS)
        size = chance.choice((1_000, 100_000, MEBIBYTE, 6 * MEBIBYTE))
        return b'{"cells": [' + b",".join([unit] * (size // (len(unit) + 1))) + b"]}"
    if kind == 4:
        text = chance.choice(LINES) * chance.choice((10, 1_000, 100_000))
        return json.dumps({"cells": [{"cell_type": "code", "source": text}]}).encode()
    if kind == 5:
        return b'{"cells": [' + chance.choice(JSON_ODD) + b"]}"
    return chance.choice(MARKS) + NOTEBOOK if kind == 6 else mutated(chance, NOTEBOOK, IN_NOTEBOOKS)


def answers(chance: Random) -> bytes:
    kind = chance.randrange(8)
    if kind == 0:
        return long_answers(chance, chance.choice((10, 1_000, 30_000)))
    if kind == 1:
        return b"[" + chance.choice(TABLES) + b"]\n" + chance.choice(KEYS) + b" = " + chance.choice(VALUES) + b"\n"
    if kind == 2:
        return chance.choice(MARKS) + ANSWERS
    if kind == 3:
        return ANSWERS + b"#" * (chance.choice((MEBIBYTE, MEBIBYTE + 1)) - len(ANSWERS))
    start = chance.randrange(len(ANSWERS))
    piece = ANSWERS[ANSWERS.rfind(b"\n[", 0, start) + 1 :][: chance.choice((300, 1_000, 5_000))]
    return mutated(chance, piece, IN_ANSWERS)


def long_answers(chance: Random, many: int) -> bytes:
    """Return one thing of TOML many times over."""
    return chance.choice((
        b"a = " + b"[" * many, b"a = " + b"{a=" * many, b"a." * many + b"b = 1", b"[" + b"a." * many + b"b]",
        b"x = " + b"9" * many, b"[[a]]\n" * many, b"[expression]\n" + b"a = 1\n" * many, b'x = "' + b"\\u0041" * many + b'"',
        b"x = '''" + b"'" * many, b"=\n" * many, b"[number]\nx = 1e" + b"9" * many,
        b"[number]\ndie_entropy = 0." + b"1" * many, b"[number]\ndie_entropy = 2.585" + b"0" * many,
        b'[text]\nwhy_positions = "' + b"x" * many + b'"', b"".join(b"k%d = 1\n" % number for number in range(many)),
    ))  # fmt: skip


def content(chance: Random, name: bytes) -> bytes:
    """Return what a file of this name may hold."""
    makers: dict[bytes, Callable[[Random], bytes]] = {b"ipynb": notebook, b"toml": answers, b"zip": archive}
    return makers.get(name.lower().rsplit(b".", 1)[-1], script)(chance)


# ── archives ──────────────────────────────────────────────────────────────────────────────────────────────────────

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
KINDS = (0, stat.S_IFREG | 0o644, stat.S_IFREG, stat.S_IFLNK | 0o777, stat.S_IFDIR | 0o755, stat.S_IFIFO, 0xFFFF)
EXTRAS = (bytes(8), struct.pack("<HHQQ", 1, 16, 2**60, 2**60), struct.pack("<HH", 0x7075, 500))


def member(chance: Random) -> tuple[zipfile.ZipInfo, bytes]:
    """Return an entry with any name, kind and content."""
    name = chance.choice(PLACES) + chance.choice(ZIP_NAMES)
    info = zipfile.ZipInfo("x")
    info.filename = name.decode("cp437") if chance.random() < 0.3 else name.decode("utf-8", "replace")
    info.compress_type = chance.choice(METHODS)
    info.external_attr = chance.choice(KINDS) << 16
    info.create_system = chance.choice((0, 3, 3, 255))
    info.extra = chance.choice(EXTRAS) if chance.random() < 0.1 else b""
    if chance.random() < 0.8:
        return info, chance.choice((SCRIPT, b"", b"/etc/passwd", b"x = 1\n"))
    return info, content(chance, name)[: 2**19]


def archive(chance: Random) -> bytes:
    kind = chance.randrange(10)
    if kind < 2:
        return bomb(chance) if kind else crowded(chance)
    buffer = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(buffer, "w") as written:  # of names used twice
        for _ in range(chance.choice((0, 1, 2, 3, 10))):
            info, data = member(chance)
            try:
                written.writestr(info, data)
            except (ValueError, UnicodeError, struct.error, zipfile.LargeZipFile):  # zipfile has its limits, too
                continue
        written.comment = chance.choice((b"", b"", b"PK\x05\x06" + bytes(18), b"x" * 65_535))
    data = buffer.getvalue()
    if kind < 4:
        return data
    if kind == 4:
        return overlapping(data)
    if kind == 5:
        return cut_or_joined(chance, data)
    return header_changed(chance, data) if kind < 8 else mutated(chance, data)


def cut_or_joined(chance: Random, data: bytes) -> bytes:
    end = data[-22:]
    return chance.choice((
        b"MZ" + data, data[:-1], data[: len(data) // 2], data + b"x" * 70_000, data * 2, data + end, end, bytes(22),
        b"PK\x05\x06" + b"\xff" * 18,
    ))  # fmt: skip


def header_changed(chance: Random, data: bytes) -> bytes:
    """Change fields of headers: sizes, methods, flags, offsets, counts."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        signature, length = chance.choice(((b"PK\x01\x02", 46), (b"PK\x03\x04", 30), (b"PK\x05\x06", 22)))
        start = changed.find(signature, chance.randrange(len(changed)) if chance.random() < 0.5 else 0)
        if start < 0:
            continue
        at = start + 4 + chance.randrange(length - 4)
        value = chance.choice(ZIP_FIELDS)
        changed[at : at + len(value)] = value
    return bytes(changed)


def overlapping(data: bytes) -> bytes:
    """Let every entry of the directory point at the first one's data."""
    changed = bytearray(data)
    at = changed.find(b"PK\x01\x02")
    while at >= 0:
        changed[at + 42 : at + 46] = bytes(4)
        at = changed.find(b"PK\x01\x02", at + 4)
    return bytes(changed)


@cache
def zeros(size: int) -> tuple[bytes, int]:
    """Return that many zeros packed, and their checksum."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(bytes(size)) + packer.flush(), zlib.crc32(bytes(size))


def bomb(chance: Random) -> bytes:
    """Pack zeros, or blocks that hold nothing at all: little that becomes much, or much that becomes nothing."""
    size = chance.choice((1, 30, 100)) * MEBIBYTE
    packed, checksum = zeros(size)
    if chance.random() < 0.3:
        packed = b"\x00\x00\x00\xff\xff" * (size // 64) + b"\x03\x00"
    claimed = chance.choice((size, 10, 0xFFFFFFF0))
    names = [b"attention.py", *(b"m%d.py" % number for number in range(1, chance.choice((1, 1, 30, 300))))]
    data, directory = b"", b""
    for name in names:
        fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0, checksum, len(packed), claimed, len(name), 0)
        offset = 0  # of the first one's data, unless it gets its own
        if not data or (chance.random() < 0.5 and len(data) < 8 * MEBIBYTE):
            offset = len(data)
            data += b"PK\x03\x04" + fields + name + packed
        directory += b"PK\x01\x02\x14\0" + fields + struct.pack("<HHHII", 0, 0, 0, 0, offset) + name
    end = struct.pack("<HHHHIIH", 0, 0, len(names), len(names), len(directory), len(data), 0)
    return data + directory + b"PK\x05\x06" + end


def crowded(chance: Random) -> bytes:
    """Fill a directory with thousands of entries, refused ones above all: each might get a sentence of its own."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as written:
        name = chance.choice(CROWDS)
        for number in range(chance.choice((50, 999, 1_001, 5_000))):
            info = zipfile.ZipInfo(name.replace("%d", str(number)))
            info.external_attr = chance.choice((0, stat.S_IFLNK << 16))
            info.header_offset = info.CRC = 0
            written.filelist.append(info)  # without data: the directory alone is what counts
        written._didModify = True
    return buffer.getvalue()


# ── folders and what is no file ───────────────────────────────────────────────────────────────────────────────────


def _socket(path: Path, chance: Random) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def _sparse(path: Path, chance: Random) -> None:
    with path.open("xb") as file:
        file.truncate(chance.choice((2**20, 2**30, 2**36)))


def _closed(path: Path, chance: Random) -> None:
    path.write_bytes(SCRIPT)
    path.chmod(chance.choice((0, 0o200, 0o6777)))


def _closed_folder(path: Path, chance: Random) -> None:
    path.mkdir()
    put(path, b"attention.py", SCRIPT)
    path.chmod(chance.choice((0, 0o100, 0o400, 0o755)))


def _deep(path: Path, chance: Random) -> None:
    path.joinpath(*["d" * chance.choice((1, 100))] * chance.choice((5, 30))).mkdir(parents=True)


def _hard_link(path: Path, chance: Random) -> None:
    put(path.parent, b"another.py", SCRIPT)
    path.hardlink_to(path.parent / "another.py")


ODD: tuple[Callable[[Path, Random], None], ...] = (
    _socket,
    _sparse,
    _closed,
    _closed_folder,
    _deep,
    _hard_link,
    lambda path, chance: os.mkfifo(path),
    lambda path, chance: path.symlink_to(chance.choice(LINKS)),
    lambda path, chance: path.symlink_to(path.name),
)


def odd_entry(folder: Path, name: bytes, chance: Random) -> None:
    """Make something that is no regular file, or one that cannot be read."""
    path = folder / os.fsdecode(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        chance.choice(ODD)(path, chance)
    except OSError:  # the name is taken, or the file system does not have such a thing
        return


def crowd(folder: Path, chance: Random) -> None:
    """Put many entries into one folder."""
    for number in range(chance.choice((30, 250))):
        name = b"%d" % number + chance.choice((b".py", b".txt", b"\xff.py"))
        if chance.random() < 0.5:
            (folder / os.fsdecode(name)).symlink_to("/")
        else:
            put(folder, name, b"x = 1\n")


# fmt: off
ARCHIVES = (b"bob.zip", b"b\xf6b.zip", b"bob.ZIP", b".zip", b"a\nb.zip")
SINGLE = (b"carol.ipynb", b"carol.py", b"c\xe4rol.py", b"good_neighbour.py", b"..py", b"carol.PY")
FOLDERS = (b"dave", b"d\xe4ve", b"dave.zip", b"dave.py", b"=dave", b"da\nve", b"good_neighbour~2")
STRANGE = (b"erin.py", b"erin.zip", b"erin.ipynb", b"erin", b"er\xffin.py", b"erin/attention.py", b"erin/work.zip")
# fmt: on


def submission(folder: Path, chance: Random) -> None:
    """Make one submission of any kind in a folder of submissions."""
    kind = chance.choices(("archive", "single", "strange", "answers", "folder"), (4, 2, 1, 3, 5))[0]
    if kind == "archive":
        put(folder, chance.choice(ARCHIVES), archive(chance))
    elif kind == "single":
        name = chance.choice(SINGLE)
        put(folder, name, content(chance, name))
    elif kind == "strange":
        odd_entry(folder, chance.choice(STRANGE), chance)
    elif kind == "answers":
        put(folder, b"frank/answers.toml", answers(chance))
    else:
        _folder(folder / os.fsdecode(chance.choice(FOLDERS)), chance)


def _folder(own: Path, chance: Random) -> None:
    for _ in range(chance.choice((1, 1, 2, 4))):
        name = place(chance)
        if chance.random() < 0.7:
            put(own, name, content(chance, name))
        else:
            odd_entry(own, name, chance)
    if chance.random() < 0.03 and own.is_dir():
        crowd(own, chance)
