"""Changes of a contact schedule while the robot walks: new commands, adapted steps, early and late touchdowns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, sqrt

import numpy as np

from kinodyn.arrays import Array
from kinodyn.balance.polygon import nearest
from kinodyn.walking.biped import SIDES, Biped, opposite
from kinodyn.walking.com_height import ComHeight
from kinodyn.walking.footstep_generator import FootstepGenerator
from kinodyn.walking.footsteps import Footstep, body_beside, closing_step, next_step
from kinodyn.walking.lipm_trajectory import dcm_fractions
from kinodyn.walking.phases import DIRECTIONS, Phase, place, support_function
from kinodyn.walking.quintic import PEAK_ACCELERATION
from kinodyn.walking.schedule import ContactSchedule
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.step_adaptation import AdaptedStep, adapt_step
from kinodyn.walking.step_limits import StepLimits

CRUISE_PEAK = 1.3  # peak over mean speed of a foot that is already in motion
MIN_DOUBLE_SUPPORT = 1e-3  # [s] that is left of a double support in progress
MAX_RETIMINGS = 3  # solutions of the step adaptation with more and more time for the foot
RETIMING_TOLERANCE = 0.9  # fraction of the time that a foot needs which is enough: the estimate is a rough one
SWING_TIMES = 4  # durations of a swing for which the capture region is computed
LONGEST_DOUBLE_SUPPORT = 3.0  # of one that waits for a robot behind its plan, as a multiple of the nominal one


class Replanner:
    """Makes new contact schedules from the current phase of an earlier one; it does not change the earlier one."""

    def __init__(self, body: Biped, limits: StepLimits, settings: GaitSettings, generator: FootstepGenerator) -> None:
        self.body, self.limits, self.settings, self.generator = body, limits, settings, generator
        self._corners = {side: limits.corners(side) for side in SIDES}  # of the region in which a foot may land
        self._com_height = ComHeight(body, settings.max_leg_extension)
        self._double_support = (-1, 0.0)  # step before which it is extended, and time at which it began

    def rebuild(
        self,
        schedule: ContactSchedule,
        t: float,
        *,
        landing: Footstep | None = None,
        end: float | None = None,
        double: float | None = None,
    ) -> ContactSchedule:
        """Replan everything after time t [s].

        Parameters
        ----------
        schedule, t
        landing, end
            New footstep of the foot in the air, and time of its touchdown [s].
        double
            Duration of the double support after it [s].
        """
        phase = schedule.at(t)
        if phase.swing is None:
            return self._joined(schedule, t, self._from_double_support(schedule, t, phase))
        step, touchdown = landing or phase.swing, phase.end if end is None else end
        stance = next(iter(phase.feet.values()))
        zmp = (phase.zmp[0], phase.zmp[1])
        head = schedule.builder.phase(
            "single", phase.start, touchdown, phase.feet, zmp, phase.step, swing=step, lifted=phase.lifted
        )
        feet = {stance.side: stance, step.side: step}
        coming = self.generator.following(feet, phase.step + 1)
        after = self.double_support(schedule, coming) if double is None else double
        tail = schedule.builder.phases_from(touchdown, feet, zmp[1], coming, phase.step + 1, double=after)
        return self._joined(schedule, t, [head, *tail])

    def delayed(self, phase: Phase, seconds: float, lower: float) -> tuple[Footstep, float]:
        """Return a lower footstep [m] and a later time [s] for the touchdown of a phase."""
        assert phase.swing is not None
        return replace(phase.swing, z=phase.swing.z - lower), phase.end + seconds

    def recovery_step(self, schedule: ContactSchedule, t: float, dcm: Array) -> ContactSchedule:
        """Step from standing as soon as possible, with the foot whose step captures the robot better."""
        phase = schedule.at(t)
        double = [self.recovery_double_support]
        side = max(SIDES, key=lambda side: self.one_step_margins(schedule, phase, dcm, side, double))
        step = next_step(phase.feet[opposite(side)], (0.0, 0.0, 0.0), self.limits)
        steps = [step, closing_step(step, self.limits)]
        zmp = schedule.nominal.at(t).zmp
        tail = schedule.builder.phases_from(t, phase.feet, zmp, steps, phase.step, double=self.recovery_double_support)
        return ContactSchedule.from_phases(schedule, tail)

    def retime_double_support(self, schedule: ContactSchedule, t: float, com: Array, dcm: Array) -> ContactSchedule:
        """Lift the next foot sooner or later, whichever captures the robot better.

        A robot that is ahead of its plan has to lift its foot at once; one that is behind gains while the ZMP stays
        under the foot at the back, as long as the leg at the back reaches the ground. If one step captures it either
        way, the margin with the planned steps decides.
        """
        phase = schedule.at(t)
        steps = self.generator.following(phase.feet, phase.step)
        if not steps:
            steps = [closing_step(list(phase.feet.values())[-1], self.limits)]
        if self._double_support[0] != phase.step:
            self._double_support = phase.step, phase.start
        zmp, longest = schedule.nominal.at(t).zmp, LONGEST_DOUBLE_SUPPORT * self.double_support(schedule, steps)
        longer = min(self._double_support[1] + longest - t, self._reaching_time(schedule, phase, com, dcm))
        others = (self.recovery_double_support, longer)
        durations = [double for double in others if double >= MIN_DOUBLE_SUPPORT]
        captured = self.one_step_margins(schedule, phase, dcm, steps[0].side, [phase.end - t, *durations])
        best, largest = schedule, (min(captured[0], 0.0), schedule.capture_margin(t, dcm))
        for double, margin in zip(durations, captured[1:], strict=True):
            if min(margin, 0.0) < largest[0]:
                continue
            tail = schedule.builder.phases_from(t, phase.feet, zmp, steps, phase.step, double=double)
            candidate = self._joined(schedule, t, tail)
            found = min(margin, 0.0), candidate.capture_margin(t, dcm)
            if found > largest:
                best, largest = candidate, found
        return best

    def _reaching_time(self, schedule: ContactSchedule, phase: Phase, com: Array, dcm: Array) -> float:
        """Estimate for how long the leg at the back reaches the ground while the CoM moves on at its velocity [s]."""
        rear, front = phase.feet.values()
        height = self.body.hip_height - self._com_height.drop(rear, front)
        reach = sqrt(max((self.settings.max_leg_extension * self.body.leg) ** 2 - height**2, 0.0))
        x, y, _ = body_beside(rear, self.body.width)
        ahead = com - schedule.builder.soles.centre(rear) + rear.position - (x, y)  # of the hips, as in the stance
        velocity = self.body.omega * (dcm - com)
        speed2, half, room = float(velocity @ velocity), float(velocity @ ahead), reach**2 - float(ahead @ ahead)
        if room <= 0.0 or speed2 < 1e-12:
            return inf if room > 0.0 or half < 0.0 else 0.0
        return (sqrt(half**2 + speed2 * room) - half) / speed2

    def one_step_margins(
        self, schedule: ContactSchedule, phase: Phase, dcm: Array, side: str, doubles: Sequence[float]
    ) -> list[float]:
        """Measure the margin of the DCM (2,) in the region from which one step, wherever it can land, captures it [m].

        Parameters
        ----------
        schedule, phase
            A phase with both feet on the ground.
        dcm
            (2,) [m]
        side
            Foot that steps; the farther, the longer it takes.
        doubles
            Times until it lifts off [s], for each of which there is a margin.
        """
        settings, omega, stance = self.settings, self.body.omega, phase.feet[opposite(side)]
        x, y, _ = phase.feet[side].relative_to(stance)
        corners = self._corners[side] - (x, y)
        lifted, standing = (schedule.builder.soles.placed(phase.feet[foot]).support for foot in (side, stance.side))
        sole = lifted - DIRECTIONS @ phase.feet[side].position
        shortest = settings.min_swing_fraction * settings.single_support
        swings = np.linspace(shortest, max(settings.single_support, shortest), SWING_TIMES)
        travel = (settings.max_swing_acceleration / PEAK_ACCELERATION * swings**2)[:, None, None]
        landings = place(np.clip(corners, -travel, travel) + (x, y), stance)
        fade = np.exp(-omega * swings)[:, None]
        single = (1.0 - fade) * standing + fade * np.maximum(standing, support_function(landings) + sole)
        both, here, margins = np.maximum(lifted, standing), DIRECTIONS @ dcm, []
        for double in doubles:
            first, last, rest = dcm_fractions(omega * double)
            regions = first * both + last * standing + rest * single  # one for each duration of the swing
            margins.append(float((regions - here).min(axis=1).max()))
        return margins

    def adapt(
        self, schedule: ContactSchedule, t: float, dcm: Array, foot: Array, velocity: Array
    ) -> AdaptedStep | None:
        """Adapt position and time of the step in the air; None if it is too late or the QP has no solution.

        The QP does not know that far steps take longer: if the foot cannot be there in time, it is solved again with
        the time that the foot needs.

        Parameters
        ----------
        schedule, t
        dcm
            (2,) [m]
        foot, velocity
            Position and velocity of the swing foot (2,) [m, m/s].
        """
        phase, settings = schedule.at(t), self.settings
        assert phase.swing is not None
        single, remaining, elapsed = settings.single_support, phase.end - t, t - phase.start
        if remaining < settings.locked_swing_fraction * single:
            return None
        swing, arrival = phase.swing, schedule.dcm(phase.end)
        shortest = max(
            settings.locked_swing_fraction * single,
            settings.min_swing_fraction * single - elapsed,
            remaining * (1.0 - self.body.omega * remaining),  # a foot about to land is hardly accelerated
            min(remaining, self._swing_time(swing.position - foot, velocity)),
        )
        longest = max(remaining, settings.max_swing_fraction * single - elapsed)
        for _ in range(MAX_RETIMINGS):
            adapted = adapt_step(
                dcm,
                self._best_zmp(phase, remaining, dcm, arrival),
                next(iter(phase.feet.values())),
                swing,
                offset=arrival - swing.position,
                remaining=remaining,
                shortest=shortest,
                longest=longest,
                next_shortest=settings.min_swing_fraction * single + settings.double_support,
                omega=self.body.omega,
                limits=self.limits,
                foot=0.5 * self.body.feet[swing.side].size - settings.zmp_margin,
                travel=settings.max_swing_acceleration * longest**2 / PEAK_ACCELERATION,
                weights=settings.adaptation,
            )
            if adapted.status == "failed":
                return None
            needed = min(self._swing_time(adapted.step.position - foot, velocity), longest)
            if adapted.remaining >= RETIMING_TOLERANCE * needed:
                break
            shortest = needed
        return adapted

    def _swing_time(self, displacement: Array, velocity: Array) -> float:
        """Estimate the least time [s] in which a foot with a velocity (2,) covers a displacement (2,) and stops."""
        distance = float(np.hypot(*displacement))
        if distance < 1e-9:
            return 0.0
        half = 0.5 * float(displacement @ velocity) / distance
        scaled = self.settings.max_swing_acceleration / PEAK_ACCELERATION
        accelerating = (np.sqrt(half**2 + 4.0 * scaled * distance) - half) / (2.0 * scaled)
        return float(max(accelerating, CRUISE_PEAK * distance / self.settings.max_swing_speed))

    def _best_zmp(self, phase: Phase, remaining: float, dcm: Array, arrival: Array) -> Array:
        """Find the ZMP in the stance foot that leads the DCM nearest to where it should be at touchdown.

        Only what the stance foot cannot do is left to the step: it changes continuously with the disturbance.
        """
        growth = np.exp(self.body.omega * remaining)
        return nearest(phase.polygon, (growth * dcm - arrival) / (growth - 1.0))

    def double_support(self, schedule: ContactSchedule, coming: Sequence[Footstep]) -> float:
        """Return the planned duration of the double support before the first of the upcoming steps [s]."""
        return schedule.builder.timing(coming[0]).double if coming else self.settings.double_support

    @property
    def recovery_double_support(self) -> float:
        """Duration of a double support that only delays the next step [s]."""
        return self.settings.recovery_double_fraction * self.settings.double_support

    def _from_double_support(self, schedule: ContactSchedule, t: float, phase: Phase) -> list[Phase]:
        now = schedule.nominal.at(t)
        if phase.kind == "double":
            steps = self.generator.following(phase.feet, phase.step)
            remaining = max(phase.end - t, MIN_DOUBLE_SUPPORT)
            return schedule.builder.phases_from(t, phase.feet, now.zmp, steps, phase.step, double=remaining)
        steps = self.generator.first_steps(phase.feet, phase.step)
        double = self.settings.first_double_support
        return schedule.builder.phases_from(t, phase.feet, now.zmp, steps, phase.step, double=double, dcm=now.dcm)

    def _joined(self, schedule: ContactSchedule, t: float, phases: list[Phase]) -> ContactSchedule:
        """Keep the last phase before t, and continue with new phases."""
        before = [earlier for earlier in schedule.phases if earlier.end <= t][-1:]
        return ContactSchedule.from_phases(schedule, [*before, *phases])
