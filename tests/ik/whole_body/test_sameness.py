"""One answer, however it is asked for: in batches, warm, in any order of tasks, with any instruction set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.tasks import Task

N = 30


def targets(body: Any, seed: int = 0) -> tuple[Array, dict[str, Array]]:
    """Draw states (N, nq), and for each of them what tasks are to reach."""
    rng = np.random.default_rng(seed)
    goal = body.draw(N, 0.6, rng)
    poses = {hand: kd.kinematics.pose(body.robot, goal, hand) for hand in body.hands}
    poses["com"] = kd.kinematics.com(body.robot, goal)
    poses["seen"] = rng.normal(size=(N, 3)) * 2
    return body.draw(N, 0.4, rng), poses


def tasks_of(body: Any, wanted: dict[str, Array], k: Any = slice(None)) -> list[Task]:
    return [
        *body.stance(),
        *(kd.tasks.FrameTask(hand, wanted[hand][k]) for hand in body.hands),
        kd.tasks.ComTask(wanted["com"][k], weights=(1, 1, 0), priority=2),
        kd.tasks.GazeTask(body.head, wanted["seen"][k], priority=2),
        kd.tasks.PostureTask(body.q, priority=3),
    ]


def limits_of(body: Any) -> list[Any]:
    slow = [kd.limits.PositionLimit(), kd.limits.VelocityLimit(scale=0.3), kd.limits.AccelerationLimit(20.0)]
    return [*slow, kd.limits.ComLimit(body.polygon())]


def assert_same(found: Array, expected: Array, tolerance: float) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, float(np.abs(expected).max())))


def assert_serves_the_same(body: Any, tasks: list[Task], q: Array, found: Array, expected: Array) -> None:
    """Check that two steps (N, nv) leave each level of tasks as much to be done."""
    for priority in {task.priority for task in tasks}:
        left = np.zeros((2, len(q)))
        scale = np.zeros(len(q))
        for task in tasks:
            if task.priority == priority:
                weights = task.row_weights(body.robot)
                error, J = task.error(body.robot, q), task.jacobian(body.robot, q)
                for k, x in enumerate((found, expected)):
                    left[k] += ((weights * (task.gain * error - (J @ x[..., None])[..., 0])) ** 2).sum(axis=-1)
                scale += ((weights * error) ** 2).sum(axis=-1)
        np.testing.assert_array_less(np.abs(left[0] - left[1]) / scale, 1e-8)


def test_a_batch_agrees_with_single_states(body: Any) -> None:
    q, wanted = targets(body)
    batch = kd.ik.WholeBody(body.robot, tasks_of(body, wanted), limits_of(body))
    together = [batch.step(q, 0.01), batch.step(q, 0.01)]
    result = batch.solve(q)
    for k in range(N):
        single = kd.ik.WholeBody(body.robot, tasks_of(body, wanted, k), limits_of(body))
        for step in together:
            alone = single.step(q[k], 0.01)
            np.testing.assert_array_equal(alone.v, step.v[k])
            np.testing.assert_array_equal(alone.q, step.q[k])
            np.testing.assert_array_equal(alone.errors, step.errors[k])
            np.testing.assert_array_equal(alone.at_bound, step.at_bound[k])
        own = single.solve(q[k])
        np.testing.assert_array_equal(own.q, result.q[k])
        assert own.status == result.status[k] and own.iterations == result.iterations[k]


def test_batches_have_any_number_of_axes_and_broadcast(person: Any) -> None:
    q, wanted = targets(person)
    flat = kd.ik.WholeBody(person.robot, tasks_of(person, wanted)).step(q, 0.01)
    shaped = {name: value.reshape(5, 6, *value.shape[1:]) for name, value in wanted.items()}
    deep = kd.ik.WholeBody(person.robot, tasks_of(person, shaped)).step(q.reshape(5, 6, -1), 0.01)
    np.testing.assert_array_equal(deep.v.reshape(N, -1), flat.v)
    assert deep.errors.shape == (5, 6, 7, 2)
    many = kd.ik.WholeBody(person.robot, tasks_of(person, wanted)).step(q[0], 0.01)  # one state, many targets
    assert many.q.shape == (N, person.robot.nq)
    np.testing.assert_array_equal(many.v[0], flat.v[0])


def test_the_number_of_threads_does_not_matter(body: Any) -> None:
    q, wanted = targets(body)
    before = kd.get_threads()
    found = []
    for threads in (1, 2):
        kd.set_threads(threads)
        found.append(kd.ik.WholeBody(body.robot, tasks_of(body, wanted)).step(q, 0.01).v)
    kd.set_threads(before)
    np.testing.assert_array_equal(found[0], found[1])


def test_a_warm_start_does_not_change_the_answer(body: Any) -> None:
    q, wanted = targets(body)
    tasks = tasks_of(body, wanted)
    warm = kd.ik.WholeBody(body.robot, tasks, limits_of(body))
    x, v = q, np.zeros((N, body.robot.nv))
    for k in range(20):
        fresh = kd.ik.WholeBody(body.robot, tasks, limits_of(body)).step(x, 0.01, v)
        step = warm.step(x, 0.01)
        assert_serves_the_same(body, tasks, x, 0.01 * step.v, 0.01 * fresh.v)
        x, v = step.q, step.v
        if k == 10:  # guesses that are all wrong
            mixed = warm.step(x[::-1], 0.01, v[::-1])
            x, v = mixed.q, mixed.v


def test_the_order_of_tasks_does_not_matter(body: Any) -> None:
    q, wanted = targets(body)
    rng = np.random.default_rng(1)
    tasks = tasks_of(body, wanted)
    first = kd.ik.WholeBody(body.robot, tasks, limits_of(body))
    step = first.step(q, 0.01)
    for _ in range(4):
        order = rng.permutation(len(tasks))
        again = kd.ik.WholeBody(body.robot, [tasks[k] for k in order], limits_of(body)).step(q, 0.01)
        assert_serves_the_same(body, tasks, q, 0.01 * again.v, 0.01 * step.v)
        np.testing.assert_array_equal(again.errors, step.errors[:, order])


def test_gaps_between_priorities_do_not_matter(person: Any) -> None:
    q, wanted = targets(person)
    hand = person.hands[0]
    found = [
        kd.ik.WholeBody(
            person.robot,
            [
                kd.tasks.FrameTask(hand, wanted[hand], priority=first),
                kd.tasks.PostureTask(person.q, priority=last),
            ],
        )
        .step(q, 0.01)
        .v
        for first, last in ((0, 1), (1, 2), (3, 1000))
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.fixture(scope="module")
def reference(body: Any) -> Array:
    before = _core.instruction_set()
    _core.use_instruction_set(_core.instruction_sets()[0])
    q, wanted = targets(body)
    v = kd.ik.WholeBody(body.robot, tasks_of(body, wanted), limits_of(body)).step(q, 0.01).v
    _core.use_instruction_set(before)
    return v


def test_every_instruction_set_gives_the_same(body: Any, reference: Array, instruction_set: str) -> None:
    q, wanted = targets(body)
    assert _core.instruction_set() == instruction_set
    tasks = tasks_of(body, wanted)
    step = kd.ik.WholeBody(body.robot, tasks, limits_of(body)).step(q, 0.01)
    assert_serves_the_same(body, tasks, q, 0.01 * step.v, 0.01 * reference)


def test_one_task_serves_two_solvers(person: Any) -> None:
    hand = kd.tasks.FrameTask("left_palm", person.pose("left_palm", (0.1, 0.0, 0.0)))
    one = kd.ik.WholeBody(person.robot, [hand])
    other = kd.ik.WholeBody(person.robot, [*person.stance(), hand])
    alone = other.step(person.q, 0.01).v
    one.step(person.q, 0.01)
    other.reset()
    np.testing.assert_array_equal(other.step(person.q, 0.01).v, alone)
    hand.target = person.pose("left_palm", (0.0, 0.0, 0.1))
    for solver in (one, other):
        assert solver.step(person.q, 0.01).errors[-1, 0] == pytest.approx(0.1)
        assert (hand.jacobian(person.robot, person.q) @ solver.step(person.q, 0.01).v)[1] != 0


def test_a_solver_takes_one_state_after_a_batch_and_another_batch_after_that(person: Any) -> None:
    hand = kd.tasks.FrameTask("left_palm", person.pose("left_palm", (0.1, 0.0, 0.0)))
    limits = [kd.limits.VelocityLimit(), kd.limits.AccelerationLimit(5.0)]
    solver = kd.ik.WholeBody(person.robot, [hand], limits)
    alone = kd.ik.WholeBody(person.robot, [hand], limits).step(person.q, 0.01).v
    for n in (3, None, 5, 2):
        q = person.q if n is None else np.repeat(person.q[None], n, axis=0)
        step = solver.step(q, 0.01)
        assert step.q.shape == q.shape
    assert_same(step.v, np.broadcast_to(alone, step.v.shape), 1e-9)
