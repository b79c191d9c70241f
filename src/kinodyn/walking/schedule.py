"""The contact schedule: support phases in time, the nominal LIPM trajectory over them, and its capture region."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.walking.biped import Biped
from kinodyn.walking.footsteps import Footstep, both_feet
from kinodyn.walking.lipm_trajectory import LIPMTrajectory, Point, dcm_fractions
from kinodyn.walking.phase_builder import PhaseBuilder, nominal_trajectory
from kinodyn.walking.phases import DIRECTIONS, Phase
from kinodyn.walking.settings import GaitSettings


@displayed
class ContactSchedule:
    """Support phases of a walk, from standing on both feet to standing on both feet.

    Parameters
    ----------
    body
        The biped.
    start
        Both feet at the beginning, side -> Footstep.
    steps
        Footsteps in order, feet alternating.
    settings
        Durations of the phases and the ZMP margin; by default derived from the robot.
    time
        Start [s].
    wait
        Time of standing before the first step [s].

    Attributes
    ----------
    phases : list of Phase
    steps : tuple of Footstep
    builder : PhaseBuilder
        Makes further phases for the same biped.
    """

    @check_types
    def __init__(
        self,
        body: Biped,
        start: dict[str, Footstep],
        steps: Sequence[Footstep],
        settings: GaitSettings | None = None,
        *,
        time: float = 0.0,
        wait: float = 0.0,
    ) -> None:
        self.body, self.steps = body, tuple(steps)
        self.settings = settings or GaitSettings.from_robot(body)
        self._require_alternating()
        self.builder = PhaseBuilder(body, self.settings)
        self.phases = self.builder.walk(both_feet(start), self.steps, time, float(wait))
        self._starts = [phase.start for phase in self.phases]

    @classmethod
    @check_types
    def from_phases(cls, earlier: ContactSchedule, phases: Sequence[Phase]) -> ContactSchedule:
        """Assemble phases that an earlier schedule made, after a change while walking.

        Parameters
        ----------
        earlier
            The earlier schedule.
        phases
            In order.

        Returns
        -------
        ContactSchedule
        """
        self = cls.__new__(cls)
        self.body, self.settings, self.builder = earlier.body, earlier.settings, earlier.builder
        self.steps = tuple(phase.swing for phase in phases if phase.swing is not None)
        self.phases = list(phases)
        self._starts = [phase.start for phase in self.phases]
        return self

    def at(self, t: float) -> Phase:
        """Return the phase at a time; before the start, the first one.

        Parameters
        ----------
        t
            [s]

        Returns
        -------
        Phase
        """
        return self.phases[self.index(t)]

    def index(self, t: float) -> int:
        """Return the index in `phases` of the phase at a time.

        Parameters
        ----------
        t
            [s]

        Returns
        -------
        int
        """
        return max(bisect_right(self._starts, t) - 1, 0)

    def contacts(self, t: float) -> dict[str, bool]:
        """Return which feet are planned to stand at a time.

        Parameters
        ----------
        t
            [s]

        Returns
        -------
        dict of side -> bool
        """
        feet = self.at(t).feet
        return {side: side in feet for side in ("left", "right")}

    @property
    def count(self) -> int:
        """Total number of steps, including those before the first phase."""
        return self.phases[-1].step

    def steps_after(self, landed: int) -> tuple[Footstep, ...]:
        """Return the footsteps that have not landed yet.

        Parameters
        ----------
        landed
            Number of steps that have landed.

        Returns
        -------
        tuple of Footstep
        """
        return tuple(phase.swing for phase in self.phases if phase.swing is not None and phase.step >= landed)

    def stance_before(self, landed: int) -> Footstep:
        """Return the stance foot of the next step; at the end, the left foot.

        Parameters
        ----------
        landed
            Number of steps that have landed.

        Returns
        -------
        Footstep
        """
        for phase in self.phases:
            if phase.swing is not None and phase.step >= landed:
                return next(iter(phase.feet.values()))
        return self.phases[-1].feet["left"]

    @property
    def end(self) -> float:
        """Time at which the last step is over and standing begins [s]."""
        return self._starts[-1]

    def trajectory(self, com: Point | None = None) -> LIPMTrajectory:
        """Compute the nominal LIPM trajectory.

        Parameters
        ----------
        com
            CoM (2,) at the start [m]; by default at rest above the ZMP.

        Returns
        -------
        LIPMTrajectory
        """
        return nominal_trajectory(self.phases, self.body.omega, com)

    def dcm(self, t: float) -> Array:
        """Return the divergent component of motion (DCM) of the nominal trajectory.

        Parameters
        ----------
        t
            [s]

        Returns
        -------
        (2,)
            [m]
        """
        return self.nominal.at(t).dcm

    def capture_region(self, t: float) -> Array:
        """Compute the region of the DCMs that these footsteps can capture.

        Parameters
        ----------
        t
            [s]

        Returns
        -------
        (8,)
            Support function in `DIRECTIONS` [m].

        Notes
        -----
        The region is the integral of the upcoming support polygons, weighted with omega exp(-omega s): outside of it no
        motion of the ZMP within the feet helps, only other steps do. Between two steps the polygon goes linearly from
        sole to sole.
        """
        k = self.index(t)
        if k == len(self.phases) - 1:
            return self._regions[-1]
        return self._region(k, self.phases[k].end - t, self._regions[k + 1])

    def capture_margin(self, t: float, dcm: Array) -> float:
        """Measure the margin of a DCM in the capture region.

        Parameters
        ----------
        t
            [s]
        dcm
            (2,) [m]

        Returns
        -------
        float
            [m]; negative: these steps cannot capture it.
        """
        return float((self.capture_region(t) - DIRECTIONS @ np.asarray(dcm)).min())

    @check_types
    def rolled(self, t: float, side: str, edge: str) -> ContactSchedule:
        """Return the schedule with a foot that stands only on its toes or its heel, in the phase at a time.

        Parameters
        ----------
        t
            [s]
        side
        edge
            "toe" or "heel".

        Returns
        -------
        ContactSchedule
        """
        k, phase = self.index(t), self.at(t)
        corners = self.builder.soles.edge(phase.feet[side], edge)
        feet = {name: replace(step, support=corners) if name == side else step for name, step in phase.feet.items()}
        zmp = (phase.zmp[0], phase.zmp[1])
        narrow = self.builder.phase(phase.kind, phase.start, phase.end, feet, zmp, phase.step)
        return ContactSchedule.from_phases(self, [*self.phases[:k], narrow, *self.phases[k + 1 :]])

    # computed when they are first used: the control tick that changes a step needs the phases only
    @cached_property
    def nominal(self) -> LIPMTrajectory:
        """Motion of the linear inverted pendulum over the planned ZMP, which comes to rest at the end."""
        return self.trajectory()

    @cached_property
    def _regions(self) -> list[Array]:
        """`capture_region` at the start of each phase."""
        regions = [self.phases[-1].support]
        for k in range(len(self.phases) - 2, -1, -1):
            regions.append(self._region(k, self.phases[k].end - self.phases[k].start, regions[-1]))
        return regions[::-1]

    def _region(self, k: int, remaining: float, following: Array) -> Array:
        """Compute `capture_region` at `remaining` seconds before the end of phase k, given that at its end."""
        phase = self.phases[k]
        first, last, rest = dcm_fractions(self.body.omega * remaining)
        if phase.kind == "double":
            whole = remaining >= phase.end - phase.start - 1e-12
            old, new = phase.sole_supports
            return np.asarray(first * (old if whole else phase.support) + last * new + rest * following)
        return np.asarray((1.0 - rest) * phase.support + rest * following)

    def _require_alternating(self) -> None:
        for step, following in zip(self.steps, self.steps[1:], strict=False):
            if step.side == following.side:
                raise InputError(f"feet must alternate, but two consecutive steps are {step.side}")
