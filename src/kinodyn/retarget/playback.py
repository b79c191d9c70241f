"""A retargeted motion in simulation: its walking speed and its upper body, through the walking controller.

The walking controller controls the legs: it walks at the speed of the clip and keeps balance. Parts of the clip that it
cannot reproduce are reported first: flight, bending down, and speeds beyond its limits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.errors import KinodynError
from kinodyn.recording import Recording
from kinodyn.retarget.result import Retargeted
from kinodyn.sim import Observation
from kinodyn.spatial import from_quaternion
from kinodyn.tasks import PostureTask
from kinodyn.walking import Biped, UpperBody, WalkingController, make_simulator
from kinodyn.walking.feasibility import require_feasible, require_strong
from kinodyn.walking.simulation import run_controller

LEAD_TIME = 3.0  # [s] before the clip, in which the robot comes to the first posture and speed
STANDING_TIME = 0.5  # [s] of it before the first step
REST_TIME = 2.0  # [s] after the clip, for stopping
COMMAND_INTERVAL = 0.2  # [s]
MIN_CHANGE = 0.05  # [m/s, rad/s] below which a command is not repeated: it would begin a new plan of steps
SMOOTHING = 0.35  # [s] standard deviation of the filter of the velocity: about a step
STANDING_SPEED = 0.06  # [m/s] below which, turning apart, the robot stands
STANDING_TURN = 0.15  # [rad/s]
MIN_FLIGHT = 0.1  # [s] without a foot on the ground that counts as flight
MAX_INCLINATION = np.deg2rad(35.0)  # of the trunk, beyond which the clip bends down
MIN_HEIGHT = 0.8  # of the pelvis in the stance, below which it does
WEIGHT, FREQUENCY = 1.0, 15.0  # of the task of the upper body; frequency of its feedback [rad/s]
WITHIN = 0.98  # fraction of the limits of steps that commands use
SLOWER = 0.85  # factor on the speeds until the legs can follow
MIN_FACTOR = 0.2


@displayed
@dataclass(frozen=True, eq=False)
class Playback:
    """The simulation of a clip.

    Attributes
    ----------
    recording : Recording
        From standing to standing; the clip begins at `start`.
    start : float
        [s]
    fallen : float or None
        Time of a fall [s].
    commands : (n, 3)
        Commanded forward, lateral [m/s] and turning [rad/s] velocity, every 0.2 s.
    posture_error : float
        Median distance of the joints of the upper body from the clip [rad].
    distance, clip_distance : float
        Distance that the robot walked during the clip, and that of the clip [m].
    notes : tuple of str
        What of the clip is not played, and why.
    """

    recording: Recording
    start: float
    fallen: float | None
    commands: Array
    posture_error: float
    distance: float
    clip_distance: float
    notes: tuple[str, ...]

    @property
    def stood(self) -> bool:
        """Whether the robot stayed on its feet."""
        return self.fallen is None and self.recording.status == "complete"


@check_types
def play(
    clip: Retargeted,
    *,
    engine: Literal["mujoco", "native"] = "mujoco",
    seed: int = 0,
    progress: bool = False,
    **options: Any,
) -> Playback:
    """Simulate a humanoid that walks at the speed of a clip and moves its upper body as in the clip.

    Parameters
    ----------
    clip : Retargeted
    engine
        "mujoco" or "native".
    seed : int
        Seed of the noise, if any.
    progress : bool
        Whether to show a progress bar on stderr, if that is a terminal.
    options
        Options of the engine, such as friction; see `walking.make_simulator`.

    Returns
    -------
    Playback

    Raises
    ------
    KinodynError
        Before anything moves, if the robot cannot walk.

    Examples
    --------
    >>> import kinodyn as kd
    >>> human = kd.retarget.example_motion()
    >>> clip = kd.retarget.retarget(human, kd.load("humanoid"))
    >>> kd.retarget.play(clip).stood
    True
    """
    body = Biped.from_robot(clip.robot)
    task = PostureTask(body.q, weights=_upper_joints(body), name="upper body")
    task.frequency = FREQUENCY
    simulator = make_simulator(body, engine, **options)
    controller = WalkingController(body, upper_body=UpperBody([task]))
    require_strong(body)
    notes = unsupported_parts(clip, body)
    clip = _upright(clip, body)
    commands, too_fast = _commands(clip, controller)
    player = _Player(controller, task, clip)
    _schedule(controller, commands)
    controller.command(None, at=LEAD_TIME + float(clip.time[-1]))
    duration = round((LEAD_TIME + float(clip.time[-1]) + REST_TIME) / controller.dt) * controller.dt
    recording = run_controller(simulator, controller, duration, acting=player, seed=seed, progress=progress)
    return Playback(
        recording,
        LEAD_TIME,
        controller.fallen,
        commands,
        _posture_error(clip, recording, task, controller.fallen),
        _path_length(recording.between(LEAD_TIME, LEAD_TIME + float(clip.time[-1])).q[:, :2]),
        _path_length(clip.q[:, :2]),
        (*notes, *too_fast),
    )


@check_types
def unsupported_parts(clip: Retargeted, body: Biped) -> tuple[str, ...]:
    """List the parts of a clip that the walking controller does not reproduce.

    Parameters
    ----------
    clip : Retargeted
    body : Biped
        Of its robot.

    Returns
    -------
    tuple of str
        With the times [s] of the clip.
    """
    flight = ~(clip.in_contact("left") | clip.in_contact("right"))
    return (
        *_spans(flight, clip, MIN_FLIGHT, "flight", "the robot keeps a foot on the ground"),
        *_spans(_bent(clip, body), clip, 0.0, "bending, sitting or lying", "the robot stays upright"),
    )


def _bent(clip: Retargeted, body: Biped) -> NDArray[np.bool_]:
    up = from_quaternion(clip.q[:, 3:7]) @ body.base[:3, :3].T  # rotation since the stance
    bent: NDArray[np.bool_] = (up[:, 2, 2] < np.cos(MAX_INCLINATION)) | (clip.q[:, 2] < MIN_HEIGHT * body.q[2])
    return bent


def _upright(clip: Retargeted, body: Biped) -> Retargeted:
    """Return the clip without the frames in which it bends down: they are interpolated between those around."""
    good = np.flatnonzero(~_bent(clip, body))
    if len(good) == len(clip.q):
        return clip
    if len(good) == 0:
        raise KinodynError("the clip has no frame in which the trunk is upright; there is nothing to play")
    place = np.interp(np.arange(len(clip.q)), good, np.arange(len(good)))
    k = np.minimum(place.astype(int), max(len(good) - 2, 0))
    q = clip.robot.interpolate(clip.q[good[k]], clip.q[good[np.minimum(k + 1, len(good) - 1)]], place - k)
    return replace(clip, q=q)


def _spans(flags: NDArray[np.bool_], clip: Retargeted, shortest: float, what: str, instead: str) -> tuple[str, ...]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    spans = [(a * clip.dt, b * clip.dt) for a, b in edges.reshape(-1, 2) if (b - a) * clip.dt >= shortest]
    if not spans:
        return ()
    times = ", ".join(f"{a:.2f} to {b:.2f} s" for a, b in spans[:4]) + (", ..." if len(spans) > 4 else "")
    return (f"{what} at {times} is not played: {instead}",)


def _upper_joints(body: Biped) -> dict[str, float]:
    """Return the weights of all joints that are not in the legs and have a motor of their own."""
    legs = {joint.name for joint in body.leg_joints}
    own = [joint for joint in body.robot.joints[1:] if joint.mimic is None and joint.name not in legs]
    if not own:
        raise KinodynError(f"{body.robot.name} has no joints but those of its legs; walking.walk simulates it")
    return {joint.name: WEIGHT for joint in own}


def _commands(clip: Retargeted, controller: WalkingController) -> tuple[Array, tuple[str, ...]]:
    """Return velocities (n, 3) every 0.2 s, within the limits of the robot, and what was reduced."""
    velocity = _heading_velocity(clip, controller.body)
    rows = np.arange(0.0, clip.time[-1] + 1e-9, COMMAND_INTERVAL)
    sampled = np.column_stack([np.interp(rows, clip.time, column) for column in velocity.T])
    slow = (np.hypot(*sampled[:, :2].T) < STANDING_SPEED) & (np.abs(sampled[:, 2]) < STANDING_TURN)
    sampled[slow] = 0.0
    planner = controller.planner
    step_time = planner.timing.fast.step_time
    fractions = np.array([planner.limits.feasible_fraction(row * step_time / WITHIN) for row in sampled])
    factor = _feasible_factor(sampled * fractions[:, None], controller)
    commands = sampled * np.minimum(fractions, factor)[:, None]
    reduced = np.where(sampled.any(axis=1), np.minimum(fractions, factor), 1.0)
    if reduced.min() > 1.0 - 1e-6:
        return commands, ()
    most = int(np.argmin(reduced))
    asked, done = (f"{np.hypot(*row[:2]):.2f} m/s, {abs(row[2]):.2f} rad/s" for row in (sampled[most], commands[most]))
    return commands, (f"speeds beyond the limits of the robot are reduced, at {rows[most]:.1f} s {asked} to {done}",)


def _schedule(controller: WalkingController, commands: Array) -> None:
    """Give the commands (n, 3) that differ from the one before; the first early, so that its speed is reached."""
    given = np.zeros(3)
    for k, command in enumerate(commands):
        at = LEAD_TIME + k * COMMAND_INTERVAL if k else STANDING_TIME
        stops = given.any() and not command.any()
        if stops or np.abs(command - given).max() > MIN_CHANGE:
            controller.command(None if stops else command, at=at)
            given = command


def _feasible_factor(commands: Array, controller: WalkingController) -> float:
    """Return the factor by which all commands are multiplied so that the legs can follow the fastest ones."""
    tried = [commands[int(k)] for k in np.abs(commands).argmax(axis=0)] if len(commands) else []
    factor = 1.0
    while factor >= MIN_FACTOR:
        try:
            for command in tried:
                require_feasible(controller.planner, factor * command)
            return factor
        except KinodynError:
            factor *= SLOWER
    raise KinodynError(f"{controller.robot.name} cannot walk at any of the speeds of the clip")


def _heading_velocity(clip: Retargeted, body: Biped) -> Array:
    """Return forward, lateral and turning velocity (frames, 3) of the pelvis, filtered."""
    turned = from_quaternion(clip.q[:, 3:7]) @ body.base[:3, :3].T
    yaw = np.unwrap(np.arctan2(turned[:, 1, 0], turned[:, 0, 0]))
    smooth = [gaussian_filter1d(each, SMOOTHING / clip.dt, mode="nearest") for each in (*clip.q[:, :2].T, yaw)]
    x, y, turn = (np.gradient(each, clip.dt) for each in smooth)
    c, s = np.cos(smooth[2]), np.sin(smooth[2])
    return np.column_stack([c * x + s * y, c * y - s * x, turn])


class _Player:
    """Moves the upper body as in a clip while the controller walks."""

    def __init__(self, controller: WalkingController, task: PostureTask, clip: Retargeted) -> None:
        self._controller, self._task, self._clip = controller, task, clip

    @property
    def signals(self) -> dict[str, object]:
        """Signals of the controller."""
        return self._controller.signals

    @property
    def rolling_feet(self) -> tuple[str, ...]:
        """Frames of the feet that roll over their toes or heels."""
        return self._controller.rolling_feet

    def act(self, observation: Observation) -> Array:
        """Compute the torques (nv,) of one control tick."""
        target, velocity = self._posture(observation.time - LEAD_TIME)
        self._task.track(target, velocity)
        return self._controller.act(observation)

    def _posture(self, t: float) -> tuple[Array, Array]:
        """Return the configuration (nq,) of the clip at a time, and its velocity (nv,)."""
        clip = self._clip
        if t < 0.0:
            s = min(max(t / LEAD_TIME + 1.0, 0.0), 1.0)
            start = self._controller.body.q
            return clip.robot.interpolate(start, clip.q[0], s * s * (3.0 - 2.0 * s)), np.zeros(clip.robot.nv)
        place = min(t / clip.dt, len(clip.q) - 1.0)
        k = min(int(place), len(clip.q) - 2)
        still = place >= len(clip.q) - 1
        velocity = np.zeros(clip.robot.nv) if still else clip.v[k]
        return clip.robot.interpolate(clip.q[k], clip.q[k + 1], place - k), velocity


def _posture_error(clip: Retargeted, recording: Recording, task: PostureTask, fallen: float | None) -> float:
    end = LEAD_TIME + float(clip.time[-1]) if fallen is None else fallen
    inside = (recording.time >= LEAD_TIME) & (recording.time <= end)
    if not inside.any():
        return float("nan")
    place = np.clip((recording.time[inside] - LEAD_TIME) / clip.dt, 0.0, len(clip.q) - 1.0)
    k = np.minimum(place.astype(int), len(clip.q) - 2)
    expected = clip.robot.interpolate(clip.q[k], clip.q[k + 1], place - k)
    upper = task.row_weights(clip.robot) > 0.0
    return float(np.median(np.abs(clip.robot.difference(recording.q[inside], expected)[:, upper])))


def _path_length(positions: Array) -> float:
    """Return the length of a path (n, 2) [m], without the sway of steps."""
    smooth = gaussian_filter1d(positions, max(1.0, len(positions) / 50.0), axis=0, mode="nearest")
    return float(np.linalg.norm(np.diff(smooth, axis=0), axis=1).sum())
