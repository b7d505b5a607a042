"""Count the multiply-adds of one call: the function is handed arrays that note every operation done on them.

What counts, never by a clock:

    multiply_adds   (a×b)(b×c) is abc, however it is written: @, dot, einsum, tensordot, or a loop over inner products;
                    and each product of two counted values that is then added to something, as in (q * k).sum() or
                    total += q_i * k_i. Multiplying by a plain number, such as 1/sqrt(d), makes no such product.
    elementwise     any other arithmetic: one per entry of the result, for reductions one per entry of the argument.

NumPy hands operations on a `CountingArray` to it (`__array_ufunc__`, `__array_function__`). Entries taken out of one
are `CountingNumber`s, so loops in pure Python count as well. np.asarray, np.zeros and the like would give plain arrays
that count nothing: while a function is counted, numpy's and math's functions are replaced by ones that give
counting values. Tensors are watched by modes of torch's dispatcher; torch's own FlopCounterMode is not enough, it
counts nothing for mv, dot and the attention kernel of a CPU.

Where a value becomes a plain one all the same (float(x), tensor.tolist()), its products would be missed, and what
np.linalg.inv does is not seen. Then the count is `lost` and says so: it is complete or it is none.
"""

from __future__ import annotations

import contextlib
import functools
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


@dataclass(slots=True)
class Tally:
    """What was counted so far; `lost` says how a value got away, if one did."""

    multiply_adds: int = 0
    elementwise: int = 0
    lost: str = ""
    inside: int = 0  # how many functions of NumPy's are running, one inside the other

    def lose(self, how: str) -> None:
        """Note that a value became a plain number."""
        self.lost = self.lost or how


_now = Tally()  # of the call that is being counted


def counted(
    function: Callable[..., Any], arguments: Sequence[Any], namespaces: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    """Call a function on arrays or tensors and return what it did; `namespaces` are the globals of its modules.

    >>> counted(lambda a, b: a @ b, [np.ones((2, 3)), np.ones((3, 5))])
    {'multiply_adds': 30, 'elementwise': 0, 'lost': ''}
    """
    global _now  # noqa: PLW0603 - NumPy calls our methods, and they must know whose call it is
    _now = tally = Tally()
    with contextlib.ExitStack() as stack:
        if "torch" in sys.modules:
            for mode in _torch_modes(sys.modules["torch"]):
                stack.enter_context(mode)
        stack.enter_context(_counting_functions(namespaces))  # last: what torch imports now must not get hold of them
        result = function(*(_as_argument(argument) for argument in arguments))
    kinds = set(_kinds_in(result))
    if kinds != {True}:
        tally.lose("the result is made of plain numbers" if kinds else "the result has no numbers")
    return {"multiply_adds": tally.multiply_adds, "elementwise": tally.elementwise, "lost": tally.lost}


# ── values that count ─────────────────────────────────────────────────────────────────────────────────────────────


def _through_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:  # noqa: ARG001 - NumPy's signature
    """Compute on plain values, count, and return what counts on."""
    _expect_counting(inputs)
    plain = [_plain(each) for each in inputs]
    options = {name: _plain(each) for name, each in options.items()}
    if out is not None and not any(isinstance(each, CountingNumber) for each in out):  # a number cannot be written to
        options["out"] = tuple(_plain(each) for each in out)
    else:
        out = None
    result = getattr(ufunc, method)(*plain, **options)
    _count_ufunc(ufunc, method, inputs, plain, result)
    if "axes" in options or (ufunc.signature is not None and "axis" in options):
        _now.lose(f"np.{ufunc.__name__} along other axes")
    product = ufunc.__name__ == "multiply" and method in ("__call__", "outer") and all(map(_is_counting, inputs))
    if out is None:
        return _kept(result, product=product)
    for each in out:
        if isinstance(each, CountingArray):
            each.product = product
    return out[0] if len(out) == 1 else out


def _count_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], plain: Sequence[Any], result: Any) -> None:
    """Count one call; `method` is __call__, reduce, outer, …."""
    if any(getattr(each, "dtype", None) == np.dtype(object) for each in plain):
        _now.lose("an array of objects")
    if ufunc.signature is not None:  # of matmul and its relatives: the last axis of the first factor is summed over
        if ufunc.__name__ not in ("matmul", "vecdot", "matvec", "vecmat"):
            _now.lose(f"np.{ufunc.__name__}")
        _now.multiply_adds += _size(result) * _shape(plain[0])[-1]
        return
    products = sum(_size(given) for each, given in zip(inputs, plain, strict=True) if getattr(each, "product", False))
    if products and ufunc.__name__ in ("add", "subtract"):
        _now.multiply_adds += products
    else:
        first = result[0] if isinstance(result, tuple) else result
        _now.elementwise += _size(first if method in ("__call__", "outer") else plain[0])


class CountingNumber(NDArrayOperatorsMixin, float):  # type: ignore[misc]  # pow takes a modulus in one
    """An entry of a counting array. Unlike float64 it hears of it when somebody takes its plain value."""

    product = False
    __array_ufunc__ = _through_ufunc
    __hash__ = float.__hash__

    def __float__(self) -> float:
        _now.lose("float(x)")
        return float.__float__(self)

    def __int__(self) -> int:
        _now.lose("int(x)")
        return float.__int__(self)

    def __round__(self, digits: Any = None) -> Any:
        return int(self) if digits is None else _as_array(self).round(digits)[()]

    def __getattr__(self, name: str) -> Any:
        """Have what float64 has, by way of an array of one number; without dtype NumPy does not unpack it."""
        if name.startswith("__") or name == "dtype":
            raise AttributeError(name)
        return getattr(_as_array(self), name)


class CountingArray(np.ndarray[Any, Any]):
    """An array that notes what is done with it. `product` marks entrywise products that were not added up yet."""

    product: bool
    __array_ufunc__ = _through_ufunc

    def __array_finalize__(self, source: Any) -> None:
        self.product = getattr(source, "product", False)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        name = function.__name__
        with _inside_numpy():
            if name not in _PLAINLY:
                result = super().__array_function__(function, types, arguments, options)
                if False in _kinds_in(result) or (function.__module__ != "numpy" and name not in _OPEN):
                    _now.lose(f"np.{name}")
                return _kept(result)
            result = function(*_plain(arguments), **{key: _plain(each) for key, each in options.items()})
        given = [*arguments, *options.values()]
        if name == "einsum":
            _expect_counting(arguments)
            _count_einsum(_plain(arguments), options.get("optimize", False))
        elif name in _CONTRACTIONS:
            _expect_counting(given)
            _count_contraction(_plain(given[0]), _plain(given[1]), result)
        elif name in _REDUCTIONS:
            _now.elementwise += given[0].size
        product = name in _MOVES and any(each.product for each in _counting_in(given))
        return _kept(result, product=product) if options.get("out") is None else options["out"]

    def __getitem__(self, key: Any) -> Any:
        return _kept(super().__getitem__(_plain(key)), product=self.product)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(_plain(key), _plain(value))
        self.product = getattr(value, "product", False)  # a table of products that is filled entry by entry

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def dot(self, other: Any, out: Any = None) -> Any:
        """Return np.dot(self, other), which is counted."""
        return _dot(self, other) if out is None else _dot(self, other, out=out)

    def item(self, *place: Any) -> Any:
        """Return an entry that counts on."""
        return self.reshape(-1)[place[0] if place else 0] if len(place) < 2 else self[place]

    def tolist(self) -> Any:
        """Return lists of numbers that count on."""
        return [row.tolist() if isinstance(row, CountingArray) else row for row in self] if self.ndim else self[()]

    def view(self, *arguments: Any, **options: Any) -> Any:
        """Return a view; one of another class counts nothing."""
        result = super().view(*arguments, **options)
        if not isinstance(result, CountingArray):
            _now.lose("x.view")
        return result

    def take(self, *arguments: Any, **options: Any) -> Any:
        """Return entries that count on."""
        return _kept(super().take(*arguments, **options), product=self.product)

    def trace(self, *arguments: Any, **options: Any) -> Any:
        """Return a sum that counts on."""
        return _kept(super().trace(*arguments, **options))

    @property
    def flat(self) -> Any:
        """Return an iterator over plain numbers."""
        _now.lose("x.flat")
        return super().flat

    def __float__(self) -> float:
        value = float(_plain(self))
        if self.dtype.kind in "fc":
            _now.lose("float(x)")
        return value

    def __int__(self) -> int:
        value = int(_plain(self))
        if self.dtype.kind in "fc":
            _now.lose("int(x)")
        return value

    def __repr__(self) -> str:
        with _uncounted():
            return repr(_plain(self))

    def __str__(self) -> str:
        with _uncounted():
            return str(_plain(self))

    def __format__(self, how: str) -> str:
        with _uncounted():
            return format(_plain(self), how)


@contextlib.contextmanager
def _uncounted() -> Iterator[None]:
    """Leave out what is computed to show a value."""
    global _now  # noqa: PLW0603 - see counted
    _now, kept = Tally(), _now
    try:
        yield
    finally:
        _now = kept


@contextlib.contextmanager
def _inside_numpy() -> Iterator[None]:
    tally = _now
    tally.inside += 1
    try:
        yield
    finally:
        tally.inside -= 1


def _plain(value: Any) -> Any:
    """Return a value, at any depth of lists and tuples, without its counting."""
    if isinstance(value, CountingArray):
        return np.ndarray.view(value, np.ndarray)
    if isinstance(value, CountingNumber):
        return float.__float__(value)
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    return value


def _expect_counting(values: Iterable[Any]) -> None:
    """Notice an array that was made out of sight, as by np.ndarray(shape): what was computed with it is unknown.

    NumPy's own functions may make such arrays; the student's code is handed none.
    """
    if not _now.inside and any(type(each) is np.ndarray and each.ndim and each.dtype.kind in "fc" for each in values):
        _now.lose("an array of unknown origin")


def _kept(value: Any, *, product: bool = False) -> Any:
    """Return an array or a floating number as one that counts; whole numbers and truth values stay what they are."""
    if type(value) is np.ndarray and value.dtype.kind in "biufc":
        value = np.ndarray.view(value, CountingArray)
        value.product = product
    elif isinstance(value, np.floating):
        value = CountingNumber(value)
        value.product = product
    elif type(value) in (list, tuple):
        value = type(value)(_kept(each, product=product) for each in value)
    return value


def _as_counting(value: Any) -> Any:
    """Return an array, or a list that holds counting values, as an array that counts; anything else as it is."""
    if type(value) is np.ndarray:
        return _kept(value)
    if isinstance(value, CountingNumber):
        return _as_array(value)
    if type(value) in (list, tuple):
        inside = list(_counting_in(value))
        if inside:
            with contextlib.suppress(ValueError):  # ragged: whoever is handed the list decides
                return _kept(_array(_plain(value)), product=all(each.product for each in inside))
    return value


def _as_argument(value: Any) -> Any:
    """Return an argument with every array in it counting; parameters come in dicts, layers in lists of pairs."""
    if isinstance(value, dict):
        return {key: _as_argument(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_as_argument, value))
    return _as_counting(value)


def _as_array(number: CountingNumber) -> CountingArray:
    array: CountingArray = _kept(_array(_plain(number)), product=number.product)
    return array


def _is_counting(value: Any) -> bool:
    return isinstance(value, CountingArray | CountingNumber)


def _counting_in(value: Any) -> Iterator[Any]:
    if _is_counting(value):
        yield value
    elif type(value) in (list, tuple):
        for each in value:
            yield from _counting_in(each)


def _kinds_in(value: Any) -> Iterator[bool]:
    """Say of every floating number or array in a result whether it counts; a tensor is watched by other means."""
    torch = sys.modules.get("torch")
    if _is_counting(value) or (torch is not None and isinstance(value, torch.Tensor)):
        yield True
    elif isinstance(value, float | np.floating) or (isinstance(value, np.ndarray) and value.dtype.kind in "fcO"):
        yield False
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _kinds_in(each)
    elif isinstance(value, dict):
        yield from _kinds_in(list(value.values()))


# ── NumPy's functions ─────────────────────────────────────────────────────────────────────────────────────────────

_array, _dot, _einsum_path, _size, _shape = np.array, np.dot, np.einsum_path, np.size, np.shape  # not to be replaced

_CONTRACTIONS = frozenset({"dot", "inner", "outer", "vdot", "tensordot", "kron"})
_REDUCTIONS = frozenset({"norm", "trace"})
_OPEN = frozenset({"multi_dot", "matmul", "matrix_power", "vecdot", "matrix_transpose", "diagonal"})  # of np.linalg
_MOVES = frozenset({
    "where", "concatenate", "copy", "pad", "block", "broadcast_to", "broadcast_arrays", "select", "choose", "copyto",
    "putmask", "put", "place", "fill_diagonal",
})  # fmt: skip
_LIKE = frozenset({"zeros_like", "ones_like", "empty_like", "full_like"})
_PLAINLY = _CONTRACTIONS | _REDUCTIONS | _MOVES | _LIKE | {"einsum"}  # run on plain arrays
_OF_SEVERAL = frozenset({
    "concatenate", "concat", "stack", "vstack", "hstack", "dstack", "row_stack", "column_stack", "block", "select",
    "choose", "broadcast_arrays", "meshgrid", "ix_", "lexsort",
})  # fmt: skip


def _count_contraction(left: Any, right: Any, result: Any) -> None:
    """Count A×C times C×B, the axes in whatever order: (AC)(CB)(AB) is the square of ABC."""
    if _shape(left) and _shape(right):
        _now.multiply_adds += math.isqrt(_size(left) * _size(right) * _size(result))
    else:
        _now.elementwise += _size(result)


def _count_einsum(operands: Sequence[Any], optimize: Any) -> None:
    """Count the product of all index sizes, of each step if NumPy was told to choose an order of steps."""
    terms, output, arrays = _einsum_terms(operands)
    sizes: dict[Any, int] = {}
    for term, array in zip(terms, arrays, strict=True):
        for index, size in zip(term, _shape(array), strict=True):
            sizes[index] = max(size, sizes.get(index, 1))  # an axis of size one is repeated
    steps: Iterable[Sequence[int]] = [range(len(terms))]
    if optimize and len(terms) > 1:
        steps = _einsum_path(*operands, optimize=optimize)[0][1:]
    for step in steps:
        used = [terms.pop(place) for place in sorted(step, reverse=True)]
        indices = set().union(*used)
        size = math.prod(sizes[index] for index in indices)
        if len(used) > 1:
            _now.multiply_adds += size
        else:
            _now.elementwise += size
        terms.append([index for index in indices if index in output or any(index in term for term in terms)])


def _einsum_terms(operands: Sequence[Any]) -> tuple[list[list[Any]], set[Any], Sequence[Any]]:
    """Return the indices of each operand, those of the result, and the operands."""
    if isinstance(operands[0], str):
        written, arrow, result = operands[0].replace(" ", "").replace("...", "…").partition("->")
        texts, arrays = [list(term) for term in written.split(",")], operands[1:]
    else:  # a, [0, 1], b, [1, 2], [0, 2]
        pairs = len(operands) // 2
        texts = [["…" if index is Ellipsis else index for index in operands[2 * i + 1]] for i in range(pairs)]
        arrow, result, arrays = "->" * (len(operands) % 2), operands[-1], operands[: 2 * pairs : 2]
    terms: list[list[Any]] = []
    for text, array in zip(texts, arrays, strict=True):
        dots = len(_shape(array)) - len(text) + 1
        named = [[("…", place) for place in range(-dots, 0)] if index == "…" else [index] for index in text]
        terms.append(list(chain.from_iterable(named)))
    indices = list(chain.from_iterable(terms))
    once = {index for index in indices if isinstance(index, tuple) or indices.count(index) == 1}
    asked = {index for index in indices if isinstance(index, tuple) or index in list(result)}
    return terms, asked if arrow else once, arrays


def _counting(function: Any) -> Any:
    """Return a function of NumPy's that takes lists of counting values, and gives arrays that count."""
    prepare = _each_as_counting if function.__name__ in _OF_SEVERAL else _as_counting

    @functools.wraps(function, updated=())
    def call(*arguments: Any, **options: Any) -> Any:
        _expect_counting([*arguments, *options.values()])
        given = [prepare(each) for each in arguments]
        options = {name: prepare(each) for name, each in options.items()}
        with _inside_numpy() if not isinstance(function, np.ufunc) else contextlib.nullcontext():
            result = function(*given, **options)
        if isinstance(result, np.generic):
            return result
        return _kept(result, product=function.__name__ in _CONVERSIONS and getattr(given[0], "product", False))

    if isinstance(function, np.ufunc):
        for name in ("reduce", "accumulate", "reduceat", "outer", "at"):
            setattr(call, name, _counting(getattr(function, name)))
    return call


_CONVERSIONS = frozenset({"array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray"})


def _each_as_counting(value: Any) -> Any:
    return [_as_counting(each) for each in value] if type(value) in (list, tuple) else _as_counting(value)


def _counting_math(function: Any) -> Any:
    """Return a function of math's that gives a counting number for one."""

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        given = [list(each) if isinstance(each, Iterator) else each for each in arguments]
        if not any(True for _ in _counting_in(given)):
            return function(*given, **options)
        if function.__name__ == "fsum":
            return _as_counting(given[0]).sum()
        if function.__name__ == "sumprod":
            return _dot(*map(_as_counting, given))
        if not all(map(_is_counting, given)):
            _now.lose(f"math.{function.__name__}")
        _now.elementwise += 1
        result = function(*map(_plain, given), **options)
        return CountingNumber(result) if isinstance(result, float) else result

    return call


def _losing(function: Any) -> Any:
    @functools.wraps(function, updated=())
    def call(*arguments: Any, **options: Any) -> Any:
        _now.lose(f"np.{function.__name__}")
        return function(*arguments, **options)

    return call


@functools.cache
def replacements() -> dict[int, tuple[Any, Any]]:
    """Return by id each function of NumPy's and math's, and what takes its place."""
    kinds = (FunctionType, BuiltinFunctionType, type(np.sum), np.ufunc)
    found: dict[int, tuple[Any, Any]] = {}
    found |= {id(each): (each, _counting(each)) for each in list(vars(np).values()) if isinstance(each, kinds)}
    del found[id(np.isscalar)]  # a counting number is one
    found |= {id(e): (e, _counting_math(e)) for e in list(vars(math).values()) if isinstance(e, BuiltinFunctionType)}
    found[id(np.nditer)] = (np.nditer, _losing(np.nditer))
    return found


@contextlib.contextmanager
def _counting_functions(namespaces: Sequence[dict[str, Any]]) -> Iterator[None]:
    """Replace functions of NumPy and math by counting ones, and the arrays in the student's globals, for a while."""
    known = replacements()
    changed = []
    for namespace in (vars(np), vars(math), *namespaces):
        found = {name: known[id(value)][1] for name, value in namespace.items() if id(value) in known}
        if namespace is not vars(np):
            found |= {name: _kept(value) for name, value in namespace.items() if type(value) is np.ndarray}
        changed.append((namespace, {name: namespace[name] for name in found}, found))
        namespace.update(found)
    try:
        yield
    finally:
        for namespace, before, found in changed:
            # What the call has assigned to stays assigned.
            namespace.update({name: before[name] for name, new in found.items() if namespace.get(name) is new})


# ── torch ─────────────────────────────────────────────────────────────────────────────────────────────────────────

# Where the first factor stands among the arguments.
_FACTORS_AT = {"mm": 0, "bmm": 0, "mv": 0, "dot": 0, "vdot": 0, "addmm": 1, "baddbmm": 1, "addbmm": 1, "addmv": 1}
_SUMS = frozenset({"sum", "nansum", "mean", "add", "sub", "rsub", "cumsum"})
_COPIES = frozenset({"clone", "_to_copy", "cat", "stack", "_unsafe_view", "copy", "_reshape_copy"})
_CLOSED = (
    "linalg_", "_linalg_", "convolution", "_native_multi_head", "_transformer_encoder", "_cdist", "_fft", "lstm", "gru",
    "rnn", "mkldnn",
)  # fmt: skip
_EXITS = frozenset({"item", "tolist", "__float__", "__int__", "__complex__"})


class _Tensors:
    """What is known about tensors while a call is counted."""

    def __init__(self, torch: Any) -> None:
        self._kind = torch.Tensor
        self._products: dict[int, Any] = {}  # by address: a tensor kept alive, so that no other gets the address

    def note(self, operation: Any, arguments: Sequence[Any], result: Any) -> None:
        """Count one operation of torch's lowest level and remember whether its result holds products."""
        name = operation.overloadpacket.__name__
        in_place = name.endswith("_") and not name.endswith("__")
        name = name.rstrip("_") if in_place else name
        tensors = [each for each in _flattened(arguments) if isinstance(each, self._kind)]
        if getattr(operation, "is_view", False):
            return
        self._count(name, arguments, tensors, result)
        if not isinstance(result, self._kind):
            return
        sources = tensors[1:] if name == "copy" else tensors  # the first is written to
        copied = name in _COPIES and any(map(self._is_product, sources))
        if copied or (name == "mul" and len(tensors) == 2 and result.is_floating_point()):
            self._products[_address(result)] = result
        elif in_place:
            self._products.pop(_address(result), None)

    def _count(self, name: str, arguments: Sequence[Any], tensors: Sequence[Any], result: Any) -> None:
        products = sum(each.numel() for each in tensors if self._is_product(each))
        if name in _FACTORS_AT:
            left, right = arguments[_FACTORS_AT[name] :][:2]
            _now.multiply_adds += left.numel() * (right.shape[-1] if right.ndim > 1 else 1)
        elif name.startswith("_scaled_dot_product"):
            query, key, value = arguments[:3]
            _now.multiply_adds += query.shape[:-1].numel() * key.shape[-2] * (query.shape[-1] + value.shape[-1])
        elif name in ("addcmul", "addr"):
            _now.multiply_adds += result.numel()
        elif name.startswith(_CLOSED):
            _now.lose(f"torch.{name}")
        elif products and name in _SUMS:
            _now.multiply_adds += products
        elif name not in _COPIES and isinstance(result, self._kind):
            _now.elementwise += max(each.numel() for each in [result, *tensors])

    def _is_product(self, tensor: Any) -> bool:
        return _address(tensor) in self._products


def _address(tensor: Any) -> int:
    address: int = tensor.untyped_storage().data_ptr()
    return address


def _torch_modes(torch: Any) -> list[Any]:
    """Return what watches tensors: the operations they go through, and the ways they become plain numbers."""
    watched = _Tensors(torch)
    dispatch: Any = torch.utils._python_dispatch.TorchDispatchMode  # noqa: SLF001 - where FlopCounterMode has it from
    override: Any = torch.overrides.TorchFunctionMode

    class Operations(dispatch):  # type: ignore[misc]
        def __torch_dispatch__(self, operation: Any, _types: Any, arguments: Any = (), options: Any = None) -> Any:
            result = operation(*arguments, **(options or {}))
            watched.note(operation, arguments, result)
            return result

    class Exits(override):  # type: ignore[misc]
        def __torch_function__(self, function: Any, _types: Any, arguments: Any = (), options: Any = None) -> Any:
            name = getattr(function, "__name__", "")
            with _uncounted() if name in ("__repr__", "__format__") else contextlib.nullcontext():
                result = function(*arguments, **(options or {}))
            if name in _EXITS and (arguments[0].is_floating_point() or arguments[0].is_complex()):
                _now.lose(f"tensor.{name}")
            return _kept(result) if name in ("numpy", "__array__") else result

    return [Exits(), Operations()]


def _flattened(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _flattened(value)
        else:
            yield value
