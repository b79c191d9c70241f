"""Reduction of all samples to one triangular matrix, and estimate of the noise of each torque."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from kinodyn.arrays import Array
from kinodyn.identification.measurements import Measurements
from kinodyn.identification.model import Model, chunks

MIN_NOISE = 1e-6  # as a fraction of the torque: a simulation may have none
MIN_RELATIVE_SCALE = 1e-3  # of a row, as a fraction of the largest
MIN_SCALE = 1e-3  # of a row [N m or N]
RANK_TOLERANCE = 1e-10  # singular values below this fraction of the largest are rounding


@dataclass(frozen=True, eq=False)
class Reduced:
    """The least-squares problem of all samples, each row divided by its noise: |R x - z|^2 + constant.

    `R` (p, p) is upper triangular, `z` (p,), `rows` the number of torques.
    """

    R: Array
    z: Array
    rows: int


def reduce(model: Model, data: Measurements, sigma: Array) -> Reduced:
    """Reduce all samples to one triangle, a part at a time: memory does not grow with the length of a recording."""
    p, known = len(model.names), model.known_torques(data)
    triangle = np.zeros((0, p + 1))
    for part in chunks(len(data), model.robot.nv):
        some = data[part]
        Y = model.regressor(some.q, *some.rates())
        y = some.tau - known[part]
        rows = np.concatenate([Y, y[..., None]], axis=-1) / sigma[:, None]
        stacked = np.concatenate([triangle, rows.reshape(-1, p + 1)])
        triangle = qr(stacked, mode="r")[0][: p + 1]
    full = np.zeros((p + 1, p + 1))
    full[: len(triangle)] = triangle
    return Reduced(full[:p, :p], full[:p, p], len(data) * model.robot.nv)


def scales(model: Model, data: Measurements) -> Array:
    """Compute the scale (nv,) of each row: of its torque and of what the prior predicts."""
    explained = model.predict(data, model.prior()) - model.known_torques(data)
    sizes = np.sqrt(np.mean(explained**2, axis=0)), np.sqrt(np.mean(data.tau**2, axis=0))
    size: Array = np.maximum(*sizes)
    return np.maximum(size, max(MIN_RELATIVE_SCALE * float(size.max()), MIN_SCALE))


def noise(model: Model, data: Measurements, x: Array, size: Array, free: int) -> Array:
    """Estimate the standard deviation (nv,) of the noise of each torque from the residuals of parameters x."""
    left = model.predict(data, x) - data.tau
    fraction = max(1.0 - free / (len(data) * model.robot.nv), 0.1)  # parameters fit some of the noise
    return np.asarray(np.maximum(np.sqrt(np.mean(left**2, axis=0) / fraction), MIN_NOISE * size))
