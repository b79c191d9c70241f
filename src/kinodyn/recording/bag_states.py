"""Joint states and base poses of any bag, as the arrays of a recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.messages import listed
from kinodyn.errors import InputError, unknown_name, warn
from kinodyn.identification.columns import labels
from kinodyn.model.robot import Robot
from kinodyn.recording.bag_topics import BASE_Q, BASE_V, odometry_state
from kinodyn.rosmsgs.bags import Bag
from kinodyn.rosmsgs.robot_messages import GIGA

MAX_JOINTS = 10_000
BASE = "root_joint"  # name of the floating base where no robot gives one


class _Joints:
    """Collects the joint states of a bag; each message may have only some of the joints, in any order."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.times: list[int] = []
        self.rows: dict[str, list[dict[int, float]]] = {"position": [], "velocity": [], "effort": []}

    def add(self, time: int, message: Any) -> None:
        names = list(message.name)
        if len(set(names)) < len(names):
            raise InputError(f"JointState: name must have each joint once, got {listed(names)}")
        indices = [self.names.setdefault(name, len(self.names)) for name in names]
        if len(self.names) > MAX_JOINTS:
            raise InputError(f"joint states must be of at most {MAX_JOINTS} joints, got more")
        if self.times and time == self.times[-1]:  # several publishers, each with a part of the joints
            for field, rows in self.rows.items():
                rows[-1].update(self._values(message, field, indices))
            return
        self.times.append(time)
        for field, rows in self.rows.items():
            rows.append(self._values(message, field, indices))

    @staticmethod
    def _values(message: Any, field: str, indices: list[int]) -> dict[int, float]:
        values = getattr(message, field)
        if len(values) not in (0, len(indices)):
            raise InputError(f"JointState: {field} must be as long as name, {len(indices)}, got {len(values)}")
        return dict(zip(indices, values.tolist(), strict=False))

    def array(self, field: str) -> Array:
        """Return (n, joints) values; each holds until the next message with that joint, NaN before the first."""
        found = np.full((len(self.times), len(self.names)), np.nan)
        for row, values in zip(found, self.rows[field], strict=True):
            row[list(values)] = list(values.values())
        known = ~np.isnan(found)
        last = np.maximum.accumulate(np.where(known, np.arange(len(found))[:, None], 0), axis=0)
        return np.take_along_axis(found, last, axis=0)


def states_of(bag: Bag, names: Mapping[str, str], robot: Robot | None, path: str) -> dict[str, Any]:
    """Return the fields of a recording from the joint states, and from odometry or tf for a floating base.

    Rows are those of the joint states, from the first time at which all joints are known.
    """
    topic = names["joint_states"]
    if topic not in bag.topics:
        raise unknown_name("topic", topic, bag.topics)
    joints, base = _Joints(), _Base(bag, names, robot)
    for each in bag.messages([topic, *base.topics]):
        if each.topic == topic:
            joints.add(each.time, each.message)
        else:
            base.add(each.topic, each.time, each.message)
    columns = _columns(list(joints.names), robot, bool(base.topics))
    q, v, tau = (joints.array(field)[:, columns] for field in ("position", "velocity", "effort"))
    complete = ~np.isnan(q).any(axis=1) & base.is_known(joints.times)
    if not complete.any():
        raise InputError(f"{path} must have positions of all joints at some time, got none on {topic}")
    times = np.array(joints.times, dtype=np.int64)
    rows = slice(int(np.argmax(complete)), None)
    seconds = (times[rows] - times[rows][0]) / GIGA
    q, v = q[rows], _velocities(seconds, q[rows], v[rows], path)
    kept = [list(joints.names)[k] for k in columns]
    return _arranged(kept, seconds, q, v, np.nan_to_num(tau[rows]), base.rows(joints.times[rows]), robot)


def _columns(names: list[str], robot: Robot | None, based: bool) -> list[int]:
    """Return the columns of the robot's joints in its order; without a robot, all."""
    if robot is None:
        return list(range(len(names)))
    wanted = [joint.name for joint in robot.joints if joint.mimic is None][1 if based else 0 :]
    missing = [name for name in wanted if name not in names]
    if missing:
        raise InputError(f"the bag must have states of all joints of {robot.name!r}, got none of {listed(missing)}")
    return [names.index(name) for name in wanted]


def _velocities(seconds: Array, q: Array, v: Array, path: str) -> Array:
    """Return velocities; columns that no message gives are differences of positions."""
    absent = np.isnan(v).any(axis=0)
    if absent.any() and len(q) > 1:
        text = f"{path}: {int(absent.sum())} joints have no velocity; theirs are differences of positions"
        warn(text)
        v = np.where(absent, np.gradient(q, seconds, axis=0), v)
    return np.nan_to_num(v)


class _Base:
    """Collects the states of a floating base, from odometry or else from the transform of its link."""

    def __init__(self, bag: Bag, names: Mapping[str, str], robot: Robot | None) -> None:
        self._floating = robot is None or robot.base == "floating"
        self._odometry, self._link = names["odometry"], "" if robot is None else robot.joints[0].child
        has_odometry = bag.topics.get(self._odometry) == "nav_msgs/msg/Odometry"
        by_tf = not has_odometry and robot is not None and names["tf"] in bag.topics
        self.topics = [self._odometry] if has_odometry else [names["tf"]] if by_tf else []
        if not self._floating:
            self.topics = []
        if robot is not None and self._floating and not self.topics:
            raise InputError(f"a robot with a floating base needs {names['odometry']} or {names['tf']}, got neither")
        self._times: list[int] = []
        self._states: list[tuple[Array, Array]] = []

    def add(self, topic: str, time: int, message: Any) -> None:
        if topic == self._odometry:
            self._append(time, *odometry_state(message))
            return
        for stamped in message.transforms:
            if stamped.child_frame_id.lstrip("/") == self._link:
                at, turned = stamped.transform.translation, stamped.transform.rotation
                q = np.array([at.x, at.y, at.z, turned.x, turned.y, turned.z, turned.w])
                self._append(time, q, np.full(6, np.nan))

    def _append(self, time: int, q: Array, v: Array) -> None:
        norm = float(np.linalg.norm(q[3:]))
        if not np.isfinite(q).all() or abs(norm - 1.0) > 1e-2:
            raise InputError(f"the base must have a finite pose with a unit quaternion, got {q.tolist()}")
        q[3:] /= norm
        self._times.append(time)
        self._states.append((q, v))

    def is_known(self, times: list[int]) -> Any:
        """Return whether there is a pose at or before each time."""
        if not self.topics:
            return np.ones(len(times), dtype=bool)
        return np.array(times) >= (self._times[0] if self._times else np.iinfo(np.int64).max)

    def rows(self, times: list[int]) -> tuple[Array, Array] | None:
        """Return poses (n, 7) and twists (n, 6) at given times, the last before each; None without a base."""
        if not self.topics:
            return None
        index = np.searchsorted(self._times, times, side="right") - 1
        return np.array([self._states[k][0] for k in index]), np.array([self._states[k][1] for k in index])


def _arranged(
    names: list[str],
    seconds: Array,
    q: Array,
    v: Array,
    tau: Array,
    base: tuple[Array, Array] | None,
    robot: Robot | None,
) -> dict[str, Any]:
    """Name the columns as those of the robot, or as in the messages, and put the base before them."""
    given: dict[str, Any] = {"robot": "" if robot is None else robot.name}
    if robot is not None:
        given |= {
            "q_names": labels(robot).q,
            "v_names": labels(robot).v,
            "limits": {
                "lower": robot.limits.lower,
                "upper": robot.limits.upper,
                "velocity": robot.limits.velocity,
                "effort": robot.limits.effort,
            },
        }
    else:
        floats = base is not None
        given["q_names"] = (*(BASE + part for part in BASE_Q if floats), *names)
        given["v_names"] = (*(BASE + part for part in BASE_V if floats), *names)
    if base is not None:
        pose, twist = base
        if robot is not None and np.isnan(twist).any():
            twist = _base_rates(robot, seconds, pose, q)
        q, v = np.hstack([pose, q]), np.hstack([np.nan_to_num(twist), v])
        tau = np.hstack([np.zeros((len(q), 6)), tau])
    return {**given, "time": seconds, "q": q, "v": v, "tau": tau}


def _base_rates(robot: Robot, seconds: Array, pose: Array, q: Array) -> Array:
    """Return the twist of the base between successive poses."""
    if len(pose) < 2:
        return np.zeros((len(pose), 6))
    full = np.hstack([pose, q])
    rates = robot.difference(full[:-1], full[1:])[:, :6] / np.diff(seconds)[:, None]
    return np.vstack([rates, rates[-1:]])
