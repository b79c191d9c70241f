"""The CoM over the support."""

from __future__ import annotations

import numpy as np

import kinodyn as kd
from kinodyn.retarget import support
from kinodyn.retarget.body import Body
from kinodyn.retarget.contacts import find_contacts
from kinodyn.retarget.human import normalise
from kinodyn.retarget.keypoints import key_points
from kinodyn.retarget.solver import ClipSolver
from kinodyn.retarget.targets import make_targets

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


def test_places_inside_a_support_stay_and_others_move_to_its_edge() -> None:
    places = np.array([[0.5, 0.5], [2.0, 0.5], [0.5, -3.0], [2.0, 2.0]])
    reach = support.bounds(np.repeat(SQUARE[None], 4, axis=0), np.ones((4, 4), dtype=bool), 0.0)
    assert support.is_within(places, reach).tolist() == [True, False, False, False]
    nearest = support.nearest_within(places, reach)
    assert np.allclose(nearest[:3], [[0.5, 0.5], [1.0, 0.5], [0.5, 0.0]], atol=1e-9)
    assert np.allclose(nearest[3], [1.0, 1.0], atol=1e-3)


def test_margins_never_exceed_a_narrow_support() -> None:
    line = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.01], [1.0, 0.01]])[None]
    reach = support.bounds(line, np.ones((1, 4), dtype=bool), 0.1)
    nearest = support.nearest_within(np.array([[0.5, 3.0]]), reach)
    assert 0.0 <= nearest[0, 1] <= 0.01


def test_without_a_corner_every_place_is_over_the_support() -> None:
    reach = support.bounds(SQUARE[None], np.zeros((1, 4), dtype=bool), 0.01)
    assert support.is_within(np.array([[50.0, 50.0]]), reach).all()


def test_the_com_of_a_robot_moves_over_its_feet_where_the_human_stands() -> None:
    """A human that stands still with its trunk moved 20 cm back: the robot's CoM comes back over its soles."""
    robot = kd.load("humanoid")
    body = Body.from_robot(robot)
    motion = kd.retarget.example_motion(3)
    still = kd.retarget.Motion(
        motion.names, motion.parents, np.repeat(motion.positions[:1], 60, axis=0), motion.rate, "still"
    )
    human = normalise(still, key_points(still), 30.0)
    feet = find_contacts(human)
    excesses = {}
    for balance in (0.0, 1.0):
        targets = make_targets(body, human, feet)
        targets.positions[8:, :, 0] -= 0.2
        solver = ClipSolver(body, targets, feet.contacts, 30.0, np.full(len(human), balance))
        q = solver.solve()
        com = solver.com[:2, : len(q)].T
        corners = solver.paths[:8, :, :2].transpose(1, 0, 2)
        reach = support.bounds(corners, np.ones(corners.shape[:2], dtype=bool), 0.0)
        excesses[balance] = float(np.maximum((com @ support.NORMALS - reach).max(axis=1), 0.0).mean())
    assert excesses[0.0] > 0.02
    assert excesses[1.0] < 0.25 * excesses[0.0]
