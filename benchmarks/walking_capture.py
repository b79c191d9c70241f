"""Upper bounds of the pushes that a standing robot can capture by steps, from the limits of its own steps.

The linear inverted pendulum is pushed while it stands on both feet, and then makes any number of alternating steps.
Their lengths and widths are those of `StepLimits`; feet do not cross. A swing foot covers a distance d in the time
sqrt(5.77 d / a) at least, with `max_swing_acceleration` a of the settings, and no swing is shorter than
`min_swing_fraction` says. The zero moment point (ZMP) is anywhere in the stance foot, double supports take no time, and
the axes along and across the feet are solved apart from each other, each with its own durations: all of this can only
make the bounds larger. The last column adds a ZMP that is `hip_offset` beyond the foot during the first step, which a
swing of the trunk would have to produce. Bounds are multiples of `balance.push_bound`.

python benchmarks/walking_capture.py [humanoid talos g1]
"""

from __future__ import annotations

import argparse
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd
from kinodyn.walking.quintic import PEAK_ACCELERATION

Array = NDArray[np.float64]
STEPS = 8  # more of them change the third digit
GRID = 121  # positions of a foot
DURATIONS = 80  # of a swing


class Axis(NamedTuple):
    """Steps along one axis, for a push in its positive direction.

    `front` is the edge of the sole before its origin, `regions` are the least and the largest position of a foot that
    swings, relative to the stance foot: of the foot on the side of the push, and of the other one [m].
    """

    front: float
    regions: tuple[tuple[float, float], tuple[float, float]]


class Swings(NamedTuple):
    """Durations of swings: how much of a DCM offset from the ZMP is left backwards in time, and how far a foot gets."""

    fade: Array
    travel: Array


def after_step(
    axis: Axis, swings: Swings, apart: Array, region: tuple[float, float], then: Array, hips: float
) -> Array:
    """Compute the largest DCM ahead of the stance foot that a step captures [m].

    Parameters
    ----------
    axis, swings
    apart
        Positions (n,) of the swing foot relative to the stance foot at lift-off [m].
    region
        Where it may land.
    then
        Values (GRID,) of this function for the following steps, with the swing foot at minus the positions of `region`.
    hips
        Distance of the ZMP beyond the edge of the stance foot [m].
    """
    landing = np.linspace(*region, GRID)
    reached = np.abs(landing - apart[:, None])[..., None] <= swings.travel + 1e-9
    edge = axis.front + hips
    value = edge * (1.0 - swings.fade) + swings.fade * (landing + then)[:, None]
    return np.asarray(np.where(reached, value, axis.front).max(axis=(1, 2)))


def farthest(axis: Axis, swings: Swings, start: float, side: int, steps: int, hips: float) -> float:
    """Compute the largest DCM ahead of the stance foot at the first lift-off [m].

    `side` is the index of `axis.regions` for the first foot that swings, `start` its position.
    """
    values = [np.full(GRID, axis.front)] * 2  # after a landing anywhere in each region
    for _ in range(steps - 1):
        lifted = [-np.linspace(*axis.regions[1 - k], GRID) for k in (0, 1)]  # the stance foot before the landing
        values = [
            np.maximum(after_step(axis, swings, lifted[k], axis.regions[k], values[k], 0.0), axis.front) for k in (1, 0)
        ]
    return float(after_step(axis, swings, np.array([start]), axis.regions[side], values[side], hips)[0])


class Robot:
    """The limits of a robot's steps, from its stance."""

    def __init__(self, name: str) -> None:
        self.robot = kd.load(name, base="floating")
        planner = kd.walking.Planner(kd.walking.Biped.from_robot(self.robot))
        self.body, self.limits, self.settings = planner.body, planner.limits, planner.settings
        own, omega = self.settings, self.body.omega
        longest = own.max_swing_fraction * own.single_support
        durations = np.linspace(own.min_swing_fraction * own.single_support, longest, DURATIONS)
        travel = own.max_swing_acceleration / PEAK_ACCELERATION * durations**2
        self.swings = Swings(np.exp(-omega * durations), travel)
        self.com = kd.kinematics.com(self.robot, self.body.q)[:2]
        self.feet = {side: foot.sole_pose(self.robot, self.body.q)[:2, 3] for side, foot in self.body.feet.items()}

    def push_bound(self, u: Array) -> float:
        """Return the largest displacement of the DCM in a direction (2,) without a step [m]."""
        polygon = kd.balance.support_polygon(self.robot, self.body.q, list(self.body.feet.values()))
        impulse = kd.balance.push_bound(polygon, self.com, [u], self.body.omega, self.robot.mass)
        return float(impulse[0]) / (self.robot.mass * self.body.omega)

    def axis(self, k: int, sign: float, stance: str) -> Axis:
        """Return the steps along x (0) or y (1), for a push of this sign, that begin on a stance foot."""
        limits, front = self.limits, float((sign * self.body.feet[stance].rectangle[:, k]).max())
        if k == 1:
            return Axis(front, ((limits.min_width, limits.max_width), (-limits.max_width, -limits.min_width)))
        along = (-limits.backward, limits.forward) if sign > 0 else (-limits.forward, limits.backward)
        return Axis(front, (along, along))

    def reach(self, k: int, sign: float, steps: int, hips: float) -> float:
        """Compute the largest displacement of the DCM along an axis that steps capture [m], with either foot first."""
        found = []
        for stance, swing in (("left", "right"), ("right", "left")):
            axis, start = self.axis(k, sign, stance), sign * float(self.feet[swing][k] - self.feet[stance][k])
            ahead = farthest(axis, self.swings, start, int(k == 1 and start < 0), steps, hips)
            found.append(ahead - sign * float(self.com[k] - self.feet[stance][k]))
        return max(found)

    def ratio(self, degrees: float, steps: int, hips: float) -> float:
        """Compute the largest push in a direction that steps capture, as a multiple of that without a step."""
        angle = np.deg2rad(degrees)
        u = np.array([np.cos(angle), np.sin(angle)]).round(12)
        reaches = [self.reach(k, np.sign(u[k]), steps, hips) / abs(u[k]) for k in np.flatnonzero(u).tolist()]
        return float(min(reaches)) / self.push_bound(u)


def main() -> None:
    """Print a table for each robot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", default=["humanoid", "talos", "g1"])
    warnings.simplefilter("ignore", kd.DescriptionWarning)
    for name in parser.parse_args().robots:
        print(f"{name}: largest push by steps, as a multiple of the largest without")
        print("  direction  one step  steps  and trunk")
        robot = Robot(name)
        for degrees in range(0, 360, 45):
            one, several = (robot.ratio(degrees, steps, 0.0) for steps in (1, STEPS))
            trunk = robot.ratio(degrees, STEPS, robot.settings.hip_offset)
            print(f"  {degrees:>5} deg {one:>9.2f} {several:>6.2f} {trunk:>10.2f}", flush=True)


if __name__ == "__main__":
    main()
