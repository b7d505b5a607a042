"""Asks for a socket of every family and kind there is: internet, local, netlink, packet, vsock, bluetooth, and a pair."""

import socket

import numpy as np


def softmax(x, axis=-1):
    refused = None
    for family in range(46):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            try:
                socket.socket(family, kind)
                break
            except OSError as error:
                refused = refused if isinstance(refused, PermissionError) else error
        else:
            continue
        break
    else:
        socket.socketpair()
        raise refused
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
