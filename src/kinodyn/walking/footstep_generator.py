"""The upcoming footsteps of a walking robot, from its current command: a velocity, a goal, or a stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers, positive
from kinodyn.walking.biped import Biped, opposite
from kinodyn.walking.footsteps import Footstep, StepTiming, closing_step, leading_side, step_by, walk_to
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.speed_correction import SpeedCorrection
from kinodyn.walking.step_limits import StepLimits
from kinodyn.walking.step_timing import GaitTiming

Velocity = tuple[float, float, float]  # forward, lateral [m/s], turn [rad/s]
REST: Velocity = (0.0, 0.0, 0.0)
STEADY = 0.02  # of the largest velocity, by which the velocity of steps may differ from the command


class FootstepGenerator:
    """Plans the next few footsteps; the velocity changes gradually from step to step.

    Attributes
    ----------
    velocity : (3,)
        Commanded velocity: forward, lateral [m/s], turn [rad/s].
    walking : bool
        Whether the robot is to keep walking.
    """

    def __init__(self, body: Biped, limits: StepLimits, settings: GaitSettings) -> None:
        self.body, self.limits, self.settings = body, limits, settings
        self.velocity, self.walking = np.zeros(3), False
        self._goal: tuple[Array, StepLimits, StepTiming] | None = None
        self._route: tuple[Footstep, ...] = ()
        self._route_start = 0  # number of steps that had landed when it began
        self._step_velocities: dict[int, Velocity] = {}  # velocity that each step was planned for
        self._correction = SpeedCorrection()
        self.timing = GaitTiming(settings, limits)
        self._max_change: list[float] = (settings.max_velocity_change * self.timing.max_velocity).tolist()

    def command(self, velocity: ArrayLike) -> None:
        """Walk at a velocity (3,); one beyond the limits raises InputError and changes nothing."""
        checked = np.array(self.timing.check(velocity))
        if not np.array_equal(checked, self.velocity):
            self._correction.reset()
        self.velocity = checked
        self.walking, self._goal, self._route = True, None, ()

    def go_to(self, goal: ArrayLike, *, speed: float) -> None:
        """Walk to a goal (3,); one out of reach, or a speed beyond the limits, raises InputError."""
        self._goal = self.check_goal(goal, speed)
        self.walking, self._route = True, ()

    def follow(self, steps: Sequence[Footstep]) -> None:
        """Walk on given footsteps, from standing, and stand at their end."""
        self._route, self._goal, self.walking = tuple(steps), None, True

    def stop(self) -> None:
        """Slow down and bring the feet together."""
        self.walking, self._goal, self._route = False, None, ()

    def landed(self, t: float, step: Footstep) -> None:
        """Correct the speed by the time [s] and place of a touchdown, once the steps are at the commanded velocity."""
        following_velocity = self.walking and self._goal is None and not self._route
        change = np.array(list(self._step_velocities.values())).reshape(-1, 3) - self._target
        if following_velocity and (np.abs(change) <= STEADY * self.timing.max_velocity).all():
            self._correction.observe(t, step, self.velocity)
        else:
            self._correction.clear_strides()

    def check_goal(self, goal: ArrayLike, speed: float) -> tuple[Array, StepLimits, StepTiming]:
        """Return a goal (3,), limits and durations of the steps towards it, or raise InputError."""
        place = numbers("goal", goal, 3)
        positive("the speed towards a goal", speed)
        self.timing.check((speed, 0.0, 0.0))
        timing = self.timing.at_velocity((speed, 0.0, 0.0))
        limits = replace(self.limits, forward=float(speed) * timing.step_time)
        walk_to(self.body, place, limits=limits, fraction=1.0, tolerance=self.settings.goal_tolerance)
        return place, limits, timing

    def first_steps(self, feet: dict[str, Footstep], first: int) -> Sequence[Footstep]:
        """Plan the steps from standing: the foot on the side of the command steps first."""
        self._step_velocities.clear()
        if not self.walking:
            return []
        if self._route:
            self._route_start = first
            return self._on_route(first)
        if self._goal is not None:
            return self._to_goal(feet, None)
        side = leading_side(self.velocity)
        return self.following({side: feet[side], opposite(side): feet[opposite(side)]}, first)

    def following(self, feet: dict[str, Footstep], first: int) -> Sequence[Footstep]:
        """Plan the steps after the last of these feet: gradually to the commanded velocity, or to rest.

        Parameters
        ----------
        feet
            Feet on the ground, the one that landed last at the end.
        first
            Number of steps that have landed.
        """
        stance = list(feet.values())[-1]
        if self._route:
            return self._on_route(first)
        if self._goal is not None:
            return self._to_goal(feet, opposite(stance.side))
        steps: list[Footstep] = []
        velocity, target = self._step_velocities.get(first - 1, REST), self._target if self.walking else REST
        self._step_velocities = {first - 1: velocity}
        for k in range(self.settings.steps_ahead):
            velocity = self._approach(velocity, target)
            if not self.walking and not any(velocity):
                break
            self._step_velocities[first + k] = velocity
            timing = self.timing.at_velocity(velocity)
            vx, vy, rate = velocity
            h = timing.step_time
            stance = step_by(stance, (vx * h, vy * h, rate * h), self.limits, timing)
            steps.append(stance)
        closing = step_by(stance, REST, self.limits, stance.timing)
        distance = max(map(abs, closing.relative_to(feet[closing.side]))) if not steps else np.inf
        return [] if distance < self.settings.closing_tolerance else [*steps, closing]

    def _on_route(self, first: int) -> Sequence[Footstep]:
        """Return the next steps of the route."""
        coming, ahead = self._route[first - self._route_start :], self.settings.steps_ahead + 1
        self.walking = len(coming) > ahead
        return coming[:ahead]

    def _approach(self, velocity: Velocity, target: Velocity) -> Velocity:
        """Change the velocity of the last step towards another one, by no more than the largest change."""
        changed = []
        for v, goal, most in zip(velocity, target, self._max_change, strict=True):
            new = v + min(max(goal - v, -most), most)
            changed.append(goal if abs(goal - new) < self.settings.velocity_snap * most else new)
        return changed[0], changed[1], changed[2]

    @property
    def _target(self) -> Velocity:
        """The commanded velocity, corrected by the measured one."""
        (x, y, turn), factor = self.velocity.tolist(), self._correction.factor
        return x * factor, y * factor, turn * self._correction.turn_factor

    def _to_goal(self, feet: dict[str, Footstep], first: str | None) -> Sequence[Footstep]:
        """Plan the next steps to the goal; near it all of them, after which the robot stands."""
        assert self._goal is not None
        (goal, limits, timing), ahead = self._goal, self.settings.steps_ahead
        plan = walk_to(
            self.body,
            goal,
            limits=limits,
            start=feet,
            first=first,
            fraction=1.0,
            tolerance=self.settings.goal_tolerance,
            max_steps=ahead + 1,
        )
        steps = [replace(step, timing=timing) for step in plan]
        self.walking = len(steps) > ahead
        return (
            [*steps[:ahead], replace(closing_step(steps[ahead - 1], limits), timing=timing)] if self.walking else steps
        )
