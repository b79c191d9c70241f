"""Links that touch, by their triangles."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.collision.distance_query import distance_query
from kinodyn.collision.exact_distance import ExactDistances
from kinodyn.collision.query import EMPTY
from kinodyn.collision.self_contacts import self_contacts


def test_pairs_that_touch_are_those_of_coal() -> None:
    pytest.importorskip("coal")
    robot = kd.load("humanoid")
    contacts, shapes = self_contacts(robot), ExactDistances(distance_query(robot, EMPTY))
    q = robot.random(40, seed=4)
    found = contacts.touching(q)
    assert found.any() and not found.all()
    for state, row in zip(q, found, strict=True):
        for pair, touches in zip(contacts.names, row, strict=True):
            # triangles reach up to 1 mm beyond round shapes
            if touches:
                assert shapes.is_within(state, pair, 0.0025)
            else:
                assert not shapes.is_within(state, pair, 0.0)


@pytest.mark.filterwarnings("ignore::kinodyn.errors.DescriptionWarning")
def test_no_configuration_that_spheres_call_free_has_contacts() -> None:
    robot = kd.load("humanoid")
    q = robot.random(100, seed=1)
    free = kd.collision.free(robot, q)
    assert not self_contacts(robot).touching(q[free]).any()


def test_contacts_do_not_depend_on_the_batch() -> None:
    robot = kd.load("humanoid")
    q = robot.random(30, seed=2)
    contacts = self_contacts(robot)
    assert np.array_equal(contacts.touching(q), np.concatenate([contacts.touching(one[None]) for one in q]))
