"""Recording: the data of one run, from a simulation, a controller, a planner or a real robot."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import list_of, number, one_of, reals
from kinodyn.display import displayed
from kinodyn.errors import InputError, unknown_name
from kinodyn.identification.columns import labels
from kinodyn.model.robot import Robot
from kinodyn.recording import files
from kinodyn.recording.body import RecordedBody

Figure: TypeAlias = Any  # of matplotlib, which only plotting imports

Status = Literal["complete", "diverged", "interrupted"]
STATUSES = ("complete", "diverged", "interrupted")
LIMITS = ("lower", "upper", "velocity", "effort")
GROUPS = ("contacts", "forces", "signals", "limits", "terrain")


@check_types
@displayed
@dataclass(frozen=True, eq=False)
class Recording:
    """A motion over time, with torques, contact forces and any other signals.

    A batch of simulations has its batch axes between time and the last axis: q is (n, ..., nq).

    Attributes
    ----------
    robot : str
        The robot's name.
    time : (n,)
        Increasing [s].
    q, v, tau : (n, ..., nq), (n, ..., nv), (n, ..., nv)
        Configurations, velocities, and the generalised forces that act from this row to the next.
    contacts : dict of frame -> (n, ...)
        Whether the frame is in contact.
    forces : dict of frame -> (n, ..., 6)
        Contact wrench on the frame [N, N m] in world axes, about the origin of the frame, over the time step that ends
        with this row.
    signals : dict of name -> (n, ...)
        Other signals.
    q_names, v_names : tuple of str
        Names of the columns of q, and of v and tau.
    limits : dict
        "lower", "upper" (nq,), "velocity", "effort" (nv,), for plots; may be empty.
    terrain : dict
        The ground where it is not the plane z = 0, as triangles: "vertices" (k, 3) [m] and "faces" (m, 3); or empty.
    status : "complete", "diverged" or "interrupted"
    reason : str
        Why the run ended early: the time, the joint, what was wrong.
    body : RecordedBody or None
        The robot that was recorded, if it is known: replaying the recording on another robot raises an error.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("planar2r")
    >>> recording = kd.sim.simulate(robot, None, 0.1)
    >>> recording.q.shape, recording.status
    ((101, 2), 'complete')
    >>> recording.at(0.05)["q"].shape
    (2,)
    """

    robot: str
    time: Array
    q: Array
    v: Array
    tau: Array
    contacts: Mapping[str, Array] = field(default_factory=dict)
    forces: Mapping[str, Array] = field(default_factory=dict)
    signals: Mapping[str, Array] = field(default_factory=dict)
    q_names: tuple[str, ...] = ()
    v_names: tuple[str, ...] = ()
    limits: Mapping[str, Array] = field(default_factory=dict)
    terrain: Mapping[str, Array] = field(default_factory=dict)
    status: Status = "complete"
    reason: str = ""
    body: RecordedBody | None = None

    def __post_init__(self) -> None:
        fields = self.__dict__  # the dataclass is frozen
        for name in ("time", "q", "v", "tau"):
            fields[name] = _numbers(name, fields[name])
        for group in GROUPS:
            given = fields[group]
            if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
                raise InputError(f"{group} must be a mapping of name -> array")
            kept = {name: _numbers(f"{group}[{name!r}]", array, group == "contacts") for name, array in given.items()}
            fields[group] = MappingProxyType(kept)
        for name in ("q_names", "v_names"):
            fields[name] = list_of(name, fields[name], str, "names")
        fields["q_names"] = self.q_names or tuple(f"{k}" for k in range(self.q.shape[-1] if self.q.ndim else 0))
        fields["v_names"] = self.v_names or tuple(f"{k}" for k in range(self.v.shape[-1] if self.v.ndim else 0))
        _check(self)

    @classmethod
    @check_types
    def from_robot(
        cls, robot: Robot, time: ArrayLike, q: ArrayLike, v: ArrayLike, tau: ArrayLike, **more: Any
    ) -> Recording:
        """Create a recording with the names and limits of a robot.

        Parameters
        ----------
        robot : Robot
        time : (n,)
            Increasing [s].
        q, v, tau : (n, ..., nq), (n, ..., nv), (n, ..., nv)
            Configurations, velocities, generalised forces.
        **more
            Other attributes, such as `forces` and `signals`.

        Returns
        -------
        Recording
        """
        names = labels(robot)
        limits = {name: getattr(robot.limits, name) for name in LIMITS}
        for name in more:
            if name not in cls.__dataclass_fields__:
                raise unknown_name("attribute of a recording", name, cls.__dataclass_fields__)
        arrays: dict[str, Any] = {"time": time, "q": q, "v": v, "tau": tau}
        described: dict[str, Any] = {
            "q_names": names.q,
            "v_names": names.v,
            "limits": limits,
            "body": RecordedBody.from_robot(robot),
        }
        return cls(robot.name, **arrays, **described, **more)

    @property
    def duration(self) -> float:
        """Seconds from the first row to the last."""
        return float(self.time[-1] - self.time[0])

    @property
    def batch(self) -> tuple[int, ...]:
        """Shape of the batch of simulations, () for a single one."""
        return self.q.shape[1:-1]

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, rows: slice) -> Recording:
        """Return a range of rows, as in `recording[100:200]`."""
        if not isinstance(rows, slice):
            raise InputError(f"index a recording by slices such as [10:20], got {rows!r}; at(t) returns one instant")
        if len(range(len(self))[rows]) == 0:
            raise InputError(f"the slice {rows} of a recording of {len(self)} rows is empty")
        return self._mapped(lambda array: array[rows])

    def between(self, start: float, stop: float) -> Recording:
        """Return the rows of a time interval.

        Parameters
        ----------
        start, stop : float
            The interval [s], both ends included.

        Returns
        -------
        Recording
        """
        first = np.searchsorted(self.time, number("start", start), "left")
        last = np.searchsorted(self.time, number("stop", stop), "right")
        return self[int(first) : int(last)]

    def member(self, *index: int) -> Recording:
        """Return one simulation of a batch.

        Parameters
        ----------
        *index : int
            Its index, one number for each batch axis.

        Returns
        -------
        Recording
        """
        if len(index) != len(self.batch) or any(not -n <= i < n for i, n in zip(index, self.batch, strict=True)):
            raise InputError(f"the batch has shape {self.batch}; there is no member {index}")
        axes = (slice(None), *index)
        depth = len(self.batch)
        return self._mapped(lambda array: array[axes] if array.shape[1 : 1 + depth] == self.batch else array)

    def at(self, t: ArrayLike) -> dict[str, Array]:
        """Look up every array at given times; between two rows the values of the earlier one apply.

        Parameters
        ----------
        t : (...)
            Times [s] within the recording.

        Returns
        -------
        dict of str -> (..., ...)
            Arrays by the names that `arrays` gives them.
        """
        times = reals("t", t)
        slack = 1e-9 * max(1.0, abs(float(self.time[-1])))
        if not ((times >= self.time[0] - slack) & (times <= self.time[-1] + slack)).all():
            raise InputError(f"t must be from {self.time[0]:g} to {self.time[-1]:g} s, got {t!r}")
        row = np.clip(np.searchsorted(self.time, times + slack, "right") - 1, 0, len(self) - 1)
        return {name: array[row] for name, array in self.arrays()}

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """Iterate over all arrays with a row for each time: "q", "forces.left_foot", a signal's own name, ..."""
        for name in ("time", "q", "v", "tau"):
            yield name, getattr(self, name)
        for group in ("contacts", "forces"):
            for name, array in getattr(self, group).items():
                yield f"{group}.{name}", array
        yield from self.signals.items()

    @check_types
    def array(self, name: str) -> Array:
        """Return an array by the name that `arrays` gives it.

        Parameters
        ----------
        name : str

        Returns
        -------
        (n, ...)
        """
        found = dict(self.arrays())
        if name not in found:
            raise unknown_name("signal", name, found)
        return found[name]

    def with_signals(self, **signals: ArrayLike) -> Recording:
        """Return a copy with more signals.

        Parameters
        ----------
        **signals : (n, ...)
            The signals by name.

        Returns
        -------
        Recording
        """
        arrays = {name: np.asarray(array) for name, array in signals.items()}
        return replace(self, signals={**self.signals, **arrays})

    @check_types
    def save(self, path: str | os.PathLike[str], *, robot: Robot | None = None) -> None:
        """Write the recording to a file, which is replaced only after everything has been written.

        CSV has the columns only; `load` reads the other formats. `kinodyn.identification.read` reads .npz, .parquet and
        .csv.

        Parameters
        ----------
        path : str or path
            A .npz, .parquet (`pip install 'kinodyn[data]'`) or .csv file; or a ROS 2 bag (`pip install
            'kinodyn[ros]'`): an .mcap file, or a path without a suffix for a rosbag2 folder with SQLite storage.
        robot : Robot, optional
            In a bag: write /robot_description and all links on /tf too, so that Foxglove and RViz show the robot.
        """
        if files.is_bag(path):
            from kinodyn.recording.bag_writer import save  # rosbags is optional and takes time to import

            save(vars(self), path, robot)
        else:
            files.save(vars(self), path)

    @staticmethod
    @check_types
    def load(
        path: str | os.PathLike[str],
        *,
        robot: Robot | None = None,
        topics: Mapping[str, str] | None = None,
        max_bytes: int | None = None,
    ) -> Recording:
        """Read a recording from a file; nothing in it is unpickled or executed.

        Parameters
        ----------
        path : str or path
            A .npz or .parquet file that `save` wrote; or any ROS 2 bag with joint states: an .mcap or .db3 file, or a
            rosbag2 folder.
        robot : Robot, optional
            For bags: the columns are those of this robot, by the names of its joints. Without it they are those that
            `save` wrote, otherwise those of the messages.
        topics : dict, optional
            For bags: names of topics other than {"joint_states": "/joint_states", "odometry": "/odom", "tf": "/tf"}.
        max_bytes : int, optional
            Size that a .npz or .parquet file may unpack to. By default 64 times its own size, but at least 256 MiB and
            at most 4 GiB: a small file can contain a huge table.

        Returns
        -------
        Recording

        Raises
        ------
        InputError
            If the file is broken or is not a recording.
        """
        if files.is_bag(path):
            from kinodyn.recording.bag_reader import load  # rosbags is optional and takes time to import

            return load(path, Recording, robot, topics)
        return files.load(path, Recording, max_bytes)

    def to_pandas(self) -> Any:
        """Return all columns as a pandas DataFrame with the time as index.

        Returns
        -------
        pandas.DataFrame
            Columns such as `q.elbow`, `forces.left_foot.fx`, as the files of `save` have them.
        """
        from kinodyn.recording.frames import to_pandas  # import cycle: frames are made of recordings

        return to_pandas(self)

    def to_xarray(self) -> Any:
        """Return all arrays as an xarray Dataset with the coordinates time, q_name and v_name.

        Returns
        -------
        xarray.Dataset
        """
        from kinodyn.recording.frames import to_xarray  # import cycle: frames are made of recordings

        return to_xarray(self)

    @check_types
    def plot(
        self, *signals: str, columns: Sequence[str] | None = None, path: str | os.PathLike[str] | None = None
    ) -> Figure:
        """Plot signals over time, a panel for each column, with limits where there are any.

        Parameters
        ----------
        *signals : str
            Names as `arrays` gives them; by default q, v and tau.
        columns : sequence of str, optional
            Which columns, such as joint names; by default all.
        path : str or path, optional
            An image file to write.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from kinodyn.recording.plots import plot  # import cycle: plots are built on recordings

        return plot(self, signals or ("q", "v", "tau"), columns, path)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), **{group: dict(getattr(self, group)) for group in GROUPS}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    def __repr__(self) -> str:
        many = f", batch {self.batch}" if self.batch else ""
        return f"Recording({self.robot!r}, {len(self)} rows, {self.duration:g} s{many}, {self.status})"

    def _mapped(self, change: Any) -> Recording:
        arrays: dict[str, Any] = {name: change(getattr(self, name)) for name in ("time", "q", "v", "tau")}
        groups: dict[str, Any] = {
            group: {name: change(array) for name, array in getattr(self, group).items()}
            for group in ("contacts", "forces", "signals")
        }
        return replace(self, **arrays, **groups)


def _numbers(name: str, value: ArrayLike, boolean: bool = False) -> Array:
    # a writable copy: many functions of SciPy do not accept read-only arrays
    return reals(name, value).astype(bool if boolean else np.float64)


def _check(recording: Recording) -> None:
    time, q, v = recording.time, recording.q, recording.v
    if time.ndim != 1 or len(time) == 0 or not np.isfinite(time).all() or not (np.diff(time) > 0).all():
        raise InputError(f"time must be (n,) with n > 0, finite and increasing, got shape {time.shape}")
    for name in ("q", "v", "tau"):
        array = getattr(recording, name)
        if array.ndim < 2 or array.shape[0] != len(time) or array.shape[1:-1] != q.shape[1:-1]:
            raise InputError(f"{name} must be (n, ..., k) with n = {len(time)} and q's batch axes, got {array.shape}")
        if not np.isfinite(array).all():
            raise InputError(f"{name} has numbers that are not finite")
    if recording.tau.shape != v.shape:
        raise InputError(f"tau must have the shape of v, {v.shape}, got {recording.tau.shape}")
    for name, names, size in (("q_names", recording.q_names, q.shape[-1]), ("v_names", recording.v_names, v.shape[-1])):
        if len(names) != size or len(set(names)) < size:
            raise InputError(f"{name} must be {size} names, all different, got {len(names)}")
    for name, array in recording.arrays():
        if array.shape[:1] != time.shape:
            raise InputError(f"{name} must have {len(time)} rows as time has, got shape {array.shape}")
    for name, force in recording.forces.items():
        if force.shape != (*q.shape[:-1], 6):
            raise InputError(f"forces[{name!r}] must be {(*q.shape[:-1], 6)}, got {force.shape}")
    for name, array in recording.limits.items():
        size = q.shape[-1] if name in ("lower", "upper") else v.shape[-1]
        if name not in LIMITS or array.shape != (size,):
            raise InputError(
                f"limits[{name!r}] must be as long as q or v, and one of {', '.join(LIMITS)}, got shape {array.shape}"
            )
    _check_terrain(recording.terrain)
    reserved = {"time", "q", "v", "tau"} & set(recording.signals)
    if reserved or any(name.startswith(("contacts.", "forces.")) for name in recording.signals):
        raise InputError(f"signals must not be called time, q, v, tau, contacts.* or forces.*: {sorted(reserved)}")
    one_of("status", recording.status, STATUSES)


def _check_terrain(terrain: Mapping[str, Array]) -> None:
    if not terrain:
        return
    if set(terrain) != {"vertices", "faces"}:
        raise InputError(f'terrain must have "vertices" and "faces", got {sorted(terrain)}')
    for name, array in terrain.items():
        if array.ndim != 2 or array.shape[1] != 3 or not np.isfinite(array).all():
            raise InputError(f"terrain[{name!r}] must be (k, 3) and finite, got shape {array.shape}")
    faces = terrain["faces"]
    if (faces != np.round(faces)).any() or (faces < 0).any() or (faces >= len(terrain["vertices"])).any():
        raise InputError(f"faces of the terrain must be indices of its {len(terrain['vertices'])} vertices")
