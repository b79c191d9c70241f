"""The contact schedule: support phases in time, the nominal LIPM trajectory over them, and what they can capture."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinodyn.arrays import Array
from kinodyn.balance.feet import largest_rectangle
from kinodyn.balance.polygon import hull, intersection, nearest, shrink
from kinodyn.errors import InputError
from kinodyn.walking.biped import Biped, opposite
from kinodyn.walking.footsteps import Footstep, StepTiming
from kinodyn.walking.lipm_trajectory import LIPMTrajectory, Point, dcm_fractions
from kinodyn.walking.phases import DIRECTIONS, Phase, place
from kinodyn.walking.settings import GaitSettings

EDGE = 0.02  # [m] length of the part of a sole that bears a foot on its toes or heel


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
    nominal : LIPMTrajectory
        Motion of the linear inverted pendulum over the planned ZMP, which comes to rest at the end.
    """

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
        self._check(start)
        margin = self.settings.zmp_margin
        self.soles = {side: shrink(_corners(foot.rectangle), margin) for side, foot in body.feet.items()}
        self._partial: dict[tuple[str, tuple[tuple[float, float], ...]], Array] = {}
        self.phases = self._phases(dict(start), time, float(wait))
        self._finish()

    @classmethod
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
        self.body, self.settings, self.soles = earlier.body, earlier.settings, earlier.soles
        self._partial = earlier._partial
        self.steps = tuple(phase.swing for phase in phases if phase.swing is not None)
        self.phases = list(phases)
        self._finish()
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
        return self.phases[max(bisect_right(self._starts, t) - 1, 0)]

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
        return _trajectory(self.phases, self.body.omega, com)

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
        return np.array(self.nominal.floats(t)[6:8])

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
        return self._region(k, self.phases[k].end - t)

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

    def sole_polygon(self, step: Footstep) -> Array:
        """Return the reduced sole of a footstep in the world.

        Parameters
        ----------
        step
            Footstep.

        Returns
        -------
        (m, 2)
            Corners [m].
        """
        return place(self._sole(step), step)

    def _sole(self, step: Footstep) -> Array:
        """Return the reduced sole (m, 2) of a footstep in its frame: the part of it that the ground bears."""
        if step.support is None:
            return self.soles[step.side]
        key = step.side, step.support
        if key not in self._partial:
            self._partial[key] = self._borne(step.side, np.array(step.support))
        return self._partial[key]

    def _borne(self, side: str, support: Array) -> Array:
        """Reduce the part of a sole that the ground bears; by less than the margin where it is narrow."""
        sole = _corners(self.body.feet[side].rectangle)
        borne = intersection(sole, support)
        borne = borne if len(borne) else support  # the edge of a foot that rolls
        edges = np.roll(borne, -1, axis=0) - borne
        area = 0.5 * float(np.sum(borne[:, 0] * edges[:, 1] - borne[:, 1] * edges[:, 0]))
        # a circle of radius area / perimeter is inside of every convex polygon
        inside = area / float(np.linalg.norm(edges, axis=1).sum())
        return shrink(borne, min(self.settings.zmp_margin, 0.5 * inside))

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
        foot = phase.feet[side]
        outline = self.body.feet[side].corners if foot.support is None else np.array(foot.support)
        (x0, y0), (x1, y1) = outline.min(axis=0), outline.max(axis=0)
        low, high = (x1 - EDGE, x1) if edge == "toe" else (x0, x0 + EDGE)
        strip = largest_rectangle(intersection(outline, [(low, y0), (high, y0), (high, y1), (low, y1)]))
        corners = tuple((float(x), float(y)) for x, y in _corners(strip))
        feet = {name: replace(step, support=corners) if name == side else step for name, step in phase.feet.items()}
        zmp = (phase.zmp[0], phase.zmp[1])
        narrow = self.phase(phase.kind, phase.start, phase.end, feet, zmp, phase.step)
        return ContactSchedule.from_phases(self, [*self.phases[:k], narrow, *self.phases[k + 1 :]])

    def centre(self, step: Footstep) -> Array:
        """Return the centre of a sole in the world, where the ZMP is planned.

        Parameters
        ----------
        step
            Footstep.

        Returns
        -------
        (2,)
            [m]
        """
        middle = self.body.feet[step.side].middle
        if step.support is not None:
            sole = self._sole(step)
            middle = 0.5 * (sole.min(axis=0) + sole.max(axis=0))
        return np.asarray(place(middle[None], step)[0])

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
        soles = tuple(self.sole_polygon(foot) for foot in feet.values())
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
            under = self.centre(stance)
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
        rest = 0.5 * (self.centre(feet["left"]) + self.centre(feet["right"]))
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
        ahead = _trajectory(phases, omega).at(step.start).dcm
        under = step.zmp[0]
        middle = dcm - first * zmp - rest * (last * under + rest * ahead)
        middle = nearest(
            hull(np.concatenate([self.sole_polygon(foot) for foot in feet.values()])), middle / (last + rest * first)
        )
        return [
            self.phase("start", t, t + half, feet, (zmp, middle), step.step),
            self.phase("start", t + half, step.start, feet, (middle, under), step.step),
        ]

    def _phases(self, feet: dict[str, Footstep], t: float, wait: float) -> list[Phase]:
        middle = 0.5 * (self.centre(feet["left"]) + self.centre(feet["right"]))
        double = self.settings.first_double_support
        walk = self.phases_from(t + wait, feet, middle, self.steps, 0, double=double, dcm=middle)
        if not (wait > 0 and self.steps):
            return walk
        return [self.phase("start", t, t + wait, feet, (middle, middle), 0), *walk]

    def _finish(self) -> None:
        self._starts = [phase.start for phase in self.phases]
        self.nominal = self.trajectory()
        self._regions = [phase.support for phase in self.phases]
        for k in range(len(self.phases) - 2, -1, -1):
            self._regions[k] = self._region(k, self.phases[k].end - self.phases[k].start)

    def _region(self, k: int, remaining: float) -> Array:
        """Compute `capture_region` at `remaining` seconds before the end of phase k."""
        phase, following = self.phases[k], self._regions[k + 1]
        first, last, rest = dcm_fractions(self.body.omega * remaining)
        if phase.kind == "double":
            whole = remaining >= phase.end - phase.start - 1e-12
            old, new = phase.sole_supports
            return np.asarray(first * (old if whole else phase.support) + last * new + rest * following)
        return np.asarray((1.0 - rest) * phase.support + rest * following)

    def _check(self, start: dict[str, Footstep]) -> None:
        if set(start) != {"left", "right"}:
            raise InputError(f"start must have both feet, 'left' and 'right', got {sorted(start)}")
        for step, following in zip(self.steps, self.steps[1:], strict=False):
            if step.side == following.side:
                raise InputError(f"feet must alternate, but two consecutive steps are {step.side}")


def _trajectory(phases: Sequence[Phase], omega: float, com: Point | None = None) -> LIPMTrajectory:
    zmp = [phase.ends[0] for phase in phases]
    times = [phase.start for phase in phases]
    return LIPMTrajectory(times, zmp, omega, com=zmp[0] if com is None else com, dcm_end=zmp[-1])


def _corners(rectangle: Array) -> Array:
    (x0, y0), (x1, y1) = rectangle
    return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
