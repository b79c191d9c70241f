"""Locked feet: where they stand during contacts, and how swing motions begin and end there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.retarget.body import SIDES, Body, sole_corners
from kinodyn.retarget.contacts import Contact, Edge
from kinodyn.retarget.targets import CLEARANCE, CORNERS, FOOT_HEIGHT, LOCKED, SWING, Targets, smooth_step

Index = NDArray[np.intp]
EDGES: tuple[Edge, Edge] = ("heel", "toes")  # of a sole, two corners each
SETTLING = 0.4  # [s] before and after contacts in which swing motions depart from the reference to begin and end there


class _Swing(NamedTuple):
    """Corners of soles: when they are locked, and between which contacts they swing."""

    locked: NDArray[np.bool_]  # (8, frames)
    rest: Array  # (8, frames, 3): the reference without what it has of the places of these contacts
    before: Index  # (8, frames): corners of the soles of these contacts
    after: Index
    shares: Array  # (2, 8, frames, 1) of the contacts before and after each frame


class ContactLocks:
    """Locks the soles of a robot in contacts.

    Parameters
    ----------
    targets
        Their positions and weights of the corners of soles are changed.
    body
        The robot.
    contacts
        When and how feet are on the ground.
    rate
        Frames per second [Hz].
    """

    def __init__(self, targets: Targets, body: Body, contacts: tuple[Contact, ...], rate: float) -> None:
        self.targets, self.contacts, self.rate = targets, contacts, rate
        soles = {side: sole_corners(body, side) for side in SIDES}
        self._soles = np.array([soles[contact.side] for contact in contacts]).reshape(-1, CORNERS, 2)
        self._first = CORNERS * np.array([SIDES.index(contact.side) for contact in contacts], dtype=np.intp)
        # of soles above the lowest points of level feet [m]
        self._level_rises = [max(0.0, -float(body.foot_points[side][:, 2].min(initial=0.0))) for side in SIDES]
        self._heights = targets.scale * np.array([contact.height for contact in contacts])
        spans = [[contact.frames(edge) for edge in EDGES for _ in range(2)] for contact in contacts]
        self._spans = np.array(spans, dtype=np.intp).reshape(-1, CORNERS, 2)
        self._weights = np.diff(self._spans, axis=2) / np.diff(self._spans, axis=2).sum(axis=1, keepdims=True)
        self._together = self._pairs()
        self._swing = self._swings()

    def apply(self, corners: Array, weight: float = LOCKED) -> None:
        """Fix the targets of soles in contacts, and bend swing motions so that they begin and end there.

        Parameters
        ----------
        corners
            Positions (8, 3, frames) of the corners [m], from whose mean each contact gets its place. Where only toes or
            heel are on the ground, their corners alone count.
        weight
            Of locked corners [1/m].
        """
        targets, swing = self.targets, self._swing
        moved = swing.rest
        if self.contacts:
            places = self._places(corners).reshape(-1, 3)
            moved = moved + swing.shares[0] * places.take(swing.before, axis=0)
            moved += swing.shares[1] * places.take(swing.after, axis=0)
        targets.positions[: 2 * CORNERS] = moved
        height = targets.positions[: 2 * CORNERS, :, 2]
        np.maximum(height, 0.0, out=height, where=~swing.locked)
        self.set_weight(weight)

    def set_weight(self, weight: float) -> None:
        """Change the weight of locked corners [1/m]; their places stay."""
        self.targets.weights[: 2 * CORNERS] = np.where(self._swing.locked, weight, SWING)

    def _swings(self) -> _Swing:
        reference = self.targets.reference
        shape = reference.shape[:2]
        swing = _Swing(
            np.zeros(shape, dtype=bool),
            reference.copy(),
            np.zeros(shape, dtype=np.intp),
            np.zeros(shape, dtype=np.intp),
            np.zeros((2, *shape, 1)),
        )
        for s in range(len(SIDES)):
            owner = [self._owners(s, edge) for edge in EDGES]
            for front in (0, 1):
                corners = slice(CORNERS * s + 2 * front, CORNERS * s + 2 * front + 2)
                swing.locked[corners] = owner[front] >= 0
                # an edge that never touches the ground follows the other one
                source = owner[front] if (owner[front] >= 0).any() else owner[1 - front]
                at = np.flatnonzero(source >= 0)
                if not len(at):
                    continue
                before, after, shares = _blend(at, shape[1], SETTLING * self.rate)
                own = np.arange(2 * front, 2 * front + 2)[:, None]
                swing.before[corners] = CORNERS * source[at[before]] + own
                swing.after[corners] = CORNERS * source[at[after]] + own
                swing.shares[:, corners] = shares[:, None]
                ends = reference[corners]
                swing.rest[corners] -= shares[0] * ends[:, at[before]] + shares[1] * ends[:, at[after]]
                inclined = (owner[front] >= 0) & (owner[1 - front] < 0)
                swing.rest[corners, :, 2] += np.where(inclined, self.targets.rises[corners], self._level_rises[s])
        return swing

    def _owners(self, s: int, edge: Edge) -> Index:
        """Return the contact (frames,) in which an edge is locked, -1 where it is not."""
        owner = np.full(self.targets.reference.shape[1], -1, dtype=np.intp)
        for k, contact in enumerate(self.contacts):
            if contact.side == SIDES[s]:
                owner[slice(*contact.frames(edge))] = k
        return owner

    def _pairs(self) -> list[tuple[int, int]]:
        """List contacts of the left and the right foot at the same time and height."""
        sides = [[k for k, c in enumerate(self.contacts) if c.side == side] for side in SIDES]
        return [
            (i, j)
            for i in sides[0]
            for j in sides[1]
            if self.contacts[i].start < self.contacts[j].stop
            and self.contacts[j].start < self.contacts[i].stop
            and abs(self._heights[i] - self._heights[j]) < FOOT_HEIGHT
        ]

    def _places(self, corners: Array) -> Array:
        """Find the corners (contacts, 4, 3) of the sole in each contact; those at the same time do not overlap."""
        places = self._resting_places(corners)
        if self._together:
            i, j = np.array(self._together).T
            lack, axis = _lack(places[i, :, :2], places[j, :, :2])
            for k in np.flatnonzero(lack + CLEARANCE > 0.0):
                _separate(places[i[k]], places[j[k]], lack[k], axis[k])
        return places

    def _resting_places(self, corners: Array) -> Array:
        """Return the corners (contacts, 4, 3) of level soles that are nearest to corners while these are on the ground.

        The direction across an edge counts: an inclined sole is short along it.
        """
        mean = self._means(corners)
        left = mean[:, 1::2].sum(axis=1) - mean[:, ::2].sum(axis=1)
        x = left[:, 1::-1] * [1.0, -1.0] / np.maximum(np.linalg.norm(left[:, :2], axis=1), 1e-9)[:, None]
        R = np.stack([np.stack([x[:, 0], -x[:, 1]], axis=1), np.stack([x[:, 1], x[:, 0]], axis=1)], axis=1)
        turned = self._soles @ R.transpose(0, 2, 1)
        level = turned + (mean[:, :, :2].sum(axis=1) - (self._weights * turned).sum(axis=1))[:, None]
        height = np.broadcast_to(self._heights[:, None, None], (len(self.contacts), CORNERS, 1))
        return np.concatenate([level, height], axis=2)

    def _means(self, corners: Array) -> Array:
        """Return means (contacts, 4, 3) of corners (8, 3, frames) on the ground, times their share of these frames."""
        if not self.contacts:
            return np.zeros((0, CORNERS, 3))
        start, stop = self._spans[:, :, 0], self._spans[:, :, 1]
        sums = np.zeros((*corners.shape[:2], corners.shape[2] + 1))
        np.cumsum(corners, axis=2, out=sums[:, :, 1:])
        own = self._first[:, None] + np.arange(CORNERS)
        total = (stop - start).sum(axis=1)[:, None, None]
        return np.asarray((sums[own, :, stop] - sums[own, :, start]) / total)


def _blend(at: Index, frames: int, settling: float) -> tuple[Index, Index, Array]:
    """Return between which locks frames are, and smooth shares (2, frames, 1) of the earlier and the later one.

    A foot that is long in the air follows the reference there: shares decrease to zero over `settling` frames.
    """
    time = np.arange(frames)
    after = np.searchsorted(at, time)
    before = np.clip(np.where(at[np.clip(after, 0, len(at) - 1)] == time, after, after - 1), 0, len(at) - 1)
    after = np.clip(after, 0, len(at) - 1)
    later = smooth_step((time - at[before]) / np.maximum(at[after] - at[before], 1))
    near = [1.0 - smooth_step(np.abs(time - at[lock]) / settling) for lock in (before, after)]
    return before, after, np.stack([(1.0 - later) * near[0], later * near[1]])[:, :, None]


def _lack(left: Array, right: Array) -> tuple[Array, Array]:
    """Return how far soles (n, 4, 2) must move apart until they do not overlap [m] (n,), and along which axis (n, 2).

    Negative if they are apart. The axis, one of their edges, is the one that takes least.
    """
    along = np.stack([sole[:, 2] - sole[:, 0] for sole in (left, right)], axis=1)
    along = along / np.maximum(np.linalg.norm(along, axis=2, keepdims=True), 1e-9)
    axes = np.concatenate([along, np.stack([-along[..., 1], along[..., 0]], axis=-1)], axis=1)
    a, b = (np.einsum("nci,nki->nkc", sole, axes) for sole in (left, right))
    lacks = np.concatenate([b.max(axis=2) - a.min(axis=2), a.max(axis=2) - b.min(axis=2)], axis=1)
    axes = np.concatenate([axes, -axes], axis=1)
    best, n = lacks.argmin(axis=1), np.arange(len(left))
    return lacks[n, best], axes[n, best]


def _separate(left: Array, right: Array, lack: float, axis: Array) -> None:
    """Move two soles (4, 3) that lack a distance along an axis (2,) apart until they are `CLEARANCE` apart."""
    shift = 0.5 * (lack + CLEARANCE) * axis
    left[:, :2] += shift
    right[:, :2] -= shift
