"""PlanningSceneInterface: the objects around a robot, with the interface of moveit_commander's."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.collision.world_meshes import mesh_shape
from kinodyn.display import displayed
from kinodyn.interop.moveit.scene_fields import pose_of, shape_fields
from kinodyn.interop.moveit.writing import to_message
from kinodyn.interop.ros.poses import pose_message
from kinodyn.interop.ros.session import Session, current_session
from kinodyn.rosmsgs.messages import as_dict

BOX, SPHERE, CYLINDER, CONE = 1, 2, 3, 4


@displayed
class PlanningSceneInterface:
    """Adds, attaches and removes objects, as moveit_commander's PlanningSceneInterface does.

    Poses are PoseStamped messages, or anything else that `MoveGroup` takes as a pose; those without a frame are in the
    world. An object whose name exists already is replaced.

    Parameters
    ----------
    ns, synchronous, service_timeout
        Of moveit_commander; changes take effect at once here.
    session
        By default the current one, see `start`.
    """

    @check_types
    def __init__(
        self,
        ns: str = "",
        synchronous: bool = False,
        service_timeout: float = 5.0,
        *,
        session: Session | None = None,
    ) -> None:
        self._session = session if session is not None else current_session()

    def add_box(self, name: str, pose: Any, size: Sequence[float] = (1.0, 1.0, 1.0)) -> None:
        """Add a box with full lengths along x, y and z [m].

        Parameters
        ----------
        name
            Name of the object.
        pose
            Pose of its centre.
        size
            Full lengths along x, y and z [m].
        """
        self._add(name, pose, "primitive", {"type": BOX, "dimensions": numbers("size", size, 3).tolist()})

    def add_sphere(self, name: str, pose: Any, radius: float = 1.0) -> None:
        """Add a sphere [m].

        Parameters
        ----------
        name
            Name of the object.
        pose
            Pose of its centre.
        radius
            [m]
        """
        self._add(name, pose, "primitive", {"type": SPHERE, "dimensions": [radius]})

    def add_cylinder(self, name: str, pose: Any, height: float, radius: float) -> None:
        """Add a cylinder along z [m].

        Parameters
        ----------
        name
            Name of the object.
        pose
            Pose of its centre.
        height, radius
            [m]
        """
        self._add(name, pose, "primitive", {"type": CYLINDER, "dimensions": [height, radius]})

    def add_cone(self, name: str, pose: Any, height: float, radius: float) -> None:
        """Add a cone along z, whose tip is up [m].

        Parameters
        ----------
        name
            Name of the object.
        pose
            Pose of the point at half its height.
        height, radius
            [m]
        """
        self._add(name, pose, "primitive", {"type": CONE, "dimensions": [height, radius]})

    def add_mesh(
        self, name: str, pose: Any, filename: str | os.PathLike[str], size: Sequence[float] = (1.0, 1.0, 1.0)
    ) -> None:
        """Add the mesh of a file, scaled along x, y and z.

        Parameters
        ----------
        name
            Name of the object.
        pose
            Pose of its origin.
        filename
            A mesh file.
        size
            Factors along x, y and z.
        """
        self._add(name, pose, "mesh", _mesh_fields(name, filename, size))

    def add_plane(self, name: str, pose: Any, normal: Sequence[float] = (0.0, 0.0, 1.0), offset: float = 0.0) -> None:
        """Add a plane, normal . x + offset = 0 in its pose.

        Parameters
        ----------
        name
            Name of the object.
        pose
            Pose of its origin.
        normal
            Normal, outwards.
        offset
            Distance of the origin from the plane along the normal [m].
        """
        self._add(name, pose, "plane", {"coef": [*numbers("normal", normal, 3).tolist(), float(offset)]})

    def add_object(self, collision_object: Any) -> None:
        """Add a moveit_msgs/CollisionObject.

        Parameters
        ----------
        collision_object
            The message, of any library.
        """
        self._session.add_object(collision_object)

    def attach_box(
        self,
        link: str,
        name: str,
        pose: Any = None,
        size: Sequence[float] = (1.0, 1.0, 1.0),
        touch_links: Sequence[str] = (),
    ) -> None:
        """Attach a box to a link: one of the world, or with a pose a new one.

        Parameters
        ----------
        link
            Name of the link.
        name
            Name of the object.
        pose
            Pose of a new box; None for an object of the world.
        size
            Full lengths along x, y and z [m].
        touch_links
            Links that may touch it, by default the link itself.
        """
        shape = {"type": BOX, "dimensions": numbers("size", size, 3).tolist()}
        self._attach(link, name, pose, "primitive", shape, touch_links)

    def attach_mesh(
        self,
        link: str,
        name: str,
        pose: Any = None,
        filename: str | os.PathLike[str] = "",
        size: Sequence[float] = (1.0, 1.0, 1.0),
        touch_links: Sequence[str] = (),
    ) -> None:
        """Attach a mesh to a link: one of the world, or with a pose that of a file.

        Parameters
        ----------
        link
            Name of the link.
        name
            Name of the object.
        pose
            Pose of a new mesh; None for an object of the world.
        filename
            A mesh file.
        size
            Factors along x, y and z.
        touch_links
            Links that may touch it, by default the link itself.
        """
        shape = {} if pose is None else _mesh_fields(name, filename, size)
        self._attach(link, name, pose, "mesh", shape, touch_links)

    def attach_object(self, attached_collision_object: Any) -> None:
        """Attach a moveit_msgs/AttachedCollisionObject.

        Parameters
        ----------
        attached_collision_object
            The message, of any library.
        """
        self._session.attach_object(attached_collision_object)

    def remove_world_object(self, name: str | None = None) -> None:
        """Remove an object that is not attached, or all of them.

        Parameters
        ----------
        name
            Name of the object; None for all.
        """
        free = [each for each in self._session.objects if not self._is_held(each)]
        for each in free if name is None else [name]:
            self._session.remove_object(each)

    def remove_attached_object(self, link: str | None = None, name: str | None = None) -> None:
        """Detach an object, or all of a link, or all; they stay in the world where they are.

        Parameters
        ----------
        link
            Name of the link; None for any.
        name
            Name of the object; None for all.
        """
        for each in list(self._session.objects):
            held = self._holder(each)
            if held is not None and name in (None, each) and link in (None, "", held):
                self._session.detach_object(each)

    def clear(self) -> None:
        """Remove all objects, attached ones too."""
        for each in list(self._session.objects):
            self._session.remove_object(each)

    def get_known_object_names(self, with_type: bool = False) -> list[str]:
        """Return the names of the objects that are not attached; no object has a type here.

        Parameters
        ----------
        with_type
            Only objects with a type: none.

        Returns
        -------
        names : list of str
        """
        return [] if with_type else [each for each in self._session.objects if not self._is_held(each)]

    def get_known_object_names_in_roi(
        self, minx: float, miny: float, minz: float, maxx: float, maxy: float, maxz: float, with_type: bool = False
    ) -> list[str]:
        """Return the names of the objects that are within a box, by their poses [m].

        Parameters
        ----------
        minx, miny, minz, maxx, maxy, maxz
            Corners of the box [m].
        with_type
            Only objects with a type: none.

        Returns
        -------
        names : list of str
        """
        low, high = np.array([minx, miny, minz]), np.array([maxx, maxy, maxz])
        inside = []
        for name in self.get_known_object_names(with_type):
            at = np.stack([self._session.world[part].pose[:3, 3] for part in self._session.parts(name)])
            if ((at >= low) & (at <= high)).all():
                inside.append(name)
        return inside

    def get_object_poses(self, object_ids: Sequence[str]) -> dict[str, Any]:
        """Return the poses of objects as messages, by name.

        Parameters
        ----------
        object_ids
            Names of the objects.

        Returns
        -------
        poses : dict of str -> geometry_msgs/Pose
        """
        return {name: pose_message(self._pose(name)) for name in object_ids}

    def get_objects(self, object_ids: Sequence[str] = ()) -> dict[str, Any]:
        """Return the objects that are not attached as CollisionObject messages, all or those with given names.

        Parameters
        ----------
        object_ids
            Names of the objects; empty for all.

        Returns
        -------
        objects : dict of str -> moveit_msgs/CollisionObject
        """
        scene = to_message(self._session.scene(), self._session.robot)
        found = {each.id: each for each in scene.world.collision_objects}
        return {name: each for name, each in found.items() if not object_ids or name in object_ids}

    def get_attached_objects(self, object_ids: Sequence[str] = ()) -> dict[str, Any]:
        """Return the attached objects as AttachedCollisionObject messages, all or those with given names.

        Parameters
        ----------
        object_ids
            Names of the objects; empty for all.

        Returns
        -------
        objects : dict of str -> moveit_msgs/AttachedCollisionObject
        """
        scene = to_message(self._session.scene(), self._session.robot)
        found = {each.object.id: each for each in scene.robot_state.attached_collision_objects}
        return {name: each for name, each in found.items() if not object_ids or name in object_ids}

    def get_planning_scene(self, components: int = 0) -> Any:
        """Return the scene as a moveit_msgs/PlanningScene, with all components.

        Parameters
        ----------
        components
            Of moveit_commander; all are returned.

        Returns
        -------
        scene : moveit_msgs/PlanningScene
        """
        return to_message(self._session.scene(), self._session.robot)

    def apply_planning_scene(self, planning_scene_message: Any) -> bool:
        """Add the objects of a moveit_msgs/PlanningScene; a full scene replaces those that are there.

        Parameters
        ----------
        planning_scene_message
            The message, of any library.

        Returns
        -------
        applied : bool
        """
        fields = as_dict(planning_scene_message)
        if not fields["is_diff"]:
            self.clear()
        for each in fields["world"]["collision_objects"]:
            self._session.add_object(each)
        for each in fields["robot_state"]["attached_collision_objects"]:
            self._session.attach_object(each)
        return True

    def _add(self, name: str, pose: Any, kind: str, shape: dict[str, Any]) -> None:
        self._session.add_object(self._object(name, pose, kind, shape))

    def _attach(
        self, link: str, name: str, pose: Any, kind: str, shape: dict[str, Any], touch_links: Sequence[str]
    ) -> None:
        thing = {"id": name} if pose is None else self._object(name, pose, kind, shape)
        if pose is None:
            self._session.parts(name)
        self._session.attach_object({"link_name": link, "object": thing, "touch_links": list(touch_links) or [link]})

    def _object(self, name: str, pose: Any, kind: str, shape: dict[str, Any]) -> dict[str, Any]:
        T = self._session.pose_in_world(pose)
        shapes = "meshes" if kind == "mesh" else f"{kind}s"
        return {"id": name, shapes: [shape], f"{kind}_poses": [pose_of(T)]}

    def _holder(self, name: str) -> str | None:
        return self._session.world[self._session.parts(name)[0]].attached_to

    def _is_held(self, name: str) -> bool:
        return self._holder(name) is not None

    def _pose(self, name: str) -> Array:
        thing = self._session.world[self._session.parts(name)[0]]
        if thing.attached_to is None:
            return thing.pose
        return np.asarray(kinematics.pose(self._session.robot, self._session.q, thing.attached_to) @ thing.pose)


def _mesh_fields(name: str, filename: str | os.PathLike[str], size: Sequence[float]) -> dict[str, Any]:
    return shape_fields(mesh_shape(name, filename, list(numbers("size", size, 3))), name)[1]
