"""Periodic trajectories: a finite Fourier series for each joint."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import tables
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, numbers, positive
from kinodyn.display import displayed
from kinodyn.errors import InputError

FORMAT = "kinodyn exciting trajectory 1"
MAX_TIMES = 10**8


@displayed
@dataclass(frozen=True, eq=False)
class ExcitingTrajectory:
    """A periodic motion; call it with times to get (q, v, a).

    With w = 2 pi / period, v = sum over k = 1, 2, ... of cos_k cos(k w t) + sin_k sin(k w t), and q its integral about
    `centre` (J. Swevers et al., "Optimal robot excitation and identification", 1997).

    Attributes
    ----------
    robot : str
    joint_names : tuple of str
    period : float
        [s]
    centre : (nq,) array
        [rad or m]
    cosines, sines : (harmonics, nq) arrays
        Fourier coefficients of the velocity [rad/s or m/s].
    condition : float
        Condition number of the base regressor along one period, columns scaled to norm 1.
    effort : float
        The largest torque of the prior robot as a fraction of its limit; 0 where there are no limits.
    status : str
        "within limits", or what is exceeded.
    """

    robot: str
    joint_names: tuple[str, ...]
    period: float
    centre: Array
    cosines: Array
    sines: Array
    condition: float
    effort: float
    status: str

    @property
    def success(self) -> bool:
        """Whether the motion satisfies all limits."""
        return self.status == "within limits"

    def __call__(self, time: ArrayLike) -> tuple[Array, Array, Array]:
        """Compute q, v and a (..., nq) at times (...) [s]."""
        return fourier(numbers("time", time), self.period, self.centre, self.cosines, self.sines)

    def times(self, rate: float = 100.0, *, periods: int = 1) -> Array:
        """Return evenly spaced times over some periods, without the end.

        Parameters
        ----------
        rate : float
            Samples per second [Hz].
        periods : int

        Returns
        -------
        (n,)
            [s].
        """
        rate = positive("rate", rate)
        count = integer("periods", periods, 1) * self.period * rate
        if count > MAX_TIMES:
            raise InputError(f"{count:.3g} times are too many, at most {MAX_TIMES}; lower the rate or periods")
        return np.arange(round(count)) / rate

    @check_types
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an NPZ file of plain arrays.

        Parameters
        ----------
        path : str or path
            The file, whatever its suffix.
        """
        content = {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}
        tables.write_file(path, lambda stream: np.savez_compressed(stream, format=FORMAT, **content))  # type: ignore[arg-type]

    @classmethod
    @check_types
    def load(cls, path: str | os.PathLike[str]) -> ExcitingTrajectory:
        """Read a trajectory that `save` wrote; nothing in it is unpickled.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        ExcitingTrajectory

        Raises
        ------
        InputError
            If the file is broken or is not a trajectory.
        """
        name = os.fspath(path)
        content = tables.read_npz(path, "a saved trajectory", ("format", *(field.name for field in fields(cls))))
        if content.pop("format") != FORMAT:
            raise InputError(f"{name} is not in the format {FORMAT!r}")
        n, shape = content["joint_names"].size, content["cosines"].shape
        shapes = {"centre": (n,), "cosines": (*shape[:1], n), "sines": shape, "joint_names": (n,)}
        for key, array in content.items():
            text = key in ("robot", "joint_names", "status")
            wrong = array.shape != shapes.get(key, ()) or array.dtype.kind != ("U" if text else "f")
            if wrong or (not text and key != "condition" and not np.isfinite(array).all()):
                raise InputError(f"{name}: {key} is an array {array.shape} of {array.dtype}, not that of a trajectory")
        return cls(
            robot=str(content["robot"]),
            joint_names=tuple(str(joint) for joint in content["joint_names"]),
            period=float(content["period"]),
            centre=content["centre"],
            cosines=content["cosines"],
            sines=content["sines"],
            condition=float(content["condition"]),
            effort=float(content["effort"]),
            status=str(content["status"]),
        )


def fourier(time: Array, period: float, centre: Array, cosines: Array, sines: Array) -> tuple[Array, Array, Array]:
    """Compute position, velocity and acceleration of the series at times (...); coefficients may be a batch."""
    w = 2.0 * np.pi / period * np.arange(1, cosines.shape[-2] + 1)
    phase = time[..., None] * w
    c, s = np.cos(phase), np.sin(phase)
    q = centre + (s / w) @ cosines - (c / w) @ sines
    return q, c @ cosines + s @ sines, (c * w) @ sines - (s * w) @ cosines
