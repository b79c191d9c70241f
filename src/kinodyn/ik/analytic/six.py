"""Six joints: with a spherical wrist or shoulder, or with three parallel axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kinodyn.ik.analytic.axes import Axis, CosSin, Motion, Real, Vec, add_angles, constant, minus, negated, plus, some
from kinodyn.ik.analytic.geometry import (
    NoClosedFormError,
    angle_between,
    foot,
    intersect,
    lies_on,
    nearest_point,
    parallel,
    tolerance,
)
from kinodyn.ik.analytic.planar import ThreeLinks
from kinodyn.ik.analytic.regional import Regional, height, regional
from kinodyn.ik.analytic.subproblems import Degeneracies, aim, bend

# Joint 4 loses precision where the wrist is bent less than this [rad]; joint 6 compensates for it.
NEARLY_ALIGNED = 1e-4


class Solver(Protocol):
    """A recognised geometry; the branches of a target have the axes `branches`."""

    @property
    def family(self) -> str: ...  # noqa: D102
    @property
    def branches(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def position_only(self) -> bool: ...  # noqa: D102

    def solve(self, goal: Motion, record: Degeneracies) -> list[CosSin]:
        """Compute cosine and sine of each joint such that the product of the rotations is the goal."""
        ...


@dataclass(frozen=True, eq=False)
class SphericalWrist:
    """Axes 4, 5 and 6 intersect in `centre`: three joints for its position, three for the orientation."""

    axes: Sequence[Axis]
    centre: Vec
    arm: Regional
    family: str = "6R with a spherical wrist"
    branches: tuple[int, ...] = (2, 2, 2)
    position_only: bool = False

    def solve(self, goal: Motion, record: Degeneracies) -> list[CosSin]:
        """Solve the arm, then the wrist for the remaining orientation."""
        angles = self.arm.solve(self.centre, goal.move(self.centre), record)
        ahead = goal.rotate(self.axes[5].w)  # desired direction of the last axis, in the frame of the arm's end below
        for axis, angle in zip(self.axes[:3], angles, strict=True):
            ahead = axis.rotate(negated(angle), ahead)
        behind = self.axes[3].w  # direction of the fourth axis, in the frame of the tool below
        for axis, angle in zip(self.axes[2::-1], angles[::-1], strict=True):
            behind = axis.rotate(angle, behind)
        angles += self._wrist(ahead, goal.rotate_back(behind), record)
        return self._compensated(goal, angles, ahead)

    def _wrist(self, ahead: Vec, behind: Vec, record: Degeneracies) -> list[CosSin]:
        four, five, six = self.axes[3:]
        q5 = bend(five, six.w, four.w, *_angle(four, ahead), joint=4, earlier=2, record=record)
        q4 = aim(four, five.rotate(q5, six.w), ahead, joint=3, record=record)
        q6 = aim(six, behind, five.rotate(negated(q5), four.w), joint=5, record=record)
        return [q4, q5, q6]

    def _compensated(self, goal: Motion, angles: list[CosSin], ahead: Vec) -> list[CosSin]:
        """Compute joint 6 from the others where axes 4 and 6 are nearly aligned."""
        a, b = self.axes[3].across(ahead)
        few = a * a + b * b < NEARLY_ALIGNED**2
        if not some(np.asarray(few)):
            return angles
        six = self.axes[5]
        shape = np.broadcast_shapes(*(np.shape(angle[0]) for angle in angles))
        at = np.nonzero(np.broadcast_to(few, shape))
        x, y, z = (np.asarray(part)[at[-1]] for part in goal.rotate(constant(six.frame[:, 0])))
        remaining: Vec = (x, y, z)
        for axis, angle in zip(self.axes[:5], angles[:5], strict=True):
            c, s = (np.broadcast_to(part, shape)[at] for part in angle)
            remaining = axis.rotate((c, -s), remaining)
        c, s = (np.array(np.broadcast_to(part, shape)) for part in angles[5])
        c[at], s[at] = six.across(remaining)
        return [*angles[:5], (c, s)]


@dataclass(frozen=True, eq=False)
class ParallelThree:
    """Axes 2, 3 and 4 are parallel, axes 5 and 6 intersect in `centre`, as in the arms of Universal Robots."""

    axes: Sequence[Axis]
    centre: Vec
    links: ThreeLinks
    family: str = "6R with three parallel axes"
    branches: tuple[int, ...] = (2, 2, 2)
    position_only: bool = False

    def solve(self, goal: Motion, record: Degeneracies) -> list[CosSin]:
        """Solve joints 1, 5, 6 from invariants of rotations about the parallel axes, then 2, 3, 4 in their plane."""
        one, five, six = self.axes[0], self.axes[4], self.axes[5]
        w = self.links.third.w
        q1 = height(one, w, self.centre, goal.move(self.centre), joint=0, record=record)
        behind = goal.rotate_back(one.rotate(q1, w))  # direction of the parallel axes in the frame of the tool
        q5 = bend(five, six.w, w, *_angle(six, behind), joint=4, earlier=1, record=record)
        before = len(record.singular)
        q6 = aim(six, behind, five.rotate(negated(q5), w), joint=5, record=record)
        # With the last axis parallel to the others joint 6 is free, but not every value lets 2, 3, 4 reach the goal.
        free = record.singular[before:]
        point = six.rotate_point(negated(q6), five.rotate_point(negated(q5), self.links.third.origin))
        heading = six.rotate(negated(q6), five.rotate(negated(q5), constant(self.links.third.frame[:, 0])))
        point = one.rotate_point(negated(q1), goal.move(point))
        heading = one.rotate(negated(q1), goal.rotate(heading))
        if free:
            centre = one.rotate_point(negated(q1), goal.move(self.centre))
            extra = self.links.within_reach(centre, point, free[0], record)
            point = plus(self.links.third.rotate(extra, minus(point, centre)), centre)
            heading = self.links.third.rotate(extra, heading)
            q6 = add_angles(q6, (extra[0], -np.sign(six.along(behind)) * extra[1]))
        return [q1, *self.links.solve(point, heading, (1, 2, 3), 2, record), q5, q6]


@dataclass(frozen=True, eq=False)
class Reversed:
    """A chain solved from its other end: inverse goal, reversed axes, joints in reverse order."""

    inner: Solver
    family: str
    branches: tuple[int, ...] = (2, 2, 2)
    position_only: bool = False

    def solve(self, goal: Motion, record: Degeneracies) -> list[CosSin]:
        """Solve the reversed chain."""
        return self.inner.solve(goal.inverse(), record.reversed())[::-1]


def _angle(axis: Axis, v: Vec) -> tuple[Real, Real]:
    """Return cosine and squared sine of the angle between the axis and the unit vector v."""
    x, y = axis.across(v)
    return axis.along(v), x * x + y * y


def six(axes: Sequence[Axis]) -> Solver:
    """Recognise the geometry of six joints, or raise an error that says what each known geometry lacks."""
    behind = [axis.reversed() for axis in axes[::-1]]
    tried = []
    for recognise in (_spherical, _parallel):
        forwards, backwards = recognise(axes), recognise(behind)
        if not isinstance(forwards, str):
            return forwards
        if not isinstance(backwards, str):
            return Reversed(backwards, backwards.family + ", read from the tool")
        tried += [f"from the base: {forwards}", f"from the tool: {backwards}"]
    raise NoClosedFormError(
        "no closed form for these six joints; " + "; ".join(dict.fromkeys(tried)) + "; kinodyn.ik.solve takes any chain"
    )


def _spherical(axes: Sequence[Axis]) -> SphericalWrist | str:
    centre, distance = nearest_point(*axes[3:])
    if distance >= tolerance():
        return f"the last three axes do not intersect in a point: the distance is {1e3 * distance:.4g} mm"
    for a, b in ((3, 4), (4, 5)):
        if parallel(axes[a], axes[b]):
            return "two adjacent axes of the last three coincide"
    arm = regional(axes[:3], centre)
    if isinstance(arm, str):
        return f"the last three axes intersect in a point, but {arm}"
    return SphericalWrist(axes, constant(centre), arm)


def _parallel(axes: Sequence[Axis]) -> ParallelThree | str:
    for a, b in ((1, 2), (2, 3)):
        if not parallel(axes[a], axes[b]):
            angle = np.rad2deg(angle_between(axes[a], axes[b]))
            return f"axes 2, 3 and 4 are not parallel: the angle of {a + 1} and {b + 1} is {angle:.4g} degrees"
        if lies_on(axes[a].point, axes[b]):
            return "axes 2, 3 and 4 are parallel, but two of them coincide"
    if parallel(axes[0], axes[1]) or parallel(axes[3], axes[4]):
        return "axes 2, 3 and 4 are parallel, but so is one of their neighbours"
    if not intersect(axes[4], axes[5]):
        distance = 2e3 * nearest_point(axes[4], axes[5])[1]
        return f"axes 2, 3 and 4 are parallel, but axes 5 and 6 do not intersect: the distance is {distance:.4g} mm"
    # The point of axis 4 nearest to axis 5 keeps the best precision.
    near = foot(axes[3], nearest_point(axes[3], axes[4])[0])
    links = ThreeLinks.from_axes(axes[1:4])
    links = ThreeLinks(links.pair, links.third.moved(near), links.sign)
    return ParallelThree(axes, constant(nearest_point(axes[4], axes[5])[0]), links)
