"""Scene: the content of a moveit_msgs/PlanningScene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from kinodyn.arrays import Array
from kinodyn.collision.world import World
from kinodyn.description.messages import listed
from kinodyn.description.packages import PackageFinder
from kinodyn.display import displayed
from kinodyn.interop.moveit.allowed import Pair, ordered, read_allowed_pairs
from kinodyn.interop.moveit.fields import Fields, Message
from kinodyn.interop.moveit.objects import Objects
from kinodyn.interop.moveit.poses import Frames
from kinodyn.interop.moveit.states import read_state
from kinodyn.model.robot import Robot


@displayed
@dataclass(frozen=True, eq=False)
class Scene:
    """A planning scene.

    Attributes
    ----------
    name : str
        Name of the scene, may be empty.
    world : World
        The objects; those that the robot holds are attached to its links. An object `shelf` with several shapes is
        `shelf/0`, `shelf/1`, ...
    objects : mapping
        The names in the world of each object of the scene.
    allowed_pairs : frozenset of (str, str)
        Links and objects that may touch, each pair in alphabetical order.
    robot_state : (nq,) array
        The configuration of the robot.
    T_scene_base : (4, 4) array
        Where the virtual joint of the message puts a fixed base. The world, goals and constraints are relative to the
        base, as the robot stands at the origin.
    link_padding : mapping
        Distance that is added around links in checks against the world [m], see `World.pad_links`.
    link_scale : mapping
        Factor by which the shapes of links are scaled in these checks.
    fixed_frames : mapping
        Poses (4, 4) of further frames of the scene: its fixed transforms and the subframes of objects.
    """

    name: str
    world: World
    objects: Mapping[str, tuple[str, ...]]
    allowed_pairs: frozenset[Pair]
    robot_state: Array
    T_scene_base: Array
    link_padding: Mapping[str, float]
    link_scale: Mapping[str, float]
    fixed_frames: Mapping[str, Array] = field(default_factory=dict)

    @property
    def attached(self) -> tuple[str, ...]:
        """Names of the objects of the world that are attached to the robot."""
        return tuple(thing.name for thing in self.world if thing.attached_to is not None)

    def __repr__(self) -> str:
        return f"Scene({self.name!r}, {self.world!r}, {len(self.allowed_pairs)} allowed pairs)"


def build_scene(message: Message, robot: Robot, finder: PackageFinder) -> tuple[Scene, Frames, Objects]:
    """Read a scene, with its frames and objects, to which a request may refer."""
    fields = message.fields
    model = fields.text("robot_model_name")
    if model and model != robot.name:
        message.notes.append(f"the scene is made for the robot {model!r}, not for {robot.name!r}")
    fields.ignore("is_diff")
    state = fields.child("robot_state")
    q, T_scene_base = read_state(state, robot, robot.neutral())
    if T_scene_base is None:
        T_scene_base = np.eye(4)
    if not np.allclose(T_scene_base, np.eye(4), atol=1e-9):
        message.notes.append(
            "robot_state.multi_dof_joint_state moves the fixed base; all poses are made relative to it"
        )
    frames = Frames(robot, q, T_scene_base)
    for stamped in fields.children("fixed_frame_transforms"):
        frames.read_fixed(stamped)
    objects = Objects(frames, finder)
    world = fields.child("world")
    _reject_octomap(world)
    for thing in world.children("collision_objects"):
        objects.add(thing)
    for held in state.children("attached_collision_objects"):
        objects.attach(held)
    padding = _by_link(message, robot, "link_padding", "padding", zero=True)
    scale = _by_link(message, robot, "link_scale", "scale", zero=False)
    objects.world.pad_links(padding, scale)
    scene = Scene(
        name=fields.text("name"),
        world=objects.world,
        objects=objects.names,
        allowed_pairs=_read_pairs(fields, robot, objects.names),
        robot_state=q,
        T_scene_base=T_scene_base,
        link_padding=padding,
        link_scale=scale,
        fixed_frames={name: T for name, T in frames.fixed.items() if name not in objects.names},
    )
    return scene, frames, objects


def _read_pairs(fields: Fields, robot: Robot, objects: Mapping[str, tuple[str, ...]]) -> frozenset[Pair]:
    """Read the matrix, and write a pair with an object of several parts as one pair for each part."""
    links = [link.name for link in robot.description.links]
    pairs = read_allowed_pairs(fields.child("allowed_collision_matrix"), (*links, *objects))
    return frozenset(
        ordered(one, other) for a, b in pairs for one, other in product(objects.get(a, (a,)), objects.get(b, (b,)))
    )


def _by_link(message: Message, robot: Robot, name: str, value: str, zero: bool) -> dict[str, float]:
    """Read a number for each link; links that the robot does not have are named in the warning."""
    found = {}
    for part in message.fields.children(name):
        number = part.number(value)
        if number < 0.0 or (number == 0.0 and not zero):
            raise part.error(value, number, "a number of at least 0" if zero else "a number above 0")
        found[part.text("link_name")] = number
    links = {link.name for link in robot.description.links}
    if unknown := sorted(found.keys() - links):
        message.notes.append(f"{name} names {listed(unknown)}, which the robot does not have")
    return {link: number for link, number in found.items() if link in links}


def _reject_octomap(world: Fields) -> None:
    """An obstacle must not be dropped, not even with a warning."""
    stamped = world.child("octomap")
    stamped.ignore("header", "origin")
    octomap = stamped.child("octomap")
    octomap.ignore("header", "binary", "id", "resolution")
    if octomap.raw("data"):
        raise octomap.fault("data", "octomaps are not read; remove it, and add its points by world.add_points")
