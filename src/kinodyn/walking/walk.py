"""A walk from beginning to end: the robot in MuJoCo, moved by nothing but its torques, and how well it went."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import kinematics
from kinodyn.balance.polygon import margin
from kinodyn.balance.support import support_polygon
from kinodyn.balance.zmp import zmp_from_wrenches
from kinodyn.description.types import Array
from kinodyn.errors import InputError
from kinodyn.recording import Recording
from kinodyn.robot import Robot
from kinodyn.sim import MujocoSimulator, Push, simulate
from kinodyn.state import State
from kinodyn.walking.biped import Biped
from kinodyn.walking.controller import FALLEN, WalkingController
from kinodyn.walking.sensing import SensedController, SensedSimulator, fallen

STAND = 0.5  # [s] before the first step
STOP = 2.0  # [s] before the end: it is told to stop


@dataclass(frozen=True, eq=False)
class WalkResult:
    """How a walk went.

    Attributes
    ----------
    body : Biped
    recording : Recording
    walked : bool
        Whether it stayed on its feet to the end.
    fallen : float or None
        When it fell [s].
    distance, speed : float
        How far the mass came [m]; its mean speed from two seconds after the start, when it is under way, to the end of
        the command [m/s], not known of shorter walks.
    steps : int
        Landings.
    least_margin, mean_margin : float
        Distance of the measured zero moment point from the edge of the feet that stand [m]; negative: outside, as it
        can be for an instant at a landing.
    slip : float
        The farthest that a foot slid while it stood [m], from 40 ms after its landing on.
    torque : float
        The largest torque as a share of its joint's limit.
    cost_of_transport : float
        Mechanical work, taken positive, over weight times way.
    real_time : float
        Simulated over elapsed time.
    tick : (3,)
        Time of a control tick [s]: median, 99 %, longest.
    """

    body: Biped
    recording: Recording
    walked: bool
    fallen: float | None
    distance: float
    speed: float
    steps: int
    least_margin: float
    mean_margin: float
    slip: float
    torque: float
    cost_of_transport: float
    real_time: float
    tick: Array

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw footsteps, mass and zero moment point from above and over time; returns matplotlib's figure."""
        from kinodyn.walking.plots import draw

        return draw(self, path)

    def __str__(self) -> str:
        median, most, worst = 1e3 * self.tick
        lines = [
            f"{self.recording.robot}: " + ("walked" if self.walked else f"fell after {self.fallen:.2f} s"),
            f"  distance            {self.distance:8.2f} m in {self.steps} steps",
            f"  mean speed          {self.speed:8.3f} m/s",
            f"  ZMP margin          {1e3 * self.mean_margin:8.1f} mm mean, {1e3 * self.least_margin:.1f} mm least",
            f"  largest slip        {1e3 * self.slip:8.2f} mm",
            f"  largest torque      {100 * self.torque:8.1f} % of its limit",
            f"  cost of transport   {self.cost_of_transport:8.2f}",
            f"  real-time factor    {self.real_time:8.2f}",
            f"  control tick        {median:8.2f} ms median, {most:.2f} ms at 99 %, {worst:.2f} ms longest",
        ]
        return "\n".join(lines)


def walk(
    robot: Robot,
    velocity: ArrayLike = (0.3, 0.0, 0.0),
    *,
    duration: float = 10.0,
    pushes: Sequence[Push] = (),
    noise: Mapping[str, ArrayLike] | None = None,
    estimate: bool = False,
    seed: int = 0,
    progress: bool = False,
    **settings: Any,
) -> WalkResult:
    """Let a robot walk in MuJoCo at a velocity (3,): forward, sideways [m/s], turn [rad/s].

    It stands for half a second, walks, and in the last two seconds stops. `settings` are those of
    `sim.MujocoSettings`, such as friction or mass_scale: the controller does not know of them.

    With `estimate` the controller sees what a `estimation.LeggedEstimator` makes of the inertial unit, encoders and
    foot forces; the base's true state is never read. `noise` then has "q" and "v" of the joints, "gyro",
    "accelerometer", and "gyro_bias", "accelerometer_bias" for biases; without it, "q" and "v" of the whole state.

    A robot that cannot walk, or a velocity beyond its limits, raises an error with the reason before anything moves.

    Example
    -------
    >>> import kinodyn as kd
    >>> result = kd.walking.walk(kd.load("humanoid"), duration=4.0)
    >>> result.walked
    True
    """
    if not isinstance(duration, int | float | np.number) or not STAND + STOP < duration < np.inf:
        raise InputError(f"duration must be above {STAND + STOP} s, got {duration!r}")
    body = Biped.of(robot)
    engine = SensedSimulator if estimate else MujocoSimulator
    simulator = engine(robot, frames=[foot.frame for foot in body.feet.values()], **settings)
    controller = WalkingController(body, forces=simulator.contact_forces)
    controller.command(velocity, at=STAND)
    controller.command(None, at=duration - STOP)
    begin, timed = time.perf_counter(), _Timed(controller)
    seen: _Timed | SensedController = timed
    if isinstance(simulator, SensedSimulator):
        seen, noise = SensedController(timed, simulator, body.q, dt=controller.dt, noise=noise, seed=seed), None
    recording = simulate(
        robot,
        seen,
        duration,
        q0=body.q,
        engine=simulator,
        dt=simulator.dt,
        control_dt=controller.dt,
        record_dt=controller.dt,
        pushes=pushes,
        noise=noise,
        seed=seed,
        progress=progress,
    )
    if controller.fallen is None:
        controller.fallen = fallen(body, recording, FALLEN)
    return _judged(body, timed, recording, time.perf_counter() - begin)


class _Timed:
    """Keeps the time of every tick of a controller."""

    def __init__(self, controller: WalkingController) -> None:
        self.controller, self.times = controller, list[float]()

    @property
    def signals(self) -> dict[str, object]:
        return self.controller.signals

    def __call__(self, t: float, state: State) -> Array:
        begin = time.perf_counter()
        tau = self.controller(t, state)
        self.times.append(time.perf_counter() - begin)
        return tau


def _judged(body: Biped, timed: _Timed, recording: Recording, elapsed: float) -> WalkResult:
    robot, controller, upto = body.robot, timed.controller, len(recording)
    if controller.fallen is not None:
        upto = max(2, int(np.searchsorted(recording.time, controller.fallen)))
    q, t = recording.q[:upto], recording.time[:upto]
    com = kinematics.com(robot, q)
    distance = float(np.linalg.norm(com[-1, :2] - com[0, :2]))
    stance = np.asarray(recording.signals["stance"])[:upto] > 0
    work = np.abs(recording.tau[:upto] * recording.v[:upto]).sum(axis=-1) @ np.gradient(t)
    margins = _margins(body, recording, stance, upto)
    return WalkResult(
        body,
        recording,
        controller.fallen is None and recording.status == "complete",
        controller.fallen,
        distance,
        _speed(com, t, recording.duration),
        int((np.diff(stance.astype(int), axis=0) > 0).sum()),
        float(margins.min(initial=np.inf)),
        float(margins.mean()) if len(margins) else np.nan,
        _slip(body, q, stance),
        float((np.abs(recording.tau[:upto, 6:]) / robot.limits.effort[6:]).max()),
        float(work / max(controller.weight * distance, 1e-9)),
        float(recording.duration / elapsed),
        np.quantile(timed.times, [0.5, 0.99, 1.0]),
    )


def _speed(com: Array, t: Array, duration: float) -> float:
    """Measure the mean speed along the path, between its first two seconds and its end."""
    rows = np.flatnonzero((t >= STAND + 2.0) & (t <= duration - STOP))[::50]
    if len(rows) < 5:
        return float("nan")
    return float(np.linalg.norm(np.diff(com[rows, :2], axis=0), axis=-1).sum() / (t[rows[-1]] - t[rows[0]]))


def _margins(body: Biped, recording: Recording, stance: NDArray[np.bool_], upto: int) -> Array:
    """Measure, fifty times a second, how far the zero moment point of the measured forces is inside the feet."""
    feet, rows = list(body.feet.values()), np.arange(10, upto, 10)
    weight = body.robot.mass * float(np.linalg.norm(body.robot.gravity))
    pressed = sum(recording.forces[foot.frame][rows, 2] for foot in feet) > 0.1 * weight
    rows = rows[pressed]
    wrenches = {foot.frame: recording.forces[foot.frame][rows] for foot in feet}
    points = zmp_from_wrenches(body.robot, recording.q[rows], wrenches)
    found = []
    for k, point in zip(rows, points, strict=True):
        standing = [foot for foot, on in zip(feet, stance[k], strict=True) if on]
        if standing:
            found.append(float(margin(support_polygon(body.robot, recording.q[k], standing), point[:2])))
    return np.array(found)


def _slip(body: Biped, q: Array, stance: NDArray[np.bool_]) -> float:
    """Find the farthest that a sole moved along the ground during one stance."""
    worst = 0.0
    for side, foot in enumerate(body.feet.values()):
        place = foot.sole_pose(body.robot, q)[..., :2, 3]
        edges = np.flatnonzero(np.diff(np.concatenate([[0], stance[:, side].astype(int), [0]])))
        for begin, end in edges.reshape(-1, 2):
            settled = place[begin + 20 : end]  # the landing itself takes some ticks
            if len(settled):
                worst = max(worst, float(np.linalg.norm(settled - settled[0], axis=-1).max()))
    return worst
