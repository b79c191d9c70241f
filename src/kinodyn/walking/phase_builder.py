"""Support phases from footsteps: which feet stand when, and where the ZMP is planned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinodyn.arrays import Array
from kinodyn.balance.polygon import hull, nearest
from kinodyn.walking.bearing_soles import BearingSoles
from kinodyn.walking.biped import Biped, opposite
from kinodyn.walking.footsteps import Footstep, StepTiming
from kinodyn.walking.lipm_trajectory import LIPMTrajectory, Point, dcm_fractions
from kinodyn.walking.phases import Phase
from kinodyn.walking.settings import GaitSettings


class PhaseBuilder:
    """Makes the support phases of a biped.

    Parameters
    ----------
    body
        The biped.
    settings
        Durations of the phases and the ZMP margin.

    Attributes
    ----------
    soles : BearingSoles
    """

    def __init__(self, body: Biped, settings: GaitSettings) -> None:
        self.body, self.settings = body, settings
        self.soles = BearingSoles(body, settings.zmp_margin)

    def phase(
        self,
        kind: str,
        start: float,
        end: float,
        feet: dict[str, Footstep],
        zmp: tuple[Array, Array],
        step: int,
        *,
        swing: Footstep | None = None,
        lifted: Footstep | None = None,
    ) -> Phase:
        """Make a phase on these feet.

        Parameters
        ----------
        kind, start, end, feet, zmp, step, swing, lifted
            Attributes of `Phase`.

        Returns
        -------
        Phase
        """
        soles = tuple(self.soles.placed(foot) for foot in feet.values())
        return Phase(kind, start, end, dict(feet), swing, lifted, step, np.array(zmp), soles)

    def timing(self, step: Footstep) -> StepTiming:
        """Return the durations of a step: its own, or those of the settings.

        Parameters
        ----------
        step
            Footstep.

        Returns
        -------
        StepTiming
        """
        return step.timing or StepTiming(self.settings.double_support, self.settings.single_support)

    def phases_from(
        self,
        t: float,
        feet: dict[str, Footstep],
        zmp: Array,
        steps: Sequence[Footstep],
        first: int,
        *,
        double: float,
        dcm: Array | None = None,
    ) -> list[Phase]:
        """Make the phases from double support on: `double` [s] until the next step, then all steps, then standing.

        Parameters
        ----------
        t
            Start [s].
        feet, zmp
            Feet on the ground, and the ZMP (2,) at the start.
        steps
            Footsteps to make.
        first
            Number of steps that have landed before.
        double
            Time until the first lift-off [s].
        dcm
            DCM (2,) at the start, if the walk begins from rest: the ZMP first moves so that this DCM leads into the
            first step.

        Returns
        -------
        list of Phase
        """
        phases: list[Phase] = []
        begin, feet_start, zmp_start = t, feet, zmp
        for k, step in enumerate(steps):
            stance = feet[opposite(step.side)]
            under = self.soles.centre(stance)
            timing = self.timing(step)
            if k > 0 or dcm is None:
                duration = timing.double if k > 0 else double
                phases.append(self.phase("double", t, t + duration, feet, (zmp, under), first + k))
                t += duration
            else:
                t += double
            alone, end = {stance.side: stance}, t + timing.single
            phases.append(
                self.phase("single", t, end, alone, (under, under), first + k, swing=step, lifted=feet[step.side])
            )
            feet, zmp, t = {stance.side: stance, step.side: step}, under, end
        rest = 0.5 * (self.soles.centre(feet["left"]) + self.soles.centre(feet["right"]))
        if phases or np.abs(zmp - rest).max() > 1e-12:
            stop = self.settings.last_double_support
            phases.append(self.phase("stop", t, t + stop, feet, (zmp, rest), first + len(steps)))
            t += stop
        phases.append(self.phase("stand", t, np.inf, feet, (rest, rest), first + len(steps)))
        if dcm is None or not steps:
            return phases
        return [*self._beginning(begin, zmp_start, feet_start, dcm, phases), *phases]

    def _beginning(
        self, t: float, zmp: Array, feet: dict[str, Footstep], dcm: Array, phases: Sequence[Phase]
    ) -> list[Phase]:
        """Lead the DCM from its start to that of the first step, by a ZMP halfway that is solved for."""
        omega, step = self.body.omega, phases[0]
        half = 0.5 * (step.start - t)
        first, last, rest = dcm_fractions(omega * half)
        ahead = nominal_trajectory(phases, omega).at(step.start).dcm
        under = step.zmp[0]
        middle = dcm - first * zmp - rest * (last * under + rest * ahead)
        middle = nearest(
            hull(np.concatenate([self.soles.polygon(foot) for foot in feet.values()])), middle / (last + rest * first)
        )
        return [
            self.phase("start", t, t + half, feet, (zmp, middle), step.step),
            self.phase("start", t + half, step.start, feet, (middle, under), step.step),
        ]

    def walk(self, feet: dict[str, Footstep], steps: Sequence[Footstep], t: float, wait: float) -> list[Phase]:
        """Make the phases of a walk that begins at rest at time t [s], after `wait` seconds of standing."""
        middle = 0.5 * (self.soles.centre(feet["left"]) + self.soles.centre(feet["right"]))
        double = self.settings.first_double_support
        walk = self.phases_from(t + wait, feet, middle, steps, 0, double=double, dcm=middle)
        if not (wait > 0 and steps):
            return walk
        return [self.phase("start", t, t + wait, feet, (middle, middle), 0), *walk]


def nominal_trajectory(phases: Sequence[Phase], omega: float, com: Point | None = None) -> LIPMTrajectory:
    """Compute the LIPM trajectory over the planned ZMP of phases, which comes to rest at the end.

    `omega` [1/s] is the frequency of the pendulum, `com` (2,) the CoM at the start, by default at rest above the ZMP.
    """
    zmp = [phase.ends[0] for phase in phases]
    times = [phase.start for phase in phases]
    return LIPMTrajectory(times, zmp, omega, com=zmp[0] if com is None else com, dcm_end=zmp[-1])
