"""Constraints of a robot: contacts of its frames with the world, and loops between two of its frames."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike, copied_on_access
from kinodyn.checks import distinct_names, list_of, numbers, one_of, positive, vector
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.layouts import block_size, layout, named_view
from kinodyn.model.robot import Robot, require_robot
from kinodyn.spatial import as_pose, inverse

DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
POINT = 0b000111  # x y z
SURFACE = 0b111111
ORIGIN, IDENTITY = np.zeros(3), np.eye(3)

Self = TypeVar("Self", bound="Constraint")


class Row(NamedTuple):
    """One constraint in the layout of the core: two frames (-1: the world), constrained directions, poses in both."""

    frame: int
    other: int
    directions: int
    has_target: bool
    poses: Array  # (..., 24), the layout "constraint_poses"


class Rows(NamedTuple):
    """All rows of a contact or loop: the records of the core, the poses, and the number of constrained directions."""

    records: np.ndarray
    poses: tuple[Array, ...]
    rows: int


@displayed
class Constraint(ABC):
    """The interface of contacts and loops: a name, and rows for the core."""

    name: str
    _cached: tuple[Robot, Rows] | None = None

    @abstractmethod
    def constraints(self, robot: Robot) -> list[Row]:
        """Return the rows for the core, one for each constrained point.

        Parameters
        ----------
        robot : Robot

        Returns
        -------
        list of Row
        """

    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the constraint force of one state."""

    @property
    @abstractmethod
    def has_target(self) -> bool:
        """Whether the constraint has a target pose, rather than only zero velocity."""

    @abstractmethod
    def satisfied_at(self: Self, robot: Robot, q: ArrayLike) -> Self:
        """Return a copy whose target is such that q satisfies it.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)

        Returns
        -------
        Constraint
        """

    @check_types
    def layout(self, robot: Robot) -> Rows:
        """Return the rows as records of the core; cached until an attribute is assigned.

        Parameters
        ----------
        robot : Robot

        Returns
        -------
        Rows
        """
        known = self._cached
        if known is None or known[0] is not robot:
            rows = self.constraints(robot)
            records = np.array([row[:4] for row in rows], dtype=layout("constraint"))
            kept = sum(bin(row.directions).count("1") for row in rows)
            known = robot, Rows(records, tuple(row.poses for row in rows), kept)
            object.__setattr__(self, "_cached", known)
        return known[1]

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, "_cached", None)
        object.__setattr__(self, name, value)


@displayed
@copied_on_access("point", "corners", "normal", "target")
class Contact(Constraint):
    """A contact of a frame with the world that does not move.

    Parameters
    ----------
    frame : str
        The frame in contact.
    kind : "surface" or "point"
        "surface" constrains all six directions of the frame, as a flat foot on the ground; "point" its position only,
        as a ball or a fingertip.
    point : (3,)
        The contact point in the frame [m]; of a surface the point about which its moment is given.
    corners : (n, 3), optional
        Corners of a contact patch in the frame [m]. Each is a point contact: the forces show how the load is shared.
    friction : float
        Coefficient of friction, above 0.
    normal : (3,)
        Direction of the ground's normal force, in the world.
    target : (..., 4, 4), optional
        Pose of the frame in the world for stabilisation and projection; by default the frame stays where it is.
    name : str, optional
        Key of its force; by default the name of the frame.
    """

    @check_types
    def __init__(
        self,
        frame: str,
        *,
        kind: str = "surface",
        point: ArrayLike = (0.0, 0.0, 0.0),
        corners: ArrayLike | None = None,
        friction: float = 0.7,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        target: MatrixLike | None = None,
        name: str | None = None,
    ) -> None:
        self.frame = frame
        self.name = str(name or frame)
        one_of(f"kind of contact {self.name!r}", kind, ("surface", "point"))
        self.kind = "point" if corners is not None else kind
        self.point = np.array(vector(f"point of contact {self.name!r}", point, 3))
        self.corners: Array | None = None
        if corners is not None:
            self.corners = np.array(numbers(f"corners of contact {self.name!r}", corners, 3))
            if self.corners.ndim != 2 or len(self.corners) == 0:
                raise InputError(f"corners of contact {self.name!r} must have shape (n, 3), got {self.corners.shape}")
        positive(f"friction of contact {self.name!r}", friction)
        self.friction = float(friction)
        direction = numbers(f"normal of contact {self.name!r}", normal, 3)
        length = float(np.linalg.norm(direction))
        if not length > 1e-9:
            raise InputError(f"normal of contact {self.name!r} must be a nonzero vector, got {normal!r}")
        self.normal: Array = direction / length
        self.target = None if target is None else np.array(as_pose(target, f"target of contact {self.name!r}"))

    @property
    def has_target(self) -> bool:
        """Whether it has a target."""
        return self.target is not None

    def satisfied_at(self, robot: Robot, q: ArrayLike) -> Contact:
        result = copy.copy(self)
        result.target = kinematics.pose(robot, q, self.frame)
        return result

    def constraints(self, robot: Robot) -> list[Row]:
        frame = robot.frame_index(self.frame)
        directions = SURFACE if self.kind == "surface" else POINT
        points = self.point[None] if self.corners is None else self.corners
        return [Row(frame, -1, directions, self.has_target, self._poses(point)) for point in points]

    def shape(self) -> tuple[int, ...]:
        """Return the shape of the contact force: (6,), (3,) or (corners, 3)."""
        if self.corners is not None:
            return (len(self.corners), 3)
        return (6,) if self.kind == "surface" else (3,)

    def _poses(self, point: Array) -> Array:
        if self.target is None:
            return constraint_poses(p_frame=point)
        # forces are expressed in world axes: R_frame makes the frame's axes coincide with them at the target
        R, p = self.target[..., :3, :3], self.target[..., :3, 3] + self.target[..., :3, :3] @ point
        return constraint_poses(p_frame=point, R_frame=np.swapaxes(R, -1, -2), p_other=p)

    def __repr__(self) -> str:
        shape = self.kind if self.corners is None else f"{len(self.corners)} corners"
        return f"Contact({self.name!r}, {shape}, friction={self.friction:g})"


@displayed
@copied_on_access("T_frame", "T_other")
class Loop(Constraint):
    """A kinematic loop: two frames of the robot that coincide, as in a four-bar linkage or with two hands on a bar.

    Parameters
    ----------
    frame, other : str
        The two frames.
    T_frame, T_other : (..., 4, 4), optional
        The poses in the two frames that coincide; by default the frames themselves.
    directions : str
        Constrained directions out of x y z rx ry rz, in the axes of `T_other`: "x y z" is a ball joint, "x y z rx ry" a
        hinge about z.
    name : str, optional
        Key of its force; by default "frame to other".
    """

    @check_types
    def __init__(
        self,
        frame: str,
        other: str,
        *,
        T_frame: MatrixLike | None = None,
        T_other: MatrixLike | None = None,
        directions: str = "x y z rx ry rz",
        name: str | None = None,
    ) -> None:
        self.frame, self.other = frame, other
        self.name = str(name or f"{frame} to {other}")
        if frame == other:
            raise InputError(f"loop {self.name!r} ties frame {frame!r} to itself; name two frames")
        here, there = np.eye(4) if T_frame is None else T_frame, np.eye(4) if T_other is None else T_other
        self.T_frame = np.array(as_pose(here, f"T_frame of loop {self.name!r}"))
        self.T_other = np.array(as_pose(there, f"T_other of loop {self.name!r}"))
        words = directions.split() if isinstance(directions, str) else []
        if not words or any(word not in DIRECTIONS for word in words) or len(set(words)) < len(words):
            raise InputError(
                f"directions of loop {self.name!r} must be out of {' '.join(DIRECTIONS)}, got {directions!r}"
            )
        self.directions = tuple(word for word in DIRECTIONS if word in words)

    @property
    def has_target(self) -> bool:
        """Whether it has a target; always true, because the frames must coincide."""
        return True

    def satisfied_at(self, robot: Robot, q: ArrayLike) -> Loop:
        T_world_frame, T_world_other = (kinematics.pose(robot, q, frame) for frame in (self.frame, self.other))
        result = copy.copy(self)
        result.T_other = inverse(T_world_other) @ T_world_frame @ self.T_frame
        return result

    def constraints(self, robot: Robot) -> list[Row]:
        directions = sum(1 << DIRECTIONS.index(word) for word in self.directions)
        frame, other = robot.frame_index(self.frame), robot.frame_index(self.other)
        poses = constraint_poses(
            p_frame=self.T_frame[..., :3, 3],
            R_frame=self.T_frame[..., :3, :3],
            p_other=self.T_other[..., :3, 3],
            R_other=self.T_other[..., :3, :3],
        )
        return [Row(frame, other, directions, True, poses)]

    def shape(self) -> tuple[int, ...]:
        """Return the shape of its force: one number for each direction, on `frame`, in the axes of `T_other`."""
        return (len(self.directions),)

    def __repr__(self) -> str:
        return f"Loop({self.name!r}, {' '.join(self.directions)})"


class Plan(NamedTuple):
    """All constraints of a call, in the layout of the core."""

    contacts: tuple[Constraint, ...]
    records: list[np.ndarray]
    poses: list[Array]
    rows: int


def plan(robot: Robot, contacts: Sequence[Constraint]) -> Plan:
    """Check the constraints and collect their rows for the core."""
    require_robot(robot)
    given = checked(contacts)
    parts = [contact.layout(robot) for contact in given]
    poses = [pose for part in parts for pose in part.poses]
    return Plan(given, [part.records for part in parts], poses, sum([part.rows for part in parts]))


def constraint_poses(
    *, p_frame: Array, R_frame: Array = IDENTITY, p_other: Array = ORIGIN, R_other: Array = IDENTITY
) -> Array:
    """Pack the poses of a constraint for the core: (..., 24)."""
    batch = np.broadcast_shapes(p_frame.shape[:-1], R_frame.shape[:-2], p_other.shape[:-1], R_other.shape[:-2])
    dtype = layout("constraint_poses")
    numbers = np.zeros((*batch, block_size(dtype)))
    fields = named_view(numbers, dtype)
    fields["p_frame"], fields["R_frame"], fields["p_other"], fields["R_other"] = p_frame, R_frame, p_other, R_other
    return numbers


def checked(contacts: Sequence[Constraint]) -> tuple[Constraint, ...]:
    """Return the constraints, or raise if they are not a list of contacts and loops with different names."""
    result = list_of("contacts", contacts, Constraint, "Contact or Loop objects")
    if not result:
        raise InputError("contacts is empty; use dynamics.forward for motion without contacts")
    distinct_names("contacts", (contact.name for contact in result))
    return result
