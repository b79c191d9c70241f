"""Joint velocities for desired twists: textbook identities on random Jacobians and on robots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.ik import velocity as V

RNG = np.random.default_rng(0)
J = RNG.normal(size=(5, 4, 6, 9))
TWIST = RNG.normal(size=(5, 4, 6))
EXTRA = RNG.normal(size=(4, 9))
PANDA = kd.load("panda")
TOOL = "panda_hand_tcp"


def times(A: Array, x: Array) -> Array:
    return (A @ x[..., None])[..., 0]


def deficient() -> Array:
    """Jacobians whose third row repeats the first."""
    broken = J.copy()
    broken[..., 2, :] = broken[..., 0, :]
    return broken


def test_the_projector_is_idempotent_symmetric_and_in_the_null_space() -> None:
    for matrix, rank in ((J, 6), (deficient(), 5), (J[..., :3], 3), (0.0 * J, 0)):
        N = V.null_space(matrix)
        np.testing.assert_allclose(N @ N, N, atol=1e-14)
        np.testing.assert_array_equal(N, np.swapaxes(N, -2, -1))
        np.testing.assert_allclose(matrix @ N, 0.0, atol=1e-12)
        np.testing.assert_allclose(np.trace(N, axis1=-2, axis2=-1), matrix.shape[-1] - rank, atol=1e-12)


def test_least_norm_gives_the_velocities_of_the_pseudo_inverse() -> None:
    v = V.least_norm(J, TWIST)
    np.testing.assert_allclose(times(J, v), TWIST, atol=1e-12)
    np.testing.assert_allclose(v, times(np.linalg.pinv(J), TWIST), atol=1e-11)


def test_least_norm_minimises_the_error_of_an_infeasible_twist() -> None:
    broken = deficient()
    v = V.least_norm(broken, TWIST)
    left = times(broken, v) - TWIST
    np.testing.assert_allclose(times(np.swapaxes(broken, -2, -1), left), 0.0, atol=1e-12)
    assert np.linalg.norm(left, axis=-1).min() > 1e-3


def test_a_null_velocity_changes_the_joint_velocities_and_not_the_twist() -> None:
    v = V.least_norm(J, TWIST, EXTRA)
    np.testing.assert_allclose(times(J, v), TWIST, atol=1e-12)
    np.testing.assert_allclose(times(V.null_space(J), v - EXTRA), 0.0, atol=1e-12)
    assert np.abs(v - V.least_norm(J, TWIST)).max() > 0.1


def test_damped_rates_minimise_their_cost() -> None:
    """Where the gradient of |J v - twist|^2 + damping^2 |v|^2 is zero."""
    for matrix in (J, deficient(), J[..., :3]):
        v = V.damped(matrix, TWIST, 0.3)
        gradient = times(np.swapaxes(matrix, -2, -1), times(matrix, v) - TWIST) + 0.09 * v
        np.testing.assert_allclose(gradient, 0.0, atol=1e-12)


def test_damping_has_the_pseudo_inverse_and_the_transpose_as_its_limits() -> None:
    np.testing.assert_allclose(V.damped(J, TWIST, 1e-7), V.least_norm(J, TWIST), atol=1e-10)
    np.testing.assert_array_equal(V.damped(deficient(), TWIST, 0.0), V.least_norm(deficient(), TWIST))
    large = 1e6
    transposed = times(np.swapaxes(J, -2, -1), TWIST)
    np.testing.assert_allclose(large**2 * V.damped(J, TWIST, large), transposed, atol=1e-9)


def test_damped_rates_are_bounded_at_a_singularity() -> None:
    small = np.diag([1.0, 1e-7])
    for damping in (1e-3, 0.1):
        assert np.linalg.norm(V.damped(small, [0.0, 1.0], damping)) <= 1.0 / (2 * damping)
    assert np.linalg.norm(V.least_norm(small, [0.0, 1.0])) == pytest.approx(1e7)


def test_damping_is_per_state() -> None:
    damping = np.array([0.0, 0.1, 0.5, 2.0])
    together = V.damped(J, TWIST, damping)
    for i, factor in enumerate(damping):
        np.testing.assert_allclose(together[:, i], V.damped(J[:, i], TWIST[:, i], factor), atol=1e-14)


def test_adaptive_damping_grows_from_zero_to_its_maximum_as_manipulability_falls() -> None:
    smallest = np.array([2.0, 1.0, 0.5, 0.25, 0.0])
    matrices = smallest[:, None, None] * np.diag([0.0, 1.0]) + np.diag([1.0, 0.0])
    damping = V.adaptive_damping(matrices, threshold=1.0, maximum=0.4)
    np.testing.assert_allclose(damping, [0.0, 0.0, 0.2, 0.3, 0.4])


def test_with_adaptive_damping_a_stretched_arm_stays_slow() -> None:
    robot = kd.load("planar2r")
    q = np.stack([np.full(200, 0.4), np.linspace(1e-4, 1.5, 200)], axis=-1)
    plane = kd.kinematics.jacobian(robot, q, "link2")[:, :2]
    outwards = np.array([np.cos(0.4), np.sin(0.4)])
    free = V.least_norm(plane, outwards)
    bounded = V.damped(plane, outwards, V.adaptive_damping(plane, threshold=0.3, maximum=0.2))
    assert np.linalg.norm(free, axis=-1).max() > 1000.0
    # No rate is above 1/s or 1/(2 damping); s is at least w / sqrt(5) at manipulability w. The two meet at w = 0.225.
    assert np.linalg.norm(bounded, axis=-1).max() < 10.0
    far = np.sin(q[:, 1]) > 0.3
    np.testing.assert_allclose(bounded[far], free[far], atol=1e-12)


def test_stacked_tasks_that_fit_are_all_met() -> None:
    v = V.stacked([(J[..., :2, :], TWIST[..., :2]), (J[..., 2:, :], TWIST[..., 2:])], weights=[1.0, 50.0])
    np.testing.assert_allclose(times(J, v), TWIST, atol=1e-11)


def test_stacked_tasks_that_conflict_share_the_error_by_their_weights() -> None:
    v = V.stacked([([[1.0, 0.0]], [0.0]), ([[1.0, 0.0]], [1.0])], weights=[1.0, 3.0])
    np.testing.assert_allclose(v, [0.75, 0.0], atol=1e-15)
    per_state = V.stacked([([[1.0, 0.0]], [0.0]), ([[1.0, 0.0]], [1.0])], weights=[1.0, [0.0, 1.0]])
    np.testing.assert_allclose(per_state, [[0.0, 0.0], [0.5, 0.0]], atol=1e-15)


@pytest.mark.parametrize("damping", [0.0, 0.2])
def test_a_lower_task_never_disturbs_a_higher_one(damping: float) -> None:
    """Four levels that cannot all be met on nine joints: cutting the list off anywhere leaves those above alike."""
    levels = [(RNG.normal(size=(30, m, 9)), RNG.normal(size=(30, m))) for m in (3, 2, 3, 4)]
    levels.insert(2, (levels[0][0][:, :2] + levels[1][0], 10.0 * levels[1][1]))  # wants what levels 0 and 1 decide
    full = V.prioritised(levels, damping=damping, null_velocity=np.ones(9))
    for n in range(1, len(levels) + 1):
        upper = V.prioritised(levels[:n], damping=damping)
        for matrix, _ in levels[:n]:
            np.testing.assert_allclose(times(matrix, full), times(matrix, upper), atol=1e-11)


def test_the_first_task_is_met_and_the_second_as_well_as_the_first_allows() -> None:
    upper, lower = J[..., :4, :], RNG.normal(size=(5, 4, 7, 9))
    desired = RNG.normal(size=(5, 4, 7))
    v = V.prioritised([(upper, TWIST[..., :4]), (lower, desired)])
    np.testing.assert_allclose(times(upper, v), TWIST[..., :4], atol=1e-12)
    gradient = times(np.swapaxes(lower, -2, -1), times(lower, v) - desired)
    np.testing.assert_allclose(times(V.null_space(upper), gradient), 0.0, atol=1e-11)


def test_one_level_is_least_norm_and_the_null_velocity_comes_last() -> None:
    np.testing.assert_allclose(V.prioritised([(J, TWIST)]), V.least_norm(J, TWIST), atol=1e-12)
    both = V.prioritised([(J, TWIST)], null_velocity=EXTRA)
    np.testing.assert_allclose(both, V.least_norm(J, TWIST, EXTRA), atol=1e-12)


def test_limit_avoidance_is_the_gradient_of_its_measure() -> None:
    for robot in (PANDA, kd.load("humanoid")):
        q, h = robot.random(4, seed=3), 1e-6
        v = V.limit_avoidance(robot, q)
        steps = h * np.eye(robot.nv)[:, None]
        up, down = (V.limit_measure(robot, robot.integrate(q, sign * steps)) for sign in (1.0, -1.0))
        np.testing.assert_allclose((up - down).T / (2 * h), v, atol=1e-9)
        assert np.abs(v).max() > 1e-3


def test_the_limit_measure_is_zero_in_the_middle_and_an_eighth_below_at_the_limits() -> None:
    lower, upper = PANDA.limits.lower, PANDA.limits.upper
    np.testing.assert_allclose(V.limit_measure(PANDA, [0.5 * (lower + upper), lower, upper]), [0.0, -0.125, -0.125])
    np.testing.assert_allclose(V.limit_avoidance(PANDA, 0.5 * (lower + upper)), 0.0, atol=1e-15)


def test_joints_without_limits_get_no_avoidance() -> None:
    robot = kd.load("planar2r")
    np.testing.assert_array_equal(V.limit_avoidance(robot, [[3.0, -9.0]]), [[0.0, 0.0]])
    humanoid = kd.load("humanoid")
    np.testing.assert_array_equal(V.limit_avoidance(humanoid, humanoid.random())[:6], 0.0)


def test_avoidance_as_a_secondary_task_leaves_the_hand_and_raises_the_measure() -> None:
    q = PANDA.random(50, seed=4)
    Jq = kd.kinematics.jacobian(PANDA, q, TOOL)
    v = V.least_norm(Jq, np.zeros(6), V.limit_avoidance(PANDA, q))
    np.testing.assert_allclose(times(Jq, v), 0.0, atol=1e-12)
    assert (V.limit_measure(PANDA, q + 1e-3 * v) > V.limit_measure(PANDA, q)).all()


DT = 0.005


def follow(target: Callable[[float], Array], steps: int, gain: float, local_twist: Array | None = None) -> Array:
    """Drive the panda by the midpoint rule after a target, feeding its twist forward if given; return what is left."""
    q, errors = START, []

    def rates(q: Array, t: float) -> Array:
        R = np.kron(np.eye(2), target(t)[:3, :3])
        twist = None if local_twist is None else R @ local_twist
        return V.resolved_rate(PANDA, q, target(t), TOOL, gain=gain, feedforward=twist)

    for t in DT * np.arange(steps):
        errors.append(kd.spatial.pose_error(kd.kinematics.pose(PANDA, q, TOOL), target(t), "local"))
        middle = PANDA.integrate(q, 0.5 * DT * rates(q, t))
        q = PANDA.integrate(q, DT * rates(middle, t + 0.5 * DT))
    return np.array(errors)


START = np.array([0.1, -0.4, 0.2, -1.8, 0.1, 1.7, 0.5])


def test_the_error_of_resolved_rates_shrinks_exponentially() -> None:
    T = kd.kinematics.pose(PANDA, START, TOOL) @ kd.spatial.exp([0.05, 0.04, -0.08, 0.3, -0.2, 0.4])
    errors = follow(lambda t: T, 200, 3.0)
    np.testing.assert_allclose(errors, np.outer(np.exp(-3.0 * DT * np.arange(200)), errors[0]), atol=1e-4)


def test_feedforward_removes_the_lag_behind_a_moving_target() -> None:
    """A target on a screw; the starting error dies out as if the target stood still."""
    T = kd.kinematics.pose(PANDA, START, TOOL) @ kd.spatial.exp([0.08, -0.1, 0.05, 0.1, 0.0, 0.2])
    twist = np.array([0.05, 0.0, 0.02, 0.0, 0.3, 0.4])
    errors = follow(lambda t: T @ kd.spatial.exp(twist * t), 300, 4.0, twist)
    np.testing.assert_allclose(errors, np.outer(np.exp(-4.0 * DT * np.arange(300)), errors[0]), atol=1e-4)
    lagging = follow(lambda t: T @ kd.spatial.exp(twist * t), 300, 4.0)
    assert np.linalg.norm(lagging[-1]) == pytest.approx(np.linalg.norm(twist) / 4.0, rel=0.05)  # speed over gain


def test_resolved_rates_of_a_batch_agree_with_single_states() -> None:
    q = PANDA.random(6, seed=5).reshape(3, 2, 7)
    T = kd.kinematics.pose(PANDA, PANDA.random(2, seed=6), TOOL)
    options = {"gain": np.array([[1.0], [2.0], [0.5]]), "feedforward": np.arange(6.0), "damping": 0.1}
    together = V.resolved_rate(PANDA, q, T, TOOL, **options, null_velocity=np.ones(7))  # type: ignore[arg-type]
    assert together.shape == (3, 2, 7)
    for i in range(3):
        for k in range(2):
            own = {**options, "gain": (1.0, 2.0, 0.5)[i]}
            alone = V.resolved_rate(PANDA, q[i, k], T[k], TOOL, **own, null_velocity=np.ones(7))  # type: ignore[arg-type]
            np.testing.assert_allclose(together[i, k], alone, atol=1e-12)


def test_a_batch_agrees_with_single_states() -> None:
    tasks = [(J[..., :2, :], TWIST[..., :2]), (J[..., 2:, :], TWIST[..., 2:])]
    found = {
        "null_space": V.null_space(J),
        "least_norm": V.least_norm(J, TWIST, EXTRA),
        "adaptive_damping": V.adaptive_damping(J, threshold=100.0),
        "stacked": V.stacked(tasks, weights=[1.0, 2.0], damping=0.1),
        "prioritised": V.prioritised(tasks, damping=0.1),
    }
    for i in np.ndindex(5, 4):
        own = [(matrix[i], twist[i]) for matrix, twist in tasks]
        np.testing.assert_allclose(found["null_space"][i], V.null_space(J[i]), atol=1e-13)
        np.testing.assert_allclose(found["least_norm"][i], V.least_norm(J[i], TWIST[i], EXTRA[i[1]]), atol=1e-12)
        np.testing.assert_allclose(found["adaptive_damping"][i], V.adaptive_damping(J[i], threshold=100.0), atol=1e-13)
        np.testing.assert_allclose(found["stacked"][i], V.stacked(own, weights=[1.0, 2.0], damping=0.1), atol=1e-12)
        np.testing.assert_allclose(found["prioritised"][i], V.prioritised(own, damping=0.1), atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: V.least_norm(np.full((2, 3), np.nan), [0.0, 0.0]), "J must be finite numbers"),
        (lambda: V.least_norm([1.0, 2.0], [0.0]), r"J must have shape \(..., m, n\), .*, got \(2,\)"),
        (lambda: V.least_norm(np.eye(3), [0.0, 0.0]), r"twist must have shape \(..., 3\), got \(2,\)"),
        (lambda: V.least_norm(np.eye(3), np.zeros(3), [1.0]), r"null_velocity must have shape \(..., 3\), got \(1,\)"),
        (lambda: V.least_norm(np.ones((2, 3, 3)), np.zeros((5, 3))), r"are not compatible"),
        (lambda: V.damped(np.eye(3), np.zeros(3), -0.1), "damping must be nonnegative"),
        (lambda: V.adaptive_damping(np.eye(3), threshold=0.0), "threshold must be a positive number, got 0.0"),
        (lambda: V.adaptive_damping(np.eye(3), maximum=np.inf), "maximum must be a positive number"),
        (lambda: V.stacked([]), "tasks is empty"),
        (lambda: V.prioritised([(np.eye(3), np.zeros(3)), (np.eye(2), np.zeros(2))]), r"tasks\[1\]: J has 2 columns"),
        (lambda: V.prioritised([np.eye(3)]), r"tasks\[0\] must be a pair"),  # type: ignore[list-item]
        (lambda: V.stacked([(np.eye(2), [0, 0])], weights=[1.0, 2.0]), "one entry for each of the 1 tasks, got 2"),
        (lambda: V.stacked([(np.eye(2), [0, 0])], weights=[-1.0]), r"weights\[0\] must be nonnegative"),
        (
            lambda: V.resolved_rate(PANDA, START, np.eye(4), TOOL, gain=-1.0),
            r"gain must be nonnegative \[1/s\]: a negative one drives the frame away from its target",
        ),
        (lambda: V.resolved_rate(PANDA, START, np.ones((4, 4)), TOOL), "T_target: the last row"),
        (lambda: V.limit_avoidance(PANDA, np.full(7, np.inf)), "not finite"),
    ],
)
def test_invalid_arguments_are_rejected_with_what_to_give(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_an_unknown_frame_is_rejected() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'panda_hand_tcp'"):
        V.resolved_rate(PANDA, START, np.eye(4), "panda_hand_tpc")
