"""Argument checks: finite arrays of the right shape, rotations, poses, numbers. Errors say what is wrong."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import _core
from kinodyn.arrays import Array, Float32, Float64, MatrixLike, Reference
from kinodyn.errors import InputError, SingularError, unknown_name

Item = TypeVar("Item")

UNIT_TOLERANCE = 1e-6
MANY = 5000  # numbers
MAX_FILE_NAME = 255  # bytes of a file or folder; Linux, macOS and Windows have the same limit
IS_FLOAT32: dict[object, bool] = {
    np.float32: True,
    "float32": True,
    np.float64: False,
    "float64": False,
    float: False,
}
MAX_MAGNITUDE = 1e60  # Products of several such numbers still fit in a double, so that no NaN can come out.


def numbers(what: str, value: MatrixLike, *core: int) -> Array:
    """Return `value` as finite numbers `(..., *core)`, or raise an error that calls it `what`."""
    try:
        given = np.asarray(value)
        array = given.astype(np.float64, copy=False) if given.dtype.kind in "iuf" else None
    except (TypeError, ValueError, OverflowError) as cause:
        raise InputError(f"{what} must be numbers of shape {_shape_text(core)}, got {shown(value)}") from cause
    if array is None:
        raise InputError(f"{what} must be real numbers of shape {_shape_text(core)}, got {shown(value)}")
    if array.ndim < len(core) or array.shape[array.ndim - len(core) :] != core:
        raise InputError(f"{what} must have shape {_shape_text(core)}, got {array.shape}")
    if not _is_bounded(array):
        wrong = array[~(np.abs(array) <= MAX_MAGNITUDE)].flat[0]
        named = "NaN" if np.isnan(wrong) else wrong
        raise InputError(f"{what} must be finite numbers, at most {MAX_MAGNITUDE:.0e}, got {named}")
    return array


def shown(value: object) -> str:
    """Return the repr of a value for an error; Python refuses that of an integer with more than 4300 digits."""
    try:
        return repr(value)
    except ValueError:
        return f"{type(value).__name__} of too many digits"


def _is_bounded(array: Array) -> bool:
    """Return whether all numbers are finite and at most the largest magnitude allowed."""
    if array.size > MANY:  # BLAS would start threads for the sum below, which takes milliseconds on a busy machine
        return bool(array.min() >= -MAX_MAGNITUDE and array.max() <= MAX_MAGNITUDE)
    # the sum of squares is fast to compute, and finite and small only if all numbers are
    return bool(np.vdot(array, array) <= MAX_MAGNITUDE) or bool((np.abs(array) <= MAX_MAGNITUDE).all())


def is_float32(dtype: Float32 | Float64) -> bool:
    """Return whether a dtype is float32, not float64; raise an error if it is neither."""
    try:
        return IS_FLOAT32[dtype.type if isinstance(dtype, np.dtype) else dtype]
    except (KeyError, TypeError) as cause:  # TypeError: it cannot be a key
        raise InputError(f"dtype must be float32 or float64, got {shown(dtype)}") from cause


def vector(what: str, value: ArrayLike, size: int) -> Array:
    """Return one vector `(size,)` of finite numbers, or raise."""
    array = numbers(what, value, size)
    if array.ndim != 1:
        raise InputError(f"{what} must have shape ({size},), got {array.shape}")
    return array


def _shape_text(core: tuple[int, ...]) -> str:
    return "(" + ", ".join(("...", *map(str, core))) + ("," if not core else "") + ")"


def shape_of(value: ArrayLike) -> tuple[int, ...]:
    """Return the shape that a value has as an array, () if its rows have different lengths."""
    try:
        return np.shape(value)
    except ValueError:
        return ()


def reals(what: str, value: ArrayLike) -> Array:
    """Return a value as real numbers, NaN and infinite ones included, or raise."""
    try:
        given = np.asarray(value)
        if given.dtype.kind in "iufb":
            return given.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as cause:
        raise InputError(f"{what} must be real numbers, got {shown(value)}") from cause
    raise InputError(f"{what} must be real numbers, got {shown(value)}")


def flag(what: str, value: object) -> bool:
    """Return True or False, or raise."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{what} must be True or False, got {shown(value)}")
    return bool(value)


def instance(what: str, value: object, kind: type, described: str) -> None:
    """Raise unless a value is an object of a class."""
    if not isinstance(value, kind):
        raise InputError(f"{what} must be {described}, got {type(value).__name__}")


def with_attributes(what: str, value: object, described: str, *names: str) -> None:
    """Raise unless an object, of a class of another library, has attributes of these names."""
    missing = [name for name in names if not hasattr(value, name)]
    if missing:
        raise InputError(f"{what} must be {described}, got {type(value).__name__}, which has no {missing[0]}")


def as_path(what: str, value: object) -> Path:
    """Return the path of a file, or raise; a name with a null byte, or longer than any system accepts, is none."""
    if not isinstance(value, str | os.PathLike) or "\0" in str(value):
        raise InputError(f"{what} must be the path of a file, got {shown(value)}")
    path = Path(value)
    if any(len(part.encode(errors="surrogatepass")) > MAX_FILE_NAME for part in path.parts):
        raise InputError(f"{what} must have names of at most {MAX_FILE_NAME} bytes, got {shown(value)}")
    return path


def number(what: str, value: ArrayLike) -> float:
    """Return one finite number, or raise."""
    if type(value) is float and -MAX_MAGNITUDE <= value <= MAX_MAGNITUDE:
        return value
    found = _scalar(value)
    if not -MAX_MAGNITUDE <= found <= MAX_MAGNITUDE:
        raise InputError(f"{what} must be a finite number, got {shown(value)}")
    return found


def same_shape(**named: ArrayLike) -> tuple[Array, ...]:
    """Return arguments of finite numbers stretched to a common shape, or raise an error that names them."""
    arrays = [numbers(name, value) for name, value in named.items()]
    try:
        return tuple(np.broadcast_arrays(*arrays))
    except ValueError as cause:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in zip(named, arrays, strict=True))
        raise InputError(f"shapes must be compatible, got {shapes}") from cause


def not_overflowed(what: str, result: Array) -> Array:
    """Return a result, or raise if numbers were too large to compute it."""
    if not np.isfinite(result).all():
        raise SingularError(f"{what} is not finite: the arguments are too large or too small to compute it")
    return result


def positive(what: str, value: ArrayLike) -> float:
    """Return one number above 0, or raise."""
    if type(value) is float and 0.0 < value <= MAX_MAGNITUDE:
        return value
    number = _scalar(value)
    if not 0.0 < number <= MAX_MAGNITUDE:
        raise InputError(f"{what} must be a positive number{_bound(number)}, got {shown(value)}")
    return number


def nonnegative(what: str, value: ArrayLike) -> float:
    """Return one number, 0 or more, or raise."""
    if type(value) is float and 0.0 <= value <= MAX_MAGNITUDE:
        return value
    number = _scalar(value)
    if not 0.0 <= number <= MAX_MAGNITUDE:
        raise InputError(f"{what} must be a nonnegative number{_bound(number)}, got {shown(value)}")
    return number


def _bound(number: float) -> str:
    return f", at most {MAX_MAGNITUDE:.0e}" if number > MAX_MAGNITUDE else ""


def at_most(what: str, value: float, most: float) -> float:
    """Return a number up to `most`, or raise."""
    if not value <= most:
        raise InputError(f"{what} must be at most {most:g}, got {value:g}")
    return value


def _scalar(value: ArrayLike) -> float:
    """Return one real number, NaN for anything else."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return float(array) if array.shape == () and array.dtype.kind in "iuf" else math.nan


def seed_number(value: object) -> int:
    """Return the seed of a random number generator, or raise."""
    return integer("seed", value, 0, 2**63 - 1)


def integer(what: str, value: object, least: int = 0, most: int | None = None) -> int:
    """Return one integer from `least` to `most`, or raise."""
    if type(value) is int and least <= value and (most is None or value <= most):
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        number = int(value)
        if least <= number and (most is None or number <= most):
            return number
    lower = {0: "a nonnegative integer", 1: "a positive integer"}.get(least, f"an integer of at least {least}")
    allowed = lower if most is None else f"an integer from {least} to {most}"
    raise InputError(f"{what} must be {allowed}, got {shown(value)}")


def one_of(what: str, value: object, allowed: Sequence[str]) -> None:
    """Raise unless `value` is one of the strings that are allowed."""
    if not isinstance(value, str) or value not in allowed:
        *others, last = (f'"{name}"' for name in allowed)
        names = f"{', '.join(others)} or {last}" if others else last
        raise InputError(f"{what} must be {names}, got {shown(value)}")


def known_names(what: str, names: object, kind: str, known: Collection[str]) -> tuple[str, ...]:
    """Return a sequence of names, each of them known, or raise; `kind` is what they are the names of."""
    chosen = tuple(names) if isinstance(names, Iterable) and not isinstance(names, str) else None
    if chosen is None or not all(isinstance(name, str) for name in chosen):
        raise InputError(f"{what} must be a sequence of {kind} names, got {shown(names)}")
    for name in chosen:
        if name not in known:
            raise unknown_name(kind, name, known)
    return chosen


def items(what: str, value: Iterable[Item], described: str) -> tuple[Item, ...]:
    """Return a list of anything as a tuple, or raise; a string is none."""
    scalar = isinstance(value, str | bytes) or isinstance(value, np.ndarray) and not value.ndim
    if scalar or not isinstance(value, Iterable):
        raise InputError(f"{what} must be a list of {described}, got {shown(value)}")
    return tuple(value)


def list_of(what: str, value: Iterable[Item], kind: type, described: str) -> tuple[Item, ...]:
    """Return a list of objects of a class as a tuple, or raise."""
    if isinstance(value, kind):
        raise InputError(f"{what} must be a list of {described}, got a single one: {type(value).__name__}")
    if not isinstance(value, Iterable):
        raise InputError(f"{what} must be a list of {described}, got {shown(value)}")
    items = tuple(value)
    for item in items:
        if not isinstance(item, kind):
            raise InputError(f"{what} must be a list of {described}, got one with {shown(item)}")
    return items


def distinct_names(what: str, names: Iterable[str]) -> None:
    """Raise if two objects of a list have the same name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"two {what} are called {name!r}; set name= of one of them")
        seen.add(name)


def positive_vector(what: str, value: ArrayLike, size: int) -> Array:
    """Return `size` numbers above 0 as a copy, or raise."""
    # a tuple of floats is checked in a loop, which is fast: planners make worlds of boxes thousands of times a second
    if isinstance(value, tuple) and len(value) == size:
        for number in value:
            if type(number) is not float or not 0.0 < number <= MAX_MAGNITUDE:
                break
        else:
            return np.array(value)
    array: Array = numbers(what, value, size).copy()
    if array.ndim != 1 or not (array > 0.0).all():
        raise InputError(f"{what} must be {size} positive numbers, got {shown(value)}")
    return array


def triangle_indices(what: str, value: ArrayLike, vertices: int) -> NDArray[np.int64]:
    """Return triangles as indices (m, 3) of that many vertices, or raise."""
    array = np.asarray(value)
    if array.ndim != 2 or array.shape[1:] != (3,) or len(array) == 0 or array.dtype.kind not in "iu":
        raise InputError(f"{what} must be integers (m, 3), at least one row, got {array.dtype} {array.shape}")
    if array.min() < 0 or array.max() >= vertices:
        raise InputError(f"{what} must be indices of {vertices} vertices, got {array.min()} to {array.max()}")
    return array.astype(np.int64)


def nonnegative_vector(what: str, value: ArrayLike, n: int, each: str) -> Array:
    """Return one number or n numbers, none negative, as (n,), or raise an error that names what `each` belongs to."""
    try:
        given = np.array(np.broadcast_to(np.asarray(value, dtype=float), (n,)))
    except (TypeError, ValueError, OverflowError) as cause:
        raise InputError(f"{what} must be one number or ({n},), one for each {each}") from cause
    if not (given >= 0).all():
        raise InputError(f"{what} must be nonnegative, got {given.tolist()}")
    return given


def unit_vectors(what: str, value: ArrayLike, length: int) -> Array:
    """Return `value` as vectors `(..., length)` of norm 1, or raise."""
    array = numbers(what, value, length)
    worst = float(np.abs(np.linalg.norm(array, axis=-1) - 1.0).max(initial=0.0))
    if worst > UNIT_TOLERANCE:
        raise InputError(f"{what} must have norm 1 and is off by {worst:.3g}; divide it by its norm")
    return array


def symmetric(what: str, value: ArrayLike, size: int) -> Array:
    """Return `value` as symmetric matrices `(..., size, size)`, or raise."""
    array = numbers(what, value, size, size)
    largest = np.abs(array).max(axis=(-2, -1), initial=0.0)
    skewness = np.abs(array - np.swapaxes(array, -2, -1)).max(axis=(-2, -1), initial=0.0)
    if (skewness > UNIT_TOLERANCE * largest).any():
        raise InputError(f"{what} is not symmetric; give the full matrix, both triangles")
    return array


def as_rotation(value: MatrixLike, what: str = "rotation") -> Array:
    """Return rotation matrices of matrices, of a SciPy `Rotation`, or of poses.

    Parameters
    ----------
    value
        Matrices `(..., 3, 3)`, a SciPy `Rotation`, or poses `(..., 4, 4)`.
    what
        What an error message calls the value.

    Returns
    -------
    R : (..., 3, 3) array

    Raises
    ------
    InputError
        Unless the matrices are orthonormal within 1e-6 and right-handed.
    """
    matrix = _matrix(value)
    if shape_of(matrix)[-2:] == (4, 4):
        return as_pose(matrix, what)[..., :3, :3]
    R = numbers(what, matrix, 3, 3)
    _check_rotation(what, R)
    return R


def positions(what: str, value: MatrixLike) -> Array:
    """Return positions `(..., 3)`, or raise, also for a rotation matrix: it is a mistake where poses are meant."""
    array = numbers(what, value, 3)
    if array.shape[-2:] == (3, 3) and (np.abs(array @ np.swapaxes(array, -1, -2) - np.eye(3)) < UNIT_TOLERANCE).all():
        raise InputError(f"{what} must be poses (..., 4, 4) or positions (..., 3), got rotation matrices {array.shape}")
    return array


def _is_pose(array: Array) -> bool:
    """Return quickly whether an array already is what `as_pose` returns."""
    plain = array.dtype == np.float64 and array.flags.c_contiguous and array.shape[-2:] == (4, 4)
    return plain and _core.are_poses(array)


def as_pose(value: MatrixLike, what: str = "pose") -> Array:
    """Return poses of an array or of a SciPy `RigidTransform`, checked.

    Parameters
    ----------
    value
        Poses `(..., 4, 4)` or a SciPy `RigidTransform`.
    what
        What an error message calls the value.

    Returns
    -------
    T : (..., 4, 4) array
        A float64 array is returned as it is, not as a copy.

    Raises
    ------
    InputError
        Unless each pose is a rotation matrix, orthonormal within 1e-6 and right-handed, a position, and the last row
        0 0 0 1.

    Examples
    --------
    >>> as_pose([[1, 0, 0, 5], [0, 1, 0, 6], [0, 0, 1, 7], [0, 0, 0, 1]])[:3, 3]
    array([5., 6., 7.])
    """
    if type(value) is np.ndarray and _is_pose(value):
        return value  # otherwise the checks below find the reason
    T = numbers(what, _matrix(value), 4, 4)
    if (np.abs(T[..., 3, :] - (0.0, 0.0, 0.0, 1.0)) > UNIT_TOLERANCE).any():
        raise InputError(f"{what}: the last row is not 0 0 0 1; give poses (..., 4, 4) that take column vectors")
    _check_rotation(what, T[..., :3, :3])
    return T


def one_pose(what: str, value: MatrixLike) -> Array:
    """Return one pose `(4, 4)`, or raise."""
    T = as_pose(value, what)
    if T.ndim != 2:
        raise InputError(f"{what} must be one pose (4, 4), got shape {T.shape}")
    return T


def broadcast(*arrays_and_ranks: tuple[Array, int]) -> tuple[Array, ...]:
    """Stretch the batch axes, all but the last `rank` of each array, to a common shape."""
    batches = [array.shape[: array.ndim - rank] for array, rank in arrays_and_ranks]
    try:
        batch = np.broadcast_shapes(*batches)
    except ValueError as cause:
        shapes = " and ".join(str(shape) for shape in batches)
        raise InputError(f"the batch axes {shapes} are not compatible; make them equal or 1") from cause
    return tuple(
        np.broadcast_to(array, (*batch, *array.shape[array.ndim - rank :])) for array, rank in arrays_and_ranks
    )


def check_reference(reference: str) -> None:
    """Raise unless `reference` is one of `kinodyn.arrays.Reference`."""
    if not isinstance(reference, str) or reference not in get_args(Reference):
        one_of("reference", reference, ("local_world_aligned", "local", "world"))


def _matrix(value: MatrixLike) -> ArrayLike:
    # Looked up by name: `isinstance` with a protocol takes longer than the rest of the check.
    return value.as_matrix() if hasattr(value, "as_matrix") else value


def _check_rotation(what: str, R: Array) -> None:
    worst = float(np.abs(np.swapaxes(R, -2, -1) @ R - np.eye(3)).max(initial=0.0))
    if worst > UNIT_TOLERANCE:
        raise InputError(f"{what}: the rotation matrix is not orthonormal, off by {worst:.3g}; orthonormalise it")
    if (np.linalg.det(R) < 0).any():
        raise InputError(f"{what}: the rotation matrix is left-handed, a reflection; change the sign of one axis")
