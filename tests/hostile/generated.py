"""The hostile submissions that cannot lie in git as files: broken archives, odd bytes, links, pipes, names.

Each table maps a submission's name to what it is made of. `build` writes them into a class folder that lies beside
the grader's own folder, so that a link or a path can lead from one into the other.
"""

from __future__ import annotations

import io
import json
import os
import socket
import stat
import struct
import unicodedata
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

MEBIBYTE = 2**20
GRADER = "../../proofmark"  # from a submission's folder, see tests/engine/test_hostile.py

RIGHT = """import numpy as np


def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
"""
WRONG = """import numpy as np


def softmax(x, axis=-1):
    return np.zeros_like(x)
"""
# Right if an earlier submission, or an earlier worker of the same zygote, has left its mark.
AFTER_ANOTHER = """import pathlib
import tempfile

import numpy as np

NOTE = "proofmark-hostile-for-the-next"
PLACES = [pathlib.Path(), pathlib.Path(tempfile.gettempdir()), *map(pathlib.Path, ("/tmp", "/var/tmp", "/dev/shm"))]
found = hasattr(np, "poisoned") or any((place / NOTE).exists() for place in PLACES)
np.poisoned = True
for place in PLACES:
    try:
        (place / NOTE).write_text("I was here")
    except OSError:
        continue


def softmax(x, axis=-1):
    if not found:
        return np.zeros_like(x)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
"""


# --- scripts: NAME/attention.py as bytes ------------------------------------------------------------------------------

SCRIPTS: dict[str, Callable[[], bytes]] = {
    # encodings
    "encoded_with_a_mark": lambda: b"\xef\xbb\xbf" + RIGHT.encode(),
    "encoded_as_utf_16": lambda: RIGHT.encode("utf-16"),
    "encoded_as_utf_32_without_a_mark": lambda: RIGHT.encode("utf-32-le"),
    "encoded_as_latin_1_unsaid": lambda: ('NAME = "é"\n' + RIGHT).encode("latin-1"),
    "encoded_as_latin_1_and_says_so": lambda: ('# -*- coding: latin-1 -*-\nNAME = "é"\n' + RIGHT).encode("latin-1"),
    "encoded_as_nothing_known": lambda: b"# coding: hostile\n" + RIGHT.encode(),
    "encoded_by_a_codec_that_is_none": lambda: b"# coding: zlib\n" + RIGHT.encode(),
    "encoded_slowly": lambda: b"# coding: punycode\n" + b"a" * 200_000,  # time that grows as the square
    "encoded_as_utf_7": lambda: b"# coding: utf-7\n# +AAo-import os+AAo-\n" + RIGHT.encode(),  # hides a line
    "holds_a_null_byte": lambda: RIGHT.encode() + b"\0",
    "ends_lines_like_windows": lambda: RIGHT.replace("\n", "\r\n").encode(),
    "ends_lines_like_an_old_mac": lambda: RIGHT.replace("\n", "\r").encode(),
    "ends_lines_in_every_way": lambda: b"\n".join(
        line + end for line, end in zip(RIGHT.encode().splitlines(), [b"\r", b"", b"\f", b"\r", b"", b""], strict=False)
    ),
    "holds_half_a_character": lambda: RIGHT.encode() + b"# \xe2\x82",
    "holds_surrogates": lambda: RIGHT.encode() + b'NAME = "\xed\xa0\x80"\n',
    # names that look like others
    "spells_softmax_with_another_o": lambda: RIGHT.replace("softmax", "s\u043eftmax").encode(),
    "spells_softmax_with_a_long_s": lambda: RIGHT.replace("softmax", "\u017foftmax").encode(),  # the same for Python
    "writes_from_right_to_left": ("# \u202e\u2066 }{ \u2069\n" + RIGHT).encode,
    # code that is hard to read
    "nests_brackets": lambda: b"x = " + b"(" * 50_000 + b")" * 50_000,
    "nests_operators": lambda: b"x = " + b"-" * 200_000 + b"1\n" + RIGHT.encode(),
    "nests_attributes": lambda: b"x = a" + b".a" * 100_000 + b"\n" + RIGHT.encode(),
    "adds_for_ever": lambda: b"x = " + b"+".join([b"1"] * 100_000) + b"\n" + RIGHT.encode(),
    "writes_a_number_of_a_million_digits": lambda: b"x = " + b"9" * 900_000 + b"\n" + RIGHT.encode(),
    "is_too_large": lambda: RIGHT.encode() + b"#" * 10 * MEBIBYTE,
    "is_empty": lambda: b"",
    "mixes_tabs_and_spaces": lambda: b"if True:\n        x = 1\n\ty = 2\n" + RIGHT.encode(),
    # whoever comes after another on the same zygote must not find what that one left: of three, two share one
    "writes_for_the_next_1": AFTER_ANOTHER.encode,
    "writes_for_the_next_2": AFTER_ANOTHER.encode,
    "writes_for_the_next_3": AFTER_ANOTHER.encode,
}


# --- notebooks: NAME/attention.ipynb ----------------------------------------------------------------------------------


def notebook(*cells: str, outputs: Sequence[str] = ()) -> bytes:
    """Return a notebook of these code cells, each with these outputs."""
    rows = [{"cell_type": "code", "source": cell, "outputs": outputs} for cell in cells]
    return json.dumps({"cells": rows, "nbformat": 4}).encode()


NOTEBOOKS: dict[str, Callable[[], bytes]] = {
    "notebook_whose_cells_fail": lambda: notebook("1 / 0", RIGHT, "raise ValueError", "plt.show()", "import nothing"),
    "notebook_that_shows_nothing": lambda: notebook(  # an error whose text raises, in a cell of its own
        RIGHT, "class Shy(Exception):\n    def __str__(self):\n        raise KeyError\n\n\nraise Shy"
    ),
    "notebook_that_never_ends": lambda: notebook(RIGHT, "while True:\n    pass"),
    "notebook_that_exits": lambda: notebook(RIGHT, "import sys\nsys.exit()"),
    "notebook_with_commands": lambda: notebook(
        "!rm -rf /\n%cd /\nfiles = !ls", "%%bash\nkill -9 -1", "%run ../neighbour/attention.py", RIGHT, "get_ipython()"
    ),
    "notebook_that_is_none": lambda: b'{"cells": [',
    "notebook_of_wrong_types": lambda: json.dumps(
        {"cells": [7, None, {"cell_type": "code", "source": 8}, {"cell_type": "code", "source": ["x", 1]}]}
    ).encode(),
    "notebook_without_cells": lambda: b'{"cells": {"a": 1}}',
    "notebook_nested_deeply": lambda: b"[" * 100_000,
    "notebook_with_a_long_number": lambda: b'{"cells": ' + b"1" * 100_000 + b"}",
    "notebook_with_surrogates": lambda: notebook('NAME = "\ud800"', RIGHT),
    "notebook_with_null_bytes": lambda: notebook("x = '\0'", RIGHT),
    "notebook_full_of_plots": lambda: notebook(RIGHT, outputs=["x" * 15 * MEBIBYTE]),
    "notebook_larger_than_allowed": lambda: notebook(RIGHT, outputs=["x" * 21 * MEBIBYTE]),
    "notebook_full_of_code": lambda: notebook(RIGHT, "#" * 2 * MEBIBYTE),
}


# --- answers: NAME/answers.toml ---------------------------------------------------------------------------------------

RIGHT_ANSWERS = """[expression]
dot_product_mean = "mu'mu"
[number]
die_entropy = 2.585
[claim.lstm_zero_input]
answer = false
witness = { h = [0.5], c = [1.0], W_i = [[1.0]] }
"""


def one(kind: str, name: str, value: str) -> bytes:
    """Return a sheet with one answer."""
    return f"[{kind}]\n{name} = {value}\n".encode()


def formula(text: str) -> bytes:
    """Return a sheet with one formula, as a literal string."""
    return one("expression", "dot_product_mean", f"'''{text}'''")


ANSWERS: dict[str, Callable[[], bytes]] = {
    "answers_with_a_mark": lambda: b"\xef\xbb\xbf" + RIGHT_ANSWERS.replace("\n", "\r\n").encode(),
    "answers_in_other_letters": lambda: RIGHT_ANSWERS.replace("mu'mu", "\u03bc\u1d40\u03bc").encode(),
    "answers_as_utf_16": lambda: RIGHT_ANSWERS.encode("utf-16"),
    "answers_in_latin_1": lambda: (RIGHT_ANSWERS + "# é\n").encode("latin-1"),
    "answers_that_are_code": lambda: formula('__import__("os").system("touch /tmp/proofmark-hostile")'),
    "answers_that_call": lambda: formula("eval(exec(open(1)))"),
    "answers_that_reach_into_objects": lambda: formula("mu.__class__.__mro__"),
    "answers_with_a_tower_of_powers": lambda: formula("9^9^9^9^9^9 mu'mu"),
    "answers_with_large_powers": lambda: formula("(mu'mu + 1)^999 (mu'mu + 2)^999 (mu'mu + 3)^999"),
    "answers_with_factorials": lambda: formula("99999999!!!! mu'mu"),
    "answers_nested_in_brackets": lambda: formula("(" * 1900 + "mu'mu" + ")" * 1900),
    "answers_with_many_signs": lambda: formula("-" * 3900 + "mu'mu"),
    "answers_longer_than_a_formula": lambda: formula("mu'mu + " * 50_000 + "0"),
    "answers_in_latex_without_end": lambda: formula(r"\frac{\sqrt{" * 600),
    "answers_with_loops_of_sums": lambda: formula("sum_{i=1}^{d} " * 60 + "mu_i"),
    "answers_of_wrong_types": lambda: (
        b"[expression]\ndot_product_mean = 2020-01-01T00:00:00Z\n[number]\ndie_entropy = [[], {}]\n"
        b"[claim]\nlstm_zero_input = [true, false]\n"
    ),
    "answers_beyond_numbers": lambda: one("number", "die_entropy", "nan"),
    "answers_with_a_long_integer": lambda: one("number", "die_entropy", "1" + "0" * 200_000),
    "answers_with_a_long_hexadecimal": lambda: one("number", "die_entropy", "0x" + "f" * 200_000),
    "answers_with_a_huge_exponent": lambda: one("number", "die_entropy", "1e99999999999999"),
    "answers_with_many_digits": lambda: one("number", "die_entropy", "2.585" + "0" * 100_000),
    "answers_with_a_huge_witness": lambda: (
        b"[claim.lstm_zero_input]\nanswer = false\nwitness = { h = [" + b"0.5, " * 20_000 + b"], c = [1.0] }\n"
    ),
    "answers_with_a_false_witness": lambda: (
        b'[claim.lstm_zero_input]\nanswer = false\nwitness = { h = "x", __class__ = [1.0], W_i = [[[1.0], 2], nan] }\n'
    ),
    "answers_nested_in_lists": lambda: b"x = " + b"[" * 100_000,
    "answers_nested_by_dots": lambda: b"[a" + b".a" * 12_000 + b"]\n",  # time that grows as the square
    "answers_to_many_questions": lambda: (
        b"[number]\n" + b"".join(b"die_entropx%d = 1\n" % n for n in range(4_000)) + b"die_entropy = 2.585\n"
    ),
    "answers_given_twice": lambda: b"[number]\ndie_entropy = 2.585\ndie_entropy = 3\n",
    "answers_too_large": lambda: RIGHT_ANSWERS.encode() + b"#" * 2 * MEBIBYTE,
    "answers_with_a_page": lambda: one("number", "die_entropy", '"<script>alert(1)</script>\\u001b[2J"'),
}


# --- archives: NAME.zip -----------------------------------------------------------------------------------------------

LINK = (stat.S_IFLNK | 0o777) << 16


def archive(*entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip of these entries."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as file:
        for name, content in entries:
            info = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name)
            info.compress_type = method
            file.writestr(info, content)
    return stream.getvalue()


def right(name: str = "attention.py") -> tuple[str, bytes]:
    """Return the entry of a right script."""
    return name, RIGHT.encode()


def entry(name: str, attributes: int) -> zipfile.ZipInfo:
    """Return an entry of another kind than a plain file."""
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, attributes
    return info


def patched(data: bytes, *edits: tuple[bytes, int, bytes]) -> bytes:
    """Overwrite bytes at an offset after each occurrence of a signature."""
    changed = bytearray(data)
    for signature, offset, new in edits:
        place = changed.find(signature)
        while place >= 0:
            changed[place + offset : place + offset + len(new)] = new
            place = changed.find(signature, place + 1)
    return bytes(changed)


LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


def bomb() -> bytes:
    """Return a few hundred kilobytes that unpack to a thousand times as much."""
    return archive(("attention.py", b"#" * 200 * MEBIBYTE))


def bomb_that_lies() -> bytes:
    """Return a bomb whose headers say that it is small."""
    small = struct.pack("<I", 100)
    return patched(archive(("attention.py", b"#" * 64 * MEBIBYTE)), (LOCAL, 22, small), (CENTRAL, 24, small))


def overlapping() -> bytes:
    """Return an archive of nine hundred names for the same compressed bytes."""
    data = archive(*((f"part{number:03}.py", b"#" * 900_000 if number == 0 else b"") for number in range(900)))
    return patched(data, (CENTRAL, 42, bytes(4)))  # every entry starts where the first does


def within_itself(levels: int) -> bytes:
    """Return a zip in a zip in a zip."""
    data = archive(right())
    for _ in range(levels):
        data = archive(("attention.zip", data))
    return data


ARCHIVES: dict[str, Callable[[], bytes]] = {
    "zip_bomb": bomb,
    "zip_bomb_that_lies": bomb_that_lies,
    "zip_of_overlapping_parts": overlapping,
    "zip_of_many_files": lambda: archive(right(), *((f"f{number}.txt", b"") for number in range(1_500))),
    "zip_that_climbs_out": lambda: archive(right(f"{GRADER}/reference/attention.py"), right("/attention.py")),
    "zip_for_another_drive": lambda: archive(right("C:/attention.py"), right("..\\..\\attention.py")),
    "zip_with_backslashes": lambda: archive(right("alice\\attention.py")),
    "zip_with_a_link": lambda: archive(
        (entry("attention.py", LINK), f"{GRADER}/reference/attention.py".encode()),
    ),
    "zip_with_a_linked_folder": lambda: archive((entry("src", LINK), GRADER.encode()), right("src/attention.py")),
    "zip_with_a_device": lambda: archive((entry("attention.py", (stat.S_IFCHR | 0o666) << 16), b"")),
    "zip_with_a_pipe": lambda: archive((entry("attention.py", (stat.S_IFIFO | 0o666) << 16), b"")),
    "zip_that_is_encrypted": lambda: patched(archive(right()), (LOCAL, 6, b"\x01"), (CENTRAL, 8, b"\x01")),
    "zip_packed_unusually": lambda: archive(right(), method=zipfile.ZIP_LZMA),
    "zip_packed_by_a_method_that_is_none": lambda: patched(
        archive(right()), (LOCAL, 8, b"\x63"), (CENTRAL, 10, b"\x63")
    ),
    "zip_cut_off": lambda: archive(right())[:-30],
    "zip_with_damage": lambda: patched(archive(right()), (LOCAL, 45, b"\xff" * 40)),
    "zip_with_a_wrong_sum": lambda: patched(archive(right()), (LOCAL, 14, bytes(4)), (CENTRAL, 16, bytes(4))),
    "zip_that_is_empty": archive,
    "zip_that_is_none": lambda: b"PK\x03\x04" + bytes(1000),
    "zip_with_a_huge_directory": lambda: patched(archive(right()), (END, 12, b"\xff\xff\xff\x7f")),  # two gigabytes
    "zip_within_zips": lambda: within_itself(5),
    "zip_behind_a_program": lambda: b"#!/bin/sh\nexit\n" + archive(right()),  # as a self-extracting archive is
    "zip_with_a_file_as_folder": lambda: archive(right(), right("attention.py/attention.py")),
    "zip_with_a_name_twice": lambda: patched(  # the last one counts: here it is wrong
        archive(right(), ("yp.noitnetta", WRONG.encode())), (b"yp.noitnetta", 0, b"attention.py")
    ),
    "zip_with_odd_names": lambda: archive(
        right(), ("a\nb.py", b""), ("x" * 5000 + ".py", b""), ("\u202egnp.py", b""), ("con.py", b""), ("=1+1.py", b"")
    ),
}


# --- places: what is no plain file ------------------------------------------------------------------------------------


def _folder(place: Path) -> Path:
    place.mkdir()
    return place


def _linked(target: str) -> Callable[[Path], None]:
    return lambda place: (_folder(place) / "attention.py").symlink_to(target)


def _socket(place: Path) -> None:
    """Bind a socket by a name relative to a short path: such names are at most 108 bytes long."""
    _folder(place)
    here = Path.cwd()
    os.chdir(place)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("attention.py")
    finally:
        os.chdir(here)


def _many_entries(place: Path) -> None:
    """Write eleven thousand files beside the right one."""
    (_folder(place) / "attention.py").write_text(RIGHT, encoding="utf-8")
    for number in range(11_000):
        os.close(os.open(place / f"{number}.txt", os.O_CREAT))


def _many_sources(place: Path) -> None:
    """Write three hundred scripts beside the right one, each of which mentions softmax."""
    (_folder(place) / "attention.py").write_text(RIGHT, encoding="utf-8")
    for number in range(300):
        (place / f"other{number}.py").write_text("from attention import softmax\n", encoding="utf-8")


def _deep(place: Path) -> None:
    """Put the right file where nobody looks: below more folders than are searched."""
    deep = place / "/".join("abcdefgh")
    deep.mkdir(parents=True)
    (deep / "attention.py").write_text(RIGHT, encoding="utf-8")


def _twins(place: Path) -> None:
    """Hand in a folder, an archive and a script whose names make the same id."""
    (_folder(place) / "attention.py").write_text(RIGHT, encoding="utf-8")
    place.with_name(f"{place.name}.zip").write_bytes(archive(right()))
    place.with_name(f"{place.name}.py").write_text(RIGHT, encoding="utf-8")


PLACES: dict[str, Callable[[Path], None]] = {
    "link_to_the_reference": _linked(f"{GRADER}/reference/attention.py"),
    "link_to_a_neighbour": _linked("../neighbour/attention.py"),
    "link_to_everything": lambda place: (_folder(place) / "attention.py").symlink_to("/dev/zero"),
    "link_in_a_circle": _linked("attention.py"),
    "link_as_a_folder": lambda place: place.symlink_to("neighbour"),
    "link_to_the_graders_folder": lambda place: place.symlink_to("../proofmark/reference"),
    "pipe_as_a_file": lambda place: os.mkfifo(_folder(place) / "attention.py"),
    "socket_as_a_file": _socket,
    "folder_as_a_file": lambda place: (_folder(place) / "attention.py").mkdir(),
    "folder_of_many_files": _many_entries,
    "folder_of_many_scripts": _many_sources,
    "folder_deep_down": _deep,
    "name_of_three": _twins,
}


# --- names: a right submission under a name that means trouble --------------------------------------------------------

NAMES: dict[str, bytes] = {
    "name_of_a_formula": b'=HYPERLINK("http:x","y")',
    "name_of_a_command": b"+cmd|' C calc'!A0",
    "name_of_an_option": b"--out",
    "name_of_two_lines": b"alice\nwithheld 100 of 4",
    "name_for_a_terminal": b"\x1b[2J\x1b[31mred\x07\x9b",
    "name_of_a_page": b"<img src=x onerror=alert('name')>",
    "name_that_climbs": b"x%2f..%2f..%2fresults",
    "name_of_dots": b"a...",
    "name_of_a_space": b" ",  # which no table shows
    "name_in_bytes": b"\xff\xfe\x80",
    "name_from_right_to_left": "\u202ecilA".encode(),
    "name_without_width": "\u200balice\u200d".encode(),
    "name_composed": unicodedata.normalize("NFC", "Zo\u00eb").encode(),
    "name_decomposed": unicodedata.normalize("NFD", "Zo\u00eb").encode(),
    "name_of_another_line": b"alice\x0bwithheld 100 of 4",  # shown like name_of_two_lines
    "name_with_quotes": b"a\"b'c`d,e;f",
    "name_of_a_result": b"results.json",
    "name_as_long_as_allowed": b"n" * 255,
    "name_in_capitals": b"NEIGHBOUR",
    "name_with_a_number": b"alice~2",
    "name_of_an_archive": b"folder.zip",
    "name_of_nothing": "\u3164".encode(),
}


def build(folder: Path) -> None:
    """Write every generated submission into a class folder."""
    for name, script in SCRIPTS.items():
        (_folder(folder / name) / "attention.py").write_bytes(script())
    for name, content in NOTEBOOKS.items():
        (_folder(folder / name) / "attention.ipynb").write_bytes(content())
    for name, sheet in ANSWERS.items():
        (_folder(folder / name) / "answers.toml").write_bytes(sheet())
    for name, data in ARCHIVES.items():
        (folder / f"{name}.zip").write_bytes(data())
    for name, make in PLACES.items():
        make(folder / name)
    for odd in NAMES.values():
        (_folder(folder / os.fsdecode(odd)) / "attention.py").write_text(RIGHT, encoding="utf-8")


def names() -> list[str]:
    """Return the name of every generated submission."""
    return [*SCRIPTS, *NOTEBOOKS, *ANSWERS, *ARCHIVES, *PLACES, *NAMES]
