"""The simulators in which a biped can walk."""

from __future__ import annotations

from typing import Any, Literal

from kinodyn.dynamics.contact import SoftContacts
from kinodyn.errors import InputError, unknown_name
from kinodyn.sim import HardContacts, MujocoSimulator, NativeSimulator, Simulator
from kinodyn.walking.biped import Biped

Engine = Literal["mujoco", "native"]
FRICTION = 1.0  # of the ground, as in `sim.MujocoSettings`


def make_simulator(body: Biped, engine: Engine | Simulator = "mujoco", **options: Any) -> Simulator:
    """Make a simulator of a biped with its feet on the ground.

    Parameters
    ----------
    body
    engine
        "mujoco"; "native", kinodyn's own dynamics; or a simulator of the robot.
    options
        "mujoco": fields of `sim.MujocoSettings`. "native": `contacts`, "soft" (default) or "hard"; `friction` of the
        ground; `ground`, a `contact.Plane`, `contact.HeightField` or anything with their method; and `dt`, `stops`,
        `joint_friction` as in `sim.NativeSimulator`.
    """
    frames = [foot.frame for foot in body.feet.values()]
    if engine == "mujoco":
        return MujocoSimulator(body.robot, frames=frames, **options)
    if engine == "native":
        return _native(body, options)
    if not isinstance(engine, Simulator):
        raise InputError(f'engine must be "mujoco", "native" or offer the protocol sim.Simulator, got {engine!r}')
    if engine.robot is not body.robot:
        raise InputError("the simulator given as engine simulates another robot")
    if options:
        raise InputError(f"options {sorted(options)} belong to the simulator given as engine")
    return engine


def _native(body: Biped, options: dict[str, Any]) -> NativeSimulator:
    given = dict(options)
    kind, friction = given.pop("contacts", "soft"), given.pop("friction", FRICTION)
    ground, dt = given.pop("ground", None), given.setdefault("dt", 1e-3)
    if "joint_friction" in given:
        given["friction"] = given.pop("joint_friction")
    known = ("contacts", "dt", "friction", "ground", "joint_friction", "stops")
    for name in set(options) - set(known):
        raise unknown_name("option of the native engine", name, known)
    contacts: SoftContacts | HardContacts
    if kind == "hard":
        contacts = HardContacts([foot.contact(friction) for foot in body.feet.values()], ground=ground)
    elif kind == "soft":
        frames = [foot.frame for foot in body.feet.values()]
        contacts = SoftContacts.of(body.robot, frames, ground, friction=friction, dt=dt, q=body.q)
    else:
        raise InputError(f'contacts must be "soft" or "hard", got {kind!r}')
    return NativeSimulator(body.robot, contacts=contacts, **given)
