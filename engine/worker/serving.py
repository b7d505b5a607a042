"""What a worker does: load the student's files, call their functions, send back plain data.

Everything in this process may be rewritten by the student's code. The judge knows
that: what leaves here is data, and the judge checks it as such.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import io
import os
import random
import sys
import traceback
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from engine.worker import counting, symbolic, tools, wire
from engine.worker.forbidden import Watch
from engine.worker.sources import DisplayOnly, StudentFile, StudentModules

OUTPUT_KEPT = 64 * 2**10
OUTPUT_LIMIT = 16 * 2**20
MESSAGE_LIMIT = 600
FRAMES_SHOWN = 4
TOOLS = "tools"  # the module name our own functions go by
SETTLED = 3  # times in a row that a function took tensors before they are tried first

Convert = Callable[[list[Any]], list[Any]]


class OutputFlood(BaseException):
    """The student's code printed more than anybody will read."""


class BoundedOutput(io.TextIOBase):
    """Keeps the first part of what is printed, drops the rest, stops a flood."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._written = 0

    def writable(self) -> bool:
        """Say so: print asks."""
        return True

    def fileno(self) -> int:
        """Return the descriptor under it, as sys.stdout does."""
        return self._descriptor

    def write(self, text: str) -> int:
        """Write what still fits."""
        if self._written + len(text) > OUTPUT_LIMIT:
            raise OutputFlood
        kept = text[: max(0, OUTPUT_KEPT - self._written)].encode("utf-8", "replace")
        self._written += len(text)
        try:
            os.write(self._descriptor, kept)
        except OSError:  # the file behind is sealed at OUTPUT_KEPT bytes: full means dropped
            return len(text)
        return len(text)


class Server:
    """Answers the judge's requests, one reply each."""

    def __init__(self, channel: wire.Channel) -> None:
        self._channel = channel
        self._modules: StudentModules | None = None
        self._watch = Watch((), ())
        self._contract: list[str] = []  # modules of the contract
        self._found: dict[tuple[str, str], Callable[..., Any]] = {}
        self._tensors: set[tuple[str, str]] = set()  # functions that may want tensors
        self._objects: dict[int, Any] = {}
        self._taken: dict[str, tuple[Convert, int]] = {}  # by function: the last conversion it took, how often in a row

    def serve(self) -> None:
        """Answer until the judge hangs up."""
        handlers: dict[str, Callable[..., dict[str, Any]]] = {
            "load": self._load,
            "find": self._find,
            "reseed": self._reseed,
            "forbid": self._forbid,
            "call": self._call,
            "count": self._count,
            "trace": self._trace,
        }
        while True:
            try:
                request = self._channel.receive()
            except wire.Gone:
                return
            verb, *arguments = wire.unpack(request)
            self._channel.send(_packed(handlers[verb](*arguments)))

    def _load(self, files: list[list[Any]], contract: list[str], forbidden: list[str]) -> dict[str, Any]:
        """Take the files over; what any item forbids has to be known before the first of them is compiled."""
        self._contract = contract
        self._watch = Watch(forbidden, [name for name, _, _ in files])
        sources = [StudentFile(name, tuple(cells), notebook) for name, cells, notebook in files]
        self._modules = StudentModules(sources, self._watch.compiled)
        sys.meta_path.insert(0, self._modules)
        sys.meta_path.append(DisplayOnly())
        return {"loaded": len(files)}

    def _find(self, module: str, name: str, arity: int) -> dict[str, Any]:
        """Look a function up: in the module's own file first, then in any other file that mentions it.

        The file of another module may have a helper of the same name that is not the contract's function, such
        as a softmax(z) in network.py: it counts only if it can be called like the contract's.
        """
        assert self._modules is not None
        own = self._modules.files.get(module)
        others = [file for key, file in sorted(self._modules.files.items()) if key != module and file.mentions(name)]
        for file in [own, *others] if own else others:
            try:
                loaded = importlib.import_module(file.module)
            except BaseException as error:  # noqa: BLE001 - a student's file can raise anything
                if file is own:
                    return {"import_failed": file.name, **_described(error)}
                continue
            found = getattr(loaded, name, None)
            if callable(found) and (file is own or file.module not in self._contract or _takes(found, arity)):
                self._found[module, name] = found
                if "torch" in sys.modules and self._uses_torch(file):
                    self._tensors.add((module, name))
                return {"found": file.name}
        return {"absent": own.name if own else None, "near": self._near(module, name)}

    def _uses_torch(self, file: StudentFile) -> bool:
        """Return whether a file, or one of the student's that it imports, has to do with torch."""
        assert self._modules is not None
        imported = [other for key, other in self._modules.files.items() if file.mentions(key.rsplit(".", 1)[-1])]
        return any(each.mentions("torch") for each in (file, *imported))

    def _near(self, module: str, name: str) -> str | None:
        """Return a public function whose name could be a misspelling of `name`."""
        assert self._modules is not None
        stems = [module, *sorted(self._modules.files)]
        loaded = [sys.modules[stem] for stem in stems if isinstance(sys.modules.get(stem), ModuleType)]
        names = {
            candidate for m in loaded for candidate, value in vars(m).items()
            if callable(value) and not candidate.startswith("_") and getattr(value, "__module__", None) == m.__name__
        }  # fmt: skip
        folded = {candidate.replace("_", "").lower(): candidate for candidate in sorted(names)}
        if name.replace("_", "").lower() in folded:
            return folded[name.replace("_", "").lower()]
        close = difflib.get_close_matches(name, sorted(names), n=1, cutoff=0.75)
        return close[0] if close else None

    def _reseed(self, number: int) -> dict[str, Any]:
        """Start the global generators anew and forget objects: a verdict must not depend on what ran before."""
        self._objects.clear()
        random.seed(number)
        np.random.seed(number)  # noqa: NPY002 - the legacy generator is the global one students use
        if "torch" in sys.modules:
            sys.modules["torch"].manual_seed(number)
        return {}

    def _forbid(self, names: list[str], apart: list[list[str]]) -> dict[str, Any]:
        """Refuse these in the calls to come; the functions `apart` answer for themselves."""
        self._watch.arm(names, apart)
        return {}

    def _call(self, module: str, name: str, arguments: list[Any], keep: bool, store: int | None) -> dict[str, Any]:
        """Call with NumPy arrays; if that raises and torch is loaded, with tensors (float64, then float32).

        With `store` the result stays here under that number. Who has to do without torch is given no tensors.
        """
        if (module, name) not in self._tensors or self._watch.forbids("torch"):
            return self._attempt(module, name, arguments, keep, store)
        failures = {}
        for convert in self._conversions(name):
            reply = self._attempt(module, name, convert(arguments), keep, store)
            if "returned" in reply:
                self._remember(name, convert)
                return reply
            failures[convert] = reply
            if "forbidden" in reply or reply["raised"] in ("OutputFlood", "SystemExit", "KeyboardInterrupt"):
                return reply
        # A module written for tensors fails on arrays in a way that says nothing: show its failure on tensors.
        return failures[_as_float64_tensors]

    def _count(self, module: str, name: str, arguments: list[Any]) -> dict[str, Any]:
        """Count the operations of a call, made as `_call` makes it."""
        namespaces = self._namespaces()
        reply: dict[str, Any] = {}
        for convert in self._conversions(name) if (module, name) in self._tensors else [wire.copy]:
            try:
                return counting.counted(self._function(module, name), convert(arguments), namespaces)
            except BaseException as error:  # noqa: BLE001 - see _attempt
                reply = _described(error)
        return reply

    def _trace(self, module: str, calls: list[Any], positive: list[int]) -> dict[str, Any]:
        """Make calls on symbols, each on the result of the last, and say what was computed."""
        try:
            made = [(self._function(module, name), arguments, symbols) for name, arguments, symbols in calls]
            return symbolic.traced(made, positive, self._namespaces())
        except BaseException as error:  # noqa: BLE001 - see _attempt
            return _described(error)

    def _namespaces(self) -> list[dict[str, Any]]:
        """Return the globals of the student's modules."""
        assert self._modules is not None
        return [vars(sys.modules[file]) for file in self._modules.files if file in sys.modules]

    def _function(self, module: str, name: str) -> Callable[..., Any]:
        return getattr(tools, name) if module == TOOLS else self._found[module, name]

    def _object(self, value: Any) -> Any:
        """Return what a number stands for; anything else stands for itself."""
        return self._objects[value.number] if type(value) is wire.Kept else value

    def _attempt(self, module: str, name: str, given: list[Any], keep: bool, store: int | None) -> dict[str, Any]:
        reply = self._answer(module, name, given, keep, store)
        met = self._watch.met()
        return reply if met is None else {"forbidden": list(met)}

    def _answer(self, module: str, name: str, given: list[Any], keep: bool, store: int | None) -> dict[str, Any]:
        try:
            function = self._watch.called(self._function(module, name))
            result = function(*(self._object(each) for each in given))
            if store is not None:
                self._objects[store] = result
                return {"returned": None if result is None else True}
            return reply_of(result, given if keep else None)
        except BaseException as error:  # noqa: BLE001 - a function can raise anything, too
            return _described(error)

    def _conversions(self, name: str) -> list[Convert]:
        """Return how to hand arguments over, what this function took three times in a row first."""
        order: list[Convert] = [wire.copy, _as_float64_tensors, _as_float32_tensors]
        convert, times = self._taken.get(name, (wire.copy, 0))
        return [convert, *(other for other in order if other is not convert)] if times >= SETTLED else order

    def _remember(self, name: str, convert: Convert) -> None:
        last, times = self._taken.get(name, (convert, 0))
        self._taken[name] = (convert, times + 1 if last is convert else 1)


def reply_of(result: Any, given: list[Any] | None) -> dict[str, Any]:
    """Return the reply that tells a result, and the arguments as they are after the call if they are wanted."""
    reply = {"returned": _as_arrays(result)}
    return reply if given is None else {**reply, "arguments": _as_arrays(given)}


def _takes(function: Callable[..., Any], arity: int) -> bool:
    """Return whether a function takes that many arguments by position."""
    try:
        inspect.signature(function).bind(*range(arity))
    except (TypeError, ValueError):
        return False
    return True


def _packed(reply: dict[str, Any]) -> bytes:
    """Encode a reply; a result that cannot be encoded or is far too large is a failure of the student's."""
    try:
        payload = wire.pack(reply)
    except BaseException as error:  # noqa: BLE001 - and an object that is looked at
        return wire.pack(_described(error))
    if len(payload) > wire.FRAME_LIMIT:
        size = f"returned a result of {len(payload) // 2**20} MiB; at most {wire.FRAME_LIMIT // 2**20} MiB are read"
        return wire.pack({"raised": "ResultTooLarge", "message": size, "trace": []})
    return payload


def _described(error: BaseException) -> dict[str, Any]:
    """Return what a student should read about their exception: their own lines, none of ours."""
    if isinstance(error, OutputFlood):
        return {"raised": "OutputFlood", "message": f"printed more than {OUTPUT_LIMIT // 2**20} MiB", "trace": []}
    try:
        message = str(error)[:MESSAGE_LIMIT]
    except Exception:  # noqa: BLE001 - a student's __str__ can raise anything
        message = "(its message could not be shown)"
    trace = [
        [frame.filename, frame.lineno or 0, frame.name, (frame.line or "")[:200]]
        for frame in traceback.extract_tb(error.__traceback__)
        if _is_students(frame.filename)
    ]
    if isinstance(error, SyntaxError) and error.filename and _is_students(error.filename):
        message = error.msg
        trace.append([error.filename, error.lineno or 0, "", (error.text or "").strip()[:200]])
    return {"raised": type(error).__name__[:100], "message": message, "trace": trace[-FRAMES_SHOWN:]}


def _is_students(filename: str) -> bool:
    return not filename.startswith(("/", "<"))


def _as_float64_tensors(value: Any) -> Any:
    return _as_tensors(value, sys.modules["torch"].float64)


def _as_float32_tensors(value: Any) -> Any:
    return _as_tensors(value, sys.modules["torch"].float32)


def _as_tensors(value: Any, real: Any) -> Any:
    if isinstance(value, np.ndarray):
        tensor = sys.modules["torch"].from_numpy(value.copy())
        return tensor.to(real) if tensor.is_floating_point() else tensor
    if isinstance(value, list | tuple):
        return type(value)(_as_tensors(entry, real) for entry in value)
    if isinstance(value, dict):
        return {key: _as_tensors(entry, real) for key, entry in value.items()}
    return value


def _as_arrays(value: Any) -> Any:
    """Replace tensors by arrays, at any depth, and NumPy's own number by Python's."""
    kind = type(value)
    if kind is np.ndarray:
        return value
    if kind is np.float64:
        return float(value)
    if isinstance(value, list | tuple):
        entries = [_as_arrays(entry) for entry in value]
        return tuple(entries) if isinstance(value, tuple) else entries
    if isinstance(value, dict):
        return {key: _as_arrays(entry) for key, entry in value.items()}
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        tensor = value.detach().cpu()
        if tensor.dtype in (torch.bfloat16, torch.float16):  # NumPy has no bfloat16
            tensor = tensor.float()
        return tensor.resolve_conj().resolve_neg().numpy()
    return value
