"""Measurements: checked data of a moving robot."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import tables
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.identification.columns import base_rows, groups, labels
from kinodyn.model.robot import Robot

UNIT_TOLERANCE = 1e-3  # of the norm of a recorded quaternion: files have few digits


@displayed
@dataclass(frozen=True, eq=False)
class Measurements:
    """A recording of one robot, made by `measurements`, `read` or `simulate`.

    Attributes
    ----------
    robot : Robot
    time : (n,) array
        Strictly increasing [s].
    q : (n, nq) array
    v, a : (n, nv) arrays or None
        None where they were not recorded; `prepare` computes them.
    tau : (n, nv) array
        Zero in the rows of a floating base.
    wrenches : dict of frame -> (n, 6)
        External wrenches [N, N m] in world axes, about the origin of the frame.
    ignored : tuple of str
        Columns of the file that were not used.
    """

    robot: Robot
    time: Array
    q: Array
    v: Array | None
    a: Array | None
    tau: Array
    wrenches: Mapping[str, Array] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        missing = [name for name in ("v", "a") if getattr(self, name) is None]
        span = f"{self.time[0]:.6g} to {self.time[-1]:.6g} s"
        return f"Measurements({self.robot.name!r}, n={len(self)}, {span}" + "".join(f", no {m}" for m in missing) + ")"

    def __getitem__(self, part: slice) -> Measurements:
        """Return a range of samples."""
        if not isinstance(part, slice):
            raise InputError(f"index measurements by a slice such as data[100:200], got {part!r}")
        v, a = (None if rate is None else rate[part] for rate in (self.v, self.a))
        wrenches = {frame: wrench[part] for frame, wrench in self.wrenches.items()}
        return replace(self, time=self.time[part], q=self.q[part], v=v, a=a, tau=self.tau[part], wrenches=wrenches)

    def rates(self) -> tuple[Array, Array]:
        """Return v and a (n, nv); raise if one was not recorded."""
        if self.v is None or self.a is None:
            missing = " and ".join(name for name in ("v", "a") if getattr(self, name) is None)
            raise InputError(f"the measurements have no {missing}; kd.identification.prepare computes it from q")
        return self.v, self.a

    def split(self, fraction: float = 0.25) -> tuple[Measurements, Measurements]:
        """Split into samples to fit and held-out samples.

        Parameters
        ----------
        fraction : float
            Fraction of the samples that is held out, at the end.

        Returns
        -------
        train, test : Measurements
        """
        if isinstance(fraction, bool) or not isinstance(fraction, int | float) or not 0.0 < fraction < 1.0:
            raise InputError(f"fraction must be a number between 0 and 1, got {fraction!r}")
        cut = len(self) - round(fraction * len(self))
        if not 0 < cut < len(self):
            raise InputError(f"{len(self)} samples cannot be cut at a fraction of {fraction}; record more")
        return self[:cut], self[cut:]

    @check_types
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file that `read` reads.

        Parameters
        ----------
        path : str or path
            A .csv, .npz or .parquet (`pip install 'kinodyn[data]'`) file.
        """
        columns: tables.Columns = {"time": self.time}
        for group, names in groups(self.robot).items():
            array = getattr(self, group)
            skipped = base_rows(self.robot) if group == "tau" else 0
            if array is not None:
                columns.update({f"{group}.{name}": array[:, k] for k, name in enumerate(names) if k >= skipped})
        for frame, wrench in self.wrenches.items():
            columns.update({f"wrench.{frame}.{axis}": wrench[:, k] for k, axis in enumerate(tables.WRENCH)})
        tables.write(path, columns)


@check_types
def measurements(
    robot: Robot,
    time: ArrayLike,
    q: ArrayLike,
    tau: ArrayLike,
    *,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
    wrenches: Mapping[str, ArrayLike] | None = None,
) -> Measurements:
    """Check arrays and create measurements.

    Parameters
    ----------
    robot : Robot
    time : (n,)
        [s], strictly increasing, evenly spaced or not.
    q : (n, nq)
        Configurations; quaternions are normalised.
    tau : (n, nv) or (n, nv - 6)
        Torques; for a floating base those of the joints alone, or with zeros for the base.
    v, a : (n, nv), optional
        Velocities and accelerations, if they were recorded.
    wrenches : mapping of frame -> (n, 6), optional
        External wrenches [N, N m] in world axes, about the origin of the frame.

    Returns
    -------
    Measurements

    Raises
    ------
    InputError
        For wrong shapes, NaN and time that does not increase, with the row and the column.
    UnknownNameError
        For a wrench on a frame that the robot does not have.
    """
    t = _times(time)
    n = len(t)
    for frame in wrenches or {}:
        robot.frame_index(frame)
    names = labels(robot)
    external = {
        frame: _table(f"wrench of {frame!r}", wrench, n, tables.WRENCH) for frame, wrench in (wrenches or {}).items()
    }
    return Measurements(
        robot=robot,
        time=t,
        q=_unit(robot, _table("q", q, n, names.q)),
        v=None if v is None else _table("v", v, n, names.v),
        a=None if a is None else _table("a", a, n, names.v),
        tau=_torques(robot, tau, n, names.v),
        wrenches=external,
    )


@check_types
def join(*parts: Measurements) -> Measurements:
    """Concatenate measurements of one robot: several runs, or the parts on both sides of a gap.

    Parameters
    ----------
    *parts : Measurements
        A part that does not start after the previous one is shifted to start one time step after it.

    Returns
    -------
    Measurements
    """
    if not parts:
        raise InputError("join needs at least one recording")
    first = parts[0]
    for part in parts[1:]:
        if part.robot.joint_names != first.robot.joint_names or set(part.wrenches) != set(first.wrenches):
            raise InputError(f"recordings of {first.robot.name} and {part.robot.name} differ in joints or wrenches")
    times: list[Array] = []
    for part in parts:
        late = times[-1][-1] + (times[-1][-1] - times[-1][-2]) - part.time[0] if times else 0.0
        times.append(part.time + (late if times and part.time[0] <= times[-1][-1] else 0.0))

    def together(name: str) -> Array | None:
        arrays = [getattr(part, name) for part in parts]
        return None if any(array is None for array in arrays) else np.concatenate(arrays)

    rates = {name: together(name) for name in ("v", "a")}
    return replace(
        first,
        time=np.concatenate(times),
        q=np.concatenate([part.q for part in parts]),
        tau=np.concatenate([part.tau for part in parts]),
        wrenches={frame: np.concatenate([part.wrenches[frame] for part in parts]) for frame in first.wrenches},
        ignored=tuple(dict.fromkeys(name for part in parts for name in part.ignored)),
        **rates,  # type: ignore[arg-type]
    )


def _times(time: ArrayLike) -> Array:
    t = _numbers("time", time)
    if t.ndim != 1 or t.size < 2:
        raise InputError(f"time must have shape (n,) with at least 2 samples, got {t.shape}")
    _check_finite("time", t[:, None], ("time",))
    late = np.flatnonzero(np.diff(t) <= 0.0)
    if late.size:
        k = int(late[0])
        raise InputError(
            f"time must increase; row {k + 1} has {t[k + 1]!r} after {t[k]!r}"
            f" ({late.size} such rows); sort the rows and drop repeated ones"
        )
    return t


def _table(what: str, value: ArrayLike, n: int, names: tuple[str, ...]) -> Array:
    array = _numbers(what, value)
    if array.shape != (n, len(names)):
        raise InputError(f"{what} must have shape ({n}, {len(names)}): {', '.join(names[:8])}, ..., got {array.shape}")
    _check_finite(what, array, names)
    return array


def _torques(robot: Robot, tau: ArrayLike, n: int, names: tuple[str, ...]) -> Array:
    given = _numbers("tau", tau)
    if robot.base == "floating" and given.shape == (n, robot.nv - 6):
        given = np.concatenate([np.zeros((n, 6)), given], axis=1)
    table = _table("tau", given, n, names)
    if robot.base == "floating" and np.abs(table[:, :6]).max() > 0.0:
        raise InputError(
            "tau is not zero at the floating base, which has no motor: give 0 there, and forces as wrenches"
        )
    return table


def _numbers(what: str, value: ArrayLike) -> Array:
    try:
        array = np.asarray(value)
        kind = array.dtype.kind
    except ValueError as cause:
        raise InputError(f"{what} is not a table of numbers: {cause}") from cause
    if kind not in "iuf":
        raise InputError(f"{what} must be real numbers, got {array.dtype}")
    return array.astype(np.float64)


def _check_finite(what: str, array: Array, names: tuple[str, ...]) -> None:
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        row, column = bad[0]
        rows = len(np.unique(bad[:, 0]))
        raise InputError(
            f"{what} has {array[row, column]} at row {row}, column {names[column]!r}, {len(bad)} such numbers in"
            f" {rows} rows; drop these rows or fill them in"
        )


def _unit(robot: Robot, q: Array) -> Array:
    for joint in robot.joints:
        if joint.kind in ("ball", "floating") and joint.mimic is None:
            part = slice(joint.q.stop - 4, joint.q.stop)
            norm = np.linalg.norm(q[:, part], axis=1)
            worst = int(np.argmax(np.abs(norm - 1.0)))
            if abs(norm[worst] - 1.0) > UNIT_TOLERANCE:
                raise InputError(
                    f"q: the quaternion of {joint.name!r} has norm {norm[worst]:.6g} at row {worst}, not 1"
                )
            q[:, part] /= norm[:, None]
    return q
