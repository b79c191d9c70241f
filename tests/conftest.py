"""What tests of several packages share: a robot with joints of every kind, and interrupts that are heard."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array
from kinodyn.description.types import Description, Inertia, Joint, Link, Mimic
from kinodyn.model.robot import Robot

# shells have what they start in the background ignore Ctrl-C; tests of it press it themselves
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def placed(seed: int) -> Array:
    """Make a pose that is parallel to nothing."""
    rng = np.random.default_rng(seed)
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
    T[:3, 3] = rng.uniform(-0.4, 0.4, 3)
    return T


@pytest.fixture(scope="session")
def every_kind() -> Robot:
    """Hang a joint of each kind on the one before, and two that follow others: links l0 to l9."""
    kinds = ("revolute", "prismatic", "continuous", "ball", "planar", "revolute", "prismatic", "floating", "revolute")
    links = [Link(f"l{i}", Inertia(1.0 + i, placed(i)[:3, 3], np.diag([0.1, 0.2, 0.25]))) for i in range(10)]
    mimic = {5: Mimic("j0", -1.5, 0.2), 6: Mimic("j1", 0.5)}
    joints = [
        Joint(f"j{i}", kind, f"l{i}", f"l{i + 1}", placed(i), placed(i)[:3, 0], mimic=mimic.get(i))
        for i, kind in enumerate(kinds)
    ]
    return Robot(Description("every kind", tuple(links), tuple(joints)))
