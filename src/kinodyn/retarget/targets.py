"""Target positions of points of a robot: the human's motion, scaled limb by limb to the robot's dimensions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import distance_transform_edt

from kinodyn.arrays import Array
from kinodyn.retarget.body import SIDES, Body, Points, fixed_points, sole_corners
from kinodyn.retarget.contacts import Feet
from kinodyn.retarget.human import Human, directions, pelvis_axes, torso_axes

EXTENSION = 0.97  # of the robot's leg, when the human's is straight: a straight knee cannot follow
CLEARANCE = 0.03  # [m] between feet beside each other
CROSSED = 0.06  # [m] across the heading, from which one foot is on the other's side
FOOT_HEIGHT = 0.1  # [m] above which one foot passes over the other
ROLL_TIME = 0.2  # [s] before and after contacts in which the roll of a foot changes from level to that of the shank
CORNERS = 4  # points of a sole: rear right, rear left, front right, front left

# weights [1/m] of points; their squares compete
LOCKED = 40.0
SWING = 1.5
WRIST, FINGER, ELBOW = 2.0, 0.25, 0.3
TORSO, PELVIS, KNEE = 0.4, 1.0, 0.3


@dataclass(frozen=True, eq=False)
class Targets:
    """Points of a robot and their targets over time.

    Attributes
    ----------
    points : Points
        First the four corners of the left and right sole, then the points of `names`, then those that must only stay
        above the ground.
    names : tuple of str
        Names of the tracked points.
    positions : (tracked, frames, 3)
        Targets of the corners and of the points of `names` [m].
    weights : (tracked, frames)
        [1/m]
    pelvis : (frames, 4, 4)
        Desired pose of the pelvis link.
    scale : float
        Length of the robot's legs relative to the human's.
    reference : (8, frames, 3)
        Corners of the soles as the human moves them, before they are locked in contacts.
    rises : (8, frames)
        Heights of the corners above the lowest point of the foot around their edge, as the human inclines it: zero for
        sharp edges, positive for round ones, on which a foot rolls [m].
    """

    points: Points
    names: tuple[str, ...]
    positions: Array
    weights: Array
    pelvis: Array
    scale: float
    reference: Array
    rises: Array


def make_targets(body: Body, human: Human, feet: Feet) -> Targets:
    """Scale the motion of a human to a robot.

    Parameters
    ----------
    body
        The robot.
    human
        Its motion.
    feet
        Contacts of the feet.

    Returns
    -------
    Targets
    """
    scale = EXTENSION * body.leg / human.leg
    R_pelvis, R_torso = pelvis_axes(human), torso_axes(human)
    hips = np.mean([leg.root for leg in body.legs.values()], axis=0)
    middle = scale * human.middle("hip")
    ankle = float(np.mean([foot.ankle for foot in body.feet.values()]))
    middle[:, 2] += ankle - scale * (feet.ankle_height + feet.ground)
    tracked = _Tracked(body)
    tracked.rigid("pelvis", body.pelvis, _triad(body, hips), hips, middle, R_pelvis, PELVIS)
    waist = middle + _turned(R_pelvis, body.waist - hips)
    if body.arms:
        shoulders = np.mean([arm.root for arm in body.arms.values()], axis=0)
        chest = _triad(body, shoulders, up=-1.0)
        tracked.rigid("torso", body.torso, chest, body.waist, waist, R_torso, TORSO)
    corners, rises = [], []
    for side in SIDES:
        hip = middle + _turned(R_pelvis, body.legs[side].root - hips)
        sole, rise = _leg(tracked, body, human, feet, side, hip, scale, ankle)
        corners.append(sole)
        rises.append(rise)
        if body.arms:
            _arm(tracked, human, side, waist + _turned(R_torso, body.arms[side].root - body.waist))
    reference = np.concatenate(corners)
    _keep_apart(body, reference, R_pelvis)
    return _assembled(tracked, reference, np.concatenate(rises), _pose(body, hips, middle, R_pelvis), scale)


class _Tracked:
    """Points that follow targets, collected part by part."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.names: list[str] = []
        self.links: list[str] = []
        self.places: list[Array] = []
        self.targets: list[Array] = []
        self.weights: list[float] = []

    def add(self, name: str, link: str, place: Array, target: Array, weight: float) -> None:
        """Add a point of a link, at `place` (3,) in the upright posture, with its targets (frames, 3)."""
        self.names.append(name)
        self.links.append(link)
        self.places.append(place)
        self.targets.append(target)
        self.weights.append(weight)

    def rigid(self, name: str, link: str, places: Array, centre: Array, target: Array, R: Array, weight: float) -> None:
        """Add several points of a link, whose targets are turned by R (frames, 3, 3) about the targets of a centre."""
        for k, place in enumerate(places):
            self.add(f"{name}_{k}", link, place, target + _turned(R, place - centre), weight)


def _turned(R: Array, vector: Array) -> Array:
    return np.asarray(R @ vector)


def _triad(body: Body, centre: Array, up: float = 1.0) -> Array:
    """Three points around a centre, as far from it as half the trunk is long: they determine a pose."""
    size = 0.25 * body.leg
    return np.asarray(centre + size * np.array([[0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, up]]))


def _pose(body: Body, hips: Array, middle: Array, R: Array) -> Array:
    """Compute desired poses (frames, 4, 4) of the pelvis link."""
    upright = body.pose(body.pelvis)
    T = np.tile(np.eye(4), (len(R), 1, 1))
    T[:, :3, :3] = R @ upright[:3, :3]
    T[:, :3, 3] = middle + _turned(R, upright[:3, 3] - hips)
    return T


def _leg(
    tracked: _Tracked, body: Body, human: Human, feet: Feet, side: str, hip: Array, scale: float, ankle_height: float
) -> tuple[Array, Array]:
    """Add the knee; return the corners of the sole (4, frames, 3), and how far edges are above the foot's points."""
    leg, points = body.legs[side], human.points
    thigh = directions(points[f"{side}_knee"] - points[f"{side}_hip"])
    tracked.add(f"{side}_knee", leg.middle, leg.knee, hip + leg.upper * thigh, KNEE)
    ankle = hip + scale * (points[f"{side}_ankle"] - points[f"{side}_hip"])
    ankle[:, 2] = ankle_height + scale * (points[f"{side}_ankle"][:, 2] - feet.ankle_height - feet.ground)
    R = foot_axes(human, feet, side)
    sole = ankle - ankle_height * R[:, :, 2]
    flat = np.column_stack([sole_corners(body, side), np.zeros(CORNERS)])
    corners = sole[None] + np.einsum("tij,cj->cti", R, flat)
    edges, low = _lowest(body, side, R)
    rises = corners[..., 2] - sole[:, 2]
    rises = np.repeat(np.maximum(0.0, rises.reshape(2, 2, -1).min(axis=1) - edges), 2, axis=0)
    corners[..., 2] += _to_ground(sole[:, 2] + low, human, feet, side, scale)
    return np.asarray(corners), rises


def _lowest(body: Body, side: str, R: Array) -> tuple[Array, Array]:
    """Return the lowest heights of a foot with orientations R (frames, 3, 3) relative to the middle of its sole [m].

    Those of its rear and its front half (2, frames), and of both (frames,).
    """
    corners = np.column_stack([sole_corners(body, side), np.zeros(CORNERS)])
    points = np.concatenate([corners, body.foot_points[side]])
    heights = points @ R[:, 2].T
    front = points[:, 0] > corners[:, 0].mean()
    edges = np.stack([heights[half].min(axis=0) for half in (~front, front)])
    return edges, edges.min(axis=0)


def _to_ground(lowest: Array, human: Human, feet: Feet, side: str, scale: float) -> Array:
    """Return by how much (frames,) a sole is raised, so that it is on the ground in contacts, and never below it [m].

    Soles have other lengths than scaled feet: one that is inclined would be off the ground on which the foot stands.
    """
    height = np.zeros(len(human))
    share = _grounded(human, feet, side)
    contacts = [contact for contact in feet.contacts if contact.side == side]
    if contacts:
        time = np.concatenate([[c.start, c.stop - 1] for c in contacts])
        height = np.interp(np.arange(len(human)), time, np.repeat([scale * c.height for c in contacts], 2))
    raised = np.maximum(0.0, -lowest)
    return np.asarray(np.maximum(raised + share * (height - lowest - raised), -lowest))


def _keep_apart(body: Body, corners: Array, R_pelvis: Array) -> None:
    """Move the corners of soles (8, frames, 3) apart where feet beside each other would touch.

    They move across the heading; crossed feet, which would not be crossed any more, along it.
    """
    inner = sole_corners(body, "right")[:, 1].max() - sole_corners(body, "left")[:, 1].min()
    length = max(float(np.ptp(sole_corners(body, side)[:, 0])) for side in SIDES)
    left = directions(R_pelvis[:, :, 1] * [1.0, 1.0, 0.0])
    forward = np.cross(left, [0.0, 0.0, 1.0])
    apart = corners[:CORNERS].mean(axis=0) - corners[CORNERS:].mean(axis=0)
    beside, ahead = ((apart * axis).sum(axis=1) for axis in (left, forward))
    overlap = np.clip((1.5 * length - np.abs(ahead)) / (0.5 * length), 0.0, 1.0)
    level = np.clip((2.0 * FOOT_HEIGHT - np.abs(apart[:, 2])) / FOOT_HEIGHT, 0.0, 1.0)
    crossed = smooth_step(-beside / CROSSED)
    across = np.maximum(0.0, inner + CLEARANCE - beside) * overlap * (1.0 - crossed)
    extents = sum(
        np.ptp((corners[sole] * forward).sum(axis=2), axis=0) for sole in (slice(CORNERS), slice(CORNERS, None))
    )
    along = np.maximum(0.0, 0.5 * extents + CLEARANCE - np.abs(ahead)) * crossed
    shift = 0.5 * level[:, None] * (across[:, None] * left + (np.sign(ahead) * along)[:, None] * forward)
    corners[:CORNERS] += shift
    corners[CORNERS:] -= shift


def smooth_step(share: Array) -> Array:
    """Return a smooth step from 0 to 1, which it is beyond these."""
    share = np.clip(share, 0.0, 1.0)
    return np.asarray(share * share * (3.0 - 2.0 * share))


def foot_axes(human: Human, feet: Feet, side: str) -> Array:
    """Compute the orientation (frames, 3, 3) of a foot: x along the sole, level where the human's foot is flat.

    Ankle and toes do not determine the roll: on the ground a foot has none, whatever the inclination of the shank; in
    the air it has that of the shank.
    """
    points = human.points
    shank = directions(points[f"{side}_knee"] - points[f"{side}_ankle"])
    if f"{side}_toe" not in points:
        return _level(np.cross(points["left_hip"] - points["right_hip"], shank))
    x = directions(points[f"{side}_toe"] - points[f"{side}_ankle"])
    y = directions(np.cross(shank, x))
    y += _grounded(human, feet, side)[:, None] * (directions(np.cross([0.0, 0.0, 1.0], x)) - y)
    y = directions(y)
    z = np.cross(x, y)
    c, s = np.cos(-feet.pitch), np.sin(-feet.pitch)
    return np.asarray(np.stack([x, y, z], axis=-1) @ np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]))


def _grounded(human: Human, feet: Feet, side: str) -> Array:
    """Return how much (frames,) a foot is on the ground: 1 in contacts, 0 some time before and after them."""
    away = np.ones(len(human), dtype=bool)
    for contact in feet.contacts:
        if contact.side == side:
            away[contact.start : contact.stop] = False
    distance = distance_transform_edt(away) if not away.all() else np.full(len(away), np.inf)
    return np.asarray(np.clip(1.0 - distance / (ROLL_TIME * human.rate), 0.0, 1.0))


def _level(forward: Array) -> Array:
    x = directions(forward * [1.0, 1.0, 0.0])
    z = np.broadcast_to([0.0, 0.0, 1.0], x.shape)
    return np.stack([x, np.cross(z, x), z], axis=-1)


def _arm(tracked: _Tracked, human: Human, side: str, shoulder: Array) -> None:
    arm, points = tracked.body.arms[side], human.points
    upper = directions(points[f"{side}_elbow"] - points[f"{side}_shoulder"])
    lower = directions(points[f"{side}_wrist"] - points[f"{side}_elbow"])
    elbow = shoulder + arm.upper * upper
    wrist = elbow + arm.lower * lower
    last = arm.links[-1]
    tracked.add(f"{side}_elbow", arm.middle, arm.knee, elbow, ELBOW)
    tracked.add(f"{side}_wrist", last, arm.tip, wrist, WRIST)
    hand = points.get(f"{side}_hand")
    along = lower if hand is None else directions(hand - points[f"{side}_wrist"])
    size = float(np.linalg.norm(arm.finger - arm.tip))
    if size > 0.01:
        tracked.add(f"{side}_finger", last, arm.finger, wrist + size * along, FINGER)


def _assembled(tracked: _Tracked, reference: Array, rises: Array, pelvis: Array, scale: float) -> Targets:
    body = tracked.body
    links, places = [], []
    for side in SIDES:
        T = body.sole_pose(side)
        flat = np.column_stack([sole_corners(body, side), np.zeros(CORNERS)])
        links += [body.feet[side].frame] * CORNERS
        places.append(flat @ T[:3, :3].T + T[:3, 3])
    own = fixed_points(body, [*links, *tracked.links], np.concatenate([*places, np.array(tracked.places)]))
    points = Points(
        np.concatenate([own.bodies, body.outline.bodies]), np.concatenate([own.locals, body.outline.locals])
    )
    frames = reference.shape[1]
    positions = np.concatenate([reference, np.array(tracked.targets)])
    weights = np.concatenate([np.full(2 * CORNERS, SWING), tracked.weights])
    return Targets(
        points,
        tuple(tracked.names),
        positions,
        np.repeat(weights[:, None], frames, axis=1),
        pelvis,
        scale,
        reference,
        rises,
    )
