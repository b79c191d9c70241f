"""What a retargeted motion achieves: tracking errors, slip, penetration, limits, self-collisions, speed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.retarget.body import SIDES, Body
from kinodyn.retarget.contacts import Contact
from kinodyn.retarget.human import norms
from kinodyn.retarget.link_clearances import LinkClearances, Touching
from kinodyn.retarget.reach import Reachable
from kinodyn.retarget.targets import CORNERS, Targets

TOUCH = 0.001  # [m] of self-penetration that counts


@displayed
@dataclass(frozen=True)
class Report:
    """Measures of a retargeted motion.

    Attributes
    ----------
    frames : int
    duration : float
        [s]
    scale : float
        Length of the robot's legs relative to the human's.
    hand_error, foot_error : float
        Median distances of wrists and soles from their scaled targets [m].
    hand_error_95, foot_error_95 : float
        95 % of these distances are below [m].
    hand_reach, foot_reach : float
        Share of these targets that the limb reaches: its joints, within their limits, bring the wrist or the middle of
        the sole to within 3 cm, while base and trunk are where the motion has them. From 0 to 1.
    reachable_hand_error, reachable_foot_error : float
        Median distances where targets are within reach [m]; 0 if none is.
    contacts : int
        Contacts of feet.
    slip : float
        Largest motion of a point of a sole during a contact [m].
    penetration : float
        Largest depth of a point of the robot below the ground [m].
    limit_violations : int
        Joint positions beyond their limits.
    speed_ratio : float
        Largest joint speed relative to its limit; 0 if no joint has one.
    max_speed : float
        Largest joint speed [rad/s or m/s].
    self_collisions : int
        Frames in which links penetrate each other by more than 1 mm.
    self_penetration : float
        Largest depth of a link in another, by their shapes [m]; 0 if none touch.
    seconds : float
        Time of the computation [s].
    notes : tuple of str
        What was found or repaired in the motion.
    """

    frames: int
    duration: float
    scale: float
    hand_error: float
    hand_error_95: float
    foot_error: float
    foot_error_95: float
    hand_reach: float
    foot_reach: float
    reachable_hand_error: float
    reachable_foot_error: float
    contacts: int
    slip: float
    penetration: float
    limit_violations: int
    speed_ratio: float
    max_speed: float
    self_collisions: int
    self_penetration: float
    seconds: float
    notes: tuple[str, ...] = ()

    @property
    def frames_per_second(self) -> float:
        """Frames that were computed in a second."""
        return self.frames / self.seconds if self.seconds > 0 else float("inf")

    @property
    def passed(self) -> bool:
        """Whether limits, contacts and self-collisions hold: slip and penetration below 2 mm, nothing else violated."""
        return (
            self.slip < 0.002
            and self.penetration < 0.002
            and self.limit_violations == 0
            and self.speed_ratio <= 1.0
            and self.self_collisions == 0
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the measures by name."""
        return {**asdict(self), "frames_per_second": self.frames_per_second, "passed": self.passed}


@dataclass(frozen=True, eq=False)
class Measured:
    """Measures frame by frame.

    Attributes
    ----------
    hands, feet : (n, frames)
        Distances of wrists and soles from their targets [m].
    slips : (contacts,)
        [m]
    lowest : (frames,)
        Height of the lowest point [m].
    depth : (frames,)
        Largest depth of links in each other [m].
    """

    hands: Array
    feet: Array
    slips: Array
    lowest: Array
    depth: Array


def measure(
    q: Array,
    points: Array,
    lowest: Array,
    targets: Targets,
    contacts: tuple[Contact, ...],
    clearances: LinkClearances,
    touching: Touching | None = None,
) -> Measured:
    """Measure a motion.

    Parameters
    ----------
    q
        Configurations (frames, nq).
    points
        Positions (tracked, frames, 3) of the tracked points of `targets` [m].
    lowest
        Heights (frames,) of the lowest points of the robot [m].
    targets
        The targets.
    contacts
        Contacts of feet.
    clearances
        Distances of its links.
    touching
        Frames and pairs of links that touch, if they are known.

    Returns
    -------
    Measured
    """
    error = norms(points - targets.positions)
    first = 2 * CORNERS
    hands = [first + k for k, name in enumerate(targets.names) if name.endswith("_wrist")]
    soles = points[:first].reshape(2, CORNERS, -1, 3).mean(axis=1)
    wanted = targets.reference.reshape(2, CORNERS, -1, 3).mean(axis=1)
    return Measured(
        error[hands],
        norms(soles - wanted),
        contact_slips(points, contacts),
        lowest,
        clearances.depths(q, touching),
    )


def contact_slips(points: Array, contacts: tuple[Contact, ...]) -> Array:
    """Measure for each contact how far a locked corner moves [m] (contacts,).

    Parameters
    ----------
    points
        Positions (points, frames, 3), first those of the soles.
    contacts
        The contacts.

    Returns
    -------
    (contacts,)
    """
    if not contacts:
        return np.zeros(0)
    first = CORNERS * np.array([SIDES.index(contact.side) for contact in contacts])
    rear = _spreads(points, first, np.array([contact.frames("heel") for contact in contacts]))
    front = _spreads(points, first + 2, np.array([contact.frames("toes") for contact in contacts]))
    return np.asarray(np.maximum(rear, front))


def _spreads(points: Array, corners: NDArray[np.intp], ranges: NDArray[np.intp]) -> Array:
    """Measure how far the two points from `corners` on move in ranges of frames [m] (n,)."""
    lengths = np.maximum(ranges[:, 1] - ranges[:, 0], 0)
    offsets = np.cumsum(lengths) - lengths
    start = np.repeat(ranges[:, 0], lengths)
    at = start + np.arange(len(start)) - np.repeat(offsets, lengths)
    rows = np.repeat(corners, lengths) + np.arange(2)[:, None]
    moved = norms(points[rows, at, :2] - points[rows, start, :2]).max(axis=0, initial=0.0)
    spreads = np.zeros(len(corners))
    spreads[lengths > 0] = np.maximum.reduceat(moved, offsets[lengths > 0]) if len(moved) else 0.0
    return spreads


def summarise(
    q: Array,
    measured: Measured,
    reached: Reachable,
    targets: Targets,
    body: Body,
    rate: float,
    seconds: float,
    notes: tuple[str, ...],
) -> Report:
    """Make the report of a motion.

    Parameters
    ----------
    q
        Configurations (frames, nq).
    measured
        Measures frame by frame.
    reached
        Targets that the limbs reach.
    targets
        The targets.
    body
        The robot.
    rate
        Frames per second [Hz].
    seconds
        Time of the computation.
    notes
        What was found or repaired in the motion.

    Returns
    -------
    Report
    """
    robot = body.robot
    velocity = robot.difference(q[:-1], q[1:])[:, 6:] * rate
    limits = robot.limits.velocity[6:]
    bounded = (limits > 0) & (limits < 1e3)
    fast = np.abs(velocity).max(axis=0, initial=0.0)
    beyond = (q < robot.limits.lower) | (q > robot.limits.upper)

    def quantile(values: Array, share: float) -> float:
        return float(np.quantile(values, share)) if values.size else 0.0

    return Report(
        frames=len(q),
        duration=(len(q) - 1) / rate,
        scale=targets.scale,
        hand_error=quantile(measured.hands, 0.5),
        hand_error_95=quantile(measured.hands, 0.95),
        foot_error=quantile(measured.feet, 0.5),
        foot_error_95=quantile(measured.feet, 0.95),
        hand_reach=float(reached.hands.mean()) if reached.hands.size else 0.0,
        foot_reach=float(reached.feet.mean()),
        reachable_hand_error=quantile(measured.hands[reached.hands], 0.5),
        reachable_foot_error=quantile(measured.feet[reached.feet], 0.5),
        contacts=len(measured.slips),
        slip=float(measured.slips.max(initial=0.0)),
        penetration=float(max(0.0, -measured.lowest.min(initial=0.0))),
        limit_violations=int(beyond[:, 7:].sum()),
        speed_ratio=float((fast[bounded] / limits[bounded]).max(initial=0.0)),
        max_speed=float(fast.max(initial=0.0)),
        self_collisions=int((measured.depth > TOUCH).sum()),
        self_penetration=float(measured.depth.max(initial=0.0)),
        seconds=seconds,
        notes=notes,
    )
