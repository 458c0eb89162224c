"""Compile functions with numba: one set of options and one reliable cache for the whole project.

The package's kernels are cached on disk (the first use after an install compiles, later ones load). All
release the interpreter lock, so that plain threads can share a batch (see `leaps.base.parallel`). To the type
checker a compiled function keeps its signature.

numba recompiles a cached kernel when its own file changes, but not when a function that it calls changes in
another file: after an edit of Karel's physics, the executor would still run the old physics. So each kernel's
stamp here covers the sources of all kernels that it can call. Imports point one way, so these are its layer
and the layers below. This is the only module that compiles, so every kernel has such a stamp.

Functions of users, such as those of a user's task, are compiled in each process. Compilation freezes their
constants, which may come from a second file or from the command line. No stamp could cover all of those.
Their indexing is bounds-checked: an index out of range raises an error instead of reading or writing memory
that belongs to something else.
"""

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import types
from numba.core import cgutils, errors
from numba.core.ccallback import CFunc
from numba.core.sigutils import normalize_signature
from numba.extending import intrinsic, overload

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).parents[1]
LAYERS = ("base", "dsl", "compiled", "karel", "karel/tasks", "embedding")
"""folders whose kernels are called from other folders; each may import the ones before it, and all other code
may import all of them"""
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": True}
"""numba options of all kernels. _nrt (whether references to arrays are counted) is explicit. Otherwise a
function would take it from its first caller and keep it in the cache. A function that does not count then
corrupts the memory of callers that do"""


def is_ours(function: Callable[..., Any]) -> bool:
    """Whether a function comes with the package."""
    return Path(function.__code__.co_filename).is_relative_to(PACKAGE)


def _layer_of(file: Path) -> int:
    """Return the index of the layer that a file of the package is in; a file in no layer is in the last."""
    inside = file.relative_to(PACKAGE)
    holding = [n for n, layer in enumerate(LAYERS) if inside.is_relative_to(layer)]
    return max(holding, default=len(LAYERS) - 1)


@cache
def _stamp_of(layers: int) -> tuple[str, int]:
    """Hash the sources of the first `layers` layers, in the form of numba's own stamps."""
    digest = hashlib.sha256()
    files = sorted({file for layer in LAYERS[:layers] for file in (PACKAGE / layer).rglob("*.py")})
    files = [file for file in files if _layer_of(file) < layers]
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest(), len(files)


def _with_stamp(compiled: Any, file: Path) -> Any:
    """Make a compiled function's cache entry depend on its file's layer and the layers below."""
    layers = 1 + _layer_of(file)
    index = compiled._cache._cache_file
    index._source_stamp = (index._source_stamp, _stamp_of(layers))
    return compiled


def jit(function: F, **options: Any) -> F:
    """Compile `function` on first call, with additional numba options if given."""
    if not is_ours(function):
        return cast(F, numba.njit(**OPTIONS, boundscheck=True, **options)(function))
    # numba's cache does not tell closures of the same function apart.
    if function.__closure__ is not None:
        return cast(F, numba.njit(**OPTIONS, **options)(function))
    file = Path(function.__code__.co_filename)
    return cast(F, _with_stamp(numba.njit(cache=True, **OPTIONS, **options)(function), file))


def inlined(function: F) -> F:
    """Compile `function` into its callers: for inner loops, where a call costs more than the work."""
    return jit(function, inline="always")


def specialized(
    function: F,
    names: Mapping[str, Any],
    home: str,
    *,
    label: str = "",
    inline: bool = False,
    counted: bool = True,
) -> F:
    """Compile a copy of `function` with some of its global names replaced, on first call.

    A function passed to numba as an argument costs time in every call; a global is compiled in. home: the
    file that the copy belongs to, which has its own cache if it comes with the package. label: distinguishes
    the copy from others of that file, also in the cache. counted: whether references to arrays are counted.
    Without counting, the function can't create arrays, but loops over many arrays are faster.
    """
    file = Path(home)
    copy = FunctionType(
        function.__code__, {**function.__globals__, **names}, function.__name__, function.__defaults__
    )
    copy.__qualname__ = ".".join(filter(None, (file.parent.name, file.stem, label, function.__name__)))
    copy.__module__ = function.__module__
    options = OPTIONS | {"_nrt": counted, "inline": "always" if inline else "never"}
    if not file.is_relative_to(PACKAGE):
        return cast(F, numba.njit(**options)(copy))
    return cast(F, _with_stamp(numba.njit(cache=True, **options)(copy), file))


def python_of(function: F) -> F:
    """Return the plain Python function of a compiled one; any other function as it is."""
    return cast(F, getattr(function, "py_func", function))


def compiled_for(function: F, *arguments: Any) -> F:
    """Compile a function for these argument types now; a ValueError names its file and line if that fails."""
    compiled: Any = jit(function)
    try:
        compiled.compile(arguments)
    except errors.NumbaError as error:
        raise _not_compiled(function, error) from error
    return cast(F, compiled)


def _not_compiled(function: Callable[..., Any], error: Exception) -> ValueError:
    code = function.__code__
    return ValueError(
        f"{code.co_filename}, line {code.co_firstlineno}: {function.__name__} can't be compiled: {error}"
    )


@cache
def _native(function: Callable[..., Any], signature: Any) -> CFunc:
    """Compile `function` to a native function, which is never unloaded."""
    # Inlined into its own entry point: otherwise each call would copy the 32 words of a world once more.
    native = CFunc(
        function,
        normalize_signature(signature),
        locals={},
        options={"error_model": "numpy", "forceinline": True},
    )
    # A closure may hold values from other files, which the stamp does not cover.
    if is_ours(function) and function.__closure__ is None:
        native.enable_caching()
        _with_stamp(native, Path(function.__code__.co_filename))
    try:
        native.compile()
    except errors.NumbaError as error:
        raise _not_compiled(function, error) from error
    return native


def address_of(function: Callable[..., Any], signature: Any) -> int:
    """Compile `function` to a native function of this type, and return its address, for `function_at`."""
    address = _native(function, signature).address
    assert address is not None
    return int(address)


def function_at(signature: Any) -> Callable[[int], Callable[..., Any]]:
    """Return a function for compiled code that turns an address into a function of the given type.

    (numba also takes native functions as arguments, but inspects each for 10 microseconds in every call of
    the kernel, which is longer than many batches take.)
    """
    function_type = types.FunctionType(signature)

    @intrinsic
    def at(typing_context: Any, address: Any) -> Any:  # noqa: ARG001
        def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            function = cgutils.create_struct_proxy(function_type)(context, builder)
            function.c_addr = builder.inttoptr(arguments[0], cgutils.voidptr_t)
            return function._getvalue()

        return function_type(types.int64), build

    return cast(Callable[[int], Callable[..., Any]], at)


def as_bits(seen: Any) -> np.uint64:
    """Return truth values as the bits of one number, in plain Python and in compiled code.

    seen: a tuple of truth values, the lowest bit first; or the number.

    >>> int(as_bits((True, False, True)))
    5
    """
    if isinstance(seen, tuple):
        return np.uint64(sum(bool(one) << bit for bit, one in enumerate(seen)))
    return np.uint64(seen)


@intrinsic
def _bits_of_tuple(typing_context: Any, seen: Any) -> Any:  # noqa: ARG001
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = context.get_value_type(types.uint64)
        bits = word(0)
        for bit, kind in enumerate(signature.args[0].types):
            one = context.is_true(builder, kind, builder.extract_value(arguments[0], bit))
            bits = builder.or_(bits, builder.shl(builder.zext(one, word), word(bit)))
        return bits

    return types.uint64(seen), build


@overload(as_bits, strict=False)
def _as_bits(seen):  # type: ignore[no-untyped-def]  # numba compares this signature with that of the result
    if isinstance(seen, types.BaseTuple):
        return lambda seen: _bits_of_tuple(seen)  # type: ignore[call-arg]  # numba passes the context
    return lambda seen: np.uint64(seen)
