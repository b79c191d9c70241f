"""Standing as a path constraint: fixed feet, and the centre of mass (CoM) above them."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.balance.feet import feet
from kinodyn.balance.foot import Foot
from kinodyn.balance.polygon import half_planes, hull
from kinodyn.balance.support import sole_points
from kinodyn.checks import list_of, nonnegative, positive
from kinodyn.description.types import Description
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.layouts import codes, layout
from kinodyn.model.compile import compile_tree
from kinodyn.model.robot import Robot, require_robot
from kinodyn.planning.constraints import FREE, Constraint, Records, pose_record


@displayed
class Standing(Constraint):
    """Keep the feet where they are and the centre of mass (CoM) above them, while the whole body moves.

    The base of the robot moves too. Contacts of the feet with the world are not checked, since they do not change.

    Parameters
    ----------
    feet : sequence of kd.balance.Foot, optional
        Feet on the ground, by default all of the robot.
    margin
        Distance [m] that the CoM keeps from the edges of the support polygon.
    tolerance
        Maximum motion of a foot [m].
    angle
        Maximum rotation of a foot [rad].

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> start = robot.configuration("standing")
    >>> hand = kd.kinematics.pose(robot, start, "right_hand")
    >>> hand[:3, 3] += 0.1, 0.0, 0.1
    >>> plan = kd.planning.plan(robot, start, {"right_hand": hand}, constraints=[kd.planning.Standing()])
    >>> plan.success
    True
    """

    moves_base = True

    @check_types
    def __init__(
        self,
        feet: Sequence[Foot] | None = None,
        *,
        margin: float = 0.02,
        tolerance: float = 2e-3,
        angle: float = 1e-2,
    ) -> None:
        self.feet = None if feet is None else list_of("feet", feet, Foot, "feet, from kd.balance.feet(robot)")
        if self.feet == ():
            raise InputError(f"feet must be some of kd.balance.feet(robot), got {feet!r}")
        self.margin = nonnegative("margin", margin)
        self.tolerance, self.angle = positive("tolerance", tolerance), positive("angle", angle)

    def feet_of(self, robot: Robot) -> tuple[Foot, ...]:
        """Return the stance feet.

        Parameters
        ----------
        robot

        Returns
        -------
        tuple of Foot
        """
        require_robot(robot)
        if self.feet is not None:
            return self.feet
        if robot.description not in _FEET:
            _FEET[robot.description] = feet(robot)
        return _FEET[robot.description]

    def fixed_links(self, robot: Robot) -> tuple[str, ...]:
        if robot.description not in _BODIES:
            _BODIES[robot.description] = {
                name: place.body for name, place in compile_tree(robot.description).places.items()
            }
        bodies = _BODIES[robot.description]
        fixed = {bodies[foot.frame] for foot in self.feet_of(robot)}
        return tuple(link.name for link in robot.description.links if bodies[link.name] in fixed)

    def records(self, robot: Robot, start: Array) -> Records:
        standing = self.feet_of(robot)
        kept = [self._foot_record(robot, start, foot) for foot in standing]
        polygon = hull(sole_points(robot, start, standing)[:, :2])
        if len(polygon) < 3:
            raise InputError("the feet have no support polygon: their soles are points in one line")
        normals, offsets = half_planes(polygon)
        tolerance = min(self.tolerance, 0.5 * self.margin) if self.margin > 0 else self.tolerance
        return np.concatenate([*kept, _com_records(normals, offsets - self.margin - tolerance, tolerance)])

    def _foot_record(self, robot: Robot, start: Array, foot: Foot) -> Records:
        T = foot.sole_pose(robot, start)
        angle = 0.0 if _is_flat(foot) else FREE
        tolerances = self.tolerance, self.angle
        record = pose_record(robot, foot.frame, region=T, bounds=(0.0, 0.0), angle=angle, tolerances=tolerances)
        # the sole stays, not the origin of the frame
        record["point"], record["region_R"] = foot.T_frame_sole[:3, 3], T[:3, :3] @ foot.T_frame_sole[:3, :3].T
        return record

    def __repr__(self) -> str:
        return "Standing()"


def _com_records(normals: Array, offsets: Array, tolerance: float) -> Records:
    records = np.zeros(len(offsets), dtype=layout("path_constraint"))
    records["kind"] = codes("path_constraint_kind")["com"]
    records["frame"] = records["reference"] = -1
    records["region_R"], records["angle"] = np.eye(3), FREE
    records["axis"][:, :2], records["offset"] = normals, offsets
    records["position_tolerance"] = records["orientation_tolerance"] = tolerance
    return records


def _is_flat(foot: Foot) -> bool:
    """Return whether a foot has a sole. Point feet, such as those of quadrupeds, rotate about their contact."""
    return len(foot.corners) >= 3 and bool(np.ptp(foot.corners, axis=0).max() > foot.ankle)


_BODIES: WeakKeyDictionary[Description, dict[str, int]] = WeakKeyDictionary()  # of frames
_FEET: WeakKeyDictionary[Description, tuple[Foot, ...]] = WeakKeyDictionary()
