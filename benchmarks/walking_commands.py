"""Random velocity commands for a minute: any change at any moment, also stops. No robot may fall."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

import kinodyn as kd
from walking_scenarios import NOISE

DURATION = 60.0  # [s]
INTERVAL = 1.5  # [s] mean time between two commands, exponentially distributed
STOPS = 0.15  # fraction of the commands that stop the robot


class Envelope(NamedTuple):
    """Largest commanded velocities: forward, backward, lateral [m/s], turn [rad/s]."""

    forward: float
    backward: float
    lateral: float
    turn: float


ENVELOPES = {
    "humanoid": Envelope(1.2, 0.5, 0.4, 1.0),
    "g1": Envelope(0.8, 0.3, 0.3, 0.8),
    "talos": Envelope(0.5, 0.3, 0.2, 0.6),
}


def random_commands(
    planner: kd.walking.Planner, envelope: Envelope, rng: Generator
) -> list[tuple[float, np.ndarray | None]]:
    """Draw times [s] and velocities (3,), None for a stop; velocities that the robot refuses are drawn again."""
    commands: list[tuple[float, np.ndarray | None]] = []
    t = 0.5
    while t < DURATION:
        velocity = None
        while rng.uniform() >= STOPS or not commands:
            low = (-envelope.backward, -envelope.lateral, -envelope.turn)
            velocity = rng.uniform(low, (envelope.forward, envelope.lateral, envelope.turn))
            try:
                planner.timing.check(velocity)
                break
            except kd.errors.InputError:
                velocity = None
        commands.append((t, velocity))
        t += rng.exponential(INTERVAL)
    return commands


def run_commands(job: tuple[str, int]) -> dict[str, Any]:
    """Walk a robot with the commands of a seed, with noise and unknown mass and friction."""
    warnings.simplefilter("ignore", kd.DescriptionWarning)
    name, seed = job
    rng = np.random.default_rng(seed)
    errors: dict[str, Any] = {"mass_scale": rng.uniform(0.95, 1.05), "friction": rng.uniform(0.5, 1.0)}
    body = kd.walking.Biped.from_robot(kd.load(name, base="floating"))
    simulator = kd.walking.make_simulator(body, "mujoco", **errors)
    controller = kd.walking.WalkingController(body)
    commands = random_commands(controller.planner, ENVELOPES[name], rng)
    for t, velocity in commands:
        controller.command(velocity, at=t)
    kd.sim.simulate(
        body.robot,
        controller,
        DURATION,
        q0=body.q,
        engine=simulator,
        dt=simulator.dt,
        control_dt=controller.dt,
        record_dt=0.02,
        noise=NOISE,
        seed=seed,
        until=lambda t, state: controller.fallen is not None,
    )
    last = [(t, velocity) for t, velocity in commands if controller.fallen is None or t <= controller.fallen][-3:]
    return {"robot": name, "seed": seed, **errors, "commands": len(commands), "fallen": controller.fallen, "last": last}
