"""How strong a push a robot survives, in every direction: measured in MuJoCo, beside what a pendulum could."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.balance.capturability import push_bound
from kinodyn.balance.support import support_polygon
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State
from kinodyn.sim import MujocoSimulator, Push, simulate
from kinodyn.sim.progress import Bar
from kinodyn.walking.biped import Biped
from kinodyn.walking.controller import WalkingController
from kinodyn.walking.planner import Planner

BEFORE, AFTER = 0.5, 3.0  # [s] before and after a push on a robot that stands
UNDER_WAY = 3.0  # [s] before a push on a robot that walks
SHORT = 0.05  # [s] that a push lasts
STRIDE = 0.25  # of the bound, by which pushes grow until the first that it does not survive


@dataclass(frozen=True, eq=False)
class PushMap:
    """The strongest pushes that a robot survived.

    Attributes
    ----------
    robot : str
    directions : (n,)
        [rad], 0 forward, pi/2 to the left.
    survived : (n,)
        [N s]; harder ones may be survived too, after one that is not.
    bound : (n,)
        What a linear pendulum on these feet could survive without a step [N s].
    stepping : bool
        Whether it was allowed to step.
    velocity : tuple of 3 numbers or None
        What it walked at; None: it stood.
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
    velocity: tuple[float, ...] | None = None
    interrupted: bool = False

    @property
    def ratio(self) -> Array:
        """Give what was survived as a share of the bound (n,)."""
        return np.asarray(self.survived / self.bound)

    @property
    def how(self) -> str:
        """Say what it was allowed to do."""
        if self.velocity is not None:
            return f"while walking at {np.linalg.norm(self.velocity[:2]):g} m/s"
        return "with steps" if self.stepping else "without a step"

    def summary(self) -> dict[str, Any]:
        """Give all figures as plain numbers, ready for JSON."""
        arrays = {name: getattr(self, name).tolist() for name in ("directions", "survived", "bound", "ratio")}
        how = {"stepping": self.stepping, "velocity": self.velocity, "resolution": self.resolution}
        return {"robot": self.robot, **how, **arrays}

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw the map seen from above; returns matplotlib's figure."""
        from kinodyn.walking.plots import draw_pushes

        return draw_pushes([self], path)

    def __str__(self) -> str:
        lines = [f"{self.robot}: pushes survived {self.how}", "  direction   survived      bound   share"]
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
    velocity: ArrayLike | None = None,
    largest: float | None = None,
    resolution: float = 0.05,
    frame: str | None = None,
    processes: int | None = None,
    progress: bool = False,
    **settings: Any,
) -> PushMap:
    """Find in MuJoCo the strongest push that a robot survives in each direction, with all weaker ones that were tried.

    It stands, or walks at a velocity and is pushed after three seconds.

    Parameters
    ----------
    directions
        How many, evenly round, or angles [rad], 0 forward and pi/2 to the left.
    stepping
        Whether it may step; otherwise its feet stay where they are.
    velocity
        Forward, sideways [m/s], turn [rad/s] of a robot that walks; it may change its steps. None: it stands.
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
    pace = None if velocity is None else tuple(numbers("velocity", velocity, 3).tolist())
    stepping = stepping or pace is not None
    most = (4.0 if stepping else 2.0) if largest is None else float(largest)
    if not (0 < resolution < most < np.inf):
        raise InputError(f"resolution and largest must be 0 < resolution < largest, got {resolution!r}, {most!r}")
    if processes is not None and (not isinstance(processes, int | np.integer) or processes < 1):
        raise InputError(f"processes must be a whole number from 1 on, got {processes!r}")
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
        _Search(robot, float(angle), float(limit), stepping, pace, most, resolution, frame, settings)
        for angle, limit in zip(angles, bound, strict=True)
    ]
    bar, survived = Bar(progress, len(searches), "directions"), list[float]()
    bar.update(0)
    try:
        for impulse in _run(searches, processes):
            survived.append(impulse)
            bar.update(len(survived))
    except KeyboardInterrupt:
        if not survived:
            raise
    finally:
        bar.close()
    n = len(survived)  # less than asked for when it was interrupted
    strongest = np.array(survived)
    return PushMap(robot.name, angles[:n], strongest, bound[:n], stepping, float(resolution), pace, n < len(angles))


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
    others = set(active_children())
    pool = ProcessPoolExecutor(processes or os.cpu_count(), get_context("spawn"))
    try:
        with _interrupts_ignored():  # which the processes that start here inherit
            outcomes = pool.map(_call, searches)
        yield from outcomes
    except BaseException:  # Ctrl-C too: nobody waits for simulations whose outcome is not wanted any more
        for child in set(active_children()) - others:
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Ignore Ctrl-C, which a terminal sends to all processes: it is for the one that starts the others."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears of it
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _call(search: _Search) -> float:
    return search()


@dataclass(frozen=True)
class _Search:
    """Looks for the strongest push in one direction."""

    robot: Robot
    angle: float
    bound: float
    stepping: bool
    velocity: tuple[float, ...] | None
    largest: float
    resolution: float
    frame: str | None
    settings: dict[str, Any]

    def __call__(self) -> float:
        """Go up until it falls, as one that falls may survive a harder push; then look closer by halving."""
        low, high, step = 0.0, 0.0, max(STRIDE, self.resolution)
        while high == low:
            high = min(low + step, self.largest)
            if self.survives(high):
                low = high
                if high == self.largest:
                    return high * self.bound
        while high - low > self.resolution:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.survives(middle) else (low, middle)
        return low * self.bound

    def survives(self, share: float) -> bool:
        impulse, more = share * self.bound, {"frame": self.frame, **self.settings}
        return stands_push(self.robot, self.angle, impulse, stepping=self.stepping, velocity=self.velocity, **more)


def stands_push(
    robot: Robot,
    angle: float,
    impulse: float,
    *,
    stepping: bool = False,
    velocity: ArrayLike | None = None,
    frame: str | None = None,
    **settings: Any,
) -> bool:
    """Push a robot once, with an impulse [N s] in a direction [rad], and tell whether it stayed upright."""
    body = Biped.of(robot)
    simulator = MujocoSimulator(robot, frames=[foot.frame for foot in body.feet.values()], **settings)
    planner = Planner(body, adapt=stepping)
    controller = WalkingController(body, forces=simulator.contact_forces, planner=planner)
    if velocity is not None:
        controller.command(velocity)
    before = BEFORE if velocity is None else UNDER_WAY

    def fell(t: float, state: State) -> bool:
        return controller.fallen is not None

    recording = simulate(
        robot,
        controller,
        before + SHORT + AFTER,
        q0=body.q,
        engine=simulator,
        dt=simulator.dt,
        control_dt=controller.dt,
        pushes=[push_of(body, angle, impulse, start=before, frame=frame)],
        until=fell,
    )
    if recording.status == "interrupted":  # half a run tells nothing
        raise KeyboardInterrupt
    return controller.fallen is None


def push_of(body: Biped, angle: float, impulse: float, *, start: float, frame: str | None = None) -> Push:
    """Make the push of an impulse [N s]: on the base, as if at the centre of mass, or at the origin of a frame."""
    force = impulse / SHORT * np.array([np.cos(angle), np.sin(angle), 0.0])
    if frame is not None:
        return Push(frame, force, start=start, duration=SHORT)
    base = body.robot.joints[0].child
    arm = np.array([0.0, 0.0, body.com_height - float(body.base[2, 3])])
    return Push(base, np.concatenate([force, np.cross(arm, force)]), start=start, duration=SHORT)
