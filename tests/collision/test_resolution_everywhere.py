"""`resolution=` reaches every function that measures with spheres."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import World, contacts, distance, near_pairs
from kinodyn.description.types import Description, Joint, Link, Shape
from kinodyn.errors import InputError
from kinodyn.limits import CollisionLimit
from kinodyn.model.robot import Robot
from kinodyn.spatial import pose

FINE = 0.004  # [m]


def slider() -> Robot:
    """A box of 10 cm that slides along x above a fixed one."""
    base = Link("base", collisions=(Shape("box", (0.2, 0.2, 0.1), pose([0.0, 0.0, -1.0])),))
    box = Link("box", collisions=(Shape("box", (0.1, 0.08, 0.06), np.eye(4)),))
    joint = Joint("slide", "prismatic", "base", "box", axis=np.array([1.0, 0.0, 0.0]), lower=-1.0, upper=1.0)
    return Robot(Description("slider", (base, box), (joint,)))


def beside_a_ball(gap: float) -> tuple[Robot, Array, World]:
    """Return the box at 0 and a ball above the middle of its top, at a distance [m]."""
    robot, world = slider(), World()
    world.add_sphere("ball", 0.1, [0.0, 0.0, 0.13 + gap])
    return robot, robot.neutral(), world


def test_finer_spheres_measure_larger_distances_everywhere() -> None:
    robot, q, world = beside_a_ball(0.05)
    coarse, fine = (distance(robot, q, world, resolution=value) for value in (None, FINE))
    assert coarse.distance < fine.distance <= 0.05
    assert fine.error_bound < coarse.error_bound
    assert 0.05 - fine.distance <= fine.error_bound
    limit = CollisionLimit(world, resolution=FINE, slow_down=1.0)
    np.testing.assert_allclose(limit.distance(robot, q).distance, fine.distance)
    np.testing.assert_allclose(limit.margins(robot, q).min() + limit.margin, fine.distance)
    near = near_pairs(robot, q, world, max_distance=0.3, exact=False, resolution=FINE)
    np.testing.assert_allclose(near[0].distance, fine.distance)


def test_contacts_of_finer_spheres_are_less_deep() -> None:
    robot, q, world = beside_a_ball(-0.005)
    (coarse,), (fine,) = (contacts(robot, q, world, exact=False, resolution=value) for value in (None, FINE))
    assert 0.005 - 1e-6 <= fine.depth < coarse.depth - 0.002


def test_inverse_kinematics_passes_where_only_fine_spheres_are_free(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, q, world = beside_a_ball(FINE + 0.001)
    monkeypatch.setattr(kd.collision.exact, "is_available", lambda: False)
    targets = {"box": kd.kinematics.pose(robot, q, "box")}
    coarse, fine = (kd.ik.solve(robot, targets, q, world=world, resolution=value) for value in (0.015, FINE))
    assert not coarse.success
    assert str(coarse.status) == "collision"
    assert fine.success


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, "fine"])
def test_a_wrong_resolution_is_an_error_that_names_it(value: Any) -> None:
    robot, q, world = beside_a_ball(0.1)
    calls = [
        lambda: contacts(robot, q, world, exact=False, resolution=value),
        lambda: near_pairs(robot, q, world, exact=False, resolution=value),
        lambda: CollisionLimit(world, resolution=value),
        lambda: kd.ik.solve(robot, {"box": np.eye(4)}, q, world=world, resolution=value),
    ]
    for call in calls:
        with pytest.raises(InputError, match="resolution"):
            call()
