"""The robot of a recording: its identity, so that the recording is not replayed on another robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.description.messages import listed
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.fingerprint import fingerprint
from kinodyn.model.robot import Robot

SAME = 1e-6  # [m] by which links of the same body may differ
UNIFORM = 1e-3  # relative spread of lengths up to which one body is the other one scaled

_BODIES: WeakKeyDictionary[Robot, RecordedBody] = WeakKeyDictionary()


@displayed
@dataclass(frozen=True, eq=False)
class RecordedBody:
    """The robot of a recording.

    Attributes
    ----------
    name : str
        Name of the robot.
    fingerprint : str
        Hash of its joints, frames, inertias and limits.
    mass : float
        [kg]
    links : tuple of str
        Names of its links.
    positions : (n, 3)
        Their origins at the neutral configuration, relative to the first one [m].
    """

    name: str
    fingerprint: str
    mass: float
    links: tuple[str, ...]
    positions: Array

    @classmethod
    def from_robot(cls, robot: Robot) -> RecordedBody:
        """Describe a robot.

        Parameters
        ----------
        robot : Robot

        Returns
        -------
        RecordedBody
        """
        if robot not in _BODIES:
            links = tuple(link.name for link in robot.description.links)
            q = robot.neutral()
            origins = np.array([kinematics.pose(robot, q, link)[:3, 3] for link in links])
            _BODIES[robot] = cls(robot.name, fingerprint(robot), float(robot.mass), links, origins - origins[0])
        return _BODIES[robot]

    def difference(self, robot: Robot) -> str:
        """Describe how a robot differs from the recorded one, as far as its motion is concerned.

        Parameters
        ----------
        robot : Robot

        Returns
        -------
        str
            Empty if joints and lengths agree; masses, limits and friction may differ.
        """
        other = RecordedBody.from_robot(robot)
        if other.fingerprint == self.fingerprint:
            return ""
        ours, theirs = set(self.links), set(other.links)
        if ours != theirs:
            named = [f"{name!r}" for name in sorted(ours ^ theirs)]
            return f"links of only one of them are {listed(named)}"
        order = [other.links.index(name) for name in self.links]
        shift = np.linalg.norm(self.positions - other.positions[order], axis=1)
        if shift.max(initial=0.0) <= SAME:
            return ""
        scale = self._scale(other.positions[order])
        return f"{scale}mass {self.mass:.4g} kg, now {other.mass:.4g} kg; {_moved(self, shift)}"

    def _scale(self, positions: Array) -> str:
        """Describe by which factor a robot is larger, if it has the same proportions."""
        was, now = np.linalg.norm(self.positions, axis=1), np.linalg.norm(positions, axis=1)
        factors = now[was > SAME] / was[was > SAME]
        if len(factors) and np.ptp(factors) <= UNIFORM * factors.mean():
            return f"it is {factors.mean():.4g} times as large; "
        return ""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values.

        Returns
        -------
        dict
        """
        return {
            "fingerprint": self.fingerprint,
            "mass": self.mass,
            "links": list(self.links),
            "positions": self.positions.tolist(),
        }

    @classmethod
    def from_json(cls, name: str, fields: Any) -> RecordedBody:
        """Read what `to_json` has written.

        Parameters
        ----------
        name : str
            Name of the robot.
        fields : JSON value

        Returns
        -------
        RecordedBody
        """
        if not isinstance(fields, Mapping):
            raise InputError(f"its body must be an object, got {type(fields).__name__}")
        links = tuple(str(link) for link in fields["links"])
        positions = np.asarray(fields["positions"], dtype=float).reshape(len(links), 3)
        if not np.isfinite(positions).all() or not links:
            raise InputError("the links of its body must have finite positions")
        return cls(name, str(fields["fingerprint"]), float(fields["mass"]), links, positions)


def require_same_body(recording: Any, robot: Robot, what: str = "recording") -> None:
    """Raise if a recording is known to be of another body; `recording` has the attributes `robot` and `body`."""
    difference = "" if recording.body is None else recording.body.difference(robot)
    if difference:
        raise InputError(
            f"{what} must be of the robot {robot.name!r}, got one of {recording.robot!r}: {difference}; load the robot "
            "that was recorded"
        )


def _moved(body: RecordedBody, shift: Array) -> str:
    order = np.argsort(-shift, kind="stable")
    names = [f"{body.links[k]} by {shift[k]:.3g} m" for k in order if shift[k] > SAME]
    return f"moved are {listed(names, 3)}"
