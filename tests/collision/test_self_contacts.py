"""Links that touch, by their triangles."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision.distance_query import distance_query
from kinodyn.collision.exact_distance import ExactDistances
from kinodyn.collision.query import EMPTY
from kinodyn.collision.self_contacts import SelfContacts, self_contacts


def touching_pairs(contacts: SelfContacts, q: Array) -> NDArray[np.bool_]:
    """Return which pairs touch at configurations (n, nq): (n, pairs)."""
    found = np.zeros((len(q), len(contacts.names)), dtype=bool)
    found[contacts.touching(q)] = True
    return found


def test_pairs_that_touch_are_those_of_coal() -> None:
    pytest.importorskip("coal")
    robot = kd.load("humanoid")
    contacts, shapes = self_contacts(robot), ExactDistances(distance_query(robot, EMPTY))
    q = robot.random(40, seed=4)
    found = touching_pairs(contacts, q)
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
    assert not touching_pairs(self_contacts(robot), q[free]).any()


def test_contacts_do_not_depend_on_the_batch() -> None:
    robot = kd.load("humanoid")
    q = robot.random(30, seed=2)
    contacts = self_contacts(robot)
    one_by_one = np.concatenate([touching_pairs(contacts, one[None]) for one in q])
    assert np.array_equal(touching_pairs(contacts, q), one_by_one)
