"""The simulators in which a biped can walk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.balance.foot import Foot
from kinodyn.balance.polygon import largest_rectangle
from kinodyn.description.hulls import convex_hull
from kinodyn.description.types import Shape
from kinodyn.dynamics.contact import Plane, SoftContacts
from kinodyn.errors import InputError, KinodynError, unknown_name
from kinodyn.sim import FootContacts, HardContacts, MujocoSimulator, NativeSimulator, Simulator
from kinodyn.sim.loops import loop_gaps
from kinodyn.walking.biped import Biped

Engine = Literal["mujoco", "native"]
FRICTION = 1.0  # of the ground, as in `sim.MujocoSettings`
SOLE_FRACTION = 0.2  # thickness of a sole without shapes, as a fraction of the height of the ankle
MAX_LOOP_GAP = 0.02  # [m] in the stance: what a simulation closes in its first steps
MIN_RECTANGLE = 0.1  # least width of the rectangle of a sole, in its thicknesses
TIME_STEPS = {"hard": 1e-3, "soft": 5e-4}  # [s]; soft ground can be four times as stiff at half the step


@check_types
def make_simulator(
    body: Biped, engine: Engine | Simulator = "mujoco", *, frames: Sequence[str] = (), **options: Any
) -> Simulator:
    """Make a simulator of a biped with its feet on the ground.

    Parameters
    ----------
    body
    engine
        "mujoco"; "native", kinodyn's own dynamics; or a simulator of the robot.
    frames
        Frames other than the feet whose contact forces MuJoCo reports.
    options
        "mujoco": fields of `sim.MujocoSettings`. "native": `contacts`, "hard" (default) or "soft"; `friction`, the
        coefficient of the ground, 1 by default; `ground`, as in `sim.MujocoSettings`; `dt`
        [s], by default 1 ms with hard and 0.5 ms with soft contacts; `stops` and `joint_friction`, as `stops` and
        `friction` of `sim.NativeSimulator`.

    Returns
    -------
    Simulator

    Examples
    --------
    >>> import kinodyn as kd
    >>> body = kd.walking.Biped.from_robot(kd.load("humanoid"))
    >>> simulator = kd.walking.make_simulator(body, "native", friction=0.8)
    >>> simulator.reset(body.q)
    >>> simulator.dt
    0.001
    """
    if engine == "mujoco":
        observed = dict.fromkeys([*(foot.frame for foot in body.feet.values()), *frames])
        simulator = MujocoSimulator(body.robot, frames=list(observed), feet=_foot_contacts(body), **options)
        _require_closed_loops(body, simulator)
        return simulator
    if engine == "native":
        return _native(body, options)
    if not isinstance(engine, Simulator):
        raise InputError(f'engine must be "mujoco", "native" or offer the protocol sim.Simulator, got {engine!r}')
    if engine.robot is not body.robot:
        raise InputError("the simulator given as engine simulates another robot")
    if options:
        raise InputError(f"options {sorted(options)} belong to the simulator given as engine")
    return engine


def _require_closed_loops(body: Biped, simulator: MujocoSimulator) -> None:
    """Raise KinodynError where the stance opens a loop of the simulated file, which the model of the robot lacks."""
    simulator.reset(body.q)
    gaps = {name: gap for name, gap in loop_gaps(simulator.model, simulator.data).items() if gap > MAX_LOOP_GAP}
    if gaps:
        listed = ", ".join(f"{name} ({1e3 * gap:.0f} mm apart)" for name, gap in gaps.items())
        raise KinodynError(
            f"{body.robot.name!r} cannot walk: its file closes loops of bodies, and its stance, which is found without "
            f"them, opens these: {listed}; remove these constraints, with the bodies of the loops that bear no load"
        )


def _foot_contacts(body: Biped) -> FootContacts:
    """Make plates of the soles, by link, for links whose own shapes do not define the sole, and their rectangles."""
    frames = {frame.name: frame for frame in body.robot.description.frames}
    plates, rectangles, misplaced = {}, {}, set()
    for foot in body.feet.values():
        frame = frames.get(foot.frame)
        link, T_link_frame = (frame.link, frame.T_link_frame) if frame else (foot.frame, np.eye(4))
        thickness = SOLE_FRACTION * max(foot.ankle, foot.size.min())
        plate = convex_hull(foot.solid(thickness))
        triangles = (plate.vertices, plate.faces)
        plates[link] = Shape("mesh", (1.0, 1.0, 1.0), T_link_frame, f"{foot.side} sole", triangles=triangles)
        rectangle = _rectangle(foot, T_link_frame, thickness)
        if rectangle is not None:
            rectangles[link] = rectangle
        if foot.source != "collision":
            misplaced.add(link)
    return FootContacts(plates, frozenset(misplaced), body.q, rectangles)


def _rectangle(foot: Foot, T_link_frame: Array, thickness: float) -> Shape | None:
    """Make a box of a thickness [m] on the largest rectangle of a sole; None for a line."""
    low, high = largest_rectangle(foot.corners)
    length, width = (high - low).tolist()
    if foot.on_points or min(length, width) < thickness * MIN_RECTANGLE:
        return None
    T_sole_box = np.eye(4)
    T_sole_box[:3, 3] = [*(0.5 * (low + high)).tolist(), 0.5 * thickness]
    return Shape("box", (length, width, thickness), T_link_frame @ foot.T_frame_sole @ T_sole_box, f"{foot.side} sole")


def _native(body: Biped, options: dict[str, Any]) -> NativeSimulator:
    known = ("contacts", "dt", "friction", "ground", "joint_friction", "stops")
    for name in set(options) - set(known):
        raise unknown_name("option of the native engine", name, known)
    given = dict(options)
    kind, friction, ground = given.pop("contacts", "hard"), given.pop("friction", FRICTION), given.pop("ground", None)
    if kind not in TIME_STEPS:
        raise InputError(f'contacts must be "hard" or "soft", got {kind!r}')
    dt = given.setdefault("dt", TIME_STEPS[kind])
    if "joint_friction" in given:
        given["friction"] = given.pop("joint_friction")
    contacts: SoftContacts | HardContacts
    if kind == "hard":
        whole = [replace(foot, free="") for foot in body.feet.values()]
        contacts = HardContacts([foot.contact(friction) for foot in whole], ground=ground or Plane())
    else:
        frames = [foot.frame for foot in body.feet.values()]
        contacts = SoftContacts.from_robot(body.robot, frames, ground, friction=friction, dt=dt, q=body.q)
    return NativeSimulator(body.robot, contacts=contacts, **given)
