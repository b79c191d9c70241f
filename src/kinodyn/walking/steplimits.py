"""How far a robot can step, derived from its legs and tried with inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import cos, inf, sin

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.balance.polygon import hull
from kinodyn.checks import numbers
from kinodyn.errors import InputError, KinodynError
from kinodyn.model.robot import Robot
from kinodyn.spatial import rot_z
from kinodyn.walking.biped import Biped

STRETCHED = 0.985  # of the straight leg: how long a leg may be in a step
SHRINK = 0.92  # by which limits are multiplied until inverse kinematics reaches all of them
TURN = 0.5  # rad that a foot turns at most in one step
SMALLEST = 0.2  # share of the first guess below which we give up
EDGES = 4  # that `StepLimits.edges` gives


@dataclass(frozen=True)
class StepLimits:
    """Where the next foot may be seen from the stance foot; sole frames, metres and radians.

    Attributes
    ----------
    forward, backward : float
        Along the stance foot.
    narrowest, width, widest : float
        Sideways, away from the stance foot: least, usual, most.
    oblique : float
        Most of both together: the distance along the foot plus that to the side.
    outward, inward : float
        Turn of the foot with its toes away from the other foot, and towards it.
    toe, heel : float
        How far the sole reaches before and behind the ankle: turned feet need that much more room.
    """

    forward: float
    backward: float
    narrowest: float
    width: float
    widest: float
    oblique: float
    outward: float
    inward: float
    toe: float
    heel: float

    @classmethod
    def of(cls, robot: Biped | Robot, *, check: bool = True) -> StepLimits:
        """Derive them from the length of the legs, the distance of the hips and the soles.

        A leg of length L whose hip is h above its ankle reaches sqrt((0.985 L)^2 - h^2) to the side; the hips are in
        the middle between the feet, so a step may be twice that. With `check`, the corners of that region are tried
        with inverse kinematics, and all limits are reduced until the robot reaches them.
        """
        body = robot if isinstance(robot, Biped) else Biped.of(robot)
        reach = 2.0 * float(np.sqrt(max((STRETCHED * body.leg) ** 2 - body.hip_height**2, 0.0)))
        toe = max(float(foot.corners[:, 0].max()) for foot in (body.left, body.right))
        heel = max(float(-foot.corners[:, 0].min()) for foot in (body.left, body.right))
        # an octagon within the circle of that radius: its corners are 0.8 and 0.6 of it away, and 0.6 and 0.8
        limits = cls(
            forward=0.8 * reach,
            backward=0.8 * reach,
            narrowest=body.narrowest(),
            width=body.width,
            widest=body.width + 0.8 * reach,
            oblique=body.width + 1.4 * reach,
            outward=TURN,
            inward=TURN,
            toe=toe,
            heel=heel,
        )
        return limits._reachable(body) if check else limits

    def scaled(self, share: float) -> StepLimits:
        """Reduce everything by a factor; the narrowest and the usual width stay."""
        return replace(
            self,
            forward=share * self.forward,
            backward=share * self.backward,
            widest=self.width + share * (self.widest - self.width),
            oblique=self.width + share * (self.oblique - self.width),
            outward=share * self.outward,
            inward=share * self.inward,
        )

    def excess(self, side: str, step: ArrayLike) -> Array:
        """Measure how far (...) beyond its limits a step is, as a multiple of 1 m or 1 rad; at most 0 within.

        `step` (..., 3) is x, y and turn of the new foot, on `side`, in the sole frame of the stance foot.
        """
        x, y, turn = np.moveaxis(numbers("step", step, 3), -1, 0)
        sign = 1.0 if side == "left" else -1.0
        y, turn = sign * y, sign * turn
        parts = (
            x - self.forward,
            -x - self.backward,
            self.narrowest + self.room(turn) - y,
            y - self.widest,
            np.abs(x) + y - self.oblique,
            turn - self.outward,
            -turn - self.inward,
        )
        result: Array = np.max(parts, axis=0)
        return result

    def room(self, turn: ArrayLike) -> Array:
        """Compute how much wider (...) [m] a step must be when its foot is turned, toes outwards positive [rad]."""
        angle = np.asarray(turn, dtype=float)
        result: Array = np.where(angle > 0, self.heel, self.toe) * np.abs(np.sin(angle))
        return result

    def corners(self, side: str) -> Array:
        """List the corners (n, 2) of where the new foot may be, counter-clockwise, in the stance foot's sole frame."""
        sign, points = (1.0 if side == "left" else -1.0), []
        for way, most in ((1.0, self.forward), (-1.0, self.backward)):
            points += [(way * most, sign * self.narrowest), (way * most, sign * min(self.widest, self.oblique - most))]
            points.append((way * min(most, self.oblique - self.widest), sign * self.widest))
        return hull(points)

    def relative_step(self, side: str, move: ArrayLike) -> Array:
        """Choose the next foot (3,), seen from the stance foot, so that the body moves by x, y and turn (3,).

        The body is half a width beside the stance foot; the new foot lands half a width beside where it will be, on the
        other side. Going sideways or turning, the feet are kept wider apart, so that they do not cross.
        """
        dx, dy, turn = (float(value) for value in np.asarray(move, dtype=float))
        return np.array(self._next(side, dx, dy, turn))

    def edges(self, side: str, turn: float) -> list[tuple[tuple[float, float], float, float]]:
        """List the edges of where a foot on a side that is turned so much may be, in the stance foot's sole frame.

        Each is a direction and the least and the most that a place (2,) may have along it.
        """
        sign = 1.0 if side == "left" else -1.0
        near = self.narrowest + (self.heel if sign * turn > 0 else self.toe) * abs(sin(turn))
        far, most = max(self.widest, near), max(self.oblique, near)
        away = (near, far) if side == "left" else (-far, -near)
        together = (-inf, most)
        return [
            ((1.0, 0.0), -self.backward, self.forward),
            ((0.0, 1.0), *away),
            ((1.0, sign), *together),
            ((-1.0, sign), *together),
        ]

    def fits(self, move: ArrayLike) -> bool:
        """Tell whether the body can move by x, y and turn (3,) with each step, left and right."""
        dx, dy, turn = (float(value) for value in np.asarray(move, dtype=float))
        return all(self._over(side, *self._next(side, dx, dy, turn)) <= 1e-9 for side in ("left", "right"))

    def _next(self, side: str, dx: float, dy: float, turn: float) -> tuple[float, float, float]:
        wider = max(self.toe, self.heel) * abs(sin(turn))
        width = max(min(self.width, self.widest - abs(dy)), self.narrowest + abs(dy) + wider)
        half = 0.5 * width if side == "left" else -0.5 * width
        x, y, yaw = advance((0.0, half, 0.0), (dx, dy, turn))
        return x - sin(yaw) * half, y + cos(yaw) * half, yaw

    def _over(self, side: str, x: float, y: float, turn: float) -> float:
        """Do what `excess` does, for one step."""
        if side != "left":
            y, turn = -y, -turn
        room = (self.heel if turn > 0 else self.toe) * abs(sin(turn))
        return max(
            x - self.forward,
            -x - self.backward,
            self.narrowest + room - y,
            y - self.widest,
            abs(x) + y - self.oblique,
            turn - self.outward,
            -turn - self.inward,
        )

    def part_that_fits(self, move: ArrayLike) -> float:
        """Find the greatest share, from 0 to 1, of a move (3,) that each step can do."""
        whole = np.asarray(move, dtype=float)
        if self.fits(whole):
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.fits(middle * whole) else (low, middle)
        return low

    def largest(self, step_time: float) -> Array:
        """Compute the greatest speeds (3,) with steps of this length [s]: forward, sideways [m/s], turning [rad/s]."""
        if not step_time > 0:
            raise InputError(f"step_time must be positive, got {step_time!r}")
        most = np.array([self.forward, self.widest, self.outward])
        shares = np.array([self.part_that_fits(row) for row in np.diag(most)])
        return np.asarray(shares * most / step_time)

    def check(self, velocity: ArrayLike, step_time: float) -> Array:
        """Return a command (3,), forward, sideways, turn, or raise an error with the limit that it exceeds."""
        v = numbers("velocity", velocity, 3)
        if v.shape != (3,):
            raise InputError(f"velocity must have shape (3,): forward, sideways, turn; got {v.shape}")
        if self.fits(v * step_time):
            return v
        most = self.largest(step_time)
        if v[0] < 0:
            most[0] = self.backward / step_time
        names = ("forward" if v[0] >= 0 else "backward", "sideways", "turning")
        for name, value, limit, unit in zip(names, v, most, ("m/s", "m/s", "rad/s"), strict=True):
            if abs(value) > limit:
                raise InputError(
                    f"{name} at {abs(value):.3g} {unit} is too fast: with steps of {step_time:.3g} s this robot can do "
                    f"{limit:.3g} {unit}"
                )
        share = self.part_that_fits(v * step_time)
        raise InputError(
            f"the command {np.round(v, 3).tolist()} is within each limit {np.round(most, 3).tolist()} but too much "
            f"together; multiply it by {share:.3g} or less"
        )

    def _reachable(self, body: Biped) -> StepLimits:
        share = 1.0
        while share >= SMALLEST:
            limits = self.scaled(share)
            if limits._reaches(body):
                return limits
            share *= SHRINK
        raise KinodynError(
            f"{body.robot.name!r} cannot step even {SMALLEST * self.forward:.3g} m: its legs do not reach the corners "
            "of the step box; try another `bent` in Biped.of"
        )

    def _reaches(self, body: Biped) -> bool:
        """Try all corners of the box with each foot at once."""
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
        poses = {side: np.array(value) for side, value in soles.items()}
        middles = sum(poses[side] @ np.append(body.feet[side].middle, [0.0, 1.0]) for side in ("left", "right")) / 2
        com = np.column_stack([middles[:, :2], np.full(len(middles), body.com_height)])
        return bool(body.place(poses, com, np.array(headings)).success.all())


def advance(pose: tuple[float, float, float], move: tuple[float, float, float]) -> tuple[float, float, float]:
    """Move a body on the ground by x, y and turn as seen from itself, turning evenly on the way."""
    dx, dy, turn = move
    small = abs(turn) < 1e-6
    sine = 1.0 if small else sin(turn) / turn
    cosine = 0.5 * turn if small else 2.0 * sin(0.5 * turn) ** 2 / turn  # (1 - cos(turn)) / turn
    ahead, aside = sine * dx - cosine * dy, cosine * dx + sine * dy
    x, y, yaw = pose
    c, s = cos(yaw), sin(yaw)
    return x + c * ahead - s * aside, y + s * ahead + c * aside, yaw + turn


def feet_apart(body: Biped, T_left: Array, T_right: Array) -> Array:
    """Measure the gap (...) [m] between the soles at poses (..., 4, 4); negative when they overlap.

    Two convex outlines are apart by the largest gap along any of their edges' normals, or less than that if they are
    nearest at corners: the answer is a lower bound, and its sign is exact.
    """
    outlines = []
    for foot, T in ((body.left, T_left), (body.right, T_right)):
        flat = np.column_stack([foot.corners, np.zeros(len(foot.corners))])
        points = flat @ np.swapaxes(T[..., :3, :3], -1, -2) + T[..., None, :3, 3]
        outlines.append(points[..., :2])
    gaps = []
    for own, opposite in (outlines, outlines[::-1]):
        edge = np.roll(own, -1, axis=-2) - own
        normal = np.stack([edge[..., 1], -edge[..., 0]], axis=-1)
        normal = normal / np.linalg.norm(normal, axis=-1, keepdims=True)
        reach = (normal * own).sum(axis=-1)
        gaps.append((np.einsum("...ik,...jk->...ij", normal, opposite).min(axis=-1) - reach).max(axis=-1))
    result: Array = np.maximum(*gaps)
    return result
