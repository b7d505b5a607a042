"""What a hostile worker can say: genuine replies taken apart, MessagePack of every kind, and bytes that are neither.

A lie is a list of acts, so that it can be written down and told again:
    ["send", bytes]  ["repeat", bytes, times]  ["drip", bytes, seconds between]  ["hang"]  ["close"]  ["exit", code]
    ["signal", number]
"""

from __future__ import annotations

import signal
import struct
from random import Random
from typing import Any

import numpy as np

from engine.worker import wire

Act = list[Any]
Fields = dict[bytes, bytes]  # the entries of a reply, as MessagePack

# fmt: off
TEXTS = (
    "", "x", "softmax", "ŷ", "\0", "\x1b[31mred", "\u202eevil", "a\nb\rc", "'; --", "<script>", "=1+1", "\ufffd",
    "\U0010ffff", "OutputFlood", "ResultTooLarge", "MemoryError", "PermissionError", "0x7f0000000000", "{0}", "%s",
    "[/bold]", " " * 50,
)
INTEGERS = (0, 1, -1, 127, 128, 255, 256, -32, -33, 2**31, 2**32 - 1, 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1)
FLOATS = (0.0, -0.0, 1.0, 1e-320, 1e308, -1e308, 2.0**53, float("nan"), float("inf"), float("-inf"))
KEYS = (
    "returned", "raised", "message", "trace", "arguments", "store", "found", "absent", "near", "import_failed", "loaded",
    "multiply_adds", "elementwise", "lost", "lines", "counts", "forbidden", "nodes", "results", "path",
)
EXTENSIONS = (wire.OPAQUE, wire.BIG_INTEGER, wire.KEPT, 0, 6, 127, -1, -128)
INSIDE = (b"", b"9" * 30, b"-1", b"1_0", b" 7 ", b"9" * 4000, b"9" * 4001, bytes(8), bytes(12), b"\xff" * 8, b"\xff" * 4)
NO_VALUES = (  # an unused head, ends too soon, and lengths of four gibibytes
    b"\xc1", b"", b"\xff", b"\xd9", b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff",
    b"\xc9\xff\xff\xff\xff\x01",
)
SMALL = (  # a few bytes that become an object each: lists, maps, texts, arrays, tuples, integers
    b"\x90", b"\x80", b"\xc0", b"\x01", b"\xca\x00\x00\x00\x01", b"\xa2\xc2\xa0", b"\xc7\x00\x03",
    b"\xc7\x06\x01\x00\x01" + bytes(4), b"\xc7\x01\x02\x90", b"\xd7\x05" + bytes(8), b"\x91\x90", b"\xc7\x01\x04\x37",
)
# fmt: on
MANY = (1, 3, 30, 300)


def frame(payload: bytes) -> bytes:
    return wire.LENGTH.pack(len(payload)) + payload


# ── MessagePack, right and wrong ──────────────────────────────────────────────────────────────────────────────────


def text(chance: Random) -> str:
    kind = chance.random()
    if kind < 0.7:
        return chance.choice(TEXTS)
    return "".join(
        chr(chance.choice((chance.randrange(128), chance.randrange(0xD800)))) for _ in range(chance.choice(MANY))
    )


def sized(fix: int, fixed: int, codes: dict[int, int], length: int) -> bytes:
    """Return a header: the short form where the length fits, else the first that has room."""
    if fix and length <= fixed:
        return bytes([fix | length])
    code, width = next((code, width) for code, width in codes.items() if length < 256**width)
    return bytes([code]) + length.to_bytes(width, "big")


def array_header(length: int) -> bytes:
    return sized(0x90, 15, {0xDC: 2, 0xDD: 4}, length)


def map_header(length: int) -> bytes:
    return sized(0x80, 15, {0xDE: 2, 0xDF: 4}, length)


def string(data: bytes) -> bytes:
    return sized(0xA0, 31, {0xD9: 1, 0xDA: 2, 0xDB: 4}, len(data)) + data


def extension(code: int, data: bytes) -> bytes:
    header = sized(0, 0, {0xC7: 1, 0xC8: 2, 0xC9: 4}, len(data))
    return header + (code & 0xFF).to_bytes(1, "little") + data


def mapping(fields: Fields) -> bytes:
    return map_header(len(fields)) + b"".join(key + value for key, value in fields.items())


def forged_array(chance: Random) -> bytes:
    """Return an array whose header may lie about dtype, dimensions and size."""
    code = chance.choice((*range(len(wire.DTYPES)), 14, 200))
    dimensions = chance.choice((0, 1, 1, 2, 2, 3, 8, 9, 255))
    sizes = [chance.choice((0, 1, 2, 3, 5, 2**16, 2**31, 2**32 - 1)) for _ in range(min(dimensions, 12))]
    header = struct.pack("<BB", code, dimensions) + b"".join(size.to_bytes(4, "little") for size in sizes)
    if code < len(wire.DTYPES) and chance.random() < 0.6:
        size = wire.DTYPES[code].itemsize
        for each in sizes:
            size = min(size * each, 4096)
        return extension(wire.ARRAY, header + chance.randbytes(size))
    return extension(
        wire.ARRAY, header[: chance.randrange(len(header) + 1)] + chance.randbytes(chance.choice((0, 1, 8, 64)))
    )


def array(chance: Random) -> bytes:
    """Return an array that is what it says, of any dtype and of a small shape."""
    shape = tuple(chance.choice((0, 1, 1, 2, 3, 5)) for _ in range(chance.choice((0, 1, 1, 2, 2, 3, 4, 8))))
    dtype = chance.choice(wire.DTYPES)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    return wire.pack(np.frombuffer(chance.randbytes(size), dtype).reshape(shape))


PLAIN = (
    lambda chance: chance.choice((b"\xc0", b"\xc2", b"\xc3")),
    lambda chance: wire.pack(chance.choice(INTEGERS)),
    lambda chance: wire.pack(chance.choice(FLOATS)),
    lambda chance: b"\xca" + chance.randbytes(4),  # single precision
    lambda chance: string(text(chance).encode()),
    lambda chance: string(chance.randbytes(chance.choice(MANY))),  # seldom UTF-8
    lambda chance: b"\xc4\x08" + chance.randbytes(8),
    array,
    array,
    forged_array,
    lambda chance: extension(chance.choice(EXTENSIONS), chance.choice(INSIDE)),
    lambda chance: chance.choice(NO_VALUES),
)


def value(chance: Random, depth: int = 4) -> bytes:
    """Return one MessagePack value of any kind; now and then it is none."""
    if depth == 0 or chance.random() < 0.6:
        return chance.choice(PLAIN)(chance)
    entries = [value(chance, depth - 1) for _ in range(chance.choice((0, 1, 2, 2, 3, 4, 20)))]
    listed = array_header(len(entries)) + b"".join(entries)
    kind = chance.choice(("list", "tuple", "map"))
    if kind != "map":
        return listed if kind == "list" else extension(wire.TUPLE, listed)
    keys = [string(text(chance).encode()) if chance.random() < 0.8 else value(chance, 0) for _ in entries]
    return map_header(len(entries)) + b"".join(key + entry for key, entry in zip(keys, entries, strict=True))


def deep(chance: Random) -> bytes:
    """Return a value nested far or very far."""
    depth = chance.choice((30, 32, 33, 40, 100, 300, 600, 950, 2_000, 100_000))
    kind = chance.choice(("list", "dict", "tuple", "mixed"))
    if kind == "tuple":
        data = b"\x90"
        for _ in range(min(depth, 1_000)):
            data = extension(wire.TUPLE, b"\x91" + data)
        return data
    layers = {"list": b"\x91", "dict": b"\x81\xa1x", "mixed": b"\x91\x81\xa1x"}
    return layers[kind] * depth + b"\xc0"


def amplified(chance: Random) -> bytes:
    """Return few bytes that become many objects: a million empty lists are a mebibyte here and eighty there."""
    unit = chance.choice(SMALL)
    times = chance.choice((1_000, 10_000, 100_000, 2**20, 14 * 2**20)) // len(unit)
    if chance.random() < 0.2:  # one long text among short ones: an array of texts has the width of the longest
        return array_header(times + 1) + string(b"x" * times) + b"\xa0" * times
    if chance.random() < 0.2:  # tuples in tuples around a large content
        data = string(b"x" * times)
        for _ in range(chance.choice((20, 200))):
            data = extension(wire.TUPLE, b"\x91" + data)
        return data
    return array_header(times) + unit * times


# ── the right form with the wrong content ─────────────────────────────────────────────────────────────────────────


def distorted(chance: Random, value: Any) -> Any:
    """Return a value that looks like the genuine one: other numbers, another dtype, another shape."""
    if isinstance(value, tuple | list):
        parts = [distorted(chance, part) if chance.random() < 0.7 else part for part in value]
        if chance.random() < 0.1:
            parts = parts[:-1] if chance.random() < 0.5 else [*parts, 1.0]
        return type(value)(parts) if chance.random() < 0.9 else parts
    if isinstance(value, dict):
        return {
            key: distorted(chance, part) if chance.random() < 0.7 else part
            for key, part in value.items()
            if chance.random() < 0.95
        }
    if isinstance(value, np.ndarray):
        return _distorted_array(chance, value)
    if isinstance(value, str):
        return chance.choice((value[::-1], value * 3, "", text(chance), value.upper(), 1.0, list(value)))
    return chance.choice(
        (
            value,
            *FLOATS,
            *INTEGERS,
            None,
            True,
            str(value),
            [value],
            np.array(value) if isinstance(value, int | float) else 0,
        )
    )


def _distorted_array(chance: Random, array: np.ndarray) -> Any:
    kind = chance.randrange(10)
    if kind == 0:
        return np.full(array.shape, chance.choice(FLOATS))
    if kind in (1, 2) and array.size:
        changed = np.array(array, dtype=np.float64)
        for _ in range(chance.choice((1, 2, array.size))):
            changed.flat[chance.randrange(array.size)] = chance.choice(FLOATS)
        return changed
    if kind == 3:
        with np.errstate(all="ignore"):
            return array.astype(chance.choice(wire.DTYPES))
    if kind == 4:
        return chance.choice(
            (array[None], array.ravel(), array.T, array[..., None], array[:0] if array.ndim else array)
        )
    if kind == 5:
        return array.tolist()
    if kind == 6:
        with np.errstate(all="ignore"):
            return array * np.float64(chance.choice((-1.0, 0.0, 2.0, 1e-3, 1e300, 1 + 1e-9)))
    if kind == 7:
        return array + np.float64(chance.choice((1e-9, 1e-3, 1.0, -1.0)))
    if kind == 8 and array.size == 1:
        return array.item()
    return (array, array) if kind == 9 else array


# ── lies, each a list of acts; they are given the genuine payload and its fields ───────────────────────────────────


def mutated(chance: Random, payload: bytes) -> bytes:
    data = bytearray(payload)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        place = chance.randrange(len(data) + 1)
        kind = chance.randrange(6)
        if kind == 0 and data:
            data[place % len(data)] ^= 1 << chance.randrange(8)
        elif kind == 1 and data:
            data[place % len(data)] = chance.choice(
                (0x00, 0x7F, 0x80, 0x90, 0xC0, 0xC1, 0xC7, 0xC9, 0xD9, 0xDC, 0xDD, 0xDF, 0xFF)
            )
        elif kind == 2:
            del data[place : place + chance.choice((1, 2, 8, 100))]
        elif kind == 3:
            data[place:place] = value(chance, 2)
        elif kind == 4:
            data[place:place] = data[place : place + chance.randrange(64)]
        else:
            data[place : place + 4] = struct.pack(">I", chance.choice((0, 1, 2**16, 2**31, 2**32 - 1)))
    return bytes(data)


def bytes_mutated(chance: Random, payload: bytes, fields: Fields) -> list[Act]:
    return [["send", frame(mutated(chance, payload))]]


def bytes_at_random(chance: Random, payload: bytes, fields: Fields) -> list[Act]:
    return [["send", frame(chance.randbytes(chance.randrange(200)))]]


def no_mapping(chance: Random, payload: bytes, fields: Fields) -> list[Act]:
    return [["send", frame(chance.choice((value, deep, amplified))(chance))]]


def field_replaced(chance: Random, payload: bytes, fields: Fields) -> list[Act]:
    """Keep the form of a reply and put anything into some of its fields, or into fields of other replies."""
    lied = dict(fields)
    for _ in range(chance.choice((1, 1, 2, 4))):
        key = chance.choice(
            [*lied, *lied, *map(wire.pack, KEYS)] if chance.random() < 0.5 else [wire.pack("returned"), *lied]
        )
        lied[key] = chance.choice((value, value, value, value, value, deep, amplified))(chance)
    for key in list(lied):
        if chance.random() < 0.1:
            del lied[key]
    return [["send", frame(mapping(lied))]]


def failure_reported(chance: Random, payload: bytes, fields: Fields) -> list[Act]:
    """Report an exception, or an import that failed, or a near name, in fields of any type and length."""

    def word() -> bytes:
        if chance.random() < 0.5:
            return value(chance, 2)
        return string((text(chance) * chance.choice((1, 1, 1, 10, 10_000))).encode()[: 2**20])

    frames = [array_header(4) + b"".join(word() for _ in range(4)) for _ in range(chance.choice((0, 1, 4, 50)))]
    said = {key: wire.pack(key) for key in ("raised", "message", "import_failed", "absent", "near", "lost")}
    lied = {key: word() for key in said.values() if chance.random() < 0.6}
    lied[wire.pack("trace")] = array_header(len(frames)) + b"".join(frames) if chance.random() < 0.7 else value(chance)
    return [["send", frame(mapping(lied))]]


def content_distorted(chance: Random, payload: bytes, fields: Fields) -> list[Act]:
    """Return something of the right form whose numbers, dtypes or shapes are not those of the truth."""
    lied = {}
    for key, data in fields.items():
        genuine = wire.unpack(data)
        if (
            isinstance(genuine, list) and chance.random() < 0.9
        ):  # the arguments: the judge looks at what lies in the list
            lied[key] = wire.pack([distorted(chance, part) if chance.random() < 0.3 else part for part in genuine])
        else:
            lied[key] = wire.pack(genuine if genuine is None else distorted(chance, genuine))
    return [["send", frame(mapping(lied))]]


def length_of_frame(chance: Random, payload: bytes, fields: Fields) -> list[Act]:
    claimed = chance.choice(
        (0, 1, len(payload) - 1, len(payload) + 1, wire.FRAME_LIMIT, wire.FRAME_LIMIT + 1, 2**31, 2**32 - 1)
    )
    after: list[Act] = chance.choice(([], [["close"]], [["exit", 0]]))
    return [["send", max(claimed, 0).to_bytes(4, "little") + payload], *after]


def cut_short(chance: Random, payload: bytes, fields: Fields) -> list[Act]:
    whole = frame(payload)
    ending = chance.choice(
        (
            ["close"],
            ["exit", 0],
            ["exit", 3],
            ["signal", signal.SIGSEGV],
            ["signal", signal.SIGXCPU],
            ["signal", signal.SIGRTMIN + 3],
            ["hang"],
        )
    )
    return [["send", whole[: chance.randrange(len(whole) + 1)]], ending]


def dripped(chance: Random, payload: bytes, fields: Fields) -> list[Act]:
    return [["drip", frame(payload)[:400], chance.choice((0.0, 0.0005, 0.01))], *chance.choice(([], [["hang"]]))]


def too_many(chance: Random, payload: bytes, fields: Fields) -> list[Act]:
    """Reply twice, or early, or in advance for the rest of the run."""
    other = mapping({wire.pack(chance.choice(KEYS)): value(chance)})
    return [["repeat", frame(chance.choice((payload, other))), chance.choice((2, 3, 30, 2_000))]]


def flood(chance: Random, payload: bytes, fields: Fields) -> list[Act]:
    """Send more than anybody should keep: raw bytes, or replies of the largest size there is."""
    if chance.random() < 0.3:
        return [["repeat", chance.randbytes(2**16), 1_500]]
    count = chance.choice((2**17, 2**20, 15 * 2**17))
    large = mapping({wire.pack("returned"): extension(wire.ARRAY, struct.pack("<BBI", 0, 1, count) + bytes(8 * count))})
    return [["repeat", frame(large), chance.choice((1, 3, 30))]]


LIES = (bytes_mutated, bytes_at_random, no_mapping, field_replaced, failure_reported, content_distorted, length_of_frame, cut_short,
        dripped, too_many, flood)  # fmt: skip
WEIGHTS = (4, 1, 2, 8, 4, 16, 2, 2, 0.5, 2, 0.4)
