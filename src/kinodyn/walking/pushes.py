"""How strong a push a robot survives, in every direction: measured in MuJoCo, beside what a pendulum could."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.balance.capturability import push_bound
from kinodyn.balance.support import support_polygon
from kinodyn.description.types import Array
from kinodyn.errors import InputError
from kinodyn.robot import Robot
from kinodyn.sim import MujocoSimulator, Push, simulate
from kinodyn.sim.progress import Bar
from kinodyn.state import State
from kinodyn.walking.biped import Biped
from kinodyn.walking.controller import WalkingController
from kinodyn.walking.planner import Planner

BEFORE, AFTER = 0.5, 3.0  # [s] before and after a push on a robot that stands
SHORT = 0.05  # [s] that a push lasts


@dataclass(frozen=True, eq=False)
class PushMap:
    """The strongest pushes that a robot survived.

    Attributes
    ----------
    robot : str
    directions : (n,)
        [rad], 0 forward, pi/2 to the left.
    survived : (n,)
        [N s]
    bound : (n,)
        What a linear pendulum on these feet could survive without a step [N s].
    stepping : bool
        Whether it was allowed to step.
    resolution : float
        How exactly `survived` was searched for, as a share of `bound`.
    interrupted : bool
        Whether Ctrl-C ended it before all directions were done.
    """

    robot: str
    directions: Array
    survived: Array
    bound: Array
    stepping: bool
    resolution: float
    interrupted: bool = False

    @property
    def ratio(self) -> Array:
        """Give what was survived as a share of the bound (n,)."""
        return np.asarray(self.survived / self.bound)

    def summary(self) -> dict[str, Any]:
        """Give all figures as plain numbers, ready for JSON."""
        arrays = {name: getattr(self, name).tolist() for name in ("directions", "survived", "bound", "ratio")}
        return {"robot": self.robot, "stepping": self.stepping, "resolution": self.resolution, **arrays}

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw the map seen from above; returns matplotlib's figure."""
        from kinodyn.walking.plots import draw_pushes

        return draw_pushes(self, path)

    def __str__(self) -> str:
        how = "with steps" if self.stepping else "without a step"
        lines = [f"{self.robot}: pushes survived {how}", "  direction   survived      bound   share"]
        for angle, impulse, bound in zip(self.directions, self.survived, self.bound, strict=True):
            lines.append(
                f"  {np.rad2deg(angle):6.0f} deg {impulse:7.1f} N s {bound:7.1f} N s {100 * impulse / bound:5.0f} %"
            )
        return "\n".join(lines)


def push_map(
    robot: Robot,
    directions: int | ArrayLike = 8,
    *,
    stepping: bool = False,
    largest: float | None = None,
    resolution: float = 0.05,
    frame: str | None = None,
    processes: int | None = None,
    progress: bool = False,
    **settings: Any,
) -> PushMap:
    """Find the strongest push that a standing robot survives in each direction, by bisection in MuJoCo.

    Parameters
    ----------
    directions
        How many, evenly round, or angles [rad], 0 forward and pi/2 to the left.
    stepping
        Whether it may step; otherwise its feet stay where they are.
    largest
        Where the search ends, as a multiple of the pendulum's bound; by default 2, with stepping 4.
    resolution
        How exactly to search, as a share of the bound.
    frame
        Which frame is pushed, at its origin; by default the base, at the height of the mass of the whole robot.
    processes
        How many simulations at once; by default one for each core.
    settings
        Those of `sim.MujocoSettings`.

    Example
    -------
    >>> import kinodyn as kd
    >>> found = kd.walking.push_map(kd.load("humanoid"), [0.0], resolution=0.5, processes=1)
    >>> bool(found.survived[0] > 0)
    True
    """
    angles = _angles(directions)
    most = (4.0 if stepping else 2.0) if largest is None else float(largest)
    if not (0 < resolution < most < np.inf):
        raise InputError(f"resolution and largest must be 0 < resolution < largest, got {resolution!r}, {most!r}")
    body = Biped.of(robot)
    if frame is not None:
        robot.frame_index(frame)
    bound = push_bound(
        support_polygon(robot, body.q, list(body.feet.values())),
        kinematics.com(robot, body.q)[:2],
        np.column_stack([np.cos(angles), np.sin(angles)]),
        body.omega,
        robot.mass,
    )
    searches = [
        _Search(robot, float(angle), float(limit), stepping, most, resolution, frame, settings)
        for angle, limit in zip(angles, bound, strict=True)
    ]
    bar, survived = Bar(progress, len(searches), "directions"), list[float]()
    try:
        for found in _run(searches, processes):
            survived.append(found)
            bar.update(len(survived))
    except KeyboardInterrupt:
        if not survived:
            raise
    finally:
        bar.close()
    n = len(survived)  # less than asked for when it was interrupted
    return PushMap(robot.name, angles[:n], np.array(survived), bound[:n], stepping, float(resolution), n < len(angles))


def _angles(directions: int | ArrayLike) -> Array:
    if isinstance(directions, int | np.integer) and not isinstance(directions, bool):
        if not 1 <= directions <= 360:
            raise InputError(f"directions must be from 1 to 360, or angles, got {directions!r}")
        return np.asarray(2.0 * np.pi / int(directions) * np.arange(int(directions)), dtype=float)
    angles = np.atleast_1d(np.asarray(directions, dtype=float))
    if angles.ndim != 1 or len(angles) == 0 or not np.isfinite(angles).all():
        raise InputError(f"directions must be a number of them, or angles (n,), got {directions!r}")
    return angles


def _run(searches: list[_Search], processes: int | None) -> Iterator[float]:
    if processes == 1:
        yield from (search() for search in searches)
        return
    with ProcessPoolExecutor(processes or os.cpu_count(), mp_context=get_context("spawn")) as pool:
        yield from pool.map(_call, searches)


def _call(search: _Search) -> float:
    return search()


@dataclass(frozen=True)
class _Search:
    """Looks for the strongest push in one direction."""

    robot: Robot
    angle: float
    bound: float
    stepping: bool
    largest: float
    resolution: float
    frame: str | None
    settings: dict[str, Any]

    def __call__(self) -> float:
        low, high = 0.0, self.largest
        if self.survives(high):
            return high * self.bound
        while high - low > self.resolution:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.survives(middle) else (low, middle)
        return low * self.bound

    def survives(self, share: float) -> bool:
        return stands_push(
            self.robot, self.angle, share * self.bound, stepping=self.stepping, frame=self.frame, **self.settings
        )


def stands_push(
    robot: Robot,
    angle: float,
    impulse: float,
    *,
    stepping: bool = False,
    frame: str | None = None,
    **settings: Any,
) -> bool:
    """Push a standing robot once, with an impulse [N s] in a direction [rad], and tell whether it stayed upright."""
    body = Biped.of(robot)
    simulator = MujocoSimulator(robot, frames=[foot.frame for foot in body.feet.values()], **settings)
    planner = Planner(body, adapt=stepping)
    controller = WalkingController(body, forces=simulator.contact_forces, planner=planner)

    def fell(t: float, state: State) -> bool:
        return controller.fallen is not None

    simulate(
        robot,
        controller,
        BEFORE + SHORT + AFTER,
        q0=body.q,
        engine=simulator,
        dt=simulator.dt,
        control_dt=controller.dt,
        pushes=[push_of(body, angle, impulse, start=BEFORE, frame=frame)],
        until=fell,
    )
    return controller.fallen is None


def push_of(body: Biped, angle: float, impulse: float, *, start: float, frame: str | None = None) -> Push:
    """Make the push of an impulse [N s]: on the base, as if at the centre of mass, or at the origin of a frame."""
    force = impulse / SHORT * np.array([np.cos(angle), np.sin(angle), 0.0])
    if frame is not None:
        return Push(frame, force, start=start, duration=SHORT)
    base = body.robot.joints[0].child
    arm = np.array([0.0, 0.0, body.com_height - float(body.base[2, 3])])
    return Push(base, np.concatenate([force, np.cross(arm, force)]), start=start, duration=SHORT)
