"""The MuJoCo model that is simulated: the robot's own MJCF file if it has one, otherwise its exported description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import mujoco as mj
import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.description.types import Shape
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model import convert
from kinodyn.model.robot import Robot
from kinodyn.sim import mujoco_file
from kinodyn.sim.gears import stiffen_gears
from kinodyn.sim.loads import add_loads
from kinodyn.sim.mujoco_model import (
    add_force_sensor,
    add_imu,
    add_motors,
    compiled,
    frame_bodies,
    set_options,
    spec_of,
)
from kinodyn.sim.mujoco_reset import reset_defaults, reset_solver
from kinodyn.sim.mujoco_settings import MujocoSettings
from kinodyn.sim.mujoco_shapes import MujocoShapes, placed

MIN_OVERLAP = 1e-3  # [m] of two links beyond which their shapes are wrong
HULL_GAP = 5e-3  # [m] between two bodies, one of them the convex hull of a mesh, up to which they overlap


@dataclass(frozen=True, eq=False)
class SimulatedModel:
    """A compiled model, the sites of the robot's frames, and pairs of links that overlap in the stance."""

    model: mj.MjModel
    sites: Mapping[str, str]
    overlapping: tuple[tuple[str, str], ...] = ()

    def site(self, frame: str) -> int:
        """Return the id of the site of a frame."""
        if frame not in self.sites:
            raise InputError(f"frame {frame!r} moves with only some joints of a body, so MuJoCo does not have it")
        return int(self.model.site(self.sites[frame]).id)


@check_types
@displayed
@dataclass(frozen=True, eq=False)
class FootContacts:
    """Contact geometry of the feet, in addition to that of the description.

    Attributes
    ----------
    soles : dict of str to Shape
        A plate for each foot, by link: its contact shape if no shape of the foot collides with the ground.
    misplaced : frozenset of str
        Feet whose own collision shapes are missing or misplaced: the plate takes their place.
    stance : (nq,) or None
        A configuration in which the robot stands: links that overlap there do not collide, because no real ones do.
    rectangles : dict of str to Shape
        A box on the sole of each foot, by link. It is added where meshes define the sole: with a plane, MuJoCo finds at
        most four contacts of a mesh around its lowest vertex, often all at one corner of a flat sole.
    """

    soles: Mapping[str, Shape]
    misplaced: frozenset[str] = frozenset()
    stance: Array | None = None
    rectangles: Mapping[str, Shape] = field(default_factory=dict)


def simulated_model(
    robot: Robot, settings: MujocoSettings, sensors: tuple[str, ...] = (), feet: FootContacts | None = None
) -> SimulatedModel:
    """Build the model in which a robot is simulated.

    Parameters
    ----------
    robot
    settings
    sensors
        Frames with force and torque sensors.
    feet
        Soles and stance of a legged robot.

    Returns
    -------
    SimulatedModel
    """
    spec = mujoco_file.read_spec(robot)
    if spec is None:
        soles = {link: feet.soles[link] for link in feet.misplaced} if feet else {}
        rectangles = feet.rectangles if feet else {}
        spec = spec_of(robot, settings, sensors, soles, rectangles)
        sites = {name: name for name in robot.frame_names}
        scale = 1.0
    else:
        sites, scale = _set_up(spec, robot, settings, sensors, feet), settings.mass_scale
    model = compiled(robot, spec)
    pairs: tuple[tuple[str, str], ...] = ()
    if settings.contacts and feet is not None and feet.stance is not None:
        pairs = _overlapping(robot, model, feet.stance)
        for first, second in pairs:
            spec.add_exclude(bodyname1=first, bodyname2=second)
        model = compiled(robot, spec) if pairs else model
    mujoco_file.scale_inertias(model, robot, scale)
    return SimulatedModel(model, sites, pairs)


def _overlapping(robot: Robot, model: mj.MjModel, q: Array) -> tuple[tuple[str, str], ...]:
    """List the pairs of bodies of the robot that overlap in a configuration, and the pairs next to them.

    A forearm whose shape overlaps the hip cannot tell where the hand touches it: for each pair that overlaps, the
    bodies that a joint connects to one of them do not collide with the other one either. MuJoCo collides the convex
    hulls of meshes, which are larger than these: two bodies that they bring close together count as overlapping.
    """
    data, margins = mj.MjData(model), model.geom_margin.copy()
    meshes = model.geom_type == mj.mjtGeom.mjGEOM_MESH
    model.geom_margin[meshes] = np.maximum(margins[meshes], HULL_GAP)
    data.qpos[:] = convert.mujoco(robot, model).q_to(q)
    mj.mj_forward(model, data)
    model.geom_margin[:] = margins
    found = set()
    for contact in data.contact:
        first, second = (int(model.geom_bodyid[geom]) for geom in contact.geom)
        gap = HULL_GAP if meshes[contact.geom].any() else -MIN_OVERLAP
        if contact.dist < gap and model.body_weldid[first] and model.body_weldid[second]:
            found |= {(first, second)}
            found |= {(first, other) for other in _neighbours(model, second)}
            found |= {(second, other) for other in _neighbours(model, first)}
    names = {tuple(sorted((model.body(first).name, model.body(second).name))) for first, second in found}
    return tuple(sorted((first, second) for first, second in names if first != second))


def _neighbours(model: mj.MjModel, body: int) -> list[int]:
    """List the moving bodies above and below a body."""
    around = [int(model.body_parentid[body]), *map(int, np.flatnonzero(model.body_parentid == body))]
    return [other for other in around if model.body_weldid[other]]


def _set_up(
    spec: mj.MjSpec, robot: Robot, settings: MujocoSettings, sensors: tuple[str, ...], feet: FootContacts | None
) -> dict[str, str]:
    """Give the specification of a file ground, motors and sensors; return the sites of the frames."""
    bodies = mujoco_file.bodies_of(spec, robot)
    reset_defaults(spec)
    mujoco_file.remove_actuators(spec)
    _set_options(spec, robot, settings)
    if settings.contacts and settings.floor:
        _add_ground(spec, settings, bodies, feet)
    add_motors(spec, robot)
    carriers = frame_bodies(robot, bodies)
    add_loads(spec, settings.loads, carriers)
    return _add_sites(spec, robot, carriers, sensors)


def _set_options(spec: mj.MjSpec, robot: Robot, settings: MujocoSettings) -> None:
    reset_solver(spec)
    set_options(spec, robot, settings)
    mujoco_file.set_joint_constants(spec, robot)
    stiffen_gears(spec, settings.dt)
    if not settings.limits:
        mujoco_file.remove_limits(spec)
    if not settings.joint_friction:
        mujoco_file.remove_friction(spec)
    if not settings.contacts:
        spec.option.disableflags |= int(mj.mjtDisableBit.mjDSBL_CONTACT)


def _add_ground(
    spec: mj.MjSpec, settings: MujocoSettings, bodies: dict[str, tuple[Any, Array]], feet: FootContacts | None
) -> None:
    shapes = MujocoShapes(spec, bodies, settings.friction * settings.friction_scale, settings.contact_time)
    floors = mujoco_file.remove_floors(spec)
    ground = shapes.add_ground(settings.ground)
    mujoco_file.prefer_ground(spec, ground, floors)
    for link, sole in feet.soles.items() if feet else ():
        together = {name for name, (body, _) in bodies.items() if body is bodies[link][0]}
        if feet and link in feet.misplaced:
            mujoco_file.remove_contacts(spec, together)
        elif mujoco_file.touches_ground(spec, together, ground[0].name):
            continue
        shapes.add_sole(link, sole)
        if feet and link in feet.rectangles:
            shapes.add_sole(link, feet.rectangles[link])


def _add_sites(
    spec: mj.MjSpec, robot: Robot, carriers: dict[str, tuple[Any, Array]], sensors: tuple[str, ...]
) -> dict[str, str]:
    """Add a site for each frame, of a name that differs from those of the file's own sites."""
    taken = {site.name for site in spec.sites}
    sites: dict[str, str] = {}
    for name, (body, T_body_frame) in carriers.items():
        sites[name] = f"frame {name}"
        while sites[name] in taken:
            sites[name] += "_"
        body.add_site(name=sites[name], **placed(T_body_frame))
    if robot.base == "floating":
        add_imu(spec, *carriers[robot.joints[0].child])
    for name in sensors:
        if name not in sites or carriers[name][0].name == "world":
            raise InputError(f"frame {name!r} is not on a link that moves; a force sensor needs one")
        add_force_sensor(spec, name, sites[name])
    return sites
