"""What a retargeted motion achieves: tracking errors, slip, penetration, limits, self-collisions, speed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.retarget.body import SIDES, Body
from kinodyn.retarget.contacts import Contact
from kinodyn.retarget.link_clearances import LinkClearances
from kinodyn.retarget.targets import CORNERS, Targets

TOUCH = 0.001  # [m] of self-penetration that counts


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
    self_distance : float
        Smallest distance of links [m]; negative if they penetrate.
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
    contacts: int
    slip: float
    penetration: float
    limit_violations: int
    speed_ratio: float
    max_speed: float
    self_collisions: int
    self_distance: float
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
    distance : (frames,)
        Smallest distance of links [m].
    pair : (frames,)
        Index of that pair, -1 if none is near.
    """

    hands: Array
    feet: Array
    slips: Array
    lowest: Array
    distance: Array
    pair: NDArray[np.intp]


def measure(
    q: Array,
    points: Array,
    targets: Targets,
    contacts: tuple[Contact, ...],
    body: Body,
    clearances: LinkClearances,
) -> Measured:
    """Measure a motion.

    Parameters
    ----------
    q
        Configurations (frames, nq).
    points
        Positions (points, frames, 3) of the points of `targets` [m].
    targets
        The targets.
    contacts
        Contacts of feet.
    body
        The robot.
    clearances
        Distances of its links.

    Returns
    -------
    Measured
    """
    error = np.linalg.norm(points[: len(targets.positions)] - targets.positions, axis=2)
    first = 2 * CORNERS
    hands = [first + k for k, name in enumerate(targets.names) if name.endswith("_wrist")]
    soles = points[:first].reshape(2, CORNERS, -1, 3).mean(axis=1)
    wanted = targets.reference.reshape(2, CORNERS, -1, 3).mean(axis=1)
    distance, pair = clearances.smallest(q)
    return Measured(
        error[hands],
        np.linalg.norm(soles - wanted, axis=2),
        contact_slips(points, contacts),
        points[_grounded(targets), :, 2].min(axis=0),
        distance,
        pair,
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
    slips = []
    for contact in contacts:
        first = CORNERS * SIDES.index(contact.side)
        rear = points[first : first + 2, slice(*contact.flat)]
        front = points[first + 2 : first + 4, contact.start : contact.stop]
        slips.append(max((_spread(part) for part in (rear, front) if part.shape[1]), default=0.0))
    return np.array(slips)


def _spread(paths: Array) -> float:
    """Largest distance along the ground of points (n, frames, 3) from where they were first."""
    return float(np.linalg.norm(paths[:, :, :2] - paths[:, :1, :2], axis=2).max())


def _grounded(targets: Targets) -> Array:
    chosen = np.ones(len(targets.points.bodies), dtype=bool)
    chosen[2 * CORNERS : 2 * CORNERS + len(targets.names)] = False
    return chosen


def summarise(
    q: Array, measured: Measured, targets: Targets, body: Body, rate: float, seconds: float, notes: tuple[str, ...]
) -> Report:
    """Make the report of a motion.

    Parameters
    ----------
    q
        Configurations (frames, nq).
    measured
        Measures frame by frame.
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
        contacts=len(measured.slips),
        slip=float(measured.slips.max(initial=0.0)),
        penetration=float(max(0.0, -measured.lowest.min(initial=0.0))),
        limit_violations=int(beyond[:, 7:].sum()),
        speed_ratio=float((fast[bounded] / limits[bounded]).max(initial=0.0)),
        max_speed=float(fast.max(initial=0.0)),
        self_collisions=int((measured.distance < -TOUCH).sum()),
        self_distance=float(measured.distance.min(initial=np.inf)),
        seconds=seconds,
        notes=notes,
    )
