"""Frames and values between judge and worker: plain data, no pickle, every size bounded.

A frame is a four-byte length and that many bytes of MessagePack. A value is a
number, text, None, an array, or a list, tuple or dict of values. Arrays travel
as raw bytes behind a header (dtype, number of dimensions, sizes); whatever else a
student's object claims to be stays behind in the worker as an `Opaque` with nothing
but its type's name.

The judge decodes with `unpack`, which believes nothing: dtype, shape and length
are checked before a byte becomes an array, and `memory_of` tells beforehand what a
frame may grow to.
"""

from __future__ import annotations

import math
import select
import socket
import struct
import time
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

LENGTH = struct.Struct("<I")
FRAME_LIMIT = 16 * 2**20  # a million numbers and room for more
DIMENSION_LIMIT = 8
DEPTH_LIMIT = 32
INTEGER_DIGITS = 4000  # Python refuses to convert longer ones to text
VALUE_BYTES = 256  # what the largest of the smallest values takes, an empty array; an empty list takes 80
SMALL_FRAME = 2**12  # not worth counting: it cannot become more than a mebibyte
CHUNK = 2**18

ARRAY, TUPLE, OPAQUE, BIG_INTEGER, KEPT = 1, 2, 3, 4, 5
DTYPES = tuple(
    np.dtype(name)
    for name in ("<f8", "<f4", "<i8", "|b1", "<i4", "<f2", "|i1", "|u1", "<i2", "<u2", "<u4", "<u8", "<c8", "<c16")
)
CODES = {dtype: code for code, dtype in enumerate(DTYPES)}
CONTAINERS = frozenset((list, tuple, dict))
HEADERS = tuple(struct.Struct(f"<BB{dimensions}I") for dimensions in range(DIMENSION_LIMIT + 1))


class ProtocolFault(Exception):
    """The other side sent bytes that are no frame, or no value."""


class Hung(Exception):
    """No whole frame arrived before the deadline."""


class Gone(Exception):
    """The other side closed the connection."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something that is not data; only the name of its type crossed the border."""

    type_name: str


@dataclass(frozen=True, slots=True)
class Kept:
    """An object that stays in the worker (a trained model, a module); the judge knows it by a number."""

    number: int


def pack(value: Any) -> bytes:
    """Encode a value; what is not data becomes an `Opaque`."""
    return msgspec.msgpack.encode(_plain(value, DEPTH_LIMIT))


def _plain(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is np.ndarray:
        return _array(value)
    if value is None or kind in (bool, float, str):
        return value
    if kind is int:
        return value if -(2**63) <= value < 2**64 else _big_integer(value)
    if kind is Kept:
        return msgspec.msgpack.Ext(KEPT, value.number.to_bytes(8, "little"))
    if isinstance(value, np.generic | np.ndarray | complex):
        return _array(np.asarray(value))
    return _container(value, depth) if depth else _opaque(value)


def _container(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is list:
        return [_plain(entry, depth - 1) for entry in value]
    if kind is tuple:
        return msgspec.msgpack.Ext(TUPLE, msgspec.msgpack.encode([_plain(entry, depth - 1) for entry in value]))
    if kind is dict and all(type(key) is str for key in value):
        return {key: _plain(entry, depth - 1) for key, entry in value.items()}
    return _opaque(value)


def _array(array: np.ndarray[Any, Any]) -> Any:
    code = CODES.get(array.dtype)
    if code is None and array.dtype.kind in "biufc":  # another byte order, or extended precision, which is rounded
        array = array.astype(array.dtype.newbyteorder("<") if array.dtype.itemsize <= 8 else np.float64)
        code = CODES.get(array.dtype)
    if code is None or array.ndim > DIMENSION_LIMIT or max(array.shape, default=0) >= 2**32:
        return _opaque(array, f"array of {array.dtype.name}")
    header = HEADERS[array.ndim].pack(code, array.ndim, *array.shape)
    return msgspec.msgpack.Ext(ARRAY, header + array.tobytes())


def _big_integer(value: int) -> Any:
    if value.bit_length() > 3 * INTEGER_DIGITS:
        return _opaque(value, "int with thousands of digits")
    return msgspec.msgpack.Ext(BIG_INTEGER, str(value).encode())


def _opaque(value: Any, name: str | None = None) -> Any:
    return msgspec.msgpack.Ext(OPAQUE, (name or type(value).__name__)[:200].encode("utf-8", "replace"))


def unpack(data: bytes) -> Any:
    """Decode what `pack` encoded, or raise ProtocolFault: the bytes may come from anybody."""
    try:
        value = _decoder.decode(data)
    except (msgspec.DecodeError, ValueError, TypeError, RecursionError, OverflowError, MemoryError) as fault:
        raise ProtocolFault(f"unreadable value: {str(fault)[:200]}") from None
    if type(value) in CONTAINERS:
        _refuse_unpackable(value, DEPTH_LIMIT)
    return value


def _refuse_unpackable(value: Any, depth: int) -> None:
    """Refuse containers that `pack` never makes: odd keys, and nesting that costs whoever walks them their stack."""
    if not depth:
        raise ProtocolFault(f"nested more than {DEPTH_LIMIT} deep")
    if isinstance(value, dict) and not all(type(key) is str for key in value):
        raise ProtocolFault("a mapping with a key that is no text")
    for entry in value.values() if isinstance(value, dict) else value:
        if type(entry) in CONTAINERS:
            _refuse_unpackable(entry, depth - 1)


def memory_of(data: bytes, most: int = 2**40) -> int:
    """Return what the decoded frame takes in memory at most: one byte can stand for a whole empty list.

    Counting ends once it is more than `most`.

    >>> memory_of(pack(np.zeros(10_000))), memory_of(pack([[]] * 10_000))
    (80268, 2570259)
    """
    return len(data) + VALUE_BYTES * (len(data) if len(data) <= SMALL_FRAME else _values_in(data, most // VALUE_BYTES))


def _values_in(data: bytes, most: int) -> int:
    """Count the values of a frame, those inside tuples too, without making any.

    What containers hold comes next. Behind bytes that are no MessagePack the count means nothing: there decoding stops.
    """
    found = position = 0
    end = len(data)
    while position < end and found <= most:
        found += 1
        head = data[position]
        fixed, width = _AFTER_HEAD.get(head, (0, 0))
        position += 1 + width
        length = fixed + int.from_bytes(data[position - width : position], "big")
        if 0xA0 <= head <= 0xBF:
            length = head & 0x1F
        elif head in _EXTENSIONS:
            position += 1
            length *= data[position - 1 : position] != _TUPLE_CODE
        position += length
    return found


# After the head of a value: so many bytes, or a length of so many bytes and as many as that says. Nothing otherwise.
_SIZES = {0xCA: 4, 0xCB: 8, 0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8, 0xD0: 1, 0xD1: 2, 0xD2: 4, 0xD3: 8,
          0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16, 0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}  # fmt: skip
_LENGTHS = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xC7: 1, 0xC8: 2, 0xC9: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
_AFTER_HEAD = {
    **{head: (size, 0) for head, size in _SIZES.items()},
    **{head: (0, width) for head, width in _LENGTHS.items()},
}
_EXTENSIONS = frozenset((0xC7, 0xC8, 0xC9, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8))
_TUPLE_CODE = bytes([TUPLE])


def _extension(code: int, data: memoryview) -> Any:
    if code == ARRAY:
        return _read_array(data)
    if code == TUPLE:
        entries = _decoder.decode(data)  # in place: a copy at every level of nested tuples would fill the memory
        if type(entries) is not list:
            raise ValueError("a tuple must hold a list")
        return tuple(entries)
    content = bytes(data)
    if code == OPAQUE:
        return Opaque(content[:200].decode("utf-8", "replace"))
    if code == BIG_INTEGER:
        if len(content) > INTEGER_DIGITS:
            raise ValueError("integer too long")
        return int(content.decode("ascii"))
    if code == KEPT and len(content) == 8:
        return Kept(int.from_bytes(content, "little"))
    raise ValueError(f"unknown extension {code}")


def _read_array(data: memoryview) -> np.ndarray[Any, Any]:
    if len(data) < 2 or data[0] >= len(DTYPES) or data[1] > DIMENSION_LIMIT:
        raise ValueError("no header of an array")
    dtype, header = DTYPES[data[0]], HEADERS[data[1]]
    if len(data) < header.size:
        raise ValueError("half a header of an array")
    shape = header.unpack_from(data)[2:]
    if math.prod(shape) * dtype.itemsize != len(data) - header.size:
        raise ValueError("shape and size disagree")
    # A bytearray, so that whoever gets the array may write into it.
    return np.ndarray(shape, dtype, buffer=bytearray(data[header.size :]))


_decoder = msgspec.msgpack.Decoder(ext_hook=_extension)


def copy(value: Any) -> Any:
    """Copy a value deep enough that changing the copy's arrays leaves the original alone."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list | tuple):
        return type(value)(copy(entry) for entry in value)
    if isinstance(value, dict):
        return {key: copy(entry) for key, entry in value.items()}
    return value


class Channel:
    """One end of a connected stream socket, with deadlines for whole frames."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        connection.setblocking(False)
        self._chunk = bytearray(CHUNK)  # kept: a new one for every read would have to be asked of the system
        self._buffer = bytearray()
        self._start = 0  # of the next frame in it
        self._polls = {event: select.poll() for event in (select.POLLIN, select.POLLOUT)}
        for event, poll in self._polls.items():
            poll.register(connection, event)

    def send(self, *payloads: bytes, deadline: float = math.inf) -> None:
        """Send frames before the deadline (a time.monotonic value)."""
        view = memoryview(b"".join([LENGTH.pack(len(payload)) + payload for payload in payloads]))
        while view:
            try:
                view = view[self.connection.send(view) :]
            except BlockingIOError:
                self._wait(select.POLLOUT, deadline)
            except (BrokenPipeError, ConnectionResetError):
                raise Gone from None

    def receive(self, deadline: float = math.inf) -> bytes:
        """Return the next whole frame before the deadline (a time.monotonic value)."""
        late = False
        while (frame := self._whole_frame()) is None:
            if late:
                raise Hung
            self._wait(select.POLLIN, deadline)  # first: both sides share a core, so there is hardly ever more by now
            try:
                size = self.connection.recv_into(self._chunk)
            except BlockingIOError:
                continue
            except ConnectionResetError:
                raise Gone from None
            if not size:
                raise Gone
            del self._buffer[: self._start]
            self._start = 0
            with memoryview(self._chunk) as chunk:
                self._buffer += chunk[:size]
            # Dripping bytes buys no time; after a full chunk there may be more that came in time.
            late = size < CHUNK and time.monotonic() > deadline
        return frame

    def _whole_frame(self) -> bytes | None:
        body = self._start + LENGTH.size
        if len(self._buffer) < body:
            return None
        (length,) = LENGTH.unpack_from(self._buffer, self._start)
        if length > FRAME_LIMIT:
            raise ProtocolFault(f"a reply of {length} bytes; at most {FRAME_LIMIT} are read")
        if len(self._buffer) < body + length:
            return None
        self._start = body + length
        with memoryview(self._buffer) as view:
            return bytes(view[body : self._start])

    def expect_silence(self) -> None:
        """Refuse bytes that arrived and that nobody asked for."""
        if len(self._buffer) > self._start:
            raise ProtocolFault("more bytes than the replies")

    def _wait(self, event: int, deadline: float) -> None:
        patience = None if deadline == math.inf else max(0.0, deadline - time.monotonic()) * 1000
        if not self._polls[event].poll(patience):
            raise Hung

    def close(self) -> None:
        """Hang up."""
        self.connection.close()
