"""Distances between neighbouring links, in tables over the one or two coordinates between them.

Spheres of such links overlap in many configurations in which the links do not collide, and resolving these takes most
of the time of a collision check. The tables are computed from the exact shapes, once per robot, and cached on disk.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.cache import content_key, load_table, save_table
from kinodyn.collision.pairs import allowed_pairs
from kinodyn.collision.solids import link_solids
from kinodyn.collision.spheres import RESOLUTION, SphereSet, fitted_spheres
from kinodyn.description.types import Description
from kinodyn.layouts import constant, layout
from kinodyn.model.compile import BALL, FREE, REVOLUTE, REVOLUTE_ANY, Body, Tree, compile_tree
from kinodyn.model.robot import Robot
from kinodyn.threads import map_in_threads

VERSION = "10"
CELL_SIZE = 0.008  # [m] by which points move in a cell along each axis; more where a table would get too large
MAX_CELLS = 200  # along an axis
MIN_TABLE, MAX_TABLE = 4_000, 40_000  # cells
PARTS = 4  # of a table that are computed in parallel; the bounds depend on it
MAX_AXES = int(constant("clearance_max_axes"))
UNDECIDED, COLLIDING = constant("clearance_undecided"), constant("clearance_colliding")

Bodies = tuple[int, int]
Cells = NDArray[np.float32]


class Table(NamedTuple):
    """Lower bounds of the distance between two links [m] in the cells of a grid, or a mark that they collide."""

    bodies: Bodies
    axes: NDArray[np.void]
    cells: Cells


Tables = dict[frozenset[str], Table]
_KNOWN: WeakKeyDictionary[Description, Tables] = WeakKeyDictionary()


def link_clearances(robot: Robot) -> Tables:
    """Return the tables of pairs of links that must not touch and have one or two coordinates between them."""
    if robot.description not in _KNOWN:
        _KNOWN[robot.description] = _TableBuilder(robot).tables()
    return _KNOWN[robot.description]


def joined(tables: Sequence[Table], certain: bool) -> _core.ClearanceTable:
    """Return a table for several pairs of links of the same bodies.

    Parameters
    ----------
    tables
        Tables with the same axes.
    certain
        Whether cells in which the spheres collide are decided by the table.
    """
    cells = np.minimum.reduce([table.cells for table in tables])
    if not certain:
        cells = np.maximum(cells, np.float32(UNDECIDED))
    return _core.ClearanceTable(*tables[0].bodies, tables[0].axes, cells)


class _TableBuilder:
    def __init__(self, robot: Robot) -> None:
        self.robot, self.tree, self.spheres = robot, compile_tree(robot.description), fitted_spheres(robot, RESOLUTION)
        self.places = [self.tree.places[link] for link in self.spheres.links]
        self.solids = link_solids(robot)
        self.pairs = list(self._near_pairs())
        self.query = self._query()

    def tables(self) -> Tables:
        axes, links = self._axes(), self.spheres.links
        pairs = [frozenset((links[i], links[k])) for i, k in self.query.pairs]
        bodies = [(self.places[i].body, self.places[k].body) for i, k in self.query.pairs]
        cells = self._cells([axes[both] for both in bodies])
        return {pair: Table(both, axes[both], found) for pair, both, found in zip(pairs, bodies, cells, strict=True)}

    def _near_pairs(self) -> Iterator[tuple[int, int]]:
        """Yield pairs of indices of links that must not touch, with few coordinates between them."""
        allowed = allowed_pairs(self.robot).pairs
        for i, first in enumerate(self.spheres.links):
            for k, second in enumerate(self.spheres.links[:i]):
                if frozenset((first, second)) in allowed:
                    continue
                between = list(_between(self.tree, self.places[i].body, self.places[k].body))
                single = between and all(body.kind not in (BALL, FREE) for body in between)
                few = len({body.iq for body in between}) <= MAX_AXES
                if single and few and all(_extent(self.robot, self.tree, body) for body in between):
                    yield i, k

    def _query(self) -> _core.CollisionQuery:
        robot, tables = self.robot, [_in_body(self.spheres, link, self.tree) for link in self.spheres.links]
        spheres = _core.Spheres(
            np.array([place.body for place in self.places], dtype=np.int32),
            np.cumsum([0, *map(len, tables)]).astype(np.int32),
            np.concatenate([np.zeros((0, 4)), *tables]),
            np.array([(i, k, -1) for i, k in self.pairs], dtype=np.int32).reshape(-1, 3),
            [],
        )
        empty = [np.zeros(0, dtype=layout(name)) for name in ("box_obstacle", "round_obstacle", "round_obstacle")]
        limits = robot.limits
        everything = np.ones(robot.nv, dtype=bool)
        may_touch = np.zeros((0, len(tables)), dtype=bool)
        return _core.CollisionQuery(
            robot,
            spheres,
            _core.Obstacles(*empty),
            may_touch,
            robot.neutral(),
            limits.lower,
            limits.upper,
            everything,
            True,
        )

    def _axes(self) -> dict[Bodies, NDArray[np.void]]:
        """Return the axes of each pair of bodies, fine enough for all pairs of their links."""
        sweeps: dict[Bodies, Array] = {}
        for (i, k), sweep in zip(self.query.pairs, self.query.pair_sweeps, strict=True):
            bodies = (self.places[i].body, self.places[k].body)
            sweeps[bodies] = np.maximum(sweep, sweeps.get(bodies, 0.0))
        return {bodies: self._axes_of(bodies, sweep) for bodies, sweep in sweeps.items()}

    def _axes_of(self, bodies: Bodies, sweep: Array) -> NDArray[np.void]:
        axes = np.zeros(MAX_AXES, dtype=layout("table_axis"))
        axes["iq"], axes["count"] = -1, 1
        coordinates = sorted({body.iq: body for body in _between(self.tree, *bodies)}.items())
        extents = [_extent(self.robot, self.tree, body) or (0.0, 0.0, 0.0) for _, body in coordinates]
        lengths = [high - low for low, high, _ in extents]
        counts = _counts(np.array([sweep[body.iv] for _, body in coordinates]) * lengths / CELL_SIZE)
        for axis, (iq, _), (low, high, period), count in zip(axes, coordinates, extents, counts, strict=False):
            axis["iq"], axis["count"], axis["low"], axis["period"] = iq, count, low, period
            axis["step"] = max(high - low, 1e-9) / axis["count"]
        return axes

    def _cells(self, axes: Sequence[NDArray[np.void]]) -> list[Cells]:
        """Read the tables of all pairs; those that are not known are computed, in parts in parallel, and saved."""
        keys = [self._key(pair, table_axes) for pair, table_axes in enumerate(axes)]
        known = [_read(key, table_axes) for key, table_axes in zip(keys, axes, strict=True)]
        missing = [pair for pair, cells in enumerate(known) if cells is None]
        solids = {pair: [self.solids[self.spheres.links[k]] for k in self.query.pairs[pair]] for pair in missing}
        parts = [(pair, part) for pair in missing for part in _divided(axes[pair])]
        computed = map_in_threads(lambda job: _core.clearances(self.query, *job, *solids[job[0]]), parts)
        numbered = zip((pair for pair, _ in parts), computed, strict=True)
        for pair, found in groupby(numbered, key=lambda each: each[0]):
            cells = known[pair] = np.concatenate([part for _, part in found])
            save_table(keys[pair], cells.reshape(-1, cells.shape[-1]).astype(float))
        return [cells for cells in known if cells is not None]

    def _key(self, pair: int, axes: NDArray[np.void]) -> str:
        numbers = self.query.pairs[pair]
        triangles = [self.solids.triangles(self.spheres.links[k]) for k in numbers]
        return content_key(VERSION, CELL_SIZE, axes.tobytes(), *triangles, *self._identity(numbers))

    def _identity(self, numbers: Iterable[int]) -> Iterator[bytes | str | float | Array]:
        """Yield the inputs of a table besides triangles and axes: the spheres and the joints between them."""
        yield from (_in_body(self.spheres, self.spheres.links[k], self.tree) for k in numbers)
        for body in _between(self.tree, *(self.places[k].body for k in numbers)):
            yield from (f"{body.kind} {body.iq}", body.scale, body.offset, body.R, body.p, body.axis)


def _read(key: str, axes: NDArray[np.void]) -> Cells | None:
    """Return the table that was saved under a key, None if there is none."""
    shape = tuple(axes["count"].tolist())
    known = load_table(key, shape[-1])
    if known is None or known.size != math.prod(shape):
        return None
    return np.ascontiguousarray(known, dtype=np.float32).reshape(shape)


def _divided(axes: NDArray[np.void]) -> Iterator[NDArray[np.void]]:
    """Yield the axes of parts of a table along its first axis, which are computed in parallel."""
    ends = np.linspace(0, axes["count"][0], min(PARTS, axes["count"][0]) + 1).astype(int)
    for first, last in pairwise(ends.tolist()):
        part = axes.copy()
        part["low"][0] += first * axes["step"][0]
        part["count"][0] = last - first
        yield part


def _counts(cells: Array) -> list[int]:
    """Return the number of cells along each axis, for a table that is neither too large nor needlessly coarse."""
    cells = np.clip(cells, 1.0, MAX_CELLS)
    cells *= np.clip(cells.prod(), MIN_TABLE, MAX_TABLE) ** (1.0 / len(cells)) / cells.prod() ** (1.0 / len(cells))
    return [min(math.ceil(count - 1e-9), MAX_CELLS) for count in cells]


def _between(tree: Tree, first: int, second: int) -> Iterator[Body]:
    """Yield the bodies whose joints are between two bodies."""
    while first != second:
        yield tree.bodies[max(first, second)]  # parents have lower numbers
        first, second = min(first, second), tree.bodies[max(first, second)].parent


def _extent(robot: Robot, tree: Tree, body: Body) -> tuple[float, float, float] | None:
    """Return the range of a joint's coordinate and its period, 0 if it has none; None if there is no bound."""
    low, high = float(robot.limits.lower[body.iq]), float(robot.limits.upper[body.iq])
    alone = sum(other.iq == body.iq for other in tree.bodies) == 1 and abs(body.scale) == 1.0
    if body.kind in (*REVOLUTE, REVOLUTE_ANY) and alone and not high - low <= 2.0 * math.pi:
        return -math.pi, math.pi, 2.0 * math.pi
    return (low, high, 0.0) if math.isfinite(high - low) else None


def _in_body(spheres: SphereSet, link: str, tree: Tree) -> Array:
    place, rows = tree.places[link], spheres.of_link(link)
    return np.hstack([rows[:, :3] @ place.R.T + place.p, rows[:, 3:]])
