"""Path constraints: regions for frames, ranges of joints, closed chains of hands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, as_rotation, numbers, positive, positive_vector
from kinodyn.display import displayed
from kinodyn.errors import InputError, unknown_name
from kinodyn.layouts import codes, layout
from kinodyn.model.robot import Robot
from kinodyn.spatial.poses import inverse_pose

Records = np.ndarray
Ranges = dict[int, tuple[float, float]]

FREE = np.inf
VERTEX_FRACTION = 0.5  # of the angle that a constraint allows, for vertices; the rest is for the motion between them
BOUNDS = ("xyz", "rotation_vector")  # of the components of a rotation
VERTICAL = np.array([0.0, 0.0, 1.0])


@displayed
class Constraint(ABC):
    """A constraint that a path satisfies at every configuration, between its vertices too.

    Attributes
    ----------
    moves_base : bool
        Whether the floating base moves as well.
    """

    moves_base = False

    @abstractmethod
    def records(self, robot: Robot, start: Array) -> Records:
        """Return the constraint as the core reads it.

        Parameters
        ----------
        robot
        start
            Where the path starts (nq,); it determines what the constraint does not specify.

        Returns
        -------
        records
            Records of the layout "path_constraint".
        """

    def ranges(self, robot: Robot) -> Ranges:
        """Return ranges of joints that are narrower than their limits.

        Parameters
        ----------
        robot

        Returns
        -------
        ranges
            Lower and upper bound by index of q [rad or m].
        """
        return {}

    def fixed_links(self, robot: Robot) -> tuple[str, ...]:
        """Return the links that do not move in the world.

        Parameters
        ----------
        robot

        Returns
        -------
        names
            Their contacts with objects of the world are not checked.
        """
        return ()


def pose_record(
    robot: Robot,
    frame: str,
    *,
    region: Array | None = None,
    reference: str | None = None,
    bounds: tuple[ArrayLike, ArrayLike] = (-FREE, FREE),
    angle: float = FREE,
    axis: Array | None = None,
    tolerances: tuple[float, float] = (1e-3, 1e-3),
) -> Records:
    """Return a record that keeps a frame in a region.

    Parameters
    ----------
    robot
    frame
    region : (4, 4), optional
        Pose of the region in the reference.
    reference
        A frame, by default the world.
    bounds
        Lower and upper bounds (3,) of the frame's origin along the axes of the region [m].
    angle
        Maximum rotation from the region [rad].
    axis : (3,), optional
        Axis of the frame; the angle is then that between this axis and the z axis of the region.
    tolerances
        How far the motion between vertices may leave the region [m], [rad].
    """
    T = np.eye(4) if region is None else region
    record = np.zeros(1, dtype=layout("path_constraint"))
    record["kind"] = codes("path_constraint_kind")["pose"]
    record["frame"] = robot.frame_index(frame)
    record["reference"] = -1 if reference is None else robot.frame_index(reference)
    record["region_R"], record["region_p"] = T[:3, :3], T[:3, 3]
    record["lower"], record["upper"] = bounds
    record["angle"], record["axis_only"] = angle, axis is not None
    record["axis"] = VERTICAL if axis is None else axis
    record["position_tolerance"], record["orientation_tolerance"] = tolerances
    return record


def _direction(what: str, value: ArrayLike) -> Array:
    vector = numbers(what, value, 3)
    length = float(np.linalg.norm(vector))
    if vector.shape != (3,) or length == 0.0:
        raise InputError(f"{what} must be a nonzero vector (3,), got {value!r}")
    return np.asarray(vector / length)


def _axes_along(z: Array) -> Array:
    """Return a rotation whose third column is z."""
    x = np.eye(3)[np.argmin(np.abs(z))]
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


@displayed
class Upright(Constraint):
    """Keep an axis of a frame vertical, such as that of a cup; rotation about the vertical is free.

    Parameters
    ----------
    frame
        Name of the frame.
    axis : (3,), optional
        Axis of the frame that points up, by default the one that does at the start.
    tolerance
        Maximum tilt [rad].

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> left, right = [0.9, -0.2, 0, -2, 0, 1.8, 0.8], [-0.9, -0.2, 0, -2, 0, 1.8, 0.8]
    >>> plan = kd.planning.plan(robot, left, right, constraints=[kd.planning.Upright("panda_hand_tcp")])
    >>> plan.success
    True
    """

    @check_types
    def __init__(self, frame: str, *, axis: ArrayLike | None = None, tolerance: float = 0.1) -> None:
        self.frame = frame
        self.axis = None if axis is None else _direction("axis", axis)
        self.tolerance = positive("tolerance", tolerance)

    def records(self, robot: Robot, start: Array) -> Records:
        up = kinematics.pose(robot, start, self.frame)[2, :3] if self.axis is None else self.axis
        inner = VERTEX_FRACTION * self.tolerance
        return pose_record(robot, self.frame, angle=inner, axis=up, tolerances=(1.0, self.tolerance - inner))

    def __repr__(self) -> str:
        return f"Upright({self.frame!r})"


@displayed
class FixedOrientation(Constraint):
    """Keep the orientation of a frame.

    Parameters
    ----------
    frame
        Name of the frame.
    orientation : (3, 3) or Rotation, optional
        In the world, by default that at the start.
    tolerance : float or (3,)
        Largest rotation from this orientation [rad]; three numbers bound its components, where pi or more leaves one
        free.
    components
        Which components these are: "xyz", angles about x, then the new y, then the new z axis; or "rotation_vector".
    """

    @check_types
    def __init__(
        self,
        frame: str,
        *,
        orientation: MatrixLike | None = None,
        tolerance: ArrayLike = 0.1,
        components: Literal["xyz", "rotation_vector"] = "xyz",
    ) -> None:
        self.frame, self.components = frame, components
        self.orientation = None if orientation is None else as_rotation(orientation, "orientation")
        self.tolerance = numbers("tolerance", tolerance)
        if self.tolerance.shape not in ((), (3,)) or not (self.tolerance > 0.0).all():
            raise InputError(f"tolerance must be one or three positive angles [rad], got {tolerance!r}")
        if components not in BOUNDS:
            raise unknown_name("components of a rotation", components, BOUNDS)

    def records(self, robot: Robot, start: Array) -> Records:
        region = np.eye(4)
        given = self.orientation
        region[:3, :3] = kinematics.pose(robot, start, self.frame)[:3, :3] if given is None else given
        margin = (1.0 - VERTEX_FRACTION) * float(self.tolerance.min())
        if self.tolerance.ndim == 0:
            inner = float(self.tolerance) - margin
            return pose_record(robot, self.frame, region=region, angle=inner, tolerances=(1.0, margin))
        record = pose_record(robot, self.frame, region=region, tolerances=(1.0, margin))
        record["rotation_bound"] = codes("rotation_bound")[self.components]
        record["angles"] = np.where(self.tolerance < np.pi, self.tolerance - margin, FREE)
        return record

    def __repr__(self) -> str:
        return f"FixedOrientation({self.frame!r})"


@displayed
class OnPlane(Constraint):
    """Keep the origin of a frame on a plane, such as a tool on a table.

    Parameters
    ----------
    frame
        Name of the frame.
    normal : (3,)
        Normal of the plane, in the world.
    point : (3,), optional
        A point of the plane [m]; by default the origin of the frame at the start.
    tolerance
        Maximum distance from the plane [m].
    """

    kept = (False, False, True)  # which axes of the region, whose z is the direction

    @check_types
    def __init__(
        self,
        frame: str,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        *,
        point: ArrayLike | None = None,
        tolerance: float = 2e-3,
    ) -> None:
        self.frame, self.direction = frame, _direction("normal", normal)
        self.point = None if point is None else numbers("point", point, 3)
        self.tolerance = positive("tolerance", tolerance)

    def records(self, robot: Robot, start: Array) -> Records:
        region = np.eye(4)
        region[:3, :3] = _axes_along(self.direction)
        region[:3, 3] = kinematics.pose(robot, start, self.frame)[:3, 3] if self.point is None else self.point
        reach = np.where(self.kept, 0.0, FREE)
        return pose_record(robot, self.frame, region=region, bounds=(-reach, reach), tolerances=(self.tolerance, 1.0))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.frame!r})"


@displayed
class OnLine(OnPlane):
    """Keep the origin of a frame on a straight line.

    Parameters
    ----------
    frame
        Name of the frame.
    direction : (3,)
        Direction of the line, in the world.
    point : (3,), optional
        A point of the line [m]; by default the origin of the frame at the start.
    tolerance
        Maximum distance from the line [m].
    """

    kept = (True, True, False)

    @check_types
    def __init__(
        self, frame: str, direction: ArrayLike, *, point: ArrayLike | None = None, tolerance: float = 2e-3
    ) -> None:
        super().__init__(frame, _direction("direction", direction), point=point, tolerance=tolerance)


@displayed
class InBox(Constraint):
    """Keep the origin of a frame inside a box.

    Parameters
    ----------
    frame
        Name of the frame.
    size : (3,)
        Lengths of the edges of the box [m].
    pose : (4, 4)
        Pose of the centre of the box in the world.
    """

    @check_types
    def __init__(self, frame: str, size: ArrayLike, pose: MatrixLike) -> None:
        self.frame, self.size = frame, positive_vector("size", size, 3)
        self.pose = as_pose(pose, "pose")

    def records(self, robot: Robot, start: Array) -> Records:
        tolerance = float(min(2e-3, 0.05 * self.size.min()))
        inner = 0.5 * self.size - tolerance
        return pose_record(robot, self.frame, region=self.pose, bounds=(-inner, inner), tolerances=(tolerance, 1.0))

    def __repr__(self) -> str:
        return f"InBox({self.frame!r})"


@displayed
class FixedRelativePose(Constraint):
    """Keep the pose of a frame relative to another one: both hands on one object, a closed chain.

    Parameters
    ----------
    frame, other
        Names of the frames.
    pose : (4, 4), optional
        Pose of the frame in the other one; by default that at the start.
    tolerance
        Maximum deviation [m].
    angle
        Maximum deviation [rad].
    """

    @check_types
    def __init__(
        self, frame: str, other: str, *, pose: MatrixLike | None = None, tolerance: float = 2e-3, angle: float = 1e-2
    ) -> None:
        self.frame, self.other = frame, other
        self.pose = None if pose is None else as_pose(pose, "pose")
        self.tolerance, self.angle = positive("tolerance", tolerance), positive("angle", angle)

    def records(self, robot: Robot, start: Array) -> Records:
        T = self.pose
        if T is None:
            T = inverse_pose(kinematics.pose(robot, start, self.other)) @ kinematics.pose(robot, start, self.frame)
        tolerances = self.tolerance, self.angle
        return pose_record(
            robot, self.frame, region=T, reference=self.other, bounds=(0.0, 0.0), angle=0.0, tolerances=tolerances
        )

    def __repr__(self) -> str:
        return f"FixedRelativePose({self.frame!r}, {self.other!r})"
