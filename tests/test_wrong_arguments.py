"""Functions that no example calls raise `InputError` for wrong arguments, as `fuzz` passes them, and have no NaN."""

from types import SimpleNamespace

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.control.contact_setpoint import ContactSetpoint
from kinodyn.dynamics.contact.ground import Plane
from kinodyn.errors import InputError, SingularError
from kinodyn.rosmsgs.robot_messages import JointStateReader, joint_state, odometry, transforms
from kinodyn.walking.planner import Planner
from kinodyn.walking.preview_control import PreviewControl
from kinodyn.walking.step_limits import feet_apart

WRONG = (None, "text", object(), [[1.0], [1.0, 2.0]], np.array(["a", "b"]), 10**400, np.nan)


@pytest.fixture(scope="module")
def panda():
    return kd.load("panda")


@pytest.fixture(scope="module")
def body():
    return kd.walking.Biped.from_robot(kd.load("humanoid"))


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: type(value).__name__)
def test_a_walking_planner_names_the_wrong_argument(body, wrong):
    planner = Planner(body)
    com, still = np.zeros(3), np.zeros(2)
    for call in (planner.reference, planner.update):
        with pytest.raises(InputError, match="^t must be"):
            call(wrong)
    for call in (planner.adapt_steps, planner.measure_margin, planner.plan_com):
        with pytest.raises(InputError, match="^t must be"):
            call(wrong, com, still)
        with pytest.raises(InputError, match="^com must"):
            call(0.1, wrong, still)
        with pytest.raises(InputError, match="^velocity must"):
            call(0.1, com, wrong)


def test_a_planner_refuses_times_at_which_its_pendulum_overflows(body):
    with pytest.raises(InputError, match="t must be near the trajectory"):
        Planner(body).reference(1e6)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: type(value).__name__)
def test_poses_and_numbers_of_walking_are_checked(body, wrong):
    with pytest.raises(InputError, match="T_left"):
        feet_apart(body, wrong, np.eye(4))
    with pytest.raises(InputError, match="T_right"):
        feet_apart(body, np.eye(4), wrong)
    with pytest.raises(InputError, match="soles must have poses of 'left' and 'right'"):
        body.solve_posture({"left": np.eye(4)}, np.zeros(3), np.zeros(()))


def test_a_preview_control_refuses_a_frequency_whose_square_vanishes():
    with pytest.raises(SingularError, match="omega"):
        PreviewControl.design(1e-308, 0.01)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: type(value).__name__)
def test_arrays_and_numbers_are_checked(panda, wrong):
    q = panda.configuration("ready")
    motion = kd.trajectory.time_optimal([q, q + 0.1, q + 0.3], velocity=1.0, acceleration=2.0).trajectory
    calls = {
        "robot": lambda: kd.collision.motion_free(wrong, q, q),
        "minimum": lambda: ContactSetpoint("foot").bound(wrong, 1.0),
        "p": lambda: Plane().heights(wrong),
        "wrench": lambda: kd.contact.friction.project_rows(np.eye(3), wrong),
        "tasks": lambda: kd.ik.velocity.stacked(wrong),
        "q": lambda: kd.limits.VelocityLimit().satisfied(panda, wrong, 0.0),
        "s": lambda: motion.times_at(wrong),
        "path": lambda: kd.trajectory.time_optimal(wrong, velocity=1.0, acceleration=1.0),
        "n": lambda: kd.planning.PoseRegion(np.eye(4)).sample(wrong),
        "inertia": lambda: kd.control.Gains(1.0, 1.0).for_inertia(wrong, "joints"),
        "factor": lambda: kd.terrain.HeightMap(np.zeros((4, 4)), cell=0.1).coarser(wrong),
    }
    for name, call in calls.items():
        with pytest.raises(InputError):
            call()
            pytest.fail(f"{name} was accepted")


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: type(value).__name__)
def test_messages_are_made_of_checked_numbers(panda, wrong):
    reader = JointStateReader(panda)
    calls = (
        lambda: joint_state(panda, wrong),
        lambda: transforms(panda, wrong),
        lambda: odometry("world", "base", wrong, np.zeros(6)),
        lambda: odometry("world", "base", np.array([0.0, 0, 0, 0, 0, 0, 1]), wrong),
        lambda: reader.read(wrong),
    )
    for call in calls:
        with pytest.raises(InputError):
            call()


def test_objects_of_other_libraries_are_recognised_by_what_they_need(panda):
    for wrong in (None, 5, SimpleNamespace(names=[])):
        with pytest.raises(InputError, match=r"model must be a pinocchio.Model, got \w+, which has no"):
            kd.convert.pinocchio(panda, wrong)


def test_the_interval_of_a_recording_is_two_finite_numbers(panda):
    recording = kd.sim.simulate(panda, None, 0.02)
    assert len(recording.between(0.0, 1.0).time) == len(recording.time)
    for wrong in WRONG:
        with pytest.raises(InputError):
            recording.between(wrong, 1.0)
        with pytest.raises(InputError):
            recording.between(0.0, wrong)


def test_cones_of_extreme_sizes_are_refused_and_empty_batches_stay_empty():
    with pytest.raises(SingularError, match="too large"):
        kd.contact.friction.wrench_cone(0.5, 1e-308, 1e-308)
    assert kd.contact.friction.span([], np.eye(3)).shape == (0, 6, 12)


def test_the_nearest_analytic_solution_broadcasts_over_reference_configurations(panda):
    robot = kd.load("planar2r")
    T = kd.kinematics.pose(robot, [0.3, 0.8], robot.frame_names[-1])
    found = kd.ik.analytic(robot, T, robot.frame_names[-1])
    one = found.nearest([0.3, 0.8])
    np.testing.assert_array_equal(found.nearest(np.tile([0.3, 0.8], (2, 1))), [one, one])


def test_long_names_are_not_paths(tmp_path):
    description = kd.load("planar2r").description
    for call in (
        kd.Recording.load,
        kd.interop.moveit.load_config,
        lambda path: kd.write_urdf(description, path),
        lambda path: kd.Recording("x", np.zeros(1), *np.zeros((3, 1, 1))).save(path.with_suffix(".npz")),
    ):
        with pytest.raises(kd.errors.KinodynError):
            call(tmp_path / ("x" * 300))
