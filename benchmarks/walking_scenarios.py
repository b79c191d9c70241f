"""The scenarios of `benchmarks/walking.py`, with their requirements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator

import kinodyn as kd

NOISE = {"q": 1e-4, "v": 1e-2}  # [rad, m] and [rad/s, m/s] at every tick of 2 ms
WALKING_TIME = 20.0  # [s]

Extra = Callable[[kd.walking.Biped, Generator], dict[str, Any]]


def nothing(body: kd.walking.Biped, rng: Generator) -> dict[str, Any]:
    """Walk on level ground, undisturbed."""
    return {}


@dataclass(frozen=True)
class Scenario:
    """One scenario, run with many seeds.

    `fraction` of the runs must stay upright. `steady` scenarios must also keep their speed within 10 %, their heading
    within 5 degrees, and slip below 1 cm.
    """

    name: str
    velocity: tuple[float, float, float] = (0.3, 0.0, 0.0)
    robot: str = "humanoid"
    options: dict[str, Any] = field(default_factory=lambda: {"duration": WALKING_TIME + 2.5})
    extra: Extra = nothing
    fraction: float = 1.0
    steady: bool = False
    height: float | None = None
    mass: float | None = None
    terrain: bool = False


def pushes(body: kd.walking.Biped, rng: Generator) -> dict[str, Any]:
    """Push once every four seconds by 0.1 m/s of the whole mass, in any direction."""
    impulse = 0.1 * body.robot.mass
    starts = 2.0 + 4.0 * np.arange(4) + rng.uniform(0.0, 2.0, 4)
    push = kd.walking.impulse_push
    return {"pushes": [push(body, rng.uniform(0, 2 * np.pi), impulse, start=round(t, 3)) for t in starts]}


def strong_push(body: kd.walking.Biped, rng: Generator) -> dict[str, Any]:
    """Push once by 0.5 m/s of the whole mass, in any direction and at any moment of a step."""
    start = round(rng.uniform(2.5, 3.7), 3)
    return {"pushes": [kd.walking.impulse_push(body, rng.uniform(0, 2 * np.pi), 0.5 * body.robot.mass, start=start)]}


def slope(body: kd.walking.Biped, rng: Generator) -> dict[str, Any]:
    """Start on level ground; from 0.5 m on it rises or falls by 5 degrees."""
    x, y = np.arange(-1.0, 9.0, 0.05), np.arange(-3.0, 3.01, 0.5)
    rise = rng.choice([-1.0, 1.0]) * np.tan(np.deg2rad(5.0)) * np.maximum(x - 0.5, 0.0)
    return {"ground": kd.contact.HeightField(np.tile(rise[:, None], len(y)), (0.05, 0.5), (-1.0, -3.0))}


def unexpected_steps(body: kd.walking.Biped, rng: Generator) -> dict[str, Any]:
    """Scatter boards of 1.5 cm on the ground."""
    middles = np.arange(0.6, 7.0, 0.5)
    ground = kd.terrain.flat()
    for x in middles:
        ground = ground.with_box(x, rng.uniform(-0.3, 0.3), (rng.uniform(0.1, 0.5), rng.uniform(0.2, 0.6), 0.015))
    return {"ground": ground}


QUARTER = {"goal": (0.0, 0.0, np.pi / 2)}
SCENARIOS = (
    Scenario("forward 0.3 m/s", steady=True),
    Scenario("forward 0.5 m/s", (0.5, 0.0, 0.0), steady=True),
    Scenario("forward 1.0 m/s", (1.0, 0.0, 0.0), steady=True),
    Scenario("forward 1.2 m/s", (1.2, 0.0, 0.0), steady=True),
    Scenario("backward 0.15 m/s", (-0.15, 0.0, 0.0), steady=True),
    Scenario("backward 0.5 m/s", (-0.5, 0.0, 0.0), steady=True),
    Scenario("lateral 0.1 m/s", (0.0, 0.1, 0.0), steady=True),
    Scenario("lateral 0.4 m/s", (0.0, 0.4, 0.0), steady=True),
    Scenario("turning 1 rad/s", (0.0, 0.0, 1.0)),
    Scenario("turning 90 degrees", options=QUARTER),
    Scenario("arc of 1.5 m radius", (0.3, 0.0, 0.2), steady=True),
    Scenario("1.2 m, 30 kg", height=1.2, mass=30.0),
    Scenario("1.2 m, 30 kg, 0.8 m/s", (0.8, 0.0, 0.0), height=1.2, mass=30.0),
    Scenario("1.9 m, 95 kg", height=1.9, mass=95.0),
    Scenario("talos 0.2 m/s", (0.2, 0.0, 0.0), "talos"),
    Scenario("talos 0.5 m/s", (0.5, 0.0, 0.0), "talos"),
    Scenario("g1 0.2 m/s", (0.2, 0.0, 0.0), "g1"),
    Scenario("g1 0.5 m/s", (0.5, 0.0, 0.0), "g1"),
    Scenario("g1 0.8 m/s", (0.8, 0.0, 0.0), "g1"),
    Scenario("estimated state", options={"duration": WALKING_TIME + 2.5, "estimate": True}),
    Scenario("pushes of 0.1 m/s", extra=pushes, fraction=0.95),
    Scenario("push of 0.5 m/s", (0.5, 0.0, 0.0), options={"duration": 6.5}, extra=strong_push, fraction=0.95),
    Scenario("slope of 5 degrees", extra=slope, fraction=0.9),
    Scenario("steps of 1.5 cm", extra=unexpected_steps, fraction=0.9),
)
