"""What a rubric forbids, refused where it is called: what reading the source cannot see, running it shows.

The student's code is compiled with one change: before each call it makes, the thing about to be called is looked at.
Neither NumPy nor torch is touched, so what they call among themselves is their own affair, and it does not matter
by which name, at what time or in what way the student's code got hold of a thing.
"""

from __future__ import annotations

import ast
import builtins
import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from types import (
    BuiltinFunctionType,
    CodeType,
    FrameType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    NoneType,
)
from typing import Any, NamedTuple

HOOK = "__called__"  # the one name student code is compiled to use; no name mangling in classes, thanks to its ending
AT_WORK = ("__init__", "__call__", "forward")  # the methods that make an object of a class do what it is for
REMEMBERED = 4096
HANDS_ON = {id(thing) for thing in (map, filter, functools.partial, functools.reduce)}  # call what they are given first


class Refused(BaseException):
    """The student's code is about to call something forbidden."""


class Met(NamedTuple):
    """A call that was refused, and the student's line it stands in."""

    name: str
    file: str
    line: int


class Watch:
    """Looks at every call the student's code makes; refuses those that the present item forbids."""

    def __init__(self, names: Sequence[str], files: Sequence[str]) -> None:
        self._names = names
        self._files = tuple(files)
        self._things: dict[str, Any] = {}
        self._armed: tuple[str, ...] = ()
        self._apart: set[tuple[str, str]] = set()
        self._innocent: dict[tuple[Any, ...], Any] = {}  # what was looked at before
        self._codes: set[int] = set()  # of forbidden functions: another may share it, such as torch's pooling
        self._met: Met | None = None
        self._look_up()  # before anything of the student's can have replaced them
        if names:
            builtins.__dict__[HOOK] = self.called

    def arm(self, names: Sequence[str], apart: Sequence[Sequence[str]]) -> None:
        """Refuse these from now on, but not to the functions `apart`: those are other items, with their own rules."""
        self._armed = tuple(names)
        self._apart = {(file, name) for file, name in apart}
        self._innocent.clear()
        self._codes = {id(thing.__code__) for thing in self._things.values() if isinstance(thing, FunctionType)}

    def forbids(self, name: str) -> bool:
        """Return whether this very name is forbidden now."""
        return name in self._armed

    def met(self) -> Met | None:
        """Return the first call that was refused since the last time, whatever became of the exception."""
        met, self._met = self._met, None
        if self._armed and len(self._things) < len(self._names):
            self._look_up()  # a package that was imported in the meantime
        return met

    def compiled(self, source: Any, file: str, mode: str = "exec", flags: int = 0, optimize: int = -1) -> CodeType:
        """Compile source so that each call in it is looked at."""
        if not self._names or flags & ast.PyCF_ONLY_AST:
            return compile(source, file, mode, flags, dont_inherit=True, optimize=optimize)  # type: ignore[no-any-return]
        if not isinstance(source, ast.AST):
            compile(source, file, mode, flags, dont_inherit=True)  # a syntax error is best told from the text itself
            source = ast.parse(source, file, mode)
        for call in [node for node in ast.walk(source) if isinstance(node, ast.Call)]:
            hook = ast.Name(HOOK, ast.Load())
            call.func = ast.copy_location(ast.Call(hook, [call.func], []), call.func)
            ast.copy_location(hook, call.func)
        return compile(source, file, mode, flags, dont_inherit=True, optimize=optimize)  # type: ignore[no-any-return]

    def called(self, thing: Any) -> Any:
        """Look at what is about to be called and hand it back, or refuse."""
        if thing is exec or thing is eval or thing is compile:
            return self._compiling(thing)
        if not self._armed:
            return thing
        if id(thing) in HANDS_ON:
            return self._looked_into(thing)
        key, *kept = _deciding(thing)
        if key not in self._innocent and self._passed(thing) and key and not any(each in self._codes for each in key):
            if len(self._innocent) >= REMEMBERED:
                self._innocent.clear()
            self._innocent[key] = kept
        return thing

    def _passed(self, thing: Any) -> bool:
        """Return whether a thing is not forbidden; refuse one that is, but for functions that answer for themselves."""
        for name in self._armed:
            if self._is(thing, name):
                frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - the line that calls
                if any(place in self._apart for place in _places(frame)):
                    return False
                self._met = self._met or self._where(name, frame)
                raise Refused(name)
        return True

    def _is(self, thing: Any, name: str) -> bool:
        """Return whether a thing is the forbidden one, made from it, or part of the module that is forbidden."""
        wanted = self._things.get(name)
        if isinstance(wanted, ModuleType):
            return any(_is_from(face, name, wanted) for face in _faces(thing))
        if isinstance(wanted, type) and _is_made_by(thing, wanted):
            return True
        return wanted is not None and any(_is_same(face, wanted) for face in _faces(thing))

    def _looked_into(self, thing: Any) -> Callable[..., Any]:
        """Return map and its like with their first argument looked at."""

        def handing_on(*arguments: Any, **more: Any) -> Any:
            self._passed(arguments[0] if arguments else None)
            return thing(*arguments, **more)

        return handing_on

    def _compiling(self, thing: Any) -> Callable[..., Any]:
        """Return exec, eval or compile with the source they are given compiled our way."""
        if thing is compile:

            def compiling(source: Any, filename: Any, mode: str, flags: int = 0, *more: Any, **options: Any) -> Any:
                del more  # whether to inherit flags: there are none of ours to inherit
                return self.compiled(source, str(filename), mode, flags, options.get("optimize", -1))

            return compiling
        mode = "eval" if thing is eval else "exec"

        def running(source: Any, globals: Any = None, locals: Any = None, **more: Any) -> Any:  # noqa: A002 - their names
            caller = sys._getframe(1)  # noqa: SLF001 - where names are looked up unless it is said
            if isinstance(source, str | bytes):
                source = self.compiled(source.strip() if mode == "eval" else source, "<string>", mode)
            if globals is None:
                return thing(source, caller.f_globals, caller.f_locals if locals is None else locals, **more)
            return thing(source, globals, globals if locals is None else locals, **more)

        return running

    def _where(self, name: str, frame: FrameType | None) -> Met:
        """Return the innermost line of the student's files: a line in a string that was executed says nothing."""
        while frame is not None:
            if frame.f_code.co_filename.split("[", 1)[0] in self._files:
                return Met(name, frame.f_code.co_filename, frame.f_lineno)
            frame = frame.f_back
        return Met(name, "", 0)

    def _look_up(self) -> None:
        for name in self._names:
            if name not in self._things and (thing := _found(name)) is not None:
                self._things[name] = thing


def _found(name: str) -> Any:
    """Return what a full name stands for, None as long as its package is not imported."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        thing: Any = sys.modules.get(".".join(parts[:length]))
        if thing is not None:
            for part in parts[length:]:
                thing = getattr(thing, part, None)
            return thing
    return None


def _places(frame: FrameType | None) -> Iterator[tuple[str, str]]:
    """Yield file and outermost definition of a frame and of all that called it."""
    while frame is not None:
        yield frame.f_code.co_filename, frame.f_code.co_qualname.split(".", 1)[0]
        frame = frame.f_back


def _deciding(thing: Any) -> tuple[Any, ...]:
    """Return a key for what decides on a thing of a usual kind, and what must live on for the key to stay its own."""
    kind = type(thing)
    if kind is FunctionType:
        return (id(thing.__code__),), thing.__code__
    if kind is MethodType and type(thing.__func__) is FunctionType:
        code, owner = thing.__func__.__code__, type(thing.__self__)
        return (id(code), id(owner)), code, owner
    if kind is BuiltinFunctionType and not isinstance(thing.__self__, (NoneType, ModuleType, type)):
        return (id(type(thing.__self__)), thing.__name__), type(thing.__self__)
    if kind is BuiltinFunctionType or kind is type:
        return (id(thing),), thing
    return ((),)


def _faces(thing: Any) -> Iterator[Any]:
    """Yield a thing and what a call of it comes down to; no attribute of an object of the student's is asked for."""
    yield thing
    if isinstance(thing, functools.partial):
        yield from _faces(thing.func)
    elif isinstance(thing, MethodType):
        yield thing.__func__
    elif isinstance(thing, MethodWrapperType):
        yield thing.__self__
    elif isinstance(thing, BuiltinFunctionType) and not isinstance(thing.__self__, ModuleType | type | None):
        yield getattr(type(thing.__self__), thing.__name__, None)  # a method in C, as the class has it


def _is_same(thing: Any, wanted: Any) -> bool:
    if isinstance(thing, BuiltinFunctionType) and isinstance(wanted, BuiltinFunctionType):
        return thing == wanted  # a method of a C class is made anew whenever it is asked for
    return thing is wanted


def _is_made_by(thing: Any, wanted: type) -> bool:
    """Return whether a call of the thing makes an object of a class or its heirs, or sets one to work."""
    if isinstance(thing, type):
        return wanted in thing.__mro__
    if isinstance(thing, MethodType):
        return thing.__name__ in AT_WORK and wanted in type(thing.__self__).__mro__
    return wanted in type(thing).__mro__


def _is_from(thing: Any, package: str, module: ModuleType) -> bool:
    """Return whether a function or class belongs to a module; a method of some object does not."""
    home = _home(thing)
    if home.split(".", 1)[0] != package.split(".", 1)[0]:
        return False
    if f"{home}.".startswith(f"{package}."):
        return True
    return vars(module).get(getattr(thing, "__name__", "")) is thing


def _home(thing: Any) -> str:
    """Return the name of the module a thing is from, "" if it is an object's own method."""
    if isinstance(thing, MethodType | MethodWrapperType):
        return ""
    if isinstance(thing, BuiltinFunctionType) and not isinstance(thing.__self__, ModuleType | None):
        return str(thing.__self__.__module__) if isinstance(thing.__self__, type) else ""
    own = thing.__module__ if isinstance(thing, FunctionType | BuiltinFunctionType | type) else None
    return str(own or type(thing).__module__)
