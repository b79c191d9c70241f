"""The region in which a foot may land: a convex polygon in the sole frame of the stance foot, and a range of turns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import cos, inf, sin
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.balance.polygon import hull
from kinodyn.checks import numbers

EDGES = 4  # number of rows of `StepRegion.edges`
SCANNED = 8  # intervals in which the largest feasible fraction of a move is searched


Region = TypeVar("Region", bound="StepRegion")
Number = TypeVar("Number", float, Array)


@dataclass(frozen=True)
class StepRegion:
    """Positions and turns of the next foot; the fields are those of `StepLimits`."""

    forward: float
    backward: float
    min_width: float
    width: float
    max_width: float
    oblique: float
    outward: float
    inward: float
    toe: float
    heel: float

    def scaled(self: Region, factor: float) -> Region:
        """Scale the limits; the minimum and the nominal width stay.

        Parameters
        ----------
        factor
            Above 0.

        Returns
        -------
        StepRegion
        """
        return replace(
            self,
            forward=factor * self.forward,
            backward=factor * self.backward,
            max_width=self.width + factor * (self.max_width - self.width),
            oblique=self.width + factor * (self.oblique - self.width),
            outward=factor * self.outward,
            inward=factor * self.inward,
        )

    def excess(self, side: str, step: ArrayLike) -> Array:
        """Measure by how much a step violates its limits.

        Parameters
        ----------
        side
            Of the new foot.
        step
            x, y [m] and yaw [rad] (..., 3) of the new foot in the sole frame of the stance foot.

        Returns
        -------
        (...)
            Maximum violation [m or rad]; at most 0 within the limits.
        """
        x, y, turn = np.moveaxis(numbers("step", step, 3), -1, 0)
        sign = 1.0 if side == "left" else -1.0
        y, turn = sign * y, sign * turn
        result: Array = np.max(self._violations(x, y, turn, self.turn_clearance(turn)), axis=0)
        return result

    def turn_clearance(self, turn: ArrayLike) -> Array:
        """Compute how much wider a step must be when its foot is turned.

        Parameters
        ----------
        turn
            (...) [rad], outward positive.

        Returns
        -------
        (...)
            [m]
        """
        angle = np.asarray(turn, dtype=float)
        result: Array = np.where(angle > 0, self.heel, self.toe) * np.abs(np.sin(angle))
        return result

    def corners(self, side: str) -> Array:
        """List the corners of the region of the new foot.

        Parameters
        ----------
        side
            Of the new foot.

        Returns
        -------
        (n, 2)
            Counter-clockwise, in the sole frame of the stance foot [m].
        """
        y_sign, points = (1.0 if side == "left" else -1.0), []
        for x_sign, most in ((1.0, self.forward), (-1.0, self.backward)):
            points.append((x_sign * most, y_sign * self.min_width))
            points.append((x_sign * most, y_sign * min(self.max_width, self.oblique - most)))
            points.append((x_sign * min(most, self.oblique - self.max_width), y_sign * self.max_width))
        return hull(points)

    def relative_step(self, side: str, move: ArrayLike) -> Array:
        """Place the next foot so that the body moves by a given amount.

        The body is half a width beside the stance foot; the new foot lands half a width beside the body's new position,
        on the other side. In lateral and turning steps the feet are kept wider apart, so that they do not cross.

        Parameters
        ----------
        side
            Of the new foot.
        move
            x, y [m] and turn [rad] of the body (3,).

        Returns
        -------
        (3,)
            x, y and yaw of the new foot in the sole frame of the stance foot.
        """
        dx, dy, turn = (float(value) for value in np.asarray(move, dtype=float))
        return np.array(self.next_foot(side, dx, dy, turn))

    def edges(self, side: str, turn: float) -> list[tuple[tuple[float, float], float, float]]:
        """List the edges of the region of a turned foot, in the sole frame of the stance foot.

        Parameters
        ----------
        side
            Of the new foot.
        turn
            Of the new foot [rad].

        Returns
        -------
        list of (direction, least, largest)
            Direction (2,), and the range of the coordinate of a position along it [m].
        """
        sign = 1.0 if side == "left" else -1.0
        near = self.min_width + self._clearance(sign * turn)
        far, most = max(self.max_width, near), max(self.oblique, near)
        away = (near, far) if side == "left" else (-far, -near)
        together = (-inf, most)
        return [
            ((1.0, 0.0), -self.backward, self.forward),
            ((0.0, 1.0), *away),
            ((1.0, sign), *together),
            ((-1.0, sign), *together),
        ]

    def fits(self, move: ArrayLike) -> bool:
        """Return whether the body can move by a given amount in each step, left and right.

        Parameters
        ----------
        move
            x, y [m] and turn [rad] (3,).

        Returns
        -------
        bool
        """
        return self._move_excess(*(float(value) for value in np.asarray(move, dtype=float))) <= 0

    def _move_excess(self, dx: float, dy: float, turn: float) -> float:
        """Compute the larger `excess` of a left and a right step that move the body, up to rounding."""
        return max(self._excess(side, *self.next_foot(side, dx, dy, turn)) for side in ("left", "right")) - 1e-9

    def next_foot(self, side: str, dx: float, dy: float, turn: float) -> tuple[float, float, float]:
        """Compute `relative_step` in plain floats."""
        wider = max(self.toe, self.heel) * abs(sin(turn))
        # the feet of a turning body are closer to each other than their distance from its middle says
        least = (self.min_width + abs(dy) + wider) / (0.5 * (1.0 + cos(turn)))
        width = max(min(self.width, self.max_width - abs(dy)), least)
        half = 0.5 * width if side == "left" else -0.5 * width
        x, y, yaw = unicycle_step((0.0, half, 0.0), (dx, dy, turn))
        return x - sin(yaw) * half, y + cos(yaw) * half, yaw

    def _excess(self, side: str, x: float, y: float, turn: float) -> float:
        """Compute `excess` of one step, in plain floats: planners call it at every tick."""
        if side != "left":
            y, turn = -y, -turn
        return max(self._violations(x, y, turn, self._clearance(turn)))

    def _violations(self, x: Number, y: Number, turn: Number, clearance: Number) -> tuple[Number, ...]:
        """Return how far a step of the left foot is beyond each limit, turned by `turn`, which needs a clearance."""
        return (
            x - self.forward,
            -x - self.backward,
            self.min_width + clearance - y,
            y - self.max_width,
            abs(x) + y - self.oblique,
            turn - self.outward,
            -turn - self.inward,
        )

    def _clearance(self, turn: float) -> float:
        """Compute `turn_clearance` of one step, in plain floats."""
        return (self.heel if turn > 0 else self.toe) * abs(sin(turn))

    def feasible_fraction(self, move: ArrayLike) -> float:
        """Find the fraction of a move of the body up to which each step can do it; 1 if it can do the whole.

        Parameters
        ----------
        move
            x, y [m] and turn [rad] (3,).

        Returns
        -------
        float
            From 0 to 1.
        """
        dx, dy, turn = (float(value) for value in (move if isinstance(move, tuple) else np.asarray(move, dtype=float)))

        def excess(fraction: float) -> float:
            return self._move_excess(fraction * dx, fraction * dy, fraction * turn)

        if excess(1.0) <= 0:
            return 1.0
        # a long oblique move may fit where a shorter one does not: its feet are wider apart
        at = [excess(k / SCANNED) for k in range(SCANNED + 1)]
        first = next(k for k, value in enumerate(at) if value > 0)
        if first == 0:
            return 0.0
        low, high, at_low, at_high = (first - 1) / SCANNED, first / SCANNED, at[first - 1], at[first]
        inside_before: bool | None = None
        for _ in range(40):  # regula falsi with the Illinois rule: planners need this several times in a tick
            middle = low + (high - low) * at_low / (at_low - at_high)
            found = excess(middle)
            inside = found <= 0
            if inside:
                low, at_low, at_high = middle, found, at_high * (0.5 if inside_before else 1.0)
            else:
                high, at_high, at_low = middle, found, at_low * (0.5 if inside_before is False else 1.0)
            inside_before = inside
            if high - low < 1e-12 or -1e-13 < found <= 0:
                break
        return low


def unicycle_step(pose: tuple[float, float, float], move: tuple[float, float, float]) -> tuple[float, float, float]:
    """Move a body on the ground by x, y and turn in its own axes, along an arc of constant curvature."""
    dx, dy, turn = move
    small = abs(turn) < 1e-6
    sine = 1.0 if small else sin(turn) / turn
    cosine = 0.5 * turn if small else 2.0 * sin(0.5 * turn) ** 2 / turn  # (1 - cos(turn)) / turn
    ahead, aside = sine * dx - cosine * dy, cosine * dx + sine * dy
    x, y, yaw = pose
    c, s = cos(yaw), sin(yaw)
    return x + c * ahead - s * aside, y + s * ahead + c * aside, yaw + turn
