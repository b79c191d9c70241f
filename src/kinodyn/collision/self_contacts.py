"""Self-collisions of a robot, by the triangles of its links."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.obstacles import obstacles
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.sphere_forms import SphereForm, make_form
from kinodyn.model.robot import Robot

_KNOWN: WeakKeyDictionary[Robot, SelfContacts] = WeakKeyDictionary()


def self_query(robot: Robot, form: SphereForm) -> _core.CollisionQuery:
    """Return a query of a robot with itself, in which all joints move."""
    return _core.CollisionQuery(
        robot,
        form.core,
        obstacles(WorldSnapshot()).core,
        np.zeros((0, len(form.groups)), dtype=bool),
        robot.neutral(),
        robot.limits.lower,
        robot.limits.upper,
        np.ones(robot.nv, dtype=bool),
        True,
    )


class SelfContacts:
    """Finds pairs of links that touch, in batches of configurations.

    Spheres reject pairs that are apart, triangles decide the others: some microseconds for a configuration. Triangles
    contain round shapes, and reach beyond them by up to `solids.TOLERANCE`.

    Attributes
    ----------
    names : list of (str, str)
        Pairs of links, without those that may touch.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        spheres = make_form(robot, (), frozenset())
        pairs = self_query(robot, spheres).pairs
        names = frozenset(frozenset((spheres.groups[a], spheres.groups[b])) for a, b in pairs)
        self._form = make_form(robot, (), frozenset(), triangle_pairs=names)
        self._query = self_query(robot, self._form)
        self.names = [(self._form.groups[a], self._form.groups[b]) for a, b in self._query.pairs]

    def touching(self, q: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return what touches at configurations (n, nq): numbers of configurations, and of pairs."""
        at = np.flatnonzero(np.asarray(_core.collision_free(self.robot, self._query, q)) == 0)
        if not len(at):
            return at, at
        which, pairs = np.nonzero(_core.touching(self.robot, self._query, q[at]).pairs)
        return at[which], pairs


def self_contacts(robot: Robot) -> SelfContacts:
    """Return the contacts of a robot with itself; the same object for the same robot."""
    if robot not in _KNOWN:
        _KNOWN[robot] = SelfContacts(robot)
    return _KNOWN[robot]
