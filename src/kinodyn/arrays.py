"""Array types, read-only arrays and batched products that the whole package shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.float64]
Array32: TypeAlias = NDArray[np.float32]
Mask: TypeAlias = NDArray[np.bool_]

# The precision of a batch; `np.float64` is accepted too, but types cannot tell it from `np.float32` in overloads
Float32: TypeAlias = type[np.float32] | Literal["float32"]
Float64: TypeAlias = Literal["float64"]

# The frame in which twists, Jacobians and accelerations are expressed; "aligned" is short for "local_world_aligned".
Reference: TypeAlias = Literal["local_world_aligned", "aligned", "local", "world"]


class HasMatrix(Protocol):
    """An object with `as_matrix`, such as SciPy's `Rotation` and `RigidTransform`.

    The method is looked up by name: the SciPy of Python 3.10 has no `RigidTransform` to import.
    """

    def as_matrix(self) -> Array: ...  # noqa: D102


MatrixLike: TypeAlias = ArrayLike | HasMatrix

Owner = TypeVar("Owner")
Scalar = TypeVar("Scalar", bound=np.generic)


def copied_on_access(*names: str) -> Callable[[type[Owner]], type[Owner]]:
    """Let attributes of a class that hold arrays return copies, which callers may write to and pass to any library.

    Arrays of immutable objects must not change, yet a read-only array cannot be used everywhere: compiled functions,
    such as those of `scipy.spatial.transform.Rotation`, often require a writeable buffer. The object keeps a read-only
    array, which `stored` returns without a copy, and hands out copies.

    Parameters
    ----------
    names
        Attributes of the class, which keeps its attributes in a `__dict__`. Values that are not arrays are returned as
        they are.

    Returns
    -------
    decorator
        For the class.

    Examples
    --------
    >>> @copied_on_access("axis")
    ... class Hinge:
    ...     def __init__(self, axis):
    ...         self.axis = np.array(axis)
    >>> hinge = Hinge([0.0, 0.0, 1.0])
    >>> hinge.axis[2] = 5.0
    >>> hinge.axis
    array([0., 0., 1.])
    """

    def decorate(cls: type[Owner]) -> type[Owner]:
        for name in names:
            setattr(cls, name, _CopiedOnAccess(name))
        return cls

    return decorate


def stored(instance: object, name: str) -> Array:
    """Return the read-only array behind an attribute that is copied on access."""
    array: Array = instance.__dict__[name]
    return array


class _CopiedOnAccess:
    """Descriptor of an attribute: reading it returns a copy of an array."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        try:
            value = instance.__dict__[self._name]
        except KeyError:
            raise AttributeError(f"{type(instance).__name__!r} object has no attribute {self._name!r}") from None
        return value.copy() if isinstance(value, np.ndarray) else value

    def __set__(self, instance: object, value: object) -> None:
        if isinstance(value, np.ndarray) and value.flags.writeable:
            value = read_only(value)
        instance.__dict__[self._name] = value


def frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Make an array read-only that nobody else uses, and return it."""
    array.setflags(write=False)
    return array


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a view of an array that cannot be written to."""
    view: NDArray[Scalar] = array.view()
    view.flags.writeable = False
    return view


def matvec(A: Array, x: Array) -> Array:
    """Multiply a matrix (..., m, n) and a vector (..., n)."""
    if A.ndim == 2 and x.ndim == 1:
        single: Array = A.dot(x)  # a third of the time of @
        return single
    result: Array = (A @ x[..., None])[..., 0]
    return result
