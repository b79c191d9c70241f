"""Which foot stands when and where: phases of single and double support, the plan's pendulum, what it can catch."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from kinodyn.arrays import Array
from kinodyn.balance.polygon import hull, nearest, shrink
from kinodyn.errors import InputError
from kinodyn.walking.biped import Biped, other
from kinodyn.walking.footsteps import Footstep
from kinodyn.walking.path import PendulumPath, Point, share
from kinodyn.walking.phases import DIRECTIONS, Phase, Timing, place


class Schedule:
    """The phases of a walk, from both feet on the ground to both feet on the ground.

    Parameters
    ----------
    body
        The biped.
    start
        Both feet at the beginning, side -> Footstep.
    steps
        Footsteps in order, feet alternating.
    timing
        How long phases last, one for all steps.
    time
        When it begins [s].
    margin
        How far [m] the zero moment point is kept from the edges of the feet.
    wait
        How long [s] to stand before it.
    """

    def __init__(
        self,
        body: Biped,
        start: dict[str, Footstep],
        steps: Sequence[Footstep],
        timing: Timing,
        *,
        time: float = 0.0,
        margin: float | None = None,
        wait: float = 0.0,
    ) -> None:
        self.body, self.timing, self.steps = body, timing, tuple(steps)
        self.margin = default_margin(body) if margin is None else float(margin)
        self._check(start)
        self.soles = {side: shrink(_corners(foot.rectangle), self.margin) for side, foot in body.feet.items()}
        self.phases = self._phases(dict(start), time, float(wait))
        self._finish()

    @classmethod
    def of_phases(cls, earlier: Schedule, phases: Sequence[Phase]) -> Schedule:
        """Put phases together that an earlier schedule made, such as after a change while walking."""
        self = cls.__new__(cls)
        self.body, self.timing, self.margin, self.soles = earlier.body, earlier.timing, earlier.margin, earlier.soles
        self.steps = tuple(phase.swing for phase in phases if phase.swing is not None)
        self.phases = list(phases)
        self._finish()
        return self

    def at(self, t: float) -> Phase:
        """Find the phase at a time; the first before the beginning."""
        return self.phases[max(bisect_right(self._starts, t) - 1, 0)]

    def index(self, t: float) -> int:
        """Find the place of the phase at a time in `phases`."""
        return max(bisect_right(self._starts, t) - 1, 0)

    def contacts(self, t: float) -> dict[str, bool]:
        """Tell which feet are meant to stand at a time."""
        feet = self.at(t).feet
        return {side: side in feet for side in ("left", "right")}

    @property
    def count(self) -> int:
        """Give how many steps there are in all, those before the first phase included."""
        return self.phases[-1].step

    def steps_after(self, landed: int) -> tuple[Footstep, ...]:
        """List the footsteps that are still to land when so many have."""
        return tuple(phase.swing for phase in self.phases if phase.swing is not None and phase.step >= landed)

    def stance_before(self, landed: int) -> Footstep:
        """Find the foot from which the next step is made when so many have landed; the left one at the end."""
        for phase in self.phases:
            if phase.swing is not None and phase.step >= landed:
                return next(iter(phase.feet.values()))
        return self.phases[-1].feet["left"]

    @property
    def end(self) -> float:
        """Give when the last step is over and standing begins [s]."""
        return self._starts[-1]

    def path(self, com: Point | None = None) -> PendulumPath:
        """Make the plan's own pendulum, which comes to rest at the end; the mass starts at `com` (2,) or at rest."""
        return _path_of(self.phases, self.body.omega, com)

    def dcm(self, t: float) -> Array:
        """Compute the divergent component (2,) of the plan at a time [m]."""
        return self.own.at(t).dcm

    def reach(self, t: float) -> Array:
        """Compute how far (8,) [m] in each of `DIRECTIONS` a divergent component can be caught with these footsteps.

        It is the integral of the support polygons to come, weighted with omega exp(-omega s): outside of it no motion
        of the zero moment point within the feet helps, only other steps do. Between two steps it goes straight from
        sole to sole.
        """
        k = self.index(t)
        if k == len(self.phases) - 1:
            return self._reach[-1]
        return self._reach_from(k, self.phases[k].end - t)

    def catches(self, t: float, dcm: Array) -> float:
        """Measure the least room [m] that a divergent component (2,) has; negative: these steps cannot catch it."""
        return float((self.reach(t) - DIRECTIONS @ np.asarray(dcm)).min())

    def sole_polygon(self, step: Footstep) -> Array:
        """Put the smaller sole (4, 2) where a foot stands, in the world."""
        return place(self.soles[step.side], step)

    def centre(self, step: Footstep) -> Array:
        """Find the middle (2,) of a sole in the world, where the zero moment point is planned."""
        middle = place(self.body.feet[step.side].middle[None], step)
        return np.asarray(middle[0])

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
        """Make a phase on these feet."""
        soles = tuple(self.sole_polygon(foot) for foot in feet.values())
        polygon = hull(np.concatenate(soles)) if len(feet) > 1 else soles[0]
        return Phase(kind, start, end, dict(feet), swing, lifted, step, np.array(zmp), polygon, soles)

    def following(
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
        """Make the phases from both feet standing: `double` [s] until the next step, then all steps, then standing.

        With `dcm` (2,), the walk begins there, as from rest: the zero moment point first goes where that needs it.
        """
        phases: list[Phase] = []
        begin, feet_start, zmp_start = t, feet, zmp
        for k, step in enumerate(steps):
            stance = feet[other(step.side)]
            under = self.centre(stance)
            if k > 0 or dcm is None:
                kind, long = ("double", self.timing.double) if k > 0 else ("double", double)
                phases.append(self.phase(kind, t, t + long, feet, (zmp, under), first + k))
                t += long
            else:
                t += double
            on_one, end = {stance.side: stance}, t + self.timing.single
            phases.append(
                self.phase("single", t, end, on_one, (under, under), first + k, swing=step, lifted=feet[step.side])
            )
            feet, zmp, t = {stance.side: stance, step.side: step}, under, end
        rest = 0.5 * (self.centre(feet["left"]) + self.centre(feet["right"]))
        if phases or np.abs(zmp - rest).max() > 1e-12:
            phases.append(self.phase("stop", t, t + self.timing.stop, feet, (zmp, rest), first + len(steps)))
            t += self.timing.stop
        phases.append(self.phase("stand", t, np.inf, feet, (rest, rest), first + len(steps)))
        if dcm is None or not steps:
            return phases
        return [*self._beginning(begin, zmp_start, feet_start, dcm, phases), *phases]

    def _beginning(
        self, t: float, zmp: Array, feet: dict[str, Footstep], dcm: Array, phases: Sequence[Phase]
    ) -> list[Phase]:
        """Go from a divergent component to that of the first step: by a point halfway that is solved for."""
        omega, step = self.body.omega, phases[0]
        half = 0.5 * (step.start - t)
        first, last, rest = share(omega * half)
        ahead = _path_of(phases, omega).at(step.start).dcm
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
        walk = self.following(t + wait, feet, middle, self.steps, 0, double=self.timing.start, dcm=middle)
        if not (wait > 0 and self.steps):
            return walk
        return [self.phase("start", t, t + wait, feet, (middle, middle), 0), *walk]

    def _finish(self) -> None:
        self._starts = [phase.start for phase in self.phases]
        self.own = self.path()
        self._reach = [phase.support for phase in self.phases]
        for k in range(len(self.phases) - 2, -1, -1):
            self._reach[k] = self._reach_from(k, self.phases[k].end - self.phases[k].start)

    def _reach_from(self, k: int, left: float) -> Array:
        """Compute `reach` so long before the end of phase k."""
        phase, following = self.phases[k], self._reach[k + 1]
        first, last, rest = share(self.body.omega * left)
        if phase.kind == "double":
            whole = left >= phase.end - phase.start - 1e-12
            old, new = phase.sole_supports
            return np.asarray(first * (old if whole else phase.support) + last * new + rest * following)
        return np.asarray((1.0 - rest) * phase.support + rest * following)

    def _check(self, start: dict[str, Footstep]) -> None:
        if set(start) != {"left", "right"}:
            raise InputError(f"start must hold both feet, 'left' and 'right', got {sorted(start)}")
        for step, following in zip(self.steps, self.steps[1:], strict=False):
            if step.side == following.side:
                raise InputError(f"feet must alternate, but two steps after each other are {step.side}")


def _path_of(phases: Sequence[Phase], omega: float, com: Point | None = None) -> PendulumPath:
    zmp = [phase.ends[0] for phase in phases]
    times = [phase.start for phase in phases]
    return PendulumPath(times, zmp, omega, com=zmp[0] if com is None else com, dcm_end=zmp[-1])


def default_margin(body: Biped) -> float:
    """Choose how far [m] the zero moment point stays from the edges: a sixth of the sole's width."""
    return float(min(body.left.size.min(), body.right.size.min())) / 6.0


def _corners(rectangle: Array) -> Array:
    (x0, y0), (x1, y1) = rectangle
    return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
