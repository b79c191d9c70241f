"""Push maps: the strongest push that a robot survives in each direction, compared with the bound of the LIPM."""

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
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.balance.capturability import push_bound
from kinodyn.balance.support import support_polygon
from kinodyn.checks import integer, numbers
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State
from kinodyn.progress import ProgressBar
from kinodyn.sim import Push
from kinodyn.walking.biped import Biped
from kinodyn.walking.controller import WalkingController
from kinodyn.walking.engines import Engine, make_simulator
from kinodyn.walking.planner import Planner
from kinodyn.walking.plots import draw_pushes
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.simulation import run_controller

STANDING_TIME, WALKING_TIME = 0.5, 3.0  # [s] before a push on a standing and on a walking robot
MAX_PROCESSES = 4096
OBSERVED_TIME = 3.0  # [s] after a push in which the robot must not fall
PUSH_DURATION = 0.05  # [s]
COARSE_STEP = 0.25  # of the bound, by which pushes grow until the first that is not survived


@displayed
@dataclass(frozen=True, eq=False)
class PushMap:
    """The strongest pushes that a robot survived.

    Attributes
    ----------
    robot : str
    directions : (n,)
        [rad], 0 forward, pi/2 to the left.
    survived : (n,)
        Impulse [N s]; the search stops at the first push that is not survived, although stronger ones may be.
    bound : (n,)
        What a linear inverted pendulum on these feet could survive without a step [N s].
    stepping : bool
        Whether the robot may step.
    resolution : float
        Resolution of `survived`, as a fraction of `bound`.
    velocity : tuple of 3 floats or None
        Walking velocity; None if the robot stands.
    interrupted : bool
        Whether Ctrl-C ended the search before all directions were done.
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
        """Survived impulse as a fraction of the bound (n,)."""
        return np.asarray(self.survived / self.bound)

    @property
    def condition(self) -> str:
        """What the robot did: standing with or without steps, or walking."""
        if self.velocity is not None:
            return f"while walking at {np.linalg.norm(self.velocity[:2]):g} m/s"
        return "with steps" if self.stepping else "without a step"

    def summary(self) -> dict[str, Any]:
        """Return all values as plain numbers, ready for JSON."""
        arrays = {name: getattr(self, name).tolist() for name in ("directions", "survived", "bound", "ratio")}
        conditions = {"stepping": self.stepping, "velocity": self.velocity, "resolution": self.resolution}
        return {"robot": self.robot, **conditions, **arrays}

    @check_types
    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw the map seen from above.

        Parameters
        ----------
        path
            Image file to write; None only returns the figure.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return draw_pushes([self], path)

    def __str__(self) -> str:
        lines = [f"{self.robot}: pushes survived {self.condition}", "  direction   survived      bound   ratio"]
        for angle, impulse, bound in zip(self.directions, self.survived, self.bound, strict=True):
            lines.append(
                f"  {np.rad2deg(angle):6.0f} deg {impulse:7.1f} N s {bound:7.1f} N s {100 * impulse / bound:5.0f} %"
            )
        return "\n".join(lines)


@check_types
def push_map(
    robot: Robot,
    directions: int | ArrayLike = 8,
    *,
    stepping: bool = False,
    velocity: ArrayLike | None = None,
    max_ratio: float | None = None,
    resolution: float = 0.05,
    frame: str | None = None,
    settings: GaitSettings | None = None,
    engine: Engine = "mujoco",
    processes: int | None = None,
    progress: bool = False,
    **options: Any,
) -> PushMap:
    """Find the strongest push that a robot survives in each direction, in simulation.

    The robot stands, or walks at a velocity and is pushed after three seconds. It survives a push if it also survives
    all weaker ones that were tried.

    Parameters
    ----------
    robot
    directions
        Number of directions, evenly around the robot, or angles (n,) [rad], 0 forward and pi/2 to the left.
    stepping
        Whether the robot may step; otherwise its feet stay in place.
    velocity
        Forward, lateral [m/s], turn [rad/s] (3,) of a walking robot, which may adapt its steps; None: it stands.
    max_ratio
        End of the search, as a multiple of the bound; by default 2, with stepping 4.
    resolution
        Resolution of the search, as a fraction of the bound.
    frame
        Frame that is pushed, at its origin; by default the trunk, with a force through the CoM of the robot.
    settings
        Settings of the gait, by default `GaitSettings.from_robot(robot)`.
    engine
        "mujoco" or "native".
    processes
        Number of parallel simulations; by default one per core.
    progress
        Whether to show a progress bar on stderr, if that is a terminal.
    options
        Options of the engine; see `walking.walk`.

    Returns
    -------
    PushMap

    Examples
    --------
    >>> import kinodyn as kd
    >>> found = kd.walking.push_map(kd.load("humanoid"), [0.0], resolution=0.5, processes=1)
    >>> bool(found.survived[0] > 0)
    True
    """
    angles = _angles(directions)
    walking = None if velocity is None else tuple(numbers("velocity", velocity, 3).tolist())
    stepping = stepping or walking is not None
    most = (4.0 if stepping else 2.0) if max_ratio is None else float(max_ratio)
    if not (0 < resolution < most < np.inf):
        raise InputError(f"resolution and max_ratio must be 0 < resolution < max_ratio, got {resolution!r}, {most!r}")
    if processes is not None:
        integer("processes", processes, 1, MAX_PROCESSES)
    body = Biped.from_robot(robot)
    if frame is not None:
        robot.frame_index(frame)
    bound = push_bound(
        support_polygon(robot, body.q, list(body.feet.values())),
        kinematics.com(robot, body.q)[:2],
        np.column_stack([np.cos(angles), np.sin(angles)]),
        body.omega,
        robot.mass,
    )
    conditions = {"stepping": stepping, "velocity": walking, "frame": frame, "settings": settings, "engine": engine}
    searches = [
        _Search(robot, float(angle), float(limit), most, resolution, {**conditions, **options})
        for angle, limit in zip(angles, bound, strict=True)
    ]
    bar, survived = ProgressBar(progress, len(searches), "directions"), list[float]()
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
    n = len(survived)  # fewer than requested after an interrupt
    return PushMap(
        robot=robot.name,
        directions=angles[:n],
        survived=np.array(survived),
        bound=bound[:n],
        stepping=stepping,
        resolution=float(resolution),
        velocity=walking,
        interrupted=n < len(angles),
    )


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
        with _interrupts_ignored():  # inherited by the processes that start here
            outcomes = pool.map(_call, searches)
        yield from outcomes
    except BaseException:  # Ctrl-C too: the results of running simulations are not needed any more
        for child in set(active_children()) - others:
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Ignore Ctrl-C, which a terminal sends to all processes: the parent process handles it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can set handlers
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
    """Search for the strongest push in one direction."""

    robot: Robot
    angle: float
    bound: float
    max_ratio: float
    resolution: float
    conditions: dict[str, Any]  # arguments of `survives_push`

    def __call__(self) -> float:
        """Increase the push until the first fall, then bisect; survival is not monotonic beyond the first fall."""
        low, high, step = 0.0, 0.0, max(COARSE_STEP, self.resolution)
        while high == low:
            high = min(low + step, self.max_ratio)
            if self.survives(high):
                low = high
                if high == self.max_ratio:
                    return high * self.bound
        while high - low > self.resolution:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.survives(middle) else (low, middle)
        return low * self.bound

    def survives(self, ratio: float) -> bool:
        return survives_push(self.robot, self.angle, ratio * self.bound, **self.conditions)


@check_types
def survives_push(
    robot: Robot,
    angle: float,
    impulse: float,
    *,
    stepping: bool = False,
    velocity: ArrayLike | None = None,
    frame: str | None = None,
    settings: GaitSettings | None = None,
    engine: Engine = "mujoco",
    **options: Any,
) -> bool:
    """Push a robot once, and return whether it stays upright.

    Parameters
    ----------
    robot
    angle
        Direction [rad], 0 forward and pi/2 to the left.
    impulse
        [N s]
    stepping, velocity, frame, settings, engine, options
        As in `push_map`.

    Returns
    -------
    bool
    """
    body = Biped.from_robot(robot)
    simulator = make_simulator(body, engine, **options)
    controller = WalkingController(body, planner=Planner(body, settings=settings, adapt=stepping))
    if velocity is not None:
        controller.command(velocity)
    before = STANDING_TIME if velocity is None else WALKING_TIME

    def fell(t: float, state: State) -> bool:
        return controller.fallen is not None

    push = impulse_push(body, angle, impulse, start=before, frame=frame)
    recording = run_controller(simulator, controller, before + PUSH_DURATION + OBSERVED_TIME, pushes=[push], until=fell)
    if recording.status == "interrupted":  # an incomplete run has no result
        raise KeyboardInterrupt
    return controller.fallen is None


@check_types
def impulse_push(body: Biped, angle: float, impulse: float, *, start: float, frame: str | None = None) -> Push:
    """Return a horizontal push with a given impulse, 50 ms long.

    Parameters
    ----------
    body
    angle
        Direction [rad], 0 forward and pi/2 to the left.
    impulse
        [N s]
    start
        [s]
    frame
        Frame that is pushed at its origin; by default the trunk, with a force through the CoM of the stance.

    Returns
    -------
    Push
    """
    force = impulse / PUSH_DURATION * np.array([np.cos(angle), np.sin(angle), 0.0])
    if frame is not None:
        return Push(frame, force, start=start, duration=PUSH_DURATION)
    arm = kinematics.com(body.robot, body.q) - body.T_world_trunk[:3, 3]
    return Push(body.trunk, np.concatenate([force, np.cross(arm, force)]), start=start, duration=PUSH_DURATION)
