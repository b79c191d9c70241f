"""Checks at the door of the converters: shape, finite numbers, norm 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.errors import InputError

UNIT_TOLERANCE = 1e-6


def checked(what: str, value: ArrayLike, length: int) -> Array:
    """Return `value` as finite numbers `(..., length)`, or raise an error that calls it `what`."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as cause:
        raise InputError(f"{what}: {value!r} is not an array of numbers; give shape (..., {length})") from cause
    if array.ndim == 0 or array.shape[-1] != length:
        raise InputError(f"{what}: got shape {array.shape}; give (..., {length})")
    if not np.isfinite(array).all():
        raise InputError(f"{what}: there is a NaN or infinite value; give finite numbers")
    return array


def check_unit(what: str, x: Array, place: slice | None) -> None:
    """Raise unless the numbers of `x` at `place` along the last axis have norm 1."""
    if place is None:
        return
    norms = np.linalg.norm(x[..., place], axis=-1)
    worst = float(np.abs(norms - 1.0).max(initial=0.0))
    if worst > UNIT_TOLERANCE:
        where = f"numbers {place.start} to {place.stop - 1}"
        raise InputError(f"{what}: {where} must have norm 1 and are off by {worst:.3g}; normalise them")


def broadcast(*arrays: Array) -> tuple[Array, ...]:
    """Stretch the batch axes, all but the last, of the arrays to a common shape."""
    try:
        batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    except ValueError as cause:
        shapes = " and ".join(str(array.shape) for array in arrays)
        raise InputError(f"the batch axes of {shapes} do not fit together") from cause
    return tuple(np.broadcast_to(array, (*batch, array.shape[-1])) for array in arrays)
