"""Torques and contact forces for a desired motion: the equation of motion, there and back, and what cannot be had."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.dynamics.contact import Contact, Effort, Loop, friction
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.model.robot import Robot

HALF = (0.1, 0.05)
CORNERS = [[0.1, 0.05, 0.0], [0.1, -0.05, 0.0], [-0.1, 0.05, 0.0], [-0.1, -0.05, 0.0]]
STANCES = {
    "humanoid": ("standing", ("left_sole", "right_sole"), "surface"),
    "talos": ("half_sitting", ("left_sole_link", "right_sole_link"), "surface"),
    "solo12": ("standing", ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"), "point"),
}


class Stance:
    """A robot on its feet."""

    def __init__(self, name: str) -> None:
        configuration, feet, kind = STANCES[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kd.DescriptionWarning)  # of mimics on fixed joints
            self.robot = kd.load(name, base="floating")
        self.q = self.robot.configuration(configuration)
        self.still = np.zeros(self.robot.nv)
        self.contacts = [Contact(foot, kind=kind) for foot in feet]
        self.qp = {"method": "qp", "soles": dict.fromkeys(feet, HALF) if kind == "surface" else None}
        self.weight = self.robot.mass * 9.81

    def motions(self, n: int, size: float) -> tuple[Array, Array, Array]:
        """Draw states near the stance and accelerations at which the contacts hold; size in weights times a metre."""
        rng = np.random.default_rng(3)
        q = self.robot.integrate(self.q, 0.02 * rng.normal(size=(n, self.robot.nv)))
        v = kd.contact.impact(self.robot, q, 0.1 * rng.normal(size=(n, self.robot.nv)), self.contacts)[0]
        held = kd.contact.inverse(self.robot, q, v, 0 * v, self.contacts).tau
        a, _ = kd.contact.dynamics(
            self.robot, q, v, held + size * self.weight * rng.normal(size=held.shape), self.contacts
        )
        return q, v, a


@pytest.fixture(scope="module", params=list(STANCES))
def stance(request: pytest.FixtureRequest) -> Stance:
    return Stance(request.param)


@pytest.fixture(scope="module")
def humanoid() -> Stance:
    return Stance("humanoid")


def assert_moves(
    robot: Robot,
    q: Array,
    v: Array,
    a: Array,
    contacts: list[Contact | Loop],
    effort: Effort,
    push: Array | float = 0.0,
) -> None:
    """Check M a + h = S^T tau + J^T f, put together from M and h."""
    assert (effort.status == "solved").all(), effort.limiting
    J = kd.contact.jacobian(robot, q, contacts)
    given = effort.tau + (np.swapaxes(J, -1, -2) @ effort.forces.vector[..., None])[..., 0] + push
    needed = (kd.dynamics.mass_matrix(robot, q) @ a[..., None])[..., 0] + kd.dynamics.bias(robot, q, v)
    np.testing.assert_allclose(given, needed, rtol=0, atol=1e-9)
    np.testing.assert_allclose(effort.residual, 0.0, atol=1e-9)
    assert (effort.limiting == "").all()
    if robot.base == "floating":
        np.testing.assert_array_equal(effort.tau[..., :6], 0.0)


def test_torques_and_forces_solve_the_equation_of_motion(stance: Stance) -> None:
    q, v, a = stance.motions(20, 5e-4)
    for arguments in ({}, {"torque_weights": 0.1}, stance.qp, dict(stance.qp, torque_weights=0.1)):
        effort = kd.contact.inverse(stance.robot, q, v, a, stance.contacts, **arguments)
        assert_moves(stance.robot, q, v, a, stance.contacts, effort)


def test_the_torques_produce_the_motion(stance: Stance) -> None:
    q, v, a = stance.motions(20, 5e-4)
    for arguments in ({}, stance.qp):
        effort = kd.contact.inverse(stance.robot, q, v, a, stance.contacts, **arguments)
        back, forces = kd.contact.dynamics(stance.robot, q, v, effort.tau, stance.contacts)
        np.testing.assert_allclose(back, a, rtol=0, atol=1e-7 * max(1.0, np.abs(a).max()))
        np.testing.assert_allclose(forces.vector, effort.forces.vector, rtol=0, atol=1e-6 * stance.weight)


def test_any_motion_has_least_norm_torques_where_both_feet_are_held(humanoid: Stance) -> None:
    robot, rng = humanoid.robot, np.random.default_rng(1)
    q, v, a = robot.random(50, seed=5), rng.normal(size=(50, robot.nv)), rng.normal(size=(50, robot.nv))
    push = {"torso": 10 * rng.normal(size=(50, 6))}
    J = np.swapaxes(kd.kinematics.jacobian(robot, q, "torso"), -1, -2)
    effort = kd.contact.inverse(robot, q, v, a, humanoid.contacts, push)
    assert_moves(robot, q, v, a, humanoid.contacts, effort, (J @ push["torso"][..., None])[..., 0])


def test_standing_still_splits_the_weight_equally(stance: Stance) -> None:
    for arguments in ({}, stance.qp):
        effort = kd.contact.inverse(stance.robot, stance.q, stance.still, stance.still, stance.contacts, **arguments)
        up = np.array([effort.forces[contact.name][2] for contact in stance.contacts])
        assert up.sum() == pytest.approx(stance.weight)
        if len(up) == 2:
            np.testing.assert_allclose(up, stance.weight / 2, rtol=1e-3)  # talos is not quite its own mirror image
        else:
            np.testing.assert_allclose(up[0::2], up[1::2], rtol=1e-6)  # left and right


def test_corners_share_the_load_and_add_up_to_the_same(humanoid: Stance) -> None:
    robot, q, still = humanoid.robot, humanoid.q, humanoid.still
    patches = [Contact("left_sole", corners=CORNERS), Contact("right_sole", corners=CORNERS)]
    effort = kd.contact.inverse(robot, q, still, still, patches, method="qp")
    assert_moves(robot, q, still, still, patches, effort)
    whole = kd.contact.inverse(robot, q, still, still, humanoid.contacts)
    for name, wrench in whole.forces.items():
        np.testing.assert_allclose(effort.forces[name].sum(axis=0), wrench[:3], atol=1e-7)
    assert effort.forces.rank == 12 and effort.forces.rows == 24


def test_forces_of_a_qp_are_in_their_friction_cones(stance: Stance) -> None:
    q, v, a = stance.motions(20, 1e-2)
    effort = kd.contact.inverse(stance.robot, q, v, a, stance.contacts, **stance.qp)
    free = kd.contact.inverse(stance.robot, q, v, a, stance.contacts)
    beyond = 0
    for contact in stance.contacts:
        assert (friction.margin(effort.forces[contact.name][..., :3], contact.friction) > -1e-7).all()
        beyond += (friction.margin(free.forces[contact.name][..., :3], contact.friction) < 0).sum()
    if stance.robot.name.startswith("solo"):
        assert beyond > 0  # least norm alone would have slipped


def test_within_all_limits_the_qp_gives_the_closed_form(humanoid: Stance) -> None:
    q, v, a = humanoid.motions(5, 1e-4)
    closed = kd.contact.inverse(humanoid.robot, q, v, a, humanoid.contacts, torque_weights=0.01)
    open_ = kd.contact.inverse(
        humanoid.robot, q, v, a, humanoid.contacts, method="qp", friction=False, torque_weights=0.01
    )
    np.testing.assert_allclose(open_.forces.vector, closed.forces.vector, rtol=0, atol=1e-7)
    np.testing.assert_allclose(open_.tau, closed.tau, rtol=0, atol=1e-7)


def test_no_other_split_of_the_load_costs_less(humanoid: Stance) -> None:
    robot, (q, v, a) = humanoid.robot, humanoid.motions(1, 1e-3)
    weights = np.random.default_rng(2).uniform(0.5, 2.0, 12)
    effort = kd.contact.inverse(
        robot, q[0], v[0], a[0], humanoid.contacts, force_weights=weights, torque_weights=0.5,
        desired_forces={"left_sole": [5.0, 0, 300.0, 0, 0, 0]},
    )  # fmt: skip
    J = kd.contact.jacobian(robot, q[0], humanoid.contacts)
    desired = np.r_[5.0, 0, 300.0, np.zeros(9)]
    slope = weights * (effort.forces.vector - desired) - 0.5 * J[:, 6:] @ effort.tau[6:]
    inner = np.linalg.svd(J[:, :6].T)[2][6:]  # forces that press one foot against the other
    np.testing.assert_allclose(inner @ slope, 0.0, atol=1e-7)
    assert np.abs(slope).max() > 1.0


def sideways(stance: Stance, size: float) -> dict[str, Array]:
    """Push with a fraction of friction times weight, at the height of the ground under the centre of mass."""
    robot, frame = stance.robot, stance.robot.joints[0].child
    ground = np.mean([kd.kinematics.pose(robot, stance.q, c.frame)[2, 3] for c in stance.contacts])
    place = kd.kinematics.com(robot, stance.q) * [1, 1, 0] + [0, 0, ground]
    force = np.array([0.0, size * stance.contacts[0].friction * stance.weight, 0.0])
    arm = place - kd.kinematics.pose(robot, stance.q, frame)[:3, 3]
    return {frame: np.r_[force, np.cross(arm, force)]}


def test_a_push_within_the_friction_cone_is_resisted_and_one_beyond_it_is_not() -> None:
    stance = Stance("solo12")
    robot, q, still = stance.robot, stance.q, stance.still
    held, lost = (
        kd.contact.inverse(robot, q, still, still, stance.contacts, sideways(stance, size), method="qp", sides=64)
        for size in (0.99, 1.2)
    )
    assert held.status == "solved" and held.limiting == ""
    assert lost.status == "infeasible" and "slides" in str(lost.limiting)
    total = sum(force for force in lost.forces.values())
    assert np.hypot(total[0], total[1]) <= 0.7 * total[2] * (1 + 1e-9)  # what it gives it can give
    assert np.linalg.norm(lost.residual[:6]) > 0.05 * stance.weight
    np.testing.assert_allclose(lost.residual[6:], 0.0, atol=1e-9)  # motors do their part
    J = kd.contact.jacobian(robot, q, stance.contacts)
    needed = kd.dynamics.inverse(robot, q, still, still, sideways(stance, 1.2))
    np.testing.assert_allclose(needed - lost.tau - J.T @ lost.forces.vector, lost.residual, atol=1e-9)


def test_the_reason_for_sliding_tipping_turning_or_lifting_is_reported(humanoid: Stance) -> None:
    robot, q, still = humanoid.robot, humanoid.q, humanoid.still
    one = [Contact("left_sole", friction=0.5)]
    T = kd.kinematics.pose(robot, q, "left_sole")
    arm = (T[:3, 3] - kd.kinematics.com(robot, q)) * [1, 1, 0]
    centred = np.cross(-arm, [0, 0, -humanoid.weight])  # takes the moment of the weight about the foot away
    frame = T[:3, 3] - kd.kinematics.pose(robot, q, "pelvis")[:3, 3]
    for word, force, moment in (
        ("", [0.0, 0, 0], [0.0, 0, 0]),
        ("slides", [0.45 * humanoid.weight, 0, 0], [0.0, 0, 0]),
        ("tips", [0.0, 0, 0], [0.06 * humanoid.weight, 0, 0]),
        ("turns", [0.0, 0, 0], [0.0, 0, 0.09 * humanoid.weight]),
        ("lifts", [0.0, 0, 1.5 * humanoid.weight], [0.0, 0, 0]),
    ):
        push = {"pelvis": np.r_[force, np.cross(frame, force) + moment - centred]}
        effort = kd.contact.inverse(robot, q, still, still, one, push, method="qp", soles={"left_sole": HALF})
        assert effort.status == ("infeasible" if word else "solved")
        assert word in str(effort.limiting)


def test_torques_stay_within_limits_or_the_joint_is_named(humanoid: Stance) -> None:
    robot, q, still = humanoid.robot, humanoid.q, humanoid.still
    free = kd.contact.inverse(robot, q, still, still, humanoid.contacts, **humanoid.qp)
    knee = robot.joint("left_knee").v.start
    limits = np.full(robot.nv, np.inf)
    limits[knee] = 0.8 * abs(free.tau[knee])
    eased = kd.contact.inverse(robot, q, still, still, humanoid.contacts, **humanoid.qp, torque_limits=limits)
    assert_moves(robot, q, still, still, humanoid.contacts, eased)
    assert abs(eased.tau[knee]) <= limits[knee] * (1 + 1e-9)
    limits[:] = 0.01
    weak = kd.contact.inverse(robot, q, still, still, humanoid.contacts, **humanoid.qp, torque_limits=limits)
    assert weak.status == "infeasible" and "torque of left_knee" in str(weak.limiting)
    assert (np.abs(weak.tau) <= 0.01).all()
    strong = kd.contact.inverse(robot, q, still, still, humanoid.contacts, **humanoid.qp, torque_limits=True)
    assert (np.abs(strong.tau) <= robot.limits.effort).all() and strong.status == "solved"


def test_an_arm_pushes_on_a_wall_with_the_desired_force() -> None:
    robot = kd.load("panda")
    q, v = robot.neutral() + 0.3, np.zeros(7)
    wall = Contact("panda_hand_tcp", kind="point", normal=[-1.0, 0.0, 0.0], friction=0.4, name="tip")
    desired = {"tip": np.array([-30.0, 5.0, 0.0])}
    for method in ("least-norm", "qp"):
        effort = kd.contact.inverse(robot, q, v, v, [wall], method=method, desired_forces=desired)
        assert_moves(robot, q, v, v, [wall], effort)
        np.testing.assert_allclose(effort.forces["tip"], desired["tip"], atol=1e-9)
    pulling = kd.contact.inverse(robot, q, v, v, [wall], method="qp", desired_forces={"tip": [30.0, 0.0, 0.0]})
    np.testing.assert_allclose(pulling.forces["tip"], 0.0, atol=1e-9)
    sliding = kd.contact.inverse(
        robot, q, v, v, [wall], method="qp", sides=128, desired_forces={"tip": [-30.0, 25.0, 0.0]}
    )
    nearest = friction.project([-30.0, 25.0, 0.0], 0.4, [-1.0, 0.0, 0.0])
    np.testing.assert_allclose(sliding.forces["tip"], nearest, atol=0.02)


def test_duplicate_contacts_share_a_force() -> None:
    robot = kd.load("panda")
    q, v = robot.random(10, seed=1), np.zeros(7)
    twice = [Contact("panda_hand_tcp", kind="point", name=name) for name in ("one", "two")]
    effort = kd.contact.inverse(robot, q, v, v, twice, desired_forces={"one": [0.0, 0.0, 10.0]}, torque_weights=1.0)
    assert (effort.forces.rank == 3).all() and effort.forces.rows == 6
    assert_moves(robot, q, np.zeros((10, 7)), np.zeros((10, 7)), twice, effort)


def test_a_four_bar_linkage_is_moved_by_its_one_motor() -> None:
    robot = kd.load("planar3r")
    q = np.array([0.4, 0.9, 0.8])
    T_base_tip = kd.kinematics.pose(robot, q, "link3")
    loop = Loop("link3", "base", T_other=T_base_tip, directions="x y")
    v = kd.contact.impact(robot, q, np.array([1.0, -0.5, 0.3]), [loop])[0]
    a, _ = kd.contact.dynamics(robot, q, v, np.array([7.0, 0.0, 0.0]), [loop])
    for method in ("least-norm", "qp"):
        effort = kd.contact.inverse(robot, q, v, a, [loop], method=method, actuated=["joint1"])
        np.testing.assert_allclose(effort.tau, [7.0, 0.0, 0.0], atol=1e-9)
        assert_moves(robot, q, v, a, [loop], effort)


def test_forces_outside_the_contact_directions_are_reported_as_missing(humanoid: Stance) -> None:
    robot, q, still = humanoid.robot, humanoid.q, humanoid.still
    point = [Contact("left_sole", kind="point")]
    for method in ("least-norm", "qp"):
        effort = kd.contact.inverse(robot, q, still, still, point, method=method)
        assert effort.status == "infeasible" and "base" in str(effort.limiting)
        assert np.abs(effort.residual[:6]).max() > 1.0
        np.testing.assert_allclose(effort.residual[6:], 0.0, atol=1e-9)


def test_a_batch_agrees_with_single_states(humanoid: Stance) -> None:
    robot, (q, v, a) = humanoid.robot, humanoid.motions(6, 1e-3)
    a = a.copy()
    a[3:, 2] -= 15.0  # falls faster than free
    for arguments in ({}, humanoid.qp):
        effort = kd.contact.inverse(robot, q.reshape(2, 3, -1), v.reshape(2, 3, -1), a.reshape(2, 3, -1),
                                    humanoid.contacts, **arguments)  # fmt: skip
        assert effort.tau.shape == (2, 3, robot.nv) and effort.status.shape == (2, 3)
        for k in range(6):
            one = kd.contact.inverse(robot, q[k], v[k], a[k], humanoid.contacts, **arguments)
            index = np.unravel_index(k, (2, 3))
            assert one.status == effort.status[index] and one.limiting == effort.limiting[index]
            np.testing.assert_allclose(one.tau, effort.tau[index], rtol=0, atol=1e-7)
    np.testing.assert_array_equal(effort.status, [["solved"] * 3, ["infeasible"] * 3])


def test_errors_name_the_invalid_input(humanoid: Stance) -> None:
    robot, q, still = humanoid.robot, humanoid.q, humanoid.still
    wrong = [
        (InputError, "method", {"method": "magic"}),
        (InputError, "soles=", {"method": "qp"}),
        (InputError, "least-norm has no limits", {"torque_limits": True}),
        (InputError, "force_weights", {"force_weights": 0.0}),
        (InputError, "torque_weights", {"torque_weights": [1.0, 2.0]}),
        (InputError, "torque_limits", {**humanoid.qp, "torque_limits": [1.0]}),
        (InputError, "actuated must be a list of strings", {"actuated": "left_knee"}),
        (InputError, "desired force of 'left_sole'", {"desired_forces": {"left_sole": [1.0, 2.0]}}),
        (UnknownNameError, "left_knee", {"actuated": ["left_kneee"]}),
        (UnknownNameError, "left_sole", {"desired_forces": {"left_soul": np.zeros(6)}}),
        (UnknownNameError, "left_sole", {"method": "qp", "soles": {"left_soul": HALF}}),
    ]
    for error, words, arguments in wrong:
        with pytest.raises(error, match=words):
            kd.contact.inverse(robot, q, still, still, humanoid.contacts, **arguments)
    with pytest.raises(InputError, match="a\\[0\\] is not finite"):
        kd.contact.inverse(robot, q, still, still * np.nan, humanoid.contacts)
    upright = [Contact("left_sole", normal=[1.0, 0.0, 0.0])]
    with pytest.raises(InputError, match="along the normal"):
        kd.contact.inverse(robot, q, still, still, upright, method="qp", soles={"left_sole": HALF})


@pytest.mark.parametrize("angle", np.arange(0.0, 360.0, 45.0))
def test_pushes_beyond_friction_are_infeasible_from_all_sides(angle: float) -> None:
    robot = kd.load("humanoid")
    q, still = robot.configuration("standing"), np.zeros(robot.nv)
    feet = [Contact("left_sole"), Contact("right_sole")]
    soles = {"left_sole": HALF, "right_sole": HALF}
    turned = np.deg2rad(angle)
    for force in (600.0, 800.0, 1500.0):
        push = {"torso": force * np.array([np.cos(turned), np.sin(turned), 0.0, 0.0, 0.0, 0.0])}
        effort = kd.contact.inverse(robot, q, still, still, feet, push, method="qp", soles=soles)
        assert effort.status == "infeasible" and str(effort.limiting)
