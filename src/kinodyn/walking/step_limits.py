"""Limits of footsteps, derived from the legs and verified by inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, positive, vector
from kinodyn.display import displayed
from kinodyn.errors import InputError, KinodynError
from kinodyn.model.robot import Robot
from kinodyn.spatial import rot_z
from kinodyn.walking.biped import Biped
from kinodyn.walking.step_region import StepRegion

SHRINK_FACTOR = 0.92  # on the limits, until inverse kinematics reaches all of them
MIN_FRACTION = 0.2  # of the first estimate, below which the robot cannot step


@check_types
@displayed
@dataclass(frozen=True)
class StepLimits(StepRegion):
    """Region in which the next foot may land relative to the stance foot; sole frames, metres and radians.

    Attributes
    ----------
    forward, backward : float
        Longest step along the stance foot [m].
    min_width, width, max_width : float
        Least, nominal and largest lateral distance from the stance foot [m].
    oblique : float
        Maximum sum of the distances along the foot and to the side [m].
    outward, inward : float
        Maximum turn of the foot with its toes away from the other foot, and towards it [rad].
    toe, heel : float
        Length of the sole before and behind the ankle: turned feet need that much more room [m].
    """

    @classmethod
    @check_types
    def from_robot(
        cls,
        robot: Biped | Robot,
        *,
        max_leg_extension: float = 0.985,
        min_leg_extension: float = 0.86,
        max_turn: float = 0.5,
        check: bool = True,
    ) -> StepLimits:
        """Derive the limits from the legs and the feet of a robot.

        Parameters
        ----------
        robot
        max_leg_extension
            Longest leg in a step, as a fraction of the straight leg.
        min_leg_extension
            Lowest hips above the ankles in a step, as a fraction of the straight leg.
        max_turn
            Maximum turn of a foot in one step [rad].
        check
            Whether the corners of the region are verified by inverse kinematics; all limits are reduced until the robot
            reaches them.

        Returns
        -------
        StepLimits

        Notes
        -----
        A leg of at most length L whose hip is h above its ankle reaches sqrt(L^2 - h^2) along the ground; the hips
        are in the middle between the feet, so a step may be twice that.
        """
        body = robot if isinstance(robot, Biped) else Biped.from_robot(robot)
        hip = min(body.hip_height, min_leg_extension * body.leg)
        reach = 2.0 * float(np.sqrt(max((max_leg_extension * body.leg) ** 2 - hip**2, 0.0)))
        if any(foot.free == "yaw" for foot in body.feet.values()):
            max_turn = 0.0  # feet that follow the yaw of the base cannot be turned on the ground
        toe = max(float(foot.corners[:, 0].max()) for foot in (body.left, body.right))
        heel = max(float(-foot.corners[:, 0].min()) for foot in (body.left, body.right))
        # an octagon inside the circle of that radius, with corners at (0.8, 0.6) and (0.6, 0.8) of it
        limits = cls(
            forward=0.8 * reach,
            backward=0.8 * reach,
            min_width=body.min_width(),
            width=body.width,
            max_width=body.width + 0.8 * reach,
            oblique=body.width + 1.4 * reach,
            outward=max_turn,
            inward=max_turn,
            toe=toe,
            heel=heel,
        )
        return limits._reachable(body, max_leg_extension) if check else limits

    def max_velocity(self, step_time: float) -> Array:
        """Compute the largest velocities for a step time.

        Parameters
        ----------
        step_time
            Time from one touchdown to the next [s].

        Returns
        -------
        (3,)
            Forward, lateral [m/s], turning [rad/s].
        """
        positive("step_time", step_time)
        most = np.array([self.forward, self.max_width, self.outward])
        fractions = np.array([self.feasible_fraction(row) for row in np.diag(most)])
        return np.asarray(fractions * most / step_time)

    def check(self, velocity: ArrayLike, step_time: float) -> Array:
        """Check a velocity.

        Parameters
        ----------
        velocity
            Forward, lateral [m/s], turn [rad/s] (3,).
        step_time
            Time from one touchdown to the next [s].

        Returns
        -------
        (3,)
            The velocity as an array.

        Raises
        ------
        InputError
            For a velocity beyond the limits; the message gives the limit.
        """
        v = vector("velocity", velocity, 3)
        if self.fits(v * step_time):
            return v
        most = self.max_velocity(step_time)
        if v[0] < 0:
            most[0] = self.backward / step_time
        names = ("forward" if v[0] >= 0 else "backward", "lateral", "turning")
        for name, value, limit, unit in zip(names, v, most, ("m/s", "m/s", "rad/s"), strict=True):
            if abs(value) > limit:
                raise InputError(
                    f"{name} velocity {abs(value):.3g} {unit} is too fast: with steps of {step_time:.3g} s this robot "
                    f"can do {limit:.3g} {unit}"
                )
        fraction = self.feasible_fraction(v * step_time)
        raise InputError(
            f"the velocity {np.round(v, 3).tolist()} is within each limit {np.round(most, 3).tolist()} but too much "
            f"together; multiply it by {fraction:.3g} or less"
        )

    def _reachable(self, body: Biped, max_leg_extension: float) -> StepLimits:
        fraction, narrower = 1.0, self._within_ankles(body, max_leg_extension)
        while fraction >= MIN_FRACTION:
            limits = narrower.scaled(fraction)
            if limits._reaches(body, max_leg_extension):
                return limits
            fraction *= SHRINK_FACTOR
        raise KinodynError(
            f"{body.robot.name!r} cannot step even {MIN_FRACTION * self.forward:.3g} m: its legs do not reach the "
            "corners of the step region; try another leg_extension in Biped.from_robot"
        )

    def _within_ankles(self, body: Biped, max_leg_extension: float) -> StepLimits:
        """Reduce the width until wide steps straight to the side are reached, so that they do not shorten long ones."""
        fraction = 1.0
        while fraction >= MIN_FRACTION:
            max_width = self.width + fraction * (self.max_width - self.width)
            aside = replace(self, forward=0.1 * self.forward, backward=0.1 * self.backward, max_width=max_width)
            if aside._reaches(body, max_leg_extension):
                return replace(self, max_width=max_width, oblique=min(self.oblique, self.forward + max_width))
            fraction *= SHRINK_FACTOR
        return self

    def _reaches(self, body: Biped, max_leg_extension: float) -> bool:
        """Solve inverse kinematics for all corners of the region, with each foot, in one batch; hips are lowered."""
        hip, leg, drops = body.hip_height, max_leg_extension * body.leg, []
        soles: dict[str, list[Array]] = {"left": [], "right": []}
        headings = []
        for side, stance in (("left", "right"), ("right", "left")):
            sign = 1.0 if side == "left" else -1.0
            for x, y in self.corners(side):
                for turn in (-sign * self.inward, sign * self.outward):
                    T = np.eye(4)
                    T[:3, :3] = rot_z(turn)
                    T[:2, 3] = (x, y)
                    soles[side].append(T)
                    soles[stance].append(np.eye(4))
                    headings.append(0.5 * turn)
                    half = 0.5 * np.hypot(x, y - sign * self.width)
                    drops.append(max(0.0, hip - float(np.sqrt(max(leg**2 - half**2, 0.0)))))
        poses = {side: np.array(value) for side, value in soles.items()}
        middles = sum(poses[side] @ np.append(body.feet[side].middle, [0.0, 1.0]) for side in ("left", "right")) / 2
        com = np.column_stack([middles[:, :2], body.com_height - np.array(drops)])
        return bool(body.solve_posture(poses, com, np.array(headings)).success.all())


@check_types
def feet_apart(body: Biped, T_left: MatrixLike, T_right: MatrixLike) -> Array:
    """Measure the gap between the soles.

    Parameters
    ----------
    body
    T_left, T_right
        T_world_sole (..., 4, 4).

    Returns
    -------
    (...)
        Lower bound of the distance [m], exact where edges face each other; negative where the soles overlap.

    Notes
    -----
    Separating axis theorem: the largest gap along any normal of an edge.
    """
    outlines = []
    for foot, T in ((body.left, as_pose(T_left, "T_left")), (body.right, as_pose(T_right, "T_right"))):
        flat = np.column_stack([foot.corners, np.zeros(len(foot.corners))])
        points = flat @ np.swapaxes(T[..., :3, :3], -1, -2) + T[..., None, :3, 3]
        outlines.append(points[..., :2])
    gaps = []
    for own, opposing in (outlines, outlines[::-1]):
        edge = np.roll(own, -1, axis=-2) - own
        normal = np.stack([edge[..., 1], -edge[..., 0]], axis=-1)
        normal = normal / np.linalg.norm(normal, axis=-1, keepdims=True)
        reach = (normal * own).sum(axis=-1)
        gaps.append((np.einsum("...ik,...jk->...ij", normal, opposing).min(axis=-1) - reach).max(axis=-1))
    result: Array = np.maximum(*gaps)
    return result
