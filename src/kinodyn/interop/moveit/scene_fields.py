"""Fields of a moveit_msgs/PlanningScene of a `Scene`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.collision.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, PointCloud, Shape, Sphere
from kinodyn.collision.snapshot import WorldObject
from kinodyn.description.messages import listed
from kinodyn.errors import InputError, warn
from kinodyn.interop.moveit.allowed import Pair
from kinodyn.interop.moveit.scene import Scene
from kinodyn.model.compile import COORDINATES
from kinodyn.model.robot import Robot
from kinodyn.rosmsgs.robot_messages import joint_positions
from kinodyn.spatial import as_quaternion, from_quaternion

VIRTUAL_JOINT = "virtual_joint"  # of a fixed base, as MoveIt's setup assistant names it
BOX, SPHERE, CYLINDER = 1, 2, 3
APPROXIMATION = 1e-3  # [m] by which meshes of round shapes may exceed them


def scene_fields(scene: Scene, robot: Robot) -> dict[str, Any]:
    """Return the fields of a scene; poses are in the frame of the message, where T_scene_base puts the base."""
    parts = {part: name for name, names in scene.objects.items() for part in names}
    grouped: dict[str, list[WorldObject]] = {}
    for thing in scene.world:
        grouped.setdefault(parts.get(thing.name, thing.name), []).append(thing)
    free = {name: things for name, things in grouped.items() if things[0].attached_to is None}
    held = {name: things for name, things in grouped.items() if name not in free}
    _warn_of_meshes(grouped)
    frames = [
        {
            "header": {"frame_id": name},
            "child_frame_id": "",
            "transform": transform_of(scene.T_scene_base @ T),
        }
        for name, T in scene.fixed_frames.items()
    ]
    state = state_fields(scene.robot_state, robot, scene.T_scene_base)
    state["attached_collision_objects"] = [_attached(name, things) for name, things in held.items()]
    return {
        "name": scene.name,
        "robot_state": state,
        "robot_model_name": robot.name,
        "fixed_frame_transforms": frames,
        "allowed_collision_matrix": _matrix(scene.allowed_pairs, parts),
        "link_padding": [{"link_name": link, "padding": value} for link, value in scene.link_padding.items()],
        "link_scale": [{"link_name": link, "scale": value} for link, value in scene.link_scale.items()],
        "world": {
            "collision_objects": [_object(name, things, "", scene.T_scene_base) for name, things in free.items()]
        },
        "is_diff": False,
    }


def pose_of(T: Array) -> dict[str, Any]:
    """Return the fields of a geometry_msgs/Pose."""
    position, quaternion = T[:3, 3].tolist(), as_quaternion(T[:3, :3]).tolist()
    return {
        "position": dict(zip("xyz", position, strict=True)),
        "orientation": dict(zip("xyzw", quaternion, strict=True)),
    }


def transform_of(T: Array) -> dict[str, Any]:
    """Return the fields of a geometry_msgs/Transform."""
    pose = pose_of(T)
    return {"translation": pose["position"], "rotation": pose["orientation"]}


def state_fields(q: Array, robot: Robot, T_scene_base: Array) -> dict[str, Any]:
    """Return the fields of a moveit_msgs/RobotState."""
    names, positions = joint_positions(robot, q)
    several = {joint.name: pose_of_joint(joint.kind, q[joint.q]) for joint in robot.joints if _is_multiple(joint.kind)}
    if robot.base != "floating":
        several[VIRTUAL_JOINT] = T_scene_base
    return {
        "joint_state": {"name": names, "position": positions},
        "multi_dof_joint_state": {
            "joint_names": list(several),
            "transforms": [transform_of(T) for T in several.values()],
        },
        "is_diff": False,
    }


def _is_multiple(kind: str) -> bool:
    return COORDINATES[kind] > 1


def pose_of_joint(kind: str, q: Array) -> Array:
    """Return the pose (4, 4) that a floating, ball or planar joint has at its coordinates."""
    T = np.eye(4)
    if kind == "planar":
        c, s = np.cos(q[2]), np.sin(q[2])
        T[:2, :2], T[:2, 3] = [[c, -s], [s, c]], q[:2]
        return T
    T[:3, :3] = from_quaternion(q[-4:])
    T[:3, 3] = q[:3] if kind == "floating" else 0.0
    return T


def _matrix(pairs: frozenset[Pair], parts: Mapping[str, str]) -> dict[str, Any]:
    """Return the allowed collision matrix of pairs, with the names of objects for those of their parts."""
    named = {(parts.get(a, a), parts.get(b, b)) for a, b in pairs}
    names = sorted({name for pair in named for name in pair})
    index = {name: k for k, name in enumerate(names)}
    flags = np.zeros((len(names), len(names)), dtype=bool)
    for a, b in named:
        flags[index[a], index[b]] = flags[index[b], index[a]] = True
    return {"entry_names": names, "entry_values": [{"enabled": row} for row in flags.tolist()]}


def _attached(name: str, things: list[WorldObject]) -> dict[str, Any]:
    link = things[0].attached_to
    return {
        "link_name": link,
        "object": _object(name, things, str(link), np.eye(4)),
        "touch_links": sorted(things[0].touch_links),
        "weight": 0.0,
    }


def _object(name: str, things: list[WorldObject], frame: str, T: Array) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": name, "header": {"frame_id": frame}, "pose": pose_of(np.eye(4))}
    for thing in things:
        kind, shape = shape_fields(thing.shape, thing.name)
        fields.setdefault(f"{kind}s" if kind == "primitive" else "meshes", []).append(shape)
        fields.setdefault(f"{kind}_poses", []).append(pose_of(T @ thing.pose))
    return {**fields, "operation": 0}


def shape_fields(shape: Shape, name: str) -> tuple[str, dict[str, Any]]:
    """Return "primitive" or "mesh" with the fields of a shape_msgs/SolidPrimitive or shape_msgs/Mesh."""
    if isinstance(shape, Box):
        return "primitive", {"type": BOX, "dimensions": shape.size.tolist()}
    if isinstance(shape, Sphere):
        return "primitive", {"type": SPHERE, "dimensions": [shape.radius]}
    if isinstance(shape, Cylinder):
        return "primitive", {"type": CYLINDER, "dimensions": [shape.length, shape.radius]}
    if isinstance(shape, PointCloud):
        raise InputError(f"objects of a planning scene must be solids, got points in {name!r}; remove them to write it")
    mesh = shape if isinstance(shape, Mesh) else shape.triangles(APPROXIMATION)
    vertices = [dict(zip("xyz", vertex, strict=True)) for vertex in mesh.vertices.tolist()]
    return "mesh", {"vertices": vertices, "triangles": [{"vertex_indices": face} for face in mesh.faces.tolist()]}


def _warn_of_meshes(grouped: Mapping[str, list[WorldObject]]) -> None:
    changed = [
        thing.name
        for things in grouped.values()
        for thing in things
        if isinstance(thing.shape, (Capsule, Ellipsoid, HeightField))
    ]
    if changed:
        text = f"capsules, ellipsoids and height fields are written as meshes: {listed(changed)}"
        warn(text)
