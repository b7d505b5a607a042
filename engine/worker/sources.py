"""The student's files as importable modules, from memory: the worker never reads them off a disk."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import re
import sys
from collections.abc import Callable, Sequence
from types import CodeType, ModuleType
from typing import Any, NamedTuple, Self

# Packages that only show things. A submission that imports one to draw a plot must
# not lose its functions where the package is not installed.
DISPLAY_ONLY = frozenset({"matplotlib", "seaborn", "plotly", "IPython", "tqdm", "google", "pytest"})


class StudentFile(NamedTuple):
    """One file: a script has one cell, a notebook as many as it has code cells."""

    name: str
    cells: tuple[str, ...]
    is_notebook: bool

    @property
    def module(self) -> str:
        """The name this file is imported by."""
        return self.name.rsplit(".", 1)[0].replace("/", ".")

    def mentions(self, name: str) -> bool:
        """Whether the file could define `name` at all; executing it to find out may be slow."""
        pattern = re.compile(rf"\b{re.escape(name)}\b")
        return any(pattern.search(cell) for cell in self.cells)


class StudentModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and executes student files; a failing notebook cell leaves the others standing."""

    def __init__(self, files: Sequence[StudentFile], compiled: Callable[[str, str], CodeType]) -> None:
        self._compiled = compiled
        self.files = {file.module: file for file in files}
        self._packages = {module.rsplit(".", 1)[0] for module in self.files if "." in module}

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Offer student files, but never in place of the standard library."""
        if fullname in sys.stdlib_module_names:
            return None
        if fullname in self.files:
            return importlib.util.spec_from_loader(fullname, self, origin=self.files[fullname].name)
        if fullname in self._packages:
            return importlib.util.spec_from_loader(fullname, self, is_package=True)
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Run the file's cells in the module's namespace."""
        if module.__name__ not in self.files:
            return
        file = self.files[module.__name__]
        module.__file__ = file.name
        for number, cell in enumerate(file.cells, start=1):
            name = f"{file.name}[{number}]" if file.is_notebook else file.name
            linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
            try:
                exec(self._compiled(cell, name), module.__dict__)  # noqa: S102 - running it is what the worker is for
            except (Exception, SystemExit) as error:  # quit() ends a cell, too
                if not file.is_notebook:
                    raise
                print(f"{name}: {type(error).__name__}: {_text_of(error)}", file=sys.stderr)


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a student's __str__ can raise anything
        return "(its message could not be shown)"


class DisplayOnly(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands in for plotting and progress packages that are not installed."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Come last: a package that is installed is used."""
        if fullname.split(".", 1)[0] in DISPLAY_ONLY:
            return importlib.util.spec_from_loader(fullname, self, is_package=True)
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Give the module attributes that accept any use."""
        module.__dict__["__getattr__"] = _nothing_or_dunder


def _nothing_or_dunder(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Nothing()


class Nothing:
    """Accepts every call and attribute; given an iterable it hands it back (as tqdm does)."""

    def __call__(self, *arguments: Any, **_options: Any) -> Any:
        """Return the iterable, if one is given."""
        return arguments[0] if arguments and hasattr(arguments[0], "__iter__") else Nothing()

    def __getattr__(self, name: str) -> Any:
        return _nothing_or_dunder(name)

    def __iter__(self) -> Any:
        # fig, axes = plt.subplots() is the one unpacking everybody writes
        return iter((Nothing(), Nothing()))

    def __getitem__(self, _key: Any) -> Any:
        return Nothing()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        return None
