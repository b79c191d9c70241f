"""Planar arms: two parallel axes for a position, three for a pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinodyn.arrays import Array
from kinodyn.ik.analytic.axes import Axis, CosSin, Mask, Motion, Vec, add_angles, constant, minus, negated
from kinodyn.ik.analytic.geometry import NoClosedFormError, aligned, angle_between, foot, parallel, tolerance
from kinodyn.ik.analytic.subproblems import ZERO_TOLERANCE, Degeneracies, aim_plane, roots


@dataclass(frozen=True, eq=False)
class TwoLinks:
    """Two parallel axes that move a point: the law of cosines, then the direction.

    `second` has the frame of `first`; `sign` is -1 where the joint's own axis points the other way.
    """

    first: Axis
    second: Axis
    sign: float

    @staticmethod
    def from_axes(first: Axis, second: Axis) -> TwoLinks:
        """Create the pair, with the point of the second axis in the plane of the first one's."""
        level, sign = aligned(second, first)
        return TwoLinks(first, level.moved(foot(level, first.point)), sign)

    def solve(
        self, point: Vec, goal: Vec, joints: tuple[int, int], earlier: int, record: Degeneracies
    ) -> tuple[CosSin, CosSin]:
        """Move the point to the goal, in the plane normal to the axes; two solutions on a new first axis."""
        lx, ly = self.first.across(constant(self.second.point - self.first.point))
        x, y = self.second.across(minus(point, self.second.origin))
        u, v = self.first.across(minus(goal, self.first.origin))
        # |l + R(q2) p|^2 = |goal|^2 is linear in cosine and sine of q2.
        half = 0.5 * (u * u + v * v - (lx * lx + ly * ly) - (x * x + y * y))
        a, b = lx * x + ly * y, ly * x - lx * y
        c, s = roots(a, b, half, record.size**2, joint=joints[1], earlier=earlier, record=record)
        reached = (lx + c * x - s * y, ly + s * x + c * y)
        first = aim_plane(reached, (u, v), joint=joints[0], record=record, scale=record.size)
        return first, (c, self.sign * s)


@dataclass(frozen=True, eq=False)
class ThreeLinks:
    """Three parallel axes: two links position the third, which then sets the orientation."""

    pair: TwoLinks
    third: Axis
    sign: float

    @staticmethod
    def from_axes(axes: Sequence[Axis]) -> ThreeLinks:
        """Align the second and third axis with the first."""
        third, sign = aligned(axes[2], axes[0])
        return ThreeLinks(TwoLinks.from_axes(axes[0], axes[1]), third.moved(foot(third, axes[0].point)), sign)

    def solve(
        self, centre: Vec, heading: Vec, joints: tuple[int, int, int], earlier: int, record: Degeneracies
    ) -> list[CosSin]:
        """Move the third axis to `centre` and the frame's first vector to `heading`."""
        first, second = self.pair.solve(self.third.origin, centre, joints[:2], earlier, record)
        total = self.third.across(heading)
        inner = add_angles(first, (second[0], self.pair.sign * second[1]))
        c, s = add_angles(total, negated(inner))
        return [first, second, (c, self.sign * s)]

    def within_reach(self, centre: Vec, point: Vec, where: Mask, record: Degeneracies) -> CosSin:
        """Rotate the third axis, at `point`, about a parallel through `centre` until two links can reach it.

        Only at the targets and branches of `where` that are out of reach.
        """
        origin, knee = self.pair.first.point, self.pair.second.point
        upper, lower = (
            float(np.hypot(*self.third.across(constant(v)))) for v in (knee - origin, self.third.point - knee)
        )
        x, y = self.third.across(minus(point, centre))
        cx, cy = self.third.across(minus(centre, constant(origin)))
        square = (cx + x) ** 2 + (cy + y) ** 2
        nearest = np.clip(square, (upper - lower) ** 2, (upper + lower) ** 2)
        half = 0.5 * (nearest - (cx * cx + cy * cy) - (x * x + y * y))
        scratch = Degeneracies(record.size, [np.zeros(1)])  # both roots bound one continuum, recorded already
        c, s = roots(cx * x + cy * y, cy * x - cx * y, half, record.size**2, joint=0, earlier=0, record=scratch)
        outside = where & (np.abs(nearest - square) > ZERO_TOLERANCE * record.size**2)
        return np.where(outside, np.asarray(c)[0], 1.0), np.where(outside, np.asarray(s)[0], 0.0)


@dataclass(frozen=True, eq=False)
class Planar2R:
    """Two parallel axes that position the frame's origin; the orientation is not controlled."""

    pair: TwoLinks
    tip: Vec
    family: str = "planar 2R"
    branches: tuple[int, ...] = (2,)
    position_only: bool = True

    def solve(self, goal: Motion, record: Degeneracies) -> list[CosSin]:
        """Reach the goal's position with both elbow configurations."""
        return list(self.pair.solve(self.tip, goal.move(self.tip), (0, 1), 0, record))

    def clamp(self, p: Array) -> Array:
        """Move points (n, 3) to the nearest reachable ones: onto the plane, then into the annulus."""
        first, second = self.pair.first, self.pair.second
        tip = np.array(self.tip)
        height = (tip - first.point) @ first.direction
        level = p - np.multiply.outer((p - first.point) @ first.direction - height, first.direction)
        centre = first.point + height * first.direction
        upper = float(np.linalg.norm(second.point - first.point))
        lower = float(np.linalg.norm(foot(second, tip) - tip))
        out = level - centre
        radius = np.linalg.norm(out, axis=-1, keepdims=True)
        # At the centre all directions are equally near; take the first axis' x.
        ray = np.where(radius > 0, out / np.where(radius > 0, radius, 1.0), first.frame[:, 0])
        inside: Array = centre + ray * np.clip(radius, abs(upper - lower), upper + lower)
        return np.where((radius >= abs(upper - lower)) & (radius <= upper + lower), level, inside)


@dataclass(frozen=True, eq=False)
class Planar3R:
    """Three parallel axes for a pose within their plane."""

    links: ThreeLinks
    family: str = "planar 3R"
    branches: tuple[int, ...] = (2,)
    position_only: bool = False

    def solve(self, goal: Motion, record: Degeneracies) -> list[CosSin]:
        """Reach the goal with both elbow configurations; a goal out of the plane is rejected by verification."""
        third = self.links.third
        heading = goal.rotate(constant(third.frame[:, 0]))
        return self.links.solve(goal.move(third.origin), heading, (0, 1, 2), 0, record)


def planar(axes: Sequence[Axis], tip: Array) -> Planar2R | Planar3R:
    """Recognise a planar arm of two or three joints with the frame's origin `tip` (3,) at zero, or raise."""
    for i, axis in enumerate(axes[1:], start=2):
        if not parallel(axes[0], axis):
            angle = np.rad2deg(angle_between(axes[0], axis))
            raise NoClosedFormError(
                f"a chain of {len(axes)} joints is solved when it is planar, but the axes of joints 1 and {i} are "
                f"not parallel: their angle is {angle:.4g} degrees; kinodyn.ik.solve takes any chain"
            )
    ends = [*axes[1:], Axis(tip, axes[0].frame)][: 2 if len(axes) == 2 else len(axes) - 1]
    for i, (axis, end) in enumerate(zip(axes, ends, strict=False), start=1):
        length = float(np.linalg.norm(foot(axis, end.point) - end.point))
        if length < tolerance():
            raise NoClosedFormError(f"link {i} of the planar arm has no length perpendicular to its axis")
    if len(axes) == 2:
        return Planar2R(TwoLinks.from_axes(axes[0], axes[1]), constant(tip))
    return Planar3R(ThreeLinks.from_axes(axes))
