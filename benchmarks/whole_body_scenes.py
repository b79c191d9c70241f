"""Random whole-body reaches of humanoids: scenes with a table or a shelf, and poses of a hand that can be reached."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.planning.constrained_space import ConstrainedSpace
from kinodyn.planning.groups import group_joints

MIN_REACH = 0.1  # [m] that the hand moves at least
BATCH = 64  # configurations projected at once
THICKNESS = 0.02  # [m] of boards


@dataclass(frozen=True, eq=False)
class Humanoid:
    """A robot that stands on the plane z = 0, and the hand that reaches."""

    name: str
    robot: kd.Robot
    start: Array
    hand: str
    height: float  # of its base above the ground


@dataclass(frozen=True, eq=False)
class Reach:
    """One problem: the pose of the hand, and a configuration that reaches it."""

    scene: str
    world: kd.collision.World
    goal: Array
    T_world_hand: Array


def humanoid(name: str) -> Humanoid:
    """Load a humanoid in a standing posture with bent knees and arms away from the body."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load(name)
    if name == "humanoid":
        q, hand = robot.configuration("standing"), "right_hand"
    else:
        q, hand = _bent(robot), "right_rubber_hand"
    feet = kd.balance.feet(robot)
    q[2] -= min(float(foot.sole_pose(robot, q)[2, 3]) for foot in feet)
    return Humanoid(name, robot, q, hand, float(q[2]))


def _bent(robot: kd.Robot) -> Array:
    """Return a posture of the G1."""
    q = robot.neutral()
    for joint in robot.joints[1:]:
        angles = {"hip_pitch": -0.35, "knee": 0.7, "ankle_pitch": -0.35, "shoulder_pitch": 0.2, "elbow": 0.5}
        for part, angle in angles.items():
            if part in joint.name:
                q[joint.q] = angle
        if "shoulder_roll" in joint.name:
            q[joint.q] = 0.35 if "left" in joint.name else -0.35
    return q


def table(body: Humanoid, rng: np.random.Generator) -> tuple[kd.collision.World, list[tuple[Array, Array]]]:
    """Return a table in front of a robot, and where to reach: boxes (centre, size) under and above it."""
    h = body.height
    x, z = rng.uniform(0.3, 0.4) * h, rng.uniform(0.7, 0.95) * h
    size = np.array([0.7 * h, 1.2 * h, THICKNESS])
    world = _ground()
    world.add_box("table", size, ((x + 0.5 * size[0], 0.0, z), None))
    for i, (dx, y) in enumerate([(0.05, 0.55), (0.05, -0.55), (0.65, 0.55), (0.65, -0.55)]):
        world.add_box(f"leg{i}", (0.04, 0.04, z), ((x + dx * h, y * h, 0.5 * z), None))
    under = np.array([x + 0.15 * h, -0.1 * h, z - 0.2 * h]), np.array([0.3, 0.8, 0.3]) * h
    above = np.array([x + 0.15 * h, -0.1 * h, z + 0.2 * h]), np.array([0.3, 0.8, 0.3]) * h
    return world, [under, above]


def shelf(body: Humanoid, rng: np.random.Generator) -> tuple[kd.collision.World, list[tuple[Array, Array]]]:
    """Return a shelf in front of a robot with four boards, and where to reach: boxes between the boards."""
    h = body.height
    x, depth, width = rng.uniform(0.35, 0.45) * h, 0.4 * h, 1.2 * h
    heights = h * (rng.uniform(0.35, 0.45) + 0.45 * np.arange(4))
    world = _ground()
    for i, z in enumerate(heights):
        world.add_box(f"board{i}", (depth, width, THICKNESS), ((x + 0.5 * depth, 0.0, z), None))
    for side in (-1, 1):
        pose = ((x + 0.5 * depth, 0.5 * side * width, 0.5 * heights[-1]), None)
        world.add_box(f"side{side}", (depth, THICKNESS, heights[-1]), pose)
    world.add_box("back", (THICKNESS, width, heights[-1]), ((x + depth, 0.0, 0.5 * heights[-1]), None))
    size = np.array([0.3 * h, 0.9 * width, 0.4 * h])
    return world, [(np.array([x + 0.2 * h, 0.0, z + 0.225 * h]), size) for z in heights[:3]]


SCENES = {"table": table, "shelf": shelf}


def _ground() -> kd.collision.World:
    world = kd.collision.World()
    world.add_box("ground", (4.0, 4.0, 0.1), ((0.0, 0.0, -0.05), None))
    return world


def random_reach(body: Humanoid, scene: str, seed: int) -> Reach:
    """Make a problem: a configuration that stands, is collision-free, and has the hand in a box of the scene."""
    rng = np.random.default_rng(seed)
    robot, start = body.robot, body.start
    choice = rng.random()  # of a box: all are equally frequent, however hard to reach
    while True:
        world, boxes = SCENES[scene](body, rng)
        centre, size = boxes[int(choice * len(boxes))]
        T = np.eye(4)
        T[:3, 3] = centre
        constraints = [kd.planning.Standing(), kd.planning.InBox(body.hand, size, T)]
        joints = group_joints(robot, None)
        space = ConstrainedSpace(robot, start, world.snapshot(), joints, constraints, frozenset(), 1e-3)
        if not space.full_query.free(start):
            continue
        low, high = robot.limits.lower[7:], robot.limits.upper[7:]
        spread = rng.normal(0.0, 0.15, (BATCH, 1)) * (high - low)
        q = np.tile(start, (BATCH, 1))
        q[:, 7:] = np.clip(q[:, 7:] + spread * rng.normal(size=spread.shape), low, high)
        _, reached = space.constraints.project(q, 60)
        free = reached[space.full_query.free(reached)] if len(reached) else reached
        if len(free):
            goal = free[rng.integers(len(free))]
            T = kd.kinematics.pose(robot, goal, body.hand)
            if np.linalg.norm(T[:3, 3] - kd.kinematics.pose(robot, start, body.hand)[:3, 3]) > MIN_REACH:
                return Reach(scene, world, goal, T)
