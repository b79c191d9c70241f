"""All samples in one triangular matrix, and the noise of each torque."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from kinodyn.arrays import Array
from kinodyn.identification.measurements import Measurements
from kinodyn.identification.model import Model, chunks

QUIET = 1e-6  # least noise that is believed, as a share of the torque: a simulation has none
SMALL = 1e-3  # least size of a row, as a share of the largest
SMALLEST = 1e-3  # and if all are nearly zero [N m or N]
NULL = 1e-10  # singular values below this share of the largest are rounding


@dataclass(frozen=True, eq=False)
class Reduced:
    """The least-squares problem of all samples, each row divided by its noise: |R x - z|^2 + what is left over.

    `R` (p, p) is upper triangular, `z` (p,), `rows` the number of torques it stands for.
    """

    R: Array
    z: Array
    rows: int


def reduce(model: Model, data: Measurements, sigma: Array) -> Reduced:
    """Put all samples into one triangle, a part at a time, so that the length of a recording costs no memory."""
    p, known = len(model.names), model.known(data)
    triangle = np.zeros((0, p + 1))
    for part in chunks(len(data), model.robot.nv):
        some = data[part]
        Y = model.columns(some.q, *some.moving())
        y = some.tau - known[part]
        rows = np.concatenate([Y, y[..., None]], axis=-1) / sigma[:, None]
        stacked = np.concatenate([triangle, rows.reshape(-1, p + 1)])
        triangle = qr(stacked, mode="r")[0][: p + 1]
    full = np.zeros((p + 1, p + 1))
    full[: len(triangle)] = triangle
    return Reduced(full[:p, :p], full[:p, p], len(data) * model.robot.nv)


def scales(model: Model, data: Measurements) -> Array:
    """Compute the size (nv,) of each row of the equation: that of its torque and of what the prior explains."""
    explained = model.predict(data, model.prior()) - model.known(data)
    sizes = np.sqrt(np.mean(explained**2, axis=0)), np.sqrt(np.mean(data.tau**2, axis=0))
    size: Array = np.maximum(*sizes)
    return np.maximum(size, max(SMALL * float(size.max()), SMALLEST))


def noise(model: Model, data: Measurements, x: Array, size: Array, free: int) -> Array:
    """Estimate the standard deviation (nv,) of each torque's noise from what parameters x leave unexplained."""
    left = model.predict(data, x) - data.tau
    share = max(1.0 - free / (len(data) * model.robot.nv), 0.1)  # parameters explain some of the noise as well
    return np.asarray(np.maximum(np.sqrt(np.mean(left**2, axis=0) / share), QUIET * size))
