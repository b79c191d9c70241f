"""simulate: run a robot under a controller in a physics engine, and record it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, stored
from kinodyn.checks import at_most, nonnegative, positive
from kinodyn.control.controller import ControlFunction, Controller
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot, require_robot
from kinodyn.model.state import State
from kinodyn.progress import ProgressBar
from kinodyn.recording import Recording
from kinodyn.sim.hard_contacts import HardContacts
from kinodyn.sim.mujoco_simulator import MujocoSimulator
from kinodyn.sim.native import NativeSimulator
from kinodyn.sim.observation import ObservationController, observe
from kinodyn.sim.protocol import Diverged, Simulator
from kinodyn.sim.pushes import Push, PushSchedule
from kinodyn.sim.recorder import Recorder
from kinodyn.sim.sensors import Sensors

Signal: TypeAlias = Callable[[float, State], ArrayLike]
Engine = Literal["mujoco", "native"]
MAX_STEPS, MAX_ROWS = 10**9, 10**7  # of a run
MAX_STEPS_PER_CALL = 2000  # of the core, so that a run can be interrupted


@check_types
def simulate(
    robot: Robot,
    controller: Controller | ControlFunction | ObservationController | None,
    duration: float,
    *,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    engine: Engine | Simulator = "native",
    dt: float = 1e-3,
    control_dt: float | None = None,
    record_dt: float | None = None,
    contacts: Any = None,
    pushes: Sequence[Push] = (),
    noise: Mapping[str, ArrayLike] | None = None,
    delay: float = 0.0,
    seed: int = 0,
    model: Robot | None = None,
    signals: Mapping[str, Signal] | None = None,
    clip: bool = True,
    until: Callable[[float, State], bool] | None = None,
    progress: bool = False,
    **options: Any,
) -> Recording:
    """Simulate a robot under a controller, and record it.

    Parameters
    ----------
    robot
    controller
        A function of (t, state) that returns generalised forces (..., nv), zero for a floating base; or an object with
        a method `act(observation)`, see `sim.ObservationController`; None applies no torques. Its method `reset()`, if
        present, is called at the start; its attribute `signals`, a mapping of name -> number or array, if present, is
        recorded after each call.
    duration
        [s]
    q0, v0
        Initial configuration (nq,) and velocity (nv,); by default neutral and at rest. With engine "native" also
        batches (..., nq) and (..., nv): many simulations at once, and the controller sees a batched state.
    engine
        "native", "mujoco", or an object that offers the protocol `sim.Simulator`.
    dt, control_dt, record_dt
        Time steps of the physics, the controller and the recording [s]; the latter two are multiples of dt, by default
        dt itself and control_dt. Torques are constant between calls of the controller.
    contacts
        For "native": `contact.SoftContacts`, `sim.HardContacts`, or a list of `contact.Contact` for hard contacts with
        the ground z = 0; None disables contacts. For "mujoco": whether collision shapes make contact, True by default.
    pushes
        External forces at given times.
    noise
        Standard deviations of the state that the controller sees: {"q": ..., "v": ...}, numbers or (nv,) arrays.
    delay
        Delay of the state that the controller sees [s], a multiple of control_dt.
    seed
        Seed of the noise.
    model
        The robot model of the controller, if it differs from the simulated one: `state.robot` is this one.
    signals
        Further signals to record: name -> function of (t, true state). With hard contacts `contact_error` is recorded
        too.
    clip
        Whether torques are clipped to the effort limits of the robot.
    until
        A function of (t, state as the controller sees it), called after each call of the controller; the run ends when
        it returns True.
    progress
        Whether to show a progress bar on stderr, if that is a terminal.
    options
        Passed on to `sim.NativeSimulator` (integrator, stops, friction, max_rate) or `sim.MujocoSimulator`.

    Returns
    -------
    Recording
        One row at the start and one after each record_dt. A run that diverges or is interrupted (Ctrl-C) returns what
        was recorded so far, with `status` and `reason`.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("planar2r")
    >>> hold = lambda t, state: kd.dynamics.gravity(robot, state.q) - 2.0 * state.v
    >>> recording = kd.sim.simulate(robot, hold, 0.5, q0=[0.3, 0.4], integrator="rk4")
    >>> bool(abs(recording.q[-1] - [0.3, 0.4]).max() < 1e-9)
    True
    """
    simulator = _simulator(robot, engine, dt, contacts, options)
    clock = Clock.from_times(positive("duration", duration), simulator.dt, control_dt, record_dt, delay)
    schedule = PushSchedule(simulator.robot, pushes, simulator.dt)
    schedule.require_before(duration)
    simulator.reset(q0, v0)
    run = Run(
        simulator,
        controller,
        clock,
        schedule,
        Sensors(simulator.robot, noise, clock.delay, seed),
        _model(simulator.robot, model),
        dict(signals or {}),
        clip,
        until,
    )
    return run.record(ProgressBar(progress, duration))


@dataclass(frozen=True)
class Clock:
    """Numbers of physics steps: in total, between calls of the controller, between rows; ticks of delay."""

    steps: int
    control: int
    record: int
    delay: int

    @classmethod
    def from_times(
        cls, duration: float, dt: float, control_dt: float | None, record_dt: float | None, delay: float
    ) -> Clock:
        """Convert times [s] to numbers of steps; the error names the time that is not a multiple."""
        control = 1 if control_dt is None else _multiple("control_dt", control_dt, dt, "dt")
        record = control if record_dt is None else _multiple("record_dt", record_dt, dt, "dt")
        late = 0 if nonnegative("delay", delay) == 0 else _multiple("delay", delay, control * dt, "control_dt")
        steps = _multiple("duration", duration, dt, "dt")
        at_most("delay", delay, MAX_STEPS * dt)
        if steps > MAX_STEPS or steps // record > MAX_ROWS:
            raise InputError(
                f"duration must be at most {MAX_STEPS} steps dt and {MAX_ROWS} rows record_dt, got {steps:.3g} steps "
                f"of {dt:g} s; choose a larger dt or record_dt"
            )
        return cls(steps, control, record, late)


class Run:
    """One simulation: sense, decide, act, record."""

    def __init__(
        self,
        simulator: Simulator,
        controller: Controller | ControlFunction | ObservationController | None,
        clock: Clock,
        schedule: PushSchedule,
        sensors: Sensors,
        model: Robot,
        signals: dict[str, Signal],
        clip: bool,
        until: Callable[[float, State], bool] | None,
    ) -> None:
        self.simulator, self.controller, self.clock = simulator, controller, clock
        self.schedule, self.sensors, self.signals, self.clip = schedule, sensors, signals, clip
        self.until, self.stopped = until, False
        self._decide = _decision(simulator, controller)
        self.tau = np.zeros_like(simulator.v)
        self.seen = State(model, simulator.q, simulator.v) if controller is not None else None
        self.true = State(simulator.robot, simulator.q, simulator.v) if signals else None
        self.recorder = Recorder(simulator.robot, getattr(simulator, "terrain", {}))  # the protocol does not ask for it

    def record(self, bar: ProgressBar) -> Recording:
        """Run to the end, or until something stops it, and return the recording."""
        status, reason = "complete", ""
        if self.controller is not None and hasattr(self.controller, "reset"):
            self.controller.reset()
        try:
            with _garbage_collection_frozen():
                self._loop(bar)
            if self.stopped:
                reason = f"ended at {self.simulator.time:.6g} s by `until`"
        except Diverged as error:
            status, reason = "diverged", str(error)
        except KeyboardInterrupt:
            status, reason = "interrupted", f"interrupted at {self.simulator.time:.6g} s"
        finally:
            bar.close()
        if len(self.recorder) == 0:
            self.recorder.add(0.0, self.simulator.q, self.simulator.v, self.tau, {}, {})
        return self.recorder.recording(status, reason)

    def _loop(self, bar: ProgressBar) -> None:
        clock, step = self.clock, 0
        edges = [edge for edge in self.schedule.edges() if 0 < edge < clock.steps]
        while True:
            t = step * self.simulator.dt
            if step % clock.control == 0 and step < clock.steps:
                self._control(t)
            if step % clock.record == 0 or step == clock.steps or self.stopped:
                self._add_row(t)
            bar.update(t)
            if step == clock.steps or self.stopped:
                return
            stops = [clock.steps, *(n * (step // n + 1) for n in (clock.control, clock.record))]
            following = min([*stops, *(edge for edge in edges if edge > step), step + MAX_STEPS_PER_CALL])
            self.simulator.step(self.tau, self.schedule.acting(step) or None, steps=following - step)
            step = following

    def _control(self, t: float) -> None:
        if self.controller is None or self.seen is None:
            return
        q, v = self.sensors.read(self.simulator.q, self.simulator.v)
        state = self.seen.update(q, v)
        given = self._decide(t, state)
        self.stopped = self.until is not None and self.until(t, state)
        self.tau = _torques(self.simulator.robot, given, self.tau.shape, t, self.clip)

    def _add_row(self, t: float) -> None:
        more: dict[str, Any] = dict(getattr(self.controller, "signals", {}))
        if self.true is not None:
            self.true.update(self.simulator.q, self.simulator.v)
            more.update({name: signal(t, self.true) for name, signal in self.signals.items()})
        if isinstance(self.simulator, NativeSimulator) and isinstance(self.simulator.contacts, HardContacts):
            more["contact_error"] = self.simulator.contact_error
        if not self.sensors.exact and self.seen is not None:
            more.update(q_measured=self.seen.q, v_measured=self.seen.v)
        self.recorder.add(t, self.simulator.q, self.simulator.v, self.tau, self.simulator.contact_forces(), more)


def _decision(
    simulator: Simulator, controller: Controller | ControlFunction | ObservationController | None
) -> ControlFunction:
    """Give every controller the signature (t, state) -> tau."""
    if isinstance(controller, ObservationController):
        acting = controller  # the type, narrowed, for the function below
        return lambda t, state: acting.act(observe(simulator, state, t))
    return controller or (lambda t, state: np.zeros_like(simulator.v))


@contextmanager
def _garbage_collection_frozen() -> Iterator[None]:
    """Exclude existing objects from garbage collection: a full collection would delay a tick by 50 ms."""
    ours = gc.get_freeze_count() == 0
    if ours:
        gc.freeze()
    try:
        yield
    finally:
        if ours:
            gc.unfreeze()


def _simulator(
    robot: Robot, engine: Engine | Simulator, dt: float, contacts: Any, options: dict[str, Any]
) -> Simulator:
    require_robot(robot)
    if isinstance(engine, str):
        if engine == "native":
            return NativeSimulator(robot, dt=dt, contacts=contacts, **_known(NativeSimulator, options))
        if engine == "mujoco":
            if contacts is not None:
                options = {**options, "contacts": contacts}
            return MujocoSimulator(robot, dt=dt, **options)
        raise InputError(f'engine must be "native", "mujoco" or a simulator, got {engine!r}')
    if not isinstance(engine, Simulator):
        raise InputError(f'engine must be "native", "mujoco" or offer the protocol sim.Simulator, got {engine!r}')
    if options or contacts is not None:
        raise InputError(f"options {sorted(options)} and contacts belong to the simulator given as engine")
    if engine.robot is not robot:
        raise InputError("the simulator given as engine simulates another robot")
    if dt not in (engine.dt, 1e-3):
        raise InputError(f"dt is {dt:g} s, but the simulator given as engine has a time step of {engine.dt:g} s")
    return engine


def _known(simulator: type, options: dict[str, Any]) -> dict[str, Any]:
    import inspect

    allowed = [name for name in inspect.signature(simulator).parameters if name not in ("robot", "dt", "contacts")]
    unknown = sorted(set(options) - set(allowed))
    if unknown:
        raise InputError(f"unknown options {', '.join(unknown)}; {simulator.__name__} takes {', '.join(allowed)}")
    return options


def _multiple(name: str, value: float, unit: float, unit_name: str) -> int:
    number = positive(name, value) / unit
    if abs(number - round(number)) > 1e-6 * max(1.0, number) or round(number) < 1:
        raise InputError(f"{name} must be a multiple of {unit_name} = {unit:g} s, got {value:g} s")
    return round(number)


def _model(robot: Robot, model: Robot | None) -> Robot:
    if model is None:
        return robot
    if not isinstance(model, Robot) or (model.nq, model.nv) != (robot.nq, robot.nv):
        raise InputError(f"model must be a Robot with nq = {robot.nq} and nv = {robot.nv}, got {model!r}")
    return model


def _torques(robot: Robot, given: ArrayLike, shape: tuple[int, ...], t: float, clip: bool) -> Array:
    """Check the torques from the controller, and clip them to the limits."""
    if given is None:
        raise InputError(f"the controller returned None at {t:.6g} s; torques of shape {shape} are needed")
    try:
        tau = np.array(np.broadcast_to(np.asarray(given, dtype=float), shape))
    except (TypeError, ValueError, OverflowError) as cause:
        raise InputError(f"the controller must return torques of shape {shape}, got {np.shape(given)}") from cause
    if not np.isfinite(tau).all():
        raise InputError(f"the controller returned torques that are not finite at {t:.6g} s")
    if robot.base == "floating" and tau[..., :6].any():
        raise InputError(
            f"the controller returned forces on the floating base at {t:.6g} s; tau[..., :6] must be 0, use sim.Push"
        )
    effort = stored(robot.limits, "effort")
    return np.clip(tau, -effort, effort) if clip else tau
