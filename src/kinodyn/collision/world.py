"""World: the named objects around a robot, which threads may change, and its immutable snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.collision.object_store import ObjectStore
from kinodyn.collision.padding import LinkPadding, link_padding
from kinodyn.collision.placement import Pose, object_pose, placed_at
from kinodyn.collision.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    HeightField,
    PointCloud,
    Shape,
    Sphere,
)
from kinodyn.collision.snapshot import WorldObject, WorldSnapshot
from kinodyn.collision.world_meshes import MeshSource, mesh_shape
from kinodyn.display import displayed
from kinodyn.errors import InputError

HALF_SPACE = 50.0  # [m] by which the box of a plane extends sideways and down


@displayed
class World:
    """The objects around a robot, by name.

    Every change is atomic, so threads may change a world while others plan in its snapshots. Shapes are fixed once
    added; objects are moved, attached to a frame of the robot and removed.

    Attributes
    ----------
    names : tuple of str
        Names of the objects, in the order in which they were added.
    version : int
        Increases with every change.

    Notes
    -----
    A pose is an array (4, 4), a SciPy `RigidTransform`, or a pair of a position (3,) and None, a quaternion x y z w,
    a rotation matrix or a SciPy `Rotation`. Without a pose an object is at the origin.

    Examples
    --------
    >>> import kinodyn as kd
    >>> world = kd.collision.World()
    >>> world.add_box("table", (1.0, 0.6, 0.04), ((0.5, 0.0, 0.4), None))
    >>> world.add_sphere("ball", 0.05, (0.5, 0.1, 0.5))
    >>> world
    World(2 objects: table, ball)
    """

    def __init__(self) -> None:
        self._objects = ObjectStore()

    def add(self, name: str, shape: Shape, pose: Pose = None) -> None:
        """Add an object of any shape.

        Parameters
        ----------
        name
            A name that no other object has.
        shape
            A `Box`, `Sphere`, `Mesh`, ...
        pose
            Pose of the shape in the world.

        Raises
        ------
        InputError
            For a name that is taken, lengths that are not above 0 and numbers that are not finite; likewise for the
            functions below, each of which adds one kind of shape.
        """
        if not isinstance(shape, Shape):
            raise InputError(
                f"shape must be a Box, Sphere, Mesh, ... of kinodyn.collision, got a {type(shape).__name__}"
            )
        self._objects.add(name, shape, object_pose(pose))

    def add_box(self, name: str, size: ArrayLike, pose: Pose = None) -> None:
        """Add a box.

        Parameters
        ----------
        name
            A name that no other object has.
        size : (3,)
            Full lengths along x, y and z [m].
        pose
            Pose of its centre in the world.
        """
        self._objects.add(name, Box(size), object_pose(pose))

    def add_sphere(self, name: str, radius: float, position: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Add a sphere.

        Parameters
        ----------
        name
            A name that no other object has.
        radius
            [m]
        position : (3,)
            Position of its centre in the world [m].
        """
        self._objects.add(name, Sphere(radius), placed_at(position))

    def add_cylinder(self, name: str, radius: float, length: float, pose: Pose = None) -> None:
        """Add a cylinder along z.

        Parameters
        ----------
        name
            A name that no other object has.
        radius, length
            [m]
        pose
            Pose of its centre in the world.
        """
        self._objects.add(name, Cylinder(radius, length), object_pose(pose))

    def add_capsule(self, name: str, radius: float, length: float, pose: Pose = None) -> None:
        """Add a capsule along z.

        Parameters
        ----------
        name
            A name that no other object has.
        radius
            [m]
        length
            Length of the cylinder, without the caps [m].
        pose
            Pose of its centre in the world.
        """
        self._objects.add(name, Capsule(radius, length), object_pose(pose))

    def add_ellipsoid(self, name: str, radii: ArrayLike, pose: Pose = None) -> None:
        """Add an ellipsoid.

        Parameters
        ----------
        name
            A name that no other object has.
        radii : (3,)
            Along x, y and z [m].
        pose
            Pose of its centre in the world.
        """
        self._objects.add(name, Ellipsoid(cast(Array, radii)), object_pose(pose))

    def add_plane(self, name: str, pose: Pose = None) -> None:
        """Add the half-space below the xy-plane of a pose, such as the ground: a box that extends 50 m.

        Parameters
        ----------
        name
            A name that no other object has.
        pose
            Its z axis points out of the solid.
        """
        T_world_box = object_pose(pose).copy()
        T_world_box[:3, 3] -= 0.5 * HALF_SPACE * T_world_box[:3, 2]
        self._objects.add(name, Box(np.array([2.0, 2.0, 1.0]) * HALF_SPACE), object_pose(T_world_box))

    def add_mesh(
        self,
        name: str,
        mesh: MeshSource,
        pose: Pose = None,
        scale: ArrayLike = 1.0,
    ) -> None:
        """Add a mesh.

        Parameters
        ----------
        name
            A name that no other object has.
        mesh
            Path of an STL, OBJ, DAE, PLY or GLB file, a pair of vertices (n, 3) [m] and faces (m, 3), or an object
            with these attributes, such as a `trimesh.Trimesh`.
        pose
            Pose of its frame in the world.
        scale : float or (3,)
            Factor along x, y and z.

        Raises
        ------
        DescriptionError
            If the file cannot be read.

        Warns
        -----
        DescriptionWarning
            For a mesh that is not closed or has degenerate faces.
        """
        self._objects.add(name, mesh_shape(name, mesh, scale), object_pose(pose))

    def add_heightfield(self, name: str, heights: ArrayLike, size: ArrayLike, pose: Pose = None) -> None:
        """Add solid ground below heights on a grid.

        Parameters
        ----------
        name
            A name that no other object has.
        heights : (nx, ny)
            At least 2 by 2: heights[i, j] [m] is the height at the i-th x and the j-th y.
        size : (2,)
            Extent of the grid along x and y [m].
        pose
            Pose of the centre of the grid in the world.
        """
        self._objects.add(name, HeightField(cast(Array, heights), cast(Array, size)), object_pose(pose))

    def add_points(self, name: str, points: ArrayLike, radius: float, pose: Pose = None) -> None:
        """Add a point cloud, such as that of a depth camera.

        Parameters
        ----------
        name
            A name that no other object has.
        points : (n, 3)
            [m]
        radius
            Radius of the sphere around each point [m].
        pose
            Pose of the frame of the points in the world.
        """
        self._objects.add(name, PointCloud(cast(Array, points), radius), object_pose(pose))

    def remove(self, name: str) -> None:
        """Remove an object.

        Parameters
        ----------
        name
            Its name.

        Raises
        ------
        UnknownNameError
            If there is no such object.
        """
        self._objects.remove(name)

    def move(self, name: str, pose: Pose) -> None:
        """Move an object.

        Parameters
        ----------
        name
            Its name.
        pose
            In the world; in the frame that it is attached to, if any.
        """
        T = object_pose(pose)
        with self._objects.lock:
            self._objects.put(replace(self[name], pose=T))

    def attach(
        self,
        name: str,
        frame: str,
        T_frame_object: Pose = None,
        touch_links: Iterable[str] = (),
    ) -> None:
        """Attach an object to a frame of the robot, such as a grasped object to the hand.

        Parameters
        ----------
        name
            Its name.
        frame
            The frame that it moves with from now on.
        T_frame_object
            Pose of the object in the frame. By default its current pose is taken as the pose in the frame; to attach
            an object where it is in the world, give inverse(kinematics.pose(robot, q, frame)) @ world[name].pose.
        touch_links
            Names of links that may touch the object. The link of the frame always may.

        Raises
        ------
        UnknownNameError
            If there is no such object.
        """
        if not isinstance(frame, str) or not frame:
            raise InputError(f"frame must be the name of a frame of the robot, got {frame!r}")
        links = (touch_links,) if isinstance(touch_links, str) else tuple(touch_links)
        if not all(isinstance(link, str) for link in links):
            raise InputError(f"touch_links must be names of links, got {touch_links!r}")
        with self._objects.lock:
            pose = self[name].pose if T_frame_object is None else object_pose(T_frame_object)
            self._objects.put(replace(self[name], pose=pose, attached_to=frame, touch_links=links))

    def detach(self, name: str, pose: Pose) -> None:
        """Detach an object from its frame and leave it in the world.

        Parameters
        ----------
        name
            Its name.
        pose
            Where it is released, in the world: kinematics.pose(robot, q, frame) @ world[name].pose.

        Raises
        ------
        InputError
            If the object is not attached.
        """
        if pose is None:
            raise InputError(f"give the pose in the world at which {name!r} is released")
        with self._objects.lock:
            if self[name].attached_to is None:
                raise InputError(f"the object {name!r} is not attached to a frame; move places it in the world")
            self._objects.put(replace(self[name], pose=object_pose(pose), attached_to=None, touch_links=()))

    def pad_links(self, padding: float | Mapping[str, float], scale: float | Mapping[str, float] = 1.0) -> None:
        """Keep the links of the robot farther from the objects: enlarge them in all checks against the world.

        Collisions of the robot with itself are checked with the shapes as they are, as in MoveIt. Objects that are
        attached to a link are enlarged like it. The new padding replaces that of earlier calls.

        Parameters
        ----------
        padding
            Distance to add around all links [m], or distances by name of a link; other links get none. Boxes and
            cylinders keep their corners, the edges of other shapes become round.
        scale
            Factor on the shapes of all links about their centres, or factors by name of a link; applied before padding.

        Examples
        --------
        >>> import kinodyn as kd
        >>> robot, world = kd.load("panda"), kd.collision.World()
        >>> world.add_sphere("ball", 0.1, (0.3, 0.0, 0.9))
        >>> bool(kd.collision.free(robot, robot.configuration("ready"), world))
        True
        >>> world.pad_links(0.1)
        >>> bool(kd.collision.free(robot, robot.configuration("ready"), world))
        False
        """
        self._objects.pad(link_padding(padding, scale))

    @property
    def names(self) -> tuple[str, ...]:
        return self._objects.names

    @property
    def version(self) -> int:
        return self._objects.version

    def snapshot(self) -> WorldSnapshot:
        """Return the current objects; later changes of the world do not affect the snapshot.

        Returns
        -------
        snapshot : WorldSnapshot
            The same one as before if nothing has changed.
        """
        return self._objects.snapshot()

    def copy(self) -> World:
        """Return a world with the same objects and padding, which changes independently of this one.

        Returns
        -------
        world : World
        """
        snapshot = self.snapshot()
        return _restored(snapshot.objects, snapshot.padding)

    def __getitem__(self, name: str) -> WorldObject:
        return self._objects[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._objects

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[WorldObject]:
        return iter(self.snapshot().objects)

    def __repr__(self) -> str:
        return f"World({self.snapshot().summary()})"

    def __reduce__(self) -> tuple[object, ...]:
        snapshot = self.snapshot()
        return _restored, (snapshot.objects, snapshot.padding)


def _restored(objects: tuple[WorldObject, ...], padding: LinkPadding) -> World:
    world = World()
    world._objects = ObjectStore(objects, padding)
    return world
