"""Every public function of (robot, q, ...), to be called with arrays alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

K, D, C = kd.kinematics, kd.dynamics, kd.centroidal
HUMANOID = kd.load("humanoid")
HAND = "left_hand"

# name: the public function of (robot, *arrays), what each array is, and whether it takes out=
FUNCTIONS: dict[str, tuple[Callable[..., Any], str, bool]] = {
    "pose": (lambda r, q, **o: K.pose(r, q, HAND, **o), "q", True),
    "poses": (K.poses, "q", True),
    "jacobian": (lambda r, q, **o: K.jacobian(r, q, HAND, **o), "q", True),
    "jacobian_dot": (lambda r, q, v, **o: K.jacobian_dot(r, q, v, HAND, **o), "qv", True),
    "hessian": (lambda r, q, **o: K.hessian(r, q, HAND, **o), "q", True),
    "analytic_jacobian": (lambda r, q: K.analytic_jacobian(r, q, HAND, parameters="quaternion"), "q", False),
    "velocity": (lambda r, q, v, **o: K.velocity(r, q, v, HAND, **o), "qv", True),
    "acceleration": (lambda r, q, v, a, **o: K.acceleration(r, q, v, a, HAND, **o), "qvv", True),
    "com": (K.com, "q", True),
    "com_jacobian": (K.com_jacobian, "q", True),
    "com_velocity": (K.com_velocity, "qv", False),
    "com_acceleration": (K.com_acceleration, "qvv", False),
    "manipulability": (lambda r, q: K.manipulability(r, q, HAND), "q", False),
    "inverse": (D.inverse, "qvv", True),
    "forward": (D.forward, "qvv", True),
    "bias": (D.bias, "qv", True),
    "gravity": (D.gravity, "q", True),
    "mass_matrix": (D.mass_matrix, "q", True),
    "coriolis_matrix": (D.coriolis_matrix, "qv", True),
    "kinetic_energy": (D.kinetic_energy, "qv", False),
    "potential_energy": (D.potential_energy, "q", False),
    "regressor": (D.regressor, "qvv", True),
    "inverse_derivatives": (D.inverse_derivatives, "qvv", True),
    "forward_derivatives": (D.forward_derivatives, "qvv", True),
    "factorize": (lambda r, q: D.factorize(r, q).L, "q", False),
    "solve": (lambda r, q, b, **o: D.factorize(r, q).solve(b, **o), "qv", True),
    "momentum_matrix": (C.momentum_matrix, "q", True),
    "momentum": (C.momentum, "qv", True),
    "momentum_rate": (C.momentum_rate, "qvv", True),
    "integrate": (Robot.integrate, "qv", True),
    "difference": (Robot.difference, "qq", True),
    "interpolate": (lambda r, q0, q1, **o: Robot.interpolate(r, q0, q1, 0.3, **o), "qq", True),
    "state": (lambda r, q, v: kd.State(r, q, v).bias, "qv", False),
    "wrenches": (lambda r, q, v, a: D.inverse(r, q, v, a, {HAND: np.ones(6)}), "qvv", False),
}


class Ask:
    """One public function, to be called with arrays alone, and arguments for it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.function, self.kinds, self.takes_out = FUNCTIONS[name]

    def __call__(self, *arrays: Any, robot: Any = HUMANOID, **more: Any) -> Any:
        return self.function(robot, *arrays, **more)

    def arguments(self, n: int | None = 3, seed: int = 0) -> list[Array]:
        """Draw an array of the right kind for each place."""
        rng = np.random.default_rng(seed)
        shape = (HUMANOID.nv,) if n is None else (n, HUMANOID.nv)
        return [HUMANOID.random(n, seed=rng) if kind == "q" else rng.normal(size=shape) for kind in self.kinds]


ASK = [Ask(name) for name in FUNCTIONS]


@pytest.fixture(params=ASK, ids=lambda ask: ask.name)
def ask(request: pytest.FixtureRequest) -> Ask:
    """Give every public function of (robot, q, ...) in turn."""
    return request.param


@pytest.fixture(params=[ask for ask in ASK if ask.takes_out], ids=lambda ask: ask.name)
def ask_with_out(request: pytest.FixtureRequest) -> Ask:
    """Give those that take out=."""
    return request.param


@pytest.fixture(params=[ask for ask in ASK if len(ask.kinds) > 1], ids=lambda ask: ask.name)
def ask_several(request: pytest.FixtureRequest) -> Ask:
    """Give those of several arrays."""
    return request.param
