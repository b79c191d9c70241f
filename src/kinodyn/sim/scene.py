"""A MuJoCo model for rendering a robot: its links are bodies with prescribed poses, so that any robot can be drawn."""

from __future__ import annotations

from typing import Any

import mujoco as mj
import numpy as np
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array
from kinodyn.description.meshes import read_mesh
from kinodyn.description.types import Link, Shape
from kinodyn.errors import DescriptionError
from kinodyn.model.robot import Robot
from kinodyn.sim.mujoco_shapes import GEOM_TYPES, geom_size, placed

SKY = ((1.0, 1.0, 1.0), (0.72, 0.82, 0.93))
FLOOR_COLOURS = ((0.84, 0.865, 0.90), (0.92, 0.935, 0.955))
GROUND = (0.74, 0.71, 0.66, 1.0)
# Shapes without a colour of their own, by the side that the name of their link begins with.
COLOURS = {"l": (0.23, 0.49, 0.77, 1.0), "r": (0.93, 0.55, 0.22, 1.0), "": (0.62, 0.66, 0.72, 1.0)}
LINK_COLOUR = (0.35, 0.38, 0.42, 1.0)
LIGHT_DISTANCE = 9.0  # [m] from the point in view


class Scene:
    """The model of a robot on its ground, and the poses of its links.

    Parameters
    ----------
    robot
        Its visual shapes are drawn, of links without any the collision shapes. A robot without meshes gets rods
        between its joints.
    terrain : dict
        Triangles of the ground, as `Recording.terrain` has them; empty for a level floor.
    size : (width, height)
        Of the images [pixels].
    """

    def __init__(self, robot: Robot, terrain: dict[str, Array], size: tuple[int, int]) -> None:
        self._robot, self._spec = robot, mj.MjSpec()
        self._meshes: dict[tuple[str, tuple[float, ...]], str | None] = {}
        _add_surroundings(self._spec, terrain)
        self.links = [link for link in robot.description.links if self._add_link(link)]
        self._spec.visual.global_.offwidth, self._spec.visual.global_.offheight = size
        self.model = self._spec.compile()
        _set_lights(self.model)
        self.data = mj.MjData(self.model)

    def place(self, poses: Array, point: Array) -> None:
        """Place the links at their poses (k, 4, 4) in the world, and let the light follow the point in view."""
        self.model.light_pos[0] = np.asarray(point) - LIGHT_DISTANCE * self.model.light_dir[0]
        self.data.mocap_pos[:] = poses[:, :3, 3]
        self.data.mocap_quat[:] = Rotation.from_matrix(poses[:, :3, :3]).as_quat()[:, [3, 0, 1, 2]]
        mj.mj_forward(self.model, self.data)

    def _add_link(self, link: Link) -> bool:
        """Add a link as a body that is placed; return whether there is something to draw."""
        shapes = [details for shape in link.visuals or link.collisions if (details := self._shape(link.name, shape))]
        shapes += self._rods(link)
        if not shapes:
            return False
        body = self._spec.worldbody.add_body(mocap=True)
        for details in shapes:
            body.add_geom(contype=0, conaffinity=0, **details)
        return True

    def _rods(self, link: Link) -> list[dict[str, Any]]:
        """Return rods from the origin of a link to the joints that it carries."""
        if any(shape.kind == "mesh" for other in self._robot.description.links for shape in other.visuals):
            return []
        ends = [
            joint.T_parent_child[:3, 3]
            for joint in self._robot.description.joints
            if joint.parent == link.name and joint.kind in ("revolute", "continuous", "fixed")
        ]
        moving = link.name in self._robot.parameter_links
        longest = max((float(np.linalg.norm(end)) for end in ends), default=0.0)
        return [
            {
                "type": mj.mjtGeom.mjGEOM_CAPSULE,
                "size": [max(0.06 * longest, 0.004), 0.0, 0.0],
                "fromto": [0.0, 0.0, 0.0, *end],
                "rgba": LINK_COLOUR,
            }
            for end in ends
            if moving and np.linalg.norm(end) > 1e-3
        ]

    def _shape(self, link: str, shape: Shape) -> dict[str, Any] | None:
        rgba = shape.rgba or COLOURS.get(link[:1].lower() if _has_side(link) else "", COLOURS[""])
        details: dict[str, Any] = {"rgba": rgba, **placed(shape.T_link_shape)}
        if shape.kind == "mesh":
            mesh = self._mesh(shape)
            return None if mesh is None else {**details, "type": mj.mjtGeom.mjGEOM_MESH, "meshname": mesh}
        if shape.kind == "plane" or shape.kind not in GEOM_TYPES:
            return None
        size = geom_size(shape)
        sides = {"sphere": 1, "cylinder": 2, "capsule": 2}.get(shape.kind, 3)
        if not (size[:sides] > 0.0).all():
            return None
        return {**details, "type": GEOM_TYPES[shape.kind], "size": size}

    def _mesh(self, shape: Shape) -> str | None:
        """Add a mesh once for each scale, and return its name; None if it cannot be read."""
        key = (str(shape.mesh or id(shape)), tuple(shape.size))
        if key not in self._meshes:
            triangles = shape.triangles
            if shape.mesh is not None:
                try:
                    mesh = read_mesh(shape.mesh, shape.size)
                    triangles = (mesh.vertices, mesh.faces)
                except DescriptionError:
                    triangles = None
            self._meshes[key] = None if triangles is None else f"mesh {len(self._meshes)}"
            if triangles is not None:
                _add_mesh(self._spec, f"mesh {len(self._meshes) - 1}", *triangles)
        return self._meshes[key]


def _has_side(link: str) -> bool:
    return link.lower().startswith(("left", "right", "l_", "r_"))


def _add_mesh(spec: mj.MjSpec, name: str, vertices: Array, faces: Any) -> None:
    """Add triangles. Without a volume they would have no inertia, which drawing does not need."""
    if len(vertices) < 4:  # MuJoCo needs four
        vertices = np.concatenate([vertices, vertices[:1], vertices[:1]])
    mesh = spec.add_mesh(name=name, uservert=np.ravel(vertices), userface=np.ravel(faces))
    mesh.inertia = mj.mjtMeshInertia.mjMESH_INERTIA_SHELL


def _add_surroundings(spec: mj.MjSpec, terrain: dict[str, Array]) -> None:
    texture = mj.mjtTexture
    spec.add_texture(
        name="sky", type=texture.mjTEXTURE_SKYBOX, builtin=mj.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=SKY[0], rgb2=SKY[1], width=128, height=128,
    )  # fmt: skip
    spec.add_texture(
        name="floor", type=texture.mjTEXTURE_2D, builtin=mj.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=FLOOR_COLOURS[0], rgb2=FLOOR_COLOURS[1], width=256, height=256,
    )  # fmt: skip
    material = spec.add_material(name="floor", texrepeat=[2, 2], texuniform=True)
    material.textures[mj.mjtTextureRole.mjTEXROLE_RGB] = "floor"
    # A spot that follows the robot: the shadows of a directional light have speckles at the edge of their map.
    spec.worldbody.add_light(
        type=mj.mjtLightType.mjLIGHT_SPOT, cutoff=80.0, exponent=0.0, castshadow=True,
        dir=[0.15, 0.25, -1.0], diffuse=[0.4] * 3, attenuation=[1.0, 0.0, 0.0],
    )  # fmt: skip
    hidden = {"contype": 0, "conaffinity": 0}
    if terrain:
        _add_mesh(spec, "ground", terrain["vertices"], terrain["faces"])
        spec.worldbody.add_geom(type=mj.mjtGeom.mjGEOM_MESH, meshname="ground", rgba=GROUND, **hidden)
    else:
        spec.worldbody.add_geom(type=mj.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 0.1], material="floor", **hidden)


def _set_lights(model: mj.MjModel) -> None:
    model.vis.headlight.ambient[:], model.vis.headlight.diffuse[:] = 0.45, 0.45
    model.vis.headlight.specular[:] = 0.1
    model.vis.quality.shadowsize = 2048
    model.vis.map.znear, model.vis.map.zfar = 0.02, 50.0
    model.stat.extent, model.stat.center[:] = 1.0, 0.0  # lengths of the settings above are in metres
