"""Foot: a link on which a robot stands, with the outline of its sole."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.arrays import Array, MatrixLike
from kinodyn.balance.polygon import cut, largest_rectangle
from kinodyn.balance.soles import SoleSource
from kinodyn.checks import as_pose
from kinodyn.display import displayed
from kinodyn.dynamics.contact import Contact
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.spatial.poses import inverse_pose

FreeRotation = Literal["", "roll", "yaw"]


@displayed
@dataclass(frozen=True, eq=False)
class Foot:
    """A foot of a robot. Its *sole frame* lies on the underside: z up, x forward, the origin under the ankle.

    Attributes
    ----------
    side : str
        "left" or "right" for a biped; otherwise "foot1", "foot2", ... from the left.
    frame : str
        The robot's frame of the foot: an end effector of the description, or the link itself.
    T_frame_sole : (4, 4)
        Pose of the sole frame in that frame.
    corners : (n, 2)
        Outline of the sole in the sole frame, counter-clockwise [m].
    ankle : float
        Height of the last joint above the sole [m].
    source : "collision", "visual" or "assumed"
        What the sole was derived from: collision shapes, visual shapes, or the proportions of a human leg.
    free : "", "roll" or "yaw"
        Rotation of the sole that its leg cannot control, as with five joints: it follows the leg.
    reach : (float, float)
        Largest distance of the centre of pressure from the ankle along x and y that its torques bear [m].
    on_points : bool
        Whether it touches the ground only at its corners, as spheres do: each of them needs ground below it.
    """

    side: str
    frame: str
    T_frame_sole: Array
    corners: Array
    ankle: float
    source: SoleSource = "collision"
    free: FreeRotation = ""
    reach: tuple[float, float] = (np.inf, np.inf)
    on_points: bool = False

    @cached_property
    def rectangle(self) -> Array:
        """Largest rectangle inside the outline that the ankle bears, along its axes: [[x0, y0], [x1, y1]] [m].

        That of a foot whose roll is free is as long as the line on which it stands (see `contact`): its outline bounds
        the centre of pressure across the foot only.
        """
        corners = self.corners
        for axis, reach in enumerate(self.reach):
            corners = _clipped(corners, axis, reach)
        found = largest_rectangle(corners)
        if self.free == "roll":
            found[:, 0] = corners[:, 0].min(), corners[:, 0].max()
        return found

    @cached_property
    def middle(self) -> Array:
        """Centre (2,) of the rectangle in the sole frame [m]."""
        result: Array = self.rectangle.mean(axis=0)
        return result

    @property
    def size(self) -> Array:
        """Length and width (2,) of the rectangle [m]."""
        result: Array = self.rectangle[1] - self.rectangle[0]
        return result

    @property
    def points(self) -> Array:
        """Outline (n, 3) in the foot's frame, as contacts take it [m]."""
        flat = np.column_stack([self.corners, np.zeros(len(self.corners))])
        return np.asarray(flat @ self.T_frame_sole[:3, :3].T + self.T_frame_sole[:3, 3])

    def solid(self, thickness: float) -> Array:
        """Return the corners (2 n, 3) of a plate above the outline, in the foot's frame [m].

        Parameters
        ----------
        thickness
            Of the plate [m].

        Returns
        -------
        (2 n, 3)
        """
        up = thickness * self.T_frame_sole[:3, 2]
        return np.concatenate([self.points, self.points + up])

    def sole_pose(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the pose of the sole.

        Parameters
        ----------
        robot
        q
            Configurations (..., nq).

        Returns
        -------
        (..., 4, 4)
            T_world_sole.
        """
        result: Array = kinematics.pose(robot, q, self.frame) @ self.T_frame_sole
        return result

    def frame_pose(self, T_world_sole: MatrixLike) -> Array:
        """Compute the pose of the foot's frame from the pose of its sole.

        Parameters
        ----------
        T_world_sole
            (..., 4, 4)

        Returns
        -------
        (..., 4, 4)
            T_world_frame.
        """
        result: Array = as_pose(T_world_sole, "T_world_sole") @ inverse_pose(self.T_frame_sole)
        return result

    def contact(self, friction: float = 0.7, *, part: float = 1.0) -> Contact:
        """Make a contact of the whole sole, with its corners.

        A foot whose roll is free touches along the line from its heel to its toes, about which it may turn.

        Parameters
        ----------
        friction
            Friction coefficient.
        part
            Fraction of the outline about its middle that bears forces, above 0 and at most 1.

        Returns
        -------
        Contact

        Raises
        ------
        InputError
            For a part outside its range.
        """
        if not 0 < part <= 1:
            raise InputError(f"part must be above 0 and at most 1, got {part!r}")
        corners = self.points
        if self.free == "roll":
            x, y = self.corners[:, 0], float(self.middle[1])
            line = np.array([[x.min(), y, 0.0], [x.max(), y, 0.0]])
            corners = line @ self.T_frame_sole[:3, :3].T + self.T_frame_sole[:3, 3]
        middle = corners.mean(axis=0)
        return Contact(self.frame, corners=middle + part * (corners - middle), friction=friction, name=self.side)

    @cached_property
    def controlled(self) -> Array:
        """Return for each row (6,) of a twist in the axes of the foot's frame whether the leg controls it: 1 or 0."""
        rows = np.ones(6)
        if self.free:
            axis = self.T_frame_sole[:3, 0 if self.free == "roll" else 2]
            rows[3 + int(np.abs(axis).argmax())] = 0.0
        return rows


def _clipped(corners: Array, axis: int, reach: float) -> Array:
    """Clip a convex polygon to -reach ... reach along an axis; it stays whole where nothing would be left."""
    for normal in (np.eye(2)[axis], -np.eye(2)[axis]):
        if (corners @ normal < reach).any():
            corners = cut(corners, normal, reach)
    return corners
