"""Ellipsoids, condition numbers and singularities: answers from paper and laws on robots."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.errors import InputError, UnknownNameError

K = kd.kinematics
L1, L2 = 1.3, 0.7
ARM = kd.from_dh([kd.DH(a=L1), kd.DH(a=L2)])
PANDA, TOOL = kd.load("panda"), "panda_hand_tcp"
Q = PANDA.random(40, seed=1)


def elbow_angles(n: int = 25) -> Array:
    q2 = np.linspace(-np.pi, np.pi, n)
    return np.stack([np.full(n, 0.3), q2], axis=-1)


def planar_jacobian(q: Array) -> Array:
    """The Jacobian of the two-link arm as every book prints it: (n, 2, 2)."""
    a, b = q[:, 0], q[:, 0] + q[:, 1]
    rows = [[-L1 * np.sin(a) - L2 * np.sin(b), -L2 * np.sin(b)], [L1 * np.cos(a) + L2 * np.cos(b), L2 * np.cos(b)]]
    return np.moveaxis(np.array(rows), -1, 0)


def test_manipulability_of_the_two_link_arm_is_the_product_of_lengths_and_sine() -> None:
    q = elbow_angles()
    np.testing.assert_allclose(
        K.manipulability(ARM, q, "link2", part="x y"), L1 * L2 * np.abs(np.sin(q[:, 1])), atol=1e-14
    )


def test_ellipsoid_of_the_two_link_arm_holds_the_image_of_every_unit_rate() -> None:
    """And touches it: v^T (J J^T)^-1 v = 1 on the whole image of the circle, with the matrix from the book."""
    q = elbow_angles()[3:10]
    axes, radii = K.velocity_ellipsoid(ARM, q, "link2", part="x y")
    angle = np.linspace(0.0, 2 * np.pi, 50)
    image = planar_jacobian(q) @ np.stack([np.cos(angle), np.sin(angle)])
    along = np.swapaxes(axes, -2, -1) @ image
    np.testing.assert_allclose(((along / radii[..., None]) ** 2).sum(axis=-2), 1.0, atol=1e-10)


def test_the_straight_arm_has_a_degenerate_ellipse() -> None:
    """Stretched along x: sideways the two columns L1 + L2 and L2, lengthwise nothing."""
    axes, radii = K.velocity_ellipsoid(ARM, [0.0, 0.0], "link2", part="x y")
    np.testing.assert_allclose(radii, [np.hypot(L1 + L2, L2), 0.0], atol=1e-15)
    np.testing.assert_allclose(np.abs(axes), [[0.0, 1.0], [1.0, 0.0]], atol=1e-15)
    forces = K.force_ellipsoid(ARM, [0.0, 0.0], "link2", part="x y")
    assert forces.radii[0] == pytest.approx(1.0 / np.hypot(L1 + L2, L2))
    assert forces.radii[1] > 1e15


def test_radii_are_singular_values_and_forces_their_inverses() -> None:
    for part in ("linear", "angular", "all", "x rz"):
        axes, radii = K.velocity_ellipsoid(PANDA, Q, TOOL, part=part)
        np.testing.assert_allclose(radii, K.singular_values(PANDA, Q, TOOL, part=part), atol=1e-13)
        k = radii.shape[-1]
        np.testing.assert_allclose(np.swapaxes(axes, -2, -1) @ axes, np.broadcast_to(np.eye(k), axes.shape), atol=1e-13)
        force_axes, force_radii = K.force_ellipsoid(PANDA, Q, TOOL, part=part)
        np.testing.assert_allclose(force_radii * radii, 1.0, atol=1e-12)
        np.testing.assert_array_equal(force_axes, axes)


def test_forces_on_the_ellipsoid_take_efforts_of_norm_one() -> None:
    axes, radii = K.force_ellipsoid(PANDA, Q, TOOL)
    forces = axes * radii[..., None, :]
    tau = np.swapaxes(K.jacobian(PANDA, Q, TOOL)[:, :3], -2, -1) @ forces
    np.testing.assert_allclose(np.linalg.norm(tau, axis=-2), 1.0, atol=1e-12)


def test_the_condition_number_agrees_with_numpy() -> None:
    for part, rows in {"all": slice(0, 6), "linear": slice(0, 3), "angular": slice(3, 6)}.items():
        expected = np.linalg.cond(K.jacobian(PANDA, Q, TOOL)[:, rows])
        np.testing.assert_allclose(K.condition_number(PANDA, Q, TOOL, part=part), expected, rtol=1e-10)


def test_the_two_link_arm_has_an_isotropic_point() -> None:
    """L1 = sqrt(2) L2 at q2 = 135 degrees: the condition number is 1 (Salisbury and Craig 1982)."""
    arm = kd.from_dh([kd.DH(a=np.sqrt(2.0)), kd.DH(a=1.0)])
    assert K.condition_number(arm, [0.7, 0.75 * np.pi], "link2", part="x y") == pytest.approx(1.0, abs=1e-12)


def test_the_characteristic_length_weights_radians_against_metres() -> None:
    length = 0.4
    J = K.jacobian(PANDA, Q, TOOL)
    J[:, 3:] *= length
    expected = np.linalg.svd(J, compute_uv=False)
    np.testing.assert_allclose(K.singular_values(PANDA, Q, TOOL, characteristic_length=length), expected, atol=1e-13)
    for part in ("linear", "angular"):  # one unit alone needs no weighing
        one = K.condition_number(PANDA, Q, TOOL, part=part)
        np.testing.assert_array_equal(K.condition_number(PANDA, Q, TOOL, part=part, characteristic_length=length), one)


def test_the_weighted_condition_number_does_not_depend_on_the_unit_of_length() -> None:
    """An arm ten times as large, with ten times the characteristic length, is as well conditioned."""
    rows = [
        (0.1, np.pi / 2, 0.3),
        (0.4, 0.0, 0.0),
        (0.02, -np.pi / 2, 0.1),
        (0.0, np.pi / 2, 0.4),
        (0, -np.pi / 2, 0),
        (0, 0, 0.1),
    ]
    small, large = (kd.from_dh([kd.DH(a=s * a, alpha=alpha, d=s * d) for a, alpha, d in rows]) for s in (1.0, 10.0))
    q = small.random(10, seed=2)
    one = K.condition_number(small, q, "link6", characteristic_length=0.3)
    np.testing.assert_allclose(K.condition_number(large, q, "link6", characteristic_length=3.0), one, rtol=1e-9)
    assert (np.abs(K.condition_number(large, q, "link6", characteristic_length=0.3) / one - 1.0) > 0.1).all()


def test_a_stretched_elbow_and_an_aligned_wrist_are_singular() -> None:
    puma = kd.load("puma560")
    q = np.tile([0.3, 0.5, 0.8, 0.4, 0.6, 0.2], (3, 1))
    q[1, 4] = 0.0  # axes 4 and 6 in one line
    q[2, 4] = 1e-4
    assert K.is_singular(puma, q, "link6").tolist() == [False, True, True]
    assert K.is_singular(puma, q, "link6", threshold=1e-6).tolist() == [False, True, False]
    assert K.singular_values(puma, q, "link6")[1, -1] < 1e-15


def test_a_threshold_is_the_smallest_singular_value_that_is_allowed() -> None:
    smallest = K.singular_values(PANDA, Q, TOOL)[:, -1]
    np.testing.assert_array_equal(
        K.is_singular(PANDA, Q, TOOL, threshold=float(np.median(smallest))), smallest < np.median(smallest)
    )


def test_with_fewer_joints_than_directions_every_configuration_is_singular() -> None:
    q = ARM.random(5)
    assert K.is_singular(ARM, q, "link2").all()
    assert np.isinf(K.condition_number(ARM, q, "link2")).all()
    assert K.singular_values(ARM, q, "link2").shape == (5, 6)
    axes, radii = K.velocity_ellipsoid(ARM, q, "link2")
    assert axes.shape == (5, 3, 3) and (radii[:, 2] == 0.0).all()
    np.testing.assert_allclose(np.abs(axes[:, 2, 2]), 1.0)  # across the plane it cannot move


def test_naming_joints_leaves_out_the_base() -> None:
    robot = kd.load("humanoid")
    arm = [
        name
        for name in robot.joint_names
        if name.startswith("left_") and robot.joint(name).v.start >= 26 and "hip" not in name
    ]
    q = robot.random(8, seed=3)
    q[:, robot.joint("left_elbow").q] = 0.0
    assert not K.is_singular(robot, q, "left_hand").any()
    alone = K.singular_values(robot, q, "left_hand", joints=arm)
    columns = [robot.joint(name).v.start for name in arm]
    expected = np.linalg.svd(K.jacobian(robot, q, "left_hand")[..., columns], compute_uv=False)
    np.testing.assert_allclose(alone, expected, atol=1e-13)
    assert (alone[:, -1] < K.singular_values(robot, q, "left_hand")[:, -1]).all()


def test_a_batch_agrees_with_single_states() -> None:
    q = Q.reshape(8, 5, 7)
    for function in (K.condition_number, K.is_singular, K.singular_values, K.manipulability):
        together = function(PANDA, q, TOOL)
        for i in ((0, 0), (3, 4), (7, 1)):
            np.testing.assert_allclose(together[i], function(PANDA, q[i], TOOL), rtol=1e-12)
    for ellipsoid in (K.velocity_ellipsoid, K.force_ellipsoid):
        axes, radii = ellipsoid(PANDA, q, TOOL)
        np.testing.assert_allclose(radii[2, 2], ellipsoid(PANDA, q[2, 2], TOOL).radii, rtol=1e-12)
        np.testing.assert_allclose(axes[2, 2], ellipsoid(PANDA, q[2, 2], TOOL).axes, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"part": "x x"}, "part must be 'all', 'linear', 'angular', or some of x y z rx ry rz such as 'x y rz'"),
        ({"part": "roll"}, "part must be 'all', 'linear', 'angular', or some of x y z rx ry rz such as 'x y rz'"),
        ({"part": 3}, "part must be 'all', 'linear', 'angular', or some of x y z rx ry rz such as 'x y rz'"),
        ({"characteristic_length": 0.0}, "characteristic_length must be a positive number"),
        ({"characteristic_length": np.nan}, "characteristic_length must be a positive number"),
        ({"joints": "panda_joint1"}, "joints must be a sequence of joint names"),
        ({"threshold": -1.0}, "threshold must be a positive number"),
    ],
)
def test_invalid_options_are_rejected(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        K.is_singular(PANDA, Q, TOOL, **options)


def test_unknown_names_are_rejected() -> None:
    with pytest.raises(UnknownNameError, match="unknown joint 'panda_join1'; did you mean 'panda_joint1'"):
        K.condition_number(PANDA, Q, TOOL, joints=["panda_join1"])
    with pytest.raises(UnknownNameError, match="unknown frame"):
        K.velocity_ellipsoid(PANDA, Q, "hand")
    with pytest.raises(InputError, match="not finite"):
        K.force_ellipsoid(PANDA, np.full(7, np.nan), TOOL)


def test_many_jacobians_are_decomposed_in_blocks_so_that_ctrl_c_ends_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, expected, svd = [], K.manipulability(PANDA, Q.reshape(8, 5, 7), TOOL), np.linalg.svd

    def recorded(J: Array, **options: Any) -> Any:
        sizes.append(len(J))
        return svd(J, **options)

    monkeypatch.setattr("kinodyn.kinematics.singularities.DECOMPOSED_AT_ONCE", 12)
    monkeypatch.setattr(np.linalg, "svd", recorded)
    np.testing.assert_array_equal(K.manipulability(PANDA, Q.reshape(8, 5, 7), TOOL), expected)
    assert sizes == [12, 12, 12, 4]
