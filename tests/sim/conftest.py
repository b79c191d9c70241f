"""Small robots for simulations: a pendulum and a free block."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.description.types import Description, Inertia, Joint, Link

LENGTH = 0.7
MASS = 2.0


@pytest.fixture(scope="session")
def pendulum() -> kd.Robot:
    """Make a mass of 2 kg on a rod of 0.7 m that turns about y; it hangs at q = 0."""
    bob = Inertia(MASS, np.array([0.0, 0.0, -LENGTH]), np.zeros((3, 3)))
    swing = Joint("swing", "continuous", "world", "rod", axis=np.array([0.0, 1.0, 0.0]))
    return kd.Robot(Description("pendulum", (Link("world"), Link("rod", bob)), (swing,)))


@pytest.fixture(scope="session")
def block() -> kd.Robot:
    """Make a free body of 2 kg with three different inertias."""
    inertia = Inertia(MASS, np.zeros(3), np.diag([0.1, 0.2, 0.25]))
    free = Joint("free", "floating", "world", "block")
    return kd.Robot(Description("block", (Link("world"), Link("block", inertia)), (free,), base="floating"))


def wheel(**constants: float) -> kd.Robot:
    """Make a flywheel of 0.5 kg m^2 about z with one joint; `constants` are those of the joint."""
    inertia = Inertia(1.0, np.zeros(3), np.diag([0.3, 0.3, 0.5]))
    kind = "revolute" if "upper" in constants else "continuous"
    spin = Joint("spin", kind, "world", "wheel", **constants)  # type: ignore[arg-type]
    return kd.Robot(Description("wheel", (Link("world"), Link("wheel", inertia)), (spin,)))


@pytest.fixture(scope="session")
def make_wheel() -> object:
    """Give `wheel`, which makes flywheels."""
    return wheel
