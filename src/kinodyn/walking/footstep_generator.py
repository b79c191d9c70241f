"""The upcoming footsteps of a walking robot, from its current command: a velocity, a goal, or a stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers, positive
from kinodyn.walking.biped import Biped, opposite
from kinodyn.walking.footsteps import Footstep, StepTiming, closing_step, leading_side, next_step, walk_to
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.speed_correction import SpeedCorrection
from kinodyn.walking.step_limits import StepLimits
from kinodyn.walking.step_timing import GaitTiming

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
        self._step_velocities: dict[int, Array] = {}  # velocity that each step was planned for
        self._correction = SpeedCorrection()
        self.timing = GaitTiming(settings, limits)
        self._max_change = settings.max_velocity_change * self.timing.max_velocity

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
        change = np.array([v - self._target for v in self._step_velocities.values()])
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
        velocity = self._step_velocities.get(first - 1, np.zeros(3))
        self._step_velocities = {first - 1: velocity}
        for k in range(self.settings.steps_ahead):
            velocity = self._approach(velocity)
            if not self.walking and not velocity.any():
                break
            self._step_velocities[first + k] = velocity
            timing = self.timing.at_velocity(velocity)
            step = next_step(stance, velocity * timing.step_time, self.limits)
            stance = replace(step, timing=timing)
            steps.append(stance)
        closing = replace(closing_step(stance, self.limits), timing=stance.timing)
        distance = max(map(abs, closing.relative_to(feet[closing.side]))) if not steps else np.inf
        return [] if distance < self.settings.closing_tolerance else [*steps, closing]

    def _on_route(self, first: int) -> Sequence[Footstep]:
        """Return the next steps of the route."""
        coming, ahead = self._route[first - self._route_start :], self.settings.steps_ahead + 1
        self.walking = len(coming) > ahead
        return coming[:ahead]

    def _approach(self, velocity: Array) -> Array:
        """Change the velocity of the last step towards the command, by no more than the largest change."""
        target = self._target if self.walking else np.zeros(3)
        changed = velocity + np.clip(target - velocity, -self._max_change, self._max_change)
        near = np.abs(target - changed) < self.settings.velocity_snap * self._max_change
        return np.where(near, target, changed)

    @property
    def _target(self) -> Array:
        """The commanded velocity (3,), corrected by the measured one."""
        factor = self._correction.factor
        return self.velocity * (factor, factor, self._correction.turn_factor)

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
