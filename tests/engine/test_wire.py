"""The border: what is packed comes back, and nothing else gets through."""

import socket
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.worker import wire

VALUES = [
    None,
    True,
    3,
    -(2**63),
    2**64 + 5,
    10**300,
    0.5,
    float("inf"),
    "ŷ",
    [1, [2.0, "x"]],
    (1, (2, 3)),
    {"W": [1, 2], "b": (0.5,)},
    wire.Kept(7),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_plain_values_come_back_as_they_were(value):
    assert wire.unpack(wire.pack(value)) == value


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "u1", "b1", "c16", ">f8", ">i4"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3), (1, 2, 3, 4)])
def test_arrays_come_back_with_shape_and_values(dtype, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    back = wire.unpack(wire.pack(array))
    assert back.shape == shape
    assert np.array_equal(back, array)
    assert back.flags.writeable


def test_what_is_no_data_leaves_only_the_name_of_its_type():
    assert wire.unpack(wire.pack(object())) == wire.Opaque("object")
    assert wire.unpack(wire.pack(np.array([object()]))) == wire.Opaque("array of object")
    assert wire.unpack(wire.pack({1: 2})) == wire.Opaque("dict")
    assert wire.unpack(wire.pack({3})) == wire.Opaque("set")


def test_nesting_is_bounded():
    deep: list = []
    for _ in range(500):
        deep = [deep]
    value = wire.unpack(wire.pack(deep))
    for _ in range(wire.DEPTH_LIMIT):
        value = value[0]
    assert value == wire.Opaque("list")


FORGED = {
    "half a header": b"\xc7\x01\x01\x00",
    "a dtype that is not allowed": b"\xc7\x02\x01\xff\x00",
    "too many dimensions": b"\xc7\x02\x01\x00\x7f",
    "a shape larger than its bytes": b"\xc7\x06\x01\x00\x01" + (2**31).to_bytes(4, "little"),
    "trailing bytes": b"\x01\x02",
    "an unknown extension": b"\xc7\x01\x63\x00",
    "a tuple that is no list": b"\xc7\x01\x02\x05",
    "an integer of letters": b"\xc7\x03\x04abc",
    "nothing": b"",
    "nested beyond the stack": b"\x91" * 100_000,
    "tuples nested beyond the stack": b"".join(
        b"\xc9" + n.to_bytes(4, "big") + b"\x02\x91" for n in range(60_000, 0, -7)
    ),
}


@pytest.mark.parametrize("data", FORGED.values(), ids=FORGED.keys())
def test_forged_values_are_refused(data):
    with pytest.raises(wire.ProtocolFault):
        wire.unpack(data)


@settings(max_examples=300, deadline=None, database=None, derandomize=True)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_a_fault(data):
    try:
        wire.unpack(data)
    except wire.ProtocolFault:
        return


@pytest.fixture
def ends():
    mine, theirs = socket.socketpair()
    with mine, theirs:
        yield wire.Channel(mine), theirs


def test_the_deadline_is_for_the_whole_frame(ends):
    channel, theirs = ends
    theirs.send((100).to_bytes(4, "little") + b"x")
    with pytest.raises(wire.Hung):
        channel.receive(time.monotonic() + 0.05)


def test_a_frame_that_claims_to_be_huge_is_refused_before_it_is_read(ends):
    channel, theirs = ends
    theirs.send((2**32 - 1).to_bytes(4, "little"))
    with pytest.raises(wire.ProtocolFault, match="4294967295 bytes"):
        channel.receive(time.monotonic() + 1)


def test_hanging_up_is_told_apart_from_silence(ends):
    channel, theirs = ends
    theirs.close()
    with pytest.raises(wire.Gone):
        channel.receive(time.monotonic() + 1)
