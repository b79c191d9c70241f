"""A call from compiled JAX programs to Python functions of NumPy arrays, by XLA's foreign function interface.

Arguments and results are the buffers of XLA themselves. `jax.pure_callback` would copy them, and blocks forever where
all threads of XLA wait for such copies, as on a machine with one core. The structures are the stable part of XLA's C
interface (xla/ffi/api/c_api.h).
"""

from __future__ import annotations

import ctypes as c
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np

Function = Callable[[Sequence[Any]], Sequence[Any]]  # NumPy arrays to NumPy arrays

TARGET = "kinodyn"
METADATA, INVALID_ARGUMENT = 1, 3
DTYPES = {11: np.float32, 12: np.float64}


class Extension(c.Structure):
    """Base of extensions."""

    _fields_ = [("struct_size", c.c_size_t), ("type", c.c_int), ("next", c.c_void_p)]


class Version(c.Structure):
    """Version of the interface."""

    _fields_ = [("struct_size", c.c_size_t), ("extension", c.c_void_p), ("major", c.c_int), ("minor", c.c_int)]


class Metadata(c.Structure):
    """What XLA asks of a handler: the version of the interface that it uses."""

    _fields_ = [("struct_size", c.c_size_t), ("version", Version)]


class MetadataExtension(c.Structure):
    """The question for metadata."""

    _fields_ = [("base", Extension), ("metadata", c.POINTER(Metadata))]


class ErrorArgs(c.Structure):
    """Arguments of the function that makes an error."""

    _fields_ = [("struct_size", c.c_size_t), ("extension", c.c_void_p), ("message", c.c_char_p), ("code", c.c_int)]


class Api(c.Structure):
    """Functions of XLA, up to the one that makes an error."""

    _fields_ = [
        ("struct_size", c.c_size_t),
        ("extension", c.c_void_p),
        ("version", Version),
        ("internal", c.c_void_p),
        ("create_error", c.CFUNCTYPE(c.c_void_p, c.POINTER(ErrorArgs))),
    ]


class Buffer(c.Structure):
    """An array."""

    _fields_ = [
        ("struct_size", c.c_size_t),
        ("extension", c.c_void_p),
        ("dtype", c.c_int),
        ("data", c.c_void_p),
        ("rank", c.c_int64),
        ("dims", c.POINTER(c.c_int64)),
    ]


class Buffers(c.Structure):
    """Arguments or results."""

    _fields_ = [
        ("struct_size", c.c_size_t),
        ("extension", c.c_void_p),
        ("size", c.c_int64),
        ("types", c.c_void_p),
        ("buffers", c.POINTER(c.POINTER(Buffer))),
    ]


class Scalar(c.Structure):
    """An attribute that is one number."""

    _fields_ = [("dtype", c.c_int), ("value", c.POINTER(c.c_int64))]


class Attributes(c.Structure):
    """Attributes of the call."""

    _fields_ = [
        ("struct_size", c.c_size_t),
        ("extension", c.c_void_p),
        ("size", c.c_int64),
        ("types", c.c_void_p),
        ("names", c.c_void_p),
        ("values", c.POINTER(c.POINTER(Scalar))),
    ]


class CallFrame(c.Structure):
    """One call."""

    _fields_ = [
        ("struct_size", c.c_size_t),
        ("extension", c.POINTER(Extension)),
        ("api", c.POINTER(Api)),
        ("context", c.c_void_p),
        ("stage", c.c_int),
        ("arguments", Buffers),
        ("results", Buffers),
        ("attributes", Attributes),
    ]


_functions: list[Function] = []


@cache
def _version() -> tuple[int, int]:
    """Return the version of the installed interface, major and minor: what is used here is the same in all of them."""
    header = Path(jax.ffi.include_dir()) / "xla" / "ffi" / "api" / "c_api.h"
    found = dict(re.findall(r"#define XLA_FFI_API_(MAJOR|MINOR) (\d+)", header.read_text(encoding="utf-8")))
    return int(found["MAJOR"]), int(found["MINOR"])


def _arrays(buffers: Buffers) -> list[Any]:
    """Return the buffers as NumPy arrays that share their memory."""
    found = []
    for k in range(buffers.size):
        buffer = buffers.buffers[k].contents
        dtype = np.dtype(DTYPES[buffer.dtype])
        shape = tuple(buffer.dims[: buffer.rank])
        size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        memory: Any = (c.c_char * size).from_address(buffer.data) if size else b""
        found.append(np.frombuffer(memory, dtype).reshape(shape))
    return found


def _run(frame: CallFrame) -> None:
    function = _functions[frame.attributes.values[0].contents.value[0]]
    for result, value in zip(_arrays(frame.results), function(_arrays(frame.arguments)), strict=True):
        result[...] = value


@c.CFUNCTYPE(c.c_void_p, c.POINTER(CallFrame))
def _handler(pointer: Any) -> int | None:
    frame = pointer.contents
    if frame.extension and frame.extension.contents.type == METADATA:
        asked = c.cast(frame.extension, c.POINTER(MetadataExtension)).contents.metadata.contents
        asked.version.major, asked.version.minor = _version()
        return None
    try:
        _run(frame)
    except Exception as error:  # raised again by JAX, in the thread of the caller
        text = f"{type(error).__name__}: {error}".encode()
        arguments = ErrorArgs(c.sizeof(ErrorArgs), None, text, INVALID_ARGUMENT)
        made: int | None = frame.api.contents.create_error(c.byref(arguments))
        return made
    return None


def register(function: Function) -> int:
    """Make a function callable from compiled programs, for as long as the process lives; returns its number."""
    if not _functions:
        _version()  # read here, where an error is raised: XLA asks in a callback
        jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(_handler), platform="cpu")
    _functions.append(function)
    return len(_functions) - 1


def call(number: int, shapes: Any, arrays: Sequence[Any], vmap_method: str) -> Any:
    """Call a registered function with arrays of JAX; `shapes` are those of its results."""
    return jax.ffi.ffi_call(TARGET, shapes, vmap_method=vmap_method)(*arrays, number=np.int64(number))
