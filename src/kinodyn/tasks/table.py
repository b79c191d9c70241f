"""Tasks and limits in the layout of the core, reused from call to call: only changes are written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinodyn.arrays import Array
from kinodyn.layouts import layout
from kinodyn.model.robot import Robot
from kinodyn.tasks.rows import Block, Rows


class TaskTable:
    """The entries of tasks and limits with rows, and their numbers.

    Parameters
    ----------
    sources
        Level and task or limit, in the order of levels.
    with_drift
        Whether rows that Python computes need their drift, as at the acceleration level.
    """

    def __init__(self, robot: Robot, sources: Sequence[tuple[int, Rows]], *, with_drift: bool = False) -> None:
        self.robot = robot
        self.blocks: list[Block] = []
        self.entries = np.zeros(len(sources), dtype=layout("task_entry"))
        size = 0
        for (level, source), entry in zip(sources, self.entries, strict=True):
            block = Block(robot, source, size)
            block.write_entry(entry, level)
            self.blocks.append(block)
            size += block.size
        self._sources = [source for _, source in sources]
        self._versions: list[int] = []
        self.evaluated = [block for block in self.blocks if not block.source.native]
        self._with_drift = with_drift
        self._attach((max(size, 1),))

    def _attach(self, shape: tuple[int, ...]) -> None:
        self.numbers: Array = np.zeros(shape)
        for block in self.blocks:
            block.attach(self.numbers)

    def update(self, q: Array, v: Array) -> None:
        """Update the numbers for states (q, v)."""
        versions = [source.version for source in self._sources]
        if versions == self._versions and not self.evaluated:
            return
        changed = [block for block in self.blocks if block.version != block.source.version]
        for block in changed:
            block.source.prepare(self.robot, q)
        if self.numbers.ndim > 1 or (self.evaluated and q.ndim > 1) or any(b.source.batch() for b in changed):
            batch = np.broadcast_shapes(*(b.source.batch() for b in self.blocks))
            if self.evaluated:
                batch = np.broadcast_shapes(batch, q.shape[:-1])
            if self.numbers.shape[:-1] != batch:
                self._attach((*batch, self.numbers.shape[-1]))
                changed = self.blocks
        for block in changed:
            block.write()
        for block in self.evaluated:
            self._evaluate(block, q, v)
        self._versions = [source.version for source in self._sources]

    def _evaluate(self, block: Block, q: Array, v: Array) -> None:
        error, J = block.source.evaluate(self.robot, q)
        block.put("target", error)
        block.put("jacobian", J)
        if self._with_drift:
            block.put("drift", block.source.drift(self.robot, q, v))
