"""Export of a robot to a MuJoCo model: bodies, inertias, shapes, joints, motors, and the ground."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import mujoco as mj
import numpy as np

from kinodyn import dynamics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.description.free_name import free_name
from kinodyn.description.types import Description, Joint, Shape
from kinodyn.errors import InputError
from kinodyn.model.chain import leaders
from kinodyn.model.compile import Place, compile_tree, frame_along
from kinodyn.model.convert.joints import ONE_COORDINATE
from kinodyn.model.robot import Robot, require_robot
from kinodyn.sim.gears import gear_stiffness
from kinodyn.sim.inertia_faults import inertia_faults
from kinodyn.sim.loads import add_loads
from kinodyn.sim.mujoco_settings import INTEGRATORS, MujocoSettings, settings_of
from kinodyn.sim.mujoco_shapes import MujocoShapes, placed
from kinodyn.tables.output import write_text

MIN_MASS, MIN_INERTIA = 1e-6, 1e-9  # [kg, kg m^2] of a moving link
_PLANAR = ("_TX", "_TY", "_RZ")  # as MuJoCo calls the parts of a URDF's planar joint
_IMU = "imu"


@check_types
def to_mujoco(robot: Robot, **settings: Any) -> mj.MjModel:
    """Export a robot, whatever file it was read from, to a MuJoCo model.

    Each moving link becomes a body of the same name, `world_link` if that is `world`, which MuJoCo has itself; links
    fixed to it are merged into it. Joints keep their names and order: `kd.convert.mujoco(robot, model)` converts
    states. A joint with one coordinate gets a motor of its name with its effort limit; a mimic joint becomes an
    equality constraint. Adjacent links do not collide, nor do the pairs that the description excludes. Every frame
    becomes a site of its name.

    Parameters
    ----------
    robot
    settings
        Fields of `sim.MujocoSettings`.

    Returns
    -------
    mujoco.MjModel

    Notes
    -----
    Meshes collide with their convex hulls. Those that were not found or cannot be read are left out with a
    DescriptionWarning. MuJoCo needs mass and inertia of every moving link: links that have none, or are point masses or
    lines, get at least MIN_MASS and MIN_INERTIA.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> model = kd.sim.to_mujoco(robot, friction=0.8)
    >>> model.nv, model.nu
    (36, 30)
    """
    return compiled(robot, spec_of(robot, settings_of(settings)))


@check_types
def to_mjcf(robot: Robot, path: str | os.PathLike[str] | None = None, **settings: Any) -> str:
    """Export a robot to MJCF; see `to_mujoco`.

    Parameters
    ----------
    robot
    path
        File to write; None only returns the text.
    settings
        Fields of `sim.MujocoSettings`.

    Returns
    -------
    str
        The MJCF document.
    """
    spec = spec_of(robot, settings_of(settings))
    compiled(robot, spec)
    text = str(spec.to_xml())
    if path is not None:
        write_text(path, text)
    return text


def compiled(robot: Robot, spec: mj.MjSpec) -> mj.MjModel:
    """Compile the specification made by `spec_of`."""
    try:
        return spec.compile()
    except (ValueError, mj.FatalError) as cause:
        fault = inertia_faults(robot) if "inertia" in str(cause) else ""
        raise InputError(f"MuJoCo cannot compile robot {robot.name!r}: {fault or cause}") from cause


def spec_of(
    robot: Robot,
    settings: MujocoSettings,
    sensors: tuple[str, ...] = (),
    soles: Mapping[str, Shape] | None = None,
    rectangles: Mapping[str, Shape] | None = None,
) -> mj.MjSpec:
    """Build MuJoCo's specification of a robot.

    It has force and torque sensors at the frames `sensors`. `soles` take the place of the collision shapes of links,
    and of links that are fixed to them; `rectangles` are added to links with meshes.
    """
    require_robot(robot)
    require_inertia(robot)
    spec = mj.MjSpec()
    spec.modelname = robot.name
    spec.compiler.autolimits = False
    spec.compiler.degree = False
    set_options(spec, robot, settings)
    description = robot.description
    tree = compile_tree(description)
    bodies = _add_bodies(spec, robot, settings)
    shapes = MujocoShapes(spec, bodies, settings.friction * settings.friction_scale, settings.contact_time)
    if settings.contacts:
        replaced = [bodies[name][0] for name in soles or {}]
        for link in description.links:
            if not any(bodies[link.name][0] is body for body in replaced):
                shapes.add_link(link)
        for name, sole in (soles or {}).items():
            shapes.add_sole(name, sole)
        for name, rectangle in (rectangles or {}).items():
            on_body = [link for link in description.links if bodies[link.name][0] is bodies[name][0]]
            if any(shape.kind == "mesh" for link in on_body for shape in link.collisions) or name in (soles or {}):
                shapes.add_sole(name, rectangle)
        shapes.exclude_neighbours(robot)
        if settings.floor:
            shapes.add_ground(settings.ground)
    _add_followers(spec, robot, settings)
    add_motors(spec, robot)
    carriers = frame_bodies(robot, bodies)
    _add_sites(spec, robot, tree.places, carriers, sensors)
    add_loads(spec, settings.loads, carriers)
    return spec


def set_options(spec: mj.MjSpec, robot: Robot, settings: MujocoSettings) -> None:
    """Set time step, gravity, integrator and friction cones."""
    option = spec.option
    option.timestep, option.gravity = settings.dt, robot.gravity
    option.integrator = INTEGRATORS[settings.integrator]
    option.cone, option.impratio = mj.mjtCone.mjCONE_ELLIPTIC, settings.impratio


def _add_bodies(spec: mj.MjSpec, robot: Robot, settings: MujocoSettings) -> dict[str, tuple[Any, Array]]:
    """Add a body for each moving link; return each link's body and its pose in it."""
    description = robot.description
    written = {joint.name: joint for joint in description.joints}
    inertias = dict(zip(robot.parameter_links, robot.inertial_parameters.reshape(-1, 10), strict=True))
    root = robot.frame_names[0]
    base = spec.worldbody if root == "world" else spec.worldbody.add_body(name=root)
    bodies: dict[str, tuple[Any, Array]] = {root: (base, np.eye(4))}
    moving = {joint.name: joint for joint in robot.joints}
    for joint in _depth_first(description, root):
        parent, T_body_parent = bodies[joint.parent]
        T = T_body_parent @ joint.T_parent_child
        if joint.name not in moving:
            bodies[joint.child] = (parent, T)
            continue
        if joint.kind == "floating":
            if joint.parent != root:
                raise InputError(f"joint {joint.name!r} floats on a link; MuJoCo allows free joints in the world only")
            parent = spec.worldbody
        body = parent.add_body(name=body_name(description, joint.child), **placed(T))
        _set_inertia(body, inertias[joint.child] * settings.mass_scale)
        _add_joint(body, robot, written[joint.name], settings)
        bodies[joint.child] = (body, np.eye(4))
    return bodies


def body_name(description: Description, link: str) -> str:
    """Return the name of the body of a moving link: that of the link, unless it is that of MuJoCo's own root."""
    return link if link != "world" else free_name("world_link", {other.name for other in description.links})


def _depth_first(description: Description, root: str) -> list[Joint]:
    ordered: list[Joint] = []
    stack = [joint for joint in description.joints if joint.parent == root][::-1]
    while stack:
        joint = stack.pop()
        ordered.append(joint)
        stack.extend([other for other in description.joints if other.parent == joint.child][::-1])
    return ordered


def require_inertia(robot: Robot) -> None:
    """Raise InputError for a joint that moves nothing with inertia: MuJoCo cannot accelerate it."""
    moved = np.diag(dynamics.mass_matrix(robot, robot.neutral()))
    for joint in robot.joints:
        if joint.mimic is None and not (moved[joint.v] > MIN_INERTIA).all():
            raise InputError(
                f"moving link {joint.child!r} has no mass or inertia that joint {joint.name!r} could accelerate, which "
                "MuJoCo does not allow; give it mass and inertia, or the joint armature"
            )


def _set_inertia(body: Any, parameters: Array) -> None:
    mass, moment = float(parameters[0]), parameters[1:4]
    com = moment / mass if mass > 0 else np.zeros(3)
    xx, xy, yy, xz, yz, zz = parameters[4:]
    about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    inertia = about_origin - mass * (com @ com * np.eye(3) - np.outer(com, com))
    moments = np.linalg.eigvalsh(inertia)
    if not moments[0] > MIN_INERTIA:
        inertia += MIN_INERTIA * np.eye(3)  # the sum of two moments stays above the third
    body.explicitinertial = True
    body.mass, body.ipos = max(mass, MIN_MASS), com
    body.fullinertia = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]  # xx yy zz xy xz yz


def _add_joint(body: Any, robot: Robot, joint: Joint, settings: MujocoSettings) -> None:
    info = robot.joint(joint.name)
    constants = dict.fromkeys(("armature", "damping", "frictionloss"), 0.0)
    if info.mimic is None:  # a follower's are in those of its leader
        friction = robot.friction if settings.joint_friction else np.zeros(robot.nv)
        for name, array in (("armature", robot.armature), ("damping", robot.damping), ("frictionloss", friction)):
            part = array[info.v]
            if len(part) and np.ptp(part) > 0:
                raise InputError(f"{name} of joint {joint.name!r} differs between axes; MuJoCo takes one value")
            constants[name] = float(part[0]) if len(part) else 0.0
    damping = np.array([constants.pop("damping"), 0.0, 0.0])
    if joint.kind == "floating":
        body.add_joint(name=joint.name, type=mj.mjtJoint.mjJNT_FREE, damping=damping, **constants)
    elif joint.kind == "ball":
        body.add_joint(name=joint.name, type=mj.mjtJoint.mjJNT_BALL, damping=damping, **constants)
    elif joint.kind == "planar":
        frame = frame_along(joint.axis)
        for k, suffix in enumerate(_PLANAR):
            kind = mj.mjtJoint.mjJNT_SLIDE if k < 2 else mj.mjtJoint.mjJNT_HINGE
            body.add_joint(name=joint.name + suffix, type=kind, axis=frame[:, k], damping=damping, **constants)
    else:
        kind = mj.mjtJoint.mjJNT_SLIDE if joint.kind == "prismatic" else mj.mjtJoint.mjJNT_HINGE
        added = body.add_joint(name=joint.name, type=kind, axis=joint.axis, damping=damping, **constants)
        added.ref = joint.reference
        bounds = np.clip([joint.lower, joint.upper], -1e10, 1e10)
        limited = settings.limits and info.mimic is None and joint.kind != "continuous"
        if limited and np.isfinite([joint.lower, joint.upper]).any():
            added.limited, added.range = mj.mjtLimited.mjLIMITED_TRUE, bounds
            added.solref_limit = [max(settings.contact_time, 2 * settings.dt), 1.0]


def _add_followers(spec: mj.MjSpec, robot: Robot, settings: MujocoSettings) -> None:
    references = {joint.name: joint.reference for joint in robot.description.joints}
    lead = leaders(robot)
    for joint in robot.joints:
        if joint.mimic is None:
            continue
        leader = lead[joint.name]
        own, other = references[joint.name], references[leader.joint.name]
        # MuJoCo measures both positions from their references
        data = np.zeros(mj.mjNEQDATA)
        data[0] = leader.offset + leader.multiplier * other - own
        data[1] = leader.multiplier
        spec.add_equality(
            name=f"{joint.name} follows",
            type=mj.mjtEq.mjEQ_JOINT,
            objtype=mj.mjtObj.mjOBJ_JOINT,
            name1=joint.name,
            name2=leader.joint.name,
            data=data,
            **gear_stiffness(settings.dt),
        )


def add_motors(spec: mj.MjSpec, robot: Robot) -> None:
    """Add a motor with its effort limit to each joint with one coordinate, of the joint's name."""
    for joint in robot.joints:
        if joint.kind not in ONE_COORDINATE or joint.mimic is not None:
            continue
        motor = spec.add_actuator(name=joint.name, target=joint.name, trntype=mj.mjtTrn.mjTRN_JOINT)
        motor.set_to_motor()
        effort = float(robot.limits.effort[joint.v.start])
        if effort == 0.0:  # MuJoCo refuses an empty range
            motor.gear = np.zeros(6)
        elif np.isfinite(effort):
            motor.forcelimited, motor.forcerange = mj.mjtLimited.mjLIMITED_TRUE, [-effort, effort]


def _add_sites(
    spec: mj.MjSpec,
    robot: Robot,
    places: dict[str, Place],
    carriers: dict[str, tuple[Any, Array]],
    sensors: tuple[str, ...],
) -> None:
    for name, (body, T) in carriers.items():
        body.add_site(name=name, **placed(T))
    if robot.base == "floating":
        add_imu(spec, *carriers[robot.joints[0].child])
    for name in sensors:
        if places[name].body < 0:
            raise InputError(f"frame {name!r} is fixed to the world; a force sensor needs a link that moves")
        add_force_sensor(spec, name, name)


def add_imu(spec: mj.MjSpec, body: Any, T_body_imu: Array | None = None) -> None:
    """Add a gyro and an accelerometer, at a site of a name that no other site has."""
    taken, site = {other.name for other in spec.sites}, _IMU
    while site in taken:
        site += "_"
    body.add_site(name=site, **placed(np.eye(4) if T_body_imu is None else T_body_imu))
    for kind, name in ((mj.mjtSensor.mjSENS_GYRO, "gyro"), (mj.mjtSensor.mjSENS_ACCELEROMETER, "accelerometer")):
        spec.add_sensor(name=name, type=kind, objtype=mj.mjtObj.mjOBJ_SITE, objname=site)


def add_force_sensor(spec: mj.MjSpec, frame: str, site: str) -> None:
    """Add a force and a torque sensor of a frame at a site."""
    for kind, what in ((mj.mjtSensor.mjSENS_FORCE, "force"), (mj.mjtSensor.mjSENS_TORQUE, "torque")):
        spec.add_sensor(name=f"{frame} {what}", type=kind, objtype=mj.mjtObj.mjOBJ_SITE, objname=site)


def frame_bodies(robot: Robot, bodies: dict[str, tuple[Any, Array]]) -> dict[str, tuple[Any, Array]]:
    """Find for each frame its body, and the pose (4, 4) of the frame in it."""
    found = {name: bodies[name] for name in robot.frame_names if name in bodies}
    for frame in robot.description.frames:
        if frame.link in bodies:
            body, T_body_link = bodies[frame.link]
            found[frame.name] = (body, T_body_link @ frame.T_link_frame)
    return {name: found[name] for name in robot.frame_names if name in found}
