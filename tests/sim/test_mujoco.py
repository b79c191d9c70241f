"""MuJoCo behind the same protocol: equal motion, contact forces, sensors, the exported model."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import mujoco as mj
import numpy as np
import pytest
import trimesh

import kinodyn as kd
from kinodyn.description.base import with_base
from kinodyn.description.types import Description, Inertia, Joint, Link, Mimic, Shape
from kinodyn.sim import MujocoSimulator, simulate, to_mjcf, to_mujoco

from .posture_control import keep_posture

SMOOTH: dict[str, Any] = {"engine": "mujoco", "contacts": False, "limits": False, "joint_friction": False}


def difference_at_the_end(robot: kd.Robot, integrators: tuple[Any, Any], dt: float, seconds: float = 0.4) -> float:
    q0, v0 = robot.random(seed=1), 0.5 * np.random.default_rng(0).normal(size=robot.nv)
    both: dict[str, Any] = {"q0": q0, "v0": v0, "dt": dt, "record_dt": seconds}
    native = simulate(robot, None, seconds, integrator=integrators[0], stops=None, friction=False, **both)
    other = simulate(robot, None, seconds, integrator=integrators[1], **both, **SMOOTH)
    q, v = robot.difference(native.q[-1], other.q[-1]), native.v[-1] - other.v[-1]
    return float(max(np.abs(q).max(), np.abs(v).max()))


@pytest.mark.parametrize("name", ["planar3r", "puma560", "panda", "ur5"])
@pytest.mark.parametrize("integrators", [("semi-implicit", "euler"), ("rk4", "rk4")])
def test_both_engines_step_arms_alike(name: str, integrators: tuple[Any, Any]) -> None:
    """On joints of one coordinate the methods are the same, so that only rounding is left."""
    assert difference_at_the_end(kd.load(name), integrators, 2e-3) < 1e-9


def test_both_engines_agree_on_a_floating_humanoid_to_the_order_of_the_method() -> None:
    robot = kd.load("humanoid")
    assert difference_at_the_end(robot, ("semi-implicit", "euler"), 2e-3) < 1e-9
    # MuJoCo turns the base's axes in another way within a step of fourth order
    errors = np.array([difference_at_the_end(robot, ("rk4", "rk4"), dt) for dt in (2e-2, 1e-2, 5e-3)])
    assert errors[-1] < 1e-7
    np.testing.assert_allclose(np.log2(errors[:-1] / errors[1:]), 4, atol=0.5)


def test_dh_arms_and_mjcf_robots_are_exported_too(tmp_path: Any) -> None:
    arm = kd.load("scara")
    assert difference_at_the_end(arm, ("semi-implicit", "euler"), 2e-3) < 1e-9
    path = tmp_path / "arm.xml"
    to_mjcf(arm, path, contacts=False)
    again = kd.load(path)
    q = arm.random(5, seed=0)
    np.testing.assert_allclose(kd.dynamics.mass_matrix(again, q), kd.dynamics.mass_matrix(arm, q), atol=1e-6)
    assert difference_at_the_end(again, ("semi-implicit", "euler"), 2e-3) < 1e-9


def test_every_kind_of_joint_is_exported() -> None:
    """Ball, planar (normal upwards), slide, hinges with references, and followers, on a free base."""
    inertia = Inertia(1.5, np.array([0.1, -0.05, 0.2]), np.diag([0.1, 0.2, 0.25]))
    links = tuple(Link(f"l{k}", inertia if k else None) for k in range(8))
    tilted = np.array([0.3, -0.2, 0.9]) / np.linalg.norm([0.3, -0.2, 0.9])
    moved = np.eye(4)
    moved[:3, 3] = 0.1, 0.2, 0.3
    joints = (
        Joint("free", "floating", "l0", "l1"),
        Joint("slide", "prismatic", "l1", "l2", moved, tilted, reference=0.1),
        Joint("ball", "ball", "l2", "l3", moved),
        Joint("plane", "planar", "l3", "l4", moved, tilted),
        Joint("hinge", "revolute", "l1", "l5", moved, tilted, reference=-0.3, armature=0.1, damping=0.2),
        Joint("fixed", "fixed", "l5", "l6", moved),
        Joint("follower", "revolute", "l6", "l7", moved, tilted, reference=0.2, mimic=Mimic("hinge", -1.5, 0.2)),
    )
    robot = kd.Robot(Description("many", links, joints, base="floating"))
    model = to_mujoco(robot)
    assert model.neq == 1
    data, converter = mj.MjData(model), kd.convert.mujoco(robot, model)
    q = robot.random(seed=1)
    data.qpos[:] = converter.q_to(q)
    mj.mj_forward(model, data)
    for frame in robot.frame_names:
        if frame != "l0":
            np.testing.assert_allclose(data.site(frame).xpos, kd.kinematics.pose(robot, q, frame)[:3, 3], atol=1e-12)
    assert abs(data.efc_pos[: data.ne]).max() < 1e-12  # the follower is where it should be
    # the equality is soft in MuJoCo, so that this agreement is loose
    assert difference_at_the_end(robot, ("semi-implicit", "euler"), 1e-3, seconds=0.05) < 2e-2


@pytest.fixture(scope="module")
def standing() -> tuple[kd.Robot, np.ndarray, MujocoSimulator, kd.Recording]:
    robot = kd.load("humanoid")
    q0 = robot.configuration("standing")
    q0[2] -= kd.kinematics.pose(robot, q0, "left_sole")[2, 3]
    hold = keep_posture(robot, q0)
    soles = ["left_sole", "right_sole"]
    simulator = MujocoSimulator(robot, frames=soles, sensors=soles)
    return robot, q0, simulator, simulate(robot, hold, 0.4, q0=q0, engine=simulator)


def test_contact_forces_change_the_momentum(standing: Any) -> None:
    robot, _, _, recording = standing
    assert recording.status == "complete" and set(recording.forces) == {"left_sole", "right_sole"}
    total = recording.forces["left_sole"] + recording.forces["right_sole"]
    momentum = kd.centroidal.momentum(robot, recording.q, recording.v)
    impulse = 1e-3 * np.cumsum(total[1:, :3] + [0.0, 0.0, -9.81 * robot.mass], axis=0)
    np.testing.assert_allclose(momentum[1:, :3] - momentum[0, :3], impulse, atol=0.1)
    assert recording.contacts["left_sole"][-1]


def test_the_imu_measures_acceleration_minus_gravity(standing: Any) -> None:
    robot, _, simulator, recording = standing
    imu = simulator.imu()
    np.testing.assert_allclose(imu.angular_velocity, recording.v[-1, 3:6], atol=1e-3)
    up = kd.kinematics.pose(robot, recording.q[-2], "pelvis")[:3, :3].T @ [0.0, 0.0, 9.81]
    v = recording.v
    acceleration = (v[-1, :3] - v[-2, :3]) / 1e-3 + np.cross(v[-2, 3:6], v[-2, :3])
    np.testing.assert_allclose(imu.acceleration, up + acceleration, atol=0.01)
    flying = MujocoSimulator(robot, contacts=False)
    flying.reset(robot.configuration("standing"))
    flying.step(np.zeros(robot.nv))
    np.testing.assert_allclose(flying.imu().acceleration, 0.0, atol=1e-9)  # in free fall nothing is felt


def test_a_sole_sensor_reads_the_force_between_foot_and_shank(standing: Any) -> None:
    robot, _, simulator, recording = standing
    read = simulator.wrench_sensor("left_sole")
    assert read.shape == (6,)
    # the foot nearly rests: what the ground gives, less its weight, goes on to the shank
    mass = dict(zip(robot.parameter_links, robot.inertial_parameters[::10], strict=True))["left_foot"]
    np.testing.assert_allclose(abs(read[2]), recording.forces["left_sole"][-1, 2] - 9.81 * mass, atol=8.0)
    with pytest.raises(kd.InputError, match="sensors"):
        simulator.wrench_sensor("left_palm")


def test_links_in_contact_are_recorded_without_frames(block: kd.Robot) -> None:
    robot = box_robot()
    q0 = robot.neutral()
    q0[2] = 0.3
    recording = simulate(robot, None, 0.5, q0=q0, engine="mujoco")
    assert set(recording.forces) == {"block"}
    assert not recording.contacts["block"][100] and recording.contacts["block"][-1]
    np.testing.assert_allclose(recording.forces["block"][-1, 2], 2 * 9.81, rtol=0.02)


def test_a_moving_link_may_be_called_world() -> None:
    """MuJoCo has a body of that name; files have such links, and a floating base then gets the root `universe`."""
    robot = box_robot("world")
    assert to_mujoco(robot).body("world_link").mass == 2.0
    recording = simulate(robot, None, 0.5, q0=[0.0, 0.0, 0.12, 0.0, 0.0, 0.0, 1.0], engine="mujoco")
    assert set(recording.forces) == {"world"}


def box_robot(name: str = "block") -> kd.Robot:
    shape = Shape("box", (0.4, 0.3, 0.2), np.eye(4))
    link = Link(name, Inertia(2.0, np.zeros(3), np.diag([0.1, 0.2, 0.25])), collisions=(shape,))
    return kd.Robot(with_base(Description("box", (link,), ()), "floating"))


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_the_floor_has_the_given_friction(scale: float) -> None:
    robot = box_robot()
    q0, v0 = robot.neutral(), np.zeros(6)
    q0[2], v0[0] = 0.1, 1.0
    recording = simulate(robot, None, 0.2, q0=q0, v0=v0, engine="mujoco", friction=0.4, friction_scale=scale)
    force = recording.forces["block"].sum(axis=0)
    np.testing.assert_allclose(force[0] / force[2], -0.4 * scale, rtol=1e-3)
    np.testing.assert_allclose(2.0 * (recording.v[-1, 0] - 1.0), 1e-3 * force[0], rtol=1e-3)


def test_mass_scale_changes_all_masses() -> None:
    robot = kd.load("panda")
    model, heavy = to_mujoco(robot, contacts=False), to_mujoco(robot, contacts=False, mass_scale=1.1)
    np.testing.assert_allclose(heavy.body_mass, 1.1 * model.body_mass)
    np.testing.assert_allclose(heavy.body_inertia, 1.1 * model.body_inertia)
    np.testing.assert_allclose(model.body_mass.sum(), robot.mass)


def test_pushes_are_the_same_in_both_engines() -> None:
    robot = kd.load("humanoid")
    push = [kd.sim.Push("left_palm", [10.0, 5.0, -3.0, 0.2, 0.1, 0.4], start=0.01, duration=0.03)]
    both: dict[str, Any] = {"q0": robot.random(seed=1), "pushes": push, "record_dt": 0.05}
    native = simulate(robot, None, 0.05, stops=None, friction=False, **both)
    other = simulate(robot, None, 0.05, integrator="euler", **both, **SMOOTH)
    without = simulate(robot, None, 0.05, q0=both["q0"], stops=None, friction=False)
    np.testing.assert_allclose(robot.difference(native.q[-1], other.q[-1]), 0.0, atol=1e-9)
    assert np.abs(robot.difference(native.q[-1], without.q[-1])).max() > 1e-3


def test_motors_are_limited_by_effort() -> None:
    robot = kd.load("panda")
    simulator = MujocoSimulator(robot, contacts=False)
    simulator.step(np.full(robot.nv, 1e4))
    np.testing.assert_allclose(simulator.data.qfrc_actuator, robot.limits.effort[: simulator.model.nv])


def test_joint_limits_hold() -> None:
    robot = kd.load("panda")
    push = 0.02 * robot.limits.effort
    lift = lambda t, state: kd.dynamics.gravity(robot, state.q) + push  # noqa: E731
    recording = simulate(robot, lift, 1.0, q0=robot.random(seed=0), engine="mujoco", contacts=False)
    assert (recording.q <= robot.limits.upper + 0.02).all() and (recording.q >= robot.limits.lower - 0.02).all()
    assert (recording.q.max(axis=0) >= robot.limits.upper).any()


def test_adjacent_links_do_not_collide() -> None:
    robot = kd.load("humanoid")
    model = to_mujoco(robot)
    data = mj.MjData(model)
    q = robot.configuration("standing")
    q[2] += 1.0
    data.qpos[:] = kd.convert.mujoco(robot, model).q_to(q)
    mj.mj_forward(model, data)
    assert data.ncon == 0 and model.ngeom > 10


def test_talos_with_its_meshes_compiles() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        model = to_mujoco(kd.load("talos"))
    assert model.nv == 38 and model.nu == 32


def test_meshes_that_mujoco_does_not_read_are_given_as_triangles(tmp_path: Path) -> None:
    box = trimesh.creation.box((0.1, 0.2, 0.3))
    box.export(tmp_path / "box.glb")
    shapes = (
        Shape("mesh", (1.0, 2.0, 1.0), np.eye(4), mesh=tmp_path / "box.glb"),
        Shape("mesh", (1.0, 2.0, 1.0), np.eye(4), triangles=(box.vertices, box.faces)),
    )
    inertia = Inertia(1.0, np.zeros(3), np.eye(3))
    for shape in shapes:
        links = (Link("world"), Link("a", inertia, collisions=(shape,)))
        model = to_mujoco(kd.Robot(Description("m", links, (Joint("j", "revolute", "world", "a"),))))
        np.testing.assert_allclose(sorted(np.ptp(model.mesh_vert, axis=0)), [0.1, 0.3, 0.4], rtol=1e-5)


def test_robots_and_settings_that_mujoco_cannot_represent_are_rejected(
    pendulum: kd.Robot, every_kind: kd.Robot
) -> None:
    massless = Description("m", (Link("world"), Link("a")), (Joint("j", "revolute", "world", "a"),))
    with pytest.raises(kd.InputError, match="moving link 'a' has no mass"):
        to_mujoco(kd.Robot(massless))
    with pytest.raises(kd.InputError, match="floats on a link"):
        to_mujoco(every_kind)
    with pytest.raises(kd.InputError, match="unknown settings gravity"):
        MujocoSimulator(pendulum, gravity=3.0)
    with pytest.raises(kd.InputError, match="integrator"):
        to_mujoco(pendulum, integrator="verlet")
    with pytest.raises(kd.InputError, match="contact_time"):
        to_mujoco(pendulum, dt=4e-3)
    with pytest.raises(kd.InputError, match="one robot at a time"):
        simulate(kd.load("planar2r"), None, 0.1, q0=np.zeros((3, 2)), engine="mujoco")
    with pytest.raises(kd.InputError, match="contacts must be True or False"):
        simulate(pendulum, None, 0.1, engine="mujoco", contacts=[3])
    with pytest.raises(kd.UnknownNameError):
        MujocoSimulator(pendulum, frames=["foot"])
    with pytest.raises(kd.InputError, match="fixed base"):
        MujocoSimulator(kd.load("planar2r")).imu()


def test_a_diverging_run_of_mujoco_stops_with_time_and_joint(make_wheel: Any) -> None:
    robot = make_wheel()
    recording = simulate(robot, lambda t, state: 1e3 * state.v + 1.0, 2.0, engine="mujoco", clip=False)
    assert recording.status == "diverged" and "spin" in recording.reason and "max_rate" in recording.reason
    assert 5 < len(recording) < 2000


def test_impossible_inertias_are_refused_in_the_words_of_the_check(tmp_path: Path) -> None:
    path = tmp_path / "rod.urdf"
    path.write_text(
        '<robot name="rod"><link name="base"/>\n<link name="rod"><inertial><mass value="1"/>'
        '<inertia ixx="0.1" iyy="0.1" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial></link>\n'
        '<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/></joint></robot>'
    )
    with pytest.warns(kd.DescriptionWarning, match="physically inconsistent"):
        robot = kd.load(path)
    with pytest.raises(
        kd.InputError, match=r"link 'rod', line 2: a physically inconsistent.*kinodyn check .* --repair"
    ):
        to_mujoco(robot)
