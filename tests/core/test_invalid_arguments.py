"""Every public function with arguments that are wrong: a typed error that says what came and what was allowed."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.errors import InputError, KinodynError, UnknownNameError
from kinodyn.model.robot import Robot

from .humanoid import FRAME, NV, ROBOT, states

K, D = kd.kinematics, kd.dynamics

Ask = Any  # a public function with arguments for it, see conftest.py


def test_a_robot_that_is_none_is_rejected(ask: Ask) -> None:
    for wrong in (None, "humanoid", ROBOT.description):
        with pytest.raises(InputError, match="robot must be a kinodyn.Robot, got "):
            ask(*ask.arguments(), robot=wrong)


def test_an_argument_of_the_wrong_size_is_rejected_with_both_sizes(ask: Ask) -> None:
    good = ask.arguments()
    for place, array in enumerate(good):
        for wrong in (array[:, :-1], np.hstack([array, array[:, :1]]), array[0, 0], array[:, :0]):
            with pytest.raises(InputError, match=rf"must have shape \(\.\.\., {array.shape[-1]}\), got \("):
                ask(*good[:place], wrong, *good[place + 1 :])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_non_finite_number_is_rejected_with_its_index(ask: Ask, bad: float) -> None:
    """In a batch, beyond the first pack of lanes, and in a single state."""
    for place in range(len(ask.arguments())):
        batch = ask.arguments(11)
        batch[place][9, 8] = bad
        with pytest.raises(InputError, match=r"\[9, 8\] is not finite: -?(nan|inf)"):
            ask(*batch)
        single = ask.arguments(None)
        single[place][8] = bad
        with pytest.raises(InputError, match=r"\[8\] is not finite: -?(nan|inf)"):
            ask(*single)


def test_the_reported_index_is_that_in_the_users_array() -> None:
    q, v = ROBOT.random((4, 5)), np.zeros(NV)
    v[7] = np.nan
    with pytest.raises(InputError, match=r"v\[7\] is not finite: nan"):
        D.bias(ROBOT, q, v)
    q[3, 2, 20] = np.inf
    with pytest.raises(InputError, match=r"q\[3, 2, 20\] is not finite: inf"):
        D.bias(ROBOT, q, np.zeros(NV))


@pytest.mark.parametrize("wrong", [None, "abc", ["a"] * 3, 1j, object(), {}, [[1.0], [1.0, 2.0]], b"123", [None] * 3])
def test_non_numeric_arrays_are_rejected(ask: Ask, wrong: Any) -> None:
    good = ask.arguments()
    for place in range(len(good)):
        if ask.name == "state" and wrong is None and place == 1:
            continue  # a state without v stands still
        bad = wrong if not isinstance(wrong, complex) else good[place] + 1j
        with pytest.raises(InputError, match="is None; an array|must be an array of real numbers, got"):
            ask(*good[:place], bad, *good[place + 1 :])


@pytest.mark.parametrize("factor", [1.01, 0.99, 0.0, 1e-160, 1e160])
def test_a_quaternion_that_is_not_of_unit_length_is_rejected_with_its_norm(ask: Ask, factor: float) -> None:
    for place, kind in enumerate(ask.kinds):
        if kind != "q":
            continue
        for n in (None, 11):
            bad = ask.arguments(n)
            state = bad[place] if n is None else bad[place][9]
            state[3:7] *= factor
            where = "" if n is None else r" at state \[9\]"
            with pytest.raises(InputError, match=rf"\[\.\.\., 3:7\] must be a unit quaternion .* norm is \S+{where}"):
                ask(*bad)


def test_unknown_frames_are_rejected_with_the_nearest_names() -> None:
    q, v = ROBOT.random(), np.zeros(NV)
    state = kd.State(ROBOT, q, v)
    calls: list[Callable[[Any], Any]] = [
        lambda f: K.pose(ROBOT, q, f),
        lambda f: K.poses(ROBOT, q, frames=["head", f]),
        lambda f: K.jacobian(ROBOT, q, f),
        lambda f: K.jacobian_dot(ROBOT, q, v, f),
        lambda f: K.analytic_jacobian(ROBOT, q, f),
        lambda f: K.velocity(ROBOT, q, v, f),
        lambda f: K.acceleration(ROBOT, q, v, v, f),
        lambda f: K.manipulability(ROBOT, q, f),
        lambda f: D.inverse(ROBOT, q, v, v, {f: np.zeros(6)}),
        lambda f: D.bias(ROBOT, q, v, {f: np.zeros(6)}),
        lambda f: D.forward(ROBOT, q, v, v, {f: np.zeros(6)}),
        lambda f: ROBOT.frame_index(f),
        lambda f: state.pose(f),
        lambda f: state.jacobian(f),
    ]
    for function in calls:
        with pytest.raises(UnknownNameError, match="unknown frame 'left_hnd'; did you mean 'left_hand'"):
            function("left_hnd")
        with pytest.raises(UnknownNameError, match="unknown frame 'qqqqqq'; known: world, pelvis"):
            function("qqqqqq")
        for index in (-1, len(ROBOT.frame_names), 10**30, np.int64(1000)):
            with pytest.raises(UnknownNameError, match=f"is out of range: this robot has frames 0 to {36}"):
                function(index)
        for wrong in (True, 1.0, None, b"head", np.float64(1.0), np.True_):
            with pytest.raises(InputError, match="frame must be a name or an index, got"):
                function(wrong)
        function(3)
        function(np.int32(3))


@pytest.mark.parametrize("wrong", ["Local", "", None, 0, "LOCAL_WORLD_ALIGNED"])
def test_an_unknown_reference_is_rejected(wrong: Any) -> None:
    q, v = ROBOT.random(), np.zeros(NV)
    state = kd.State(ROBOT, q, v)
    for function in (
        lambda: K.jacobian(ROBOT, q, FRAME, reference=wrong),
        lambda: K.jacobian_dot(ROBOT, q, v, FRAME, reference=wrong),
        lambda: K.velocity(ROBOT, q, v, FRAME, reference=wrong),
        lambda: K.acceleration(ROBOT, q, v, v, FRAME, reference=wrong),
        lambda: state.jacobian(FRAME, reference=wrong),
    ):
        with pytest.raises(InputError, match="reference must be 'local_world_aligned'"):
            function()


def test_unknown_choices_are_rejected() -> None:
    q, v = ROBOT.random(), np.zeros(NV)
    for wrong in ("Classical", None, [], 1):
        choice: Any = wrong
        with pytest.raises(InputError, match='kind must be "classical" or "spatial"'):
            K.acceleration(ROBOT, q, v, v, FRAME, kind=choice)
        with pytest.raises(
            InputError, match="part must be 'all', 'linear', 'angular', or some of x y z rx ry rz such as 'x y rz'"
        ):
            K.manipulability(ROBOT, q, FRAME, part=choice)
        with pytest.raises(
            InputError, match='parameters must be "quaternion", "rotation_vector" or an order such as "ZYX"'
        ):
            K.analytic_jacobian(ROBOT, q, FRAME, parameters=choice)


@pytest.mark.parametrize("frames", ["head", 3, {"head"}, iter(["head"]), 2.0])
def test_frames_must_be_a_sequence(frames: Any) -> None:
    with pytest.raises(InputError, match="frames must be a sequence of frame names"):
        K.poses(ROBOT, ROBOT.neutral(), frames=frames)


@pytest.mark.parametrize(
    ("wrenches", "message"),
    [
        ([np.zeros(6)], "wrenches must be a mapping of frame -> .*, got list"),
        (np.zeros(6), "wrenches must be a mapping of frame -> .*, got numpy.ndarray"),
        ({FRAME: np.zeros(5)}, r"wrenches\['left_hand'\] must have shape \(\.\.\., 6\), got \(5,\)"),
        ({FRAME: 1.0}, r"wrenches\['left_hand'\] must have shape \(\.\.\., 6\), got \(\)"),
        ({FRAME: None}, r"wrenches\['left_hand'\] is None"),
        ({FRAME: "push"}, r"wrenches\['left_hand'\] must be an array of real numbers"),
        ({FRAME: [0, 0, np.nan, 0, 0, 0]}, r"wrenches\['left_hand'\]\[2\] is not finite: nan"),
        ({FRAME: np.zeros((2, 6))}, r"batch shapes do not broadcast: .*wrenches\['left_hand'\] \(2, 6\)"),
    ],
)
def test_invalid_wrenches_are_rejected(wrenches: Any, message: str) -> None:
    q, v, a = states(3)
    for function in (
        lambda: D.inverse(ROBOT, q, v, a, wrenches),
        lambda: D.forward(ROBOT, q, v, a, wrenches),
        lambda: D.bias(ROBOT, q, v, wrenches),
    ):
        with pytest.raises(InputError, match=message):
            function()


@pytest.mark.parametrize("huge", [1e155, 1e200, 1e300, -1e308])
def test_a_huge_number_gives_a_typed_error_or_a_finite_answer(ask: Ask, huge: float) -> None:
    for place in range(len(ask.kinds)):
        for n in (None, 9):
            for element in (0, 10):  # of the base's position, which moves, and of a joint, which turns
                bad = ask.arguments(n)
                bad[place][..., element] = huge
                try:
                    found = ask(*bad)
                except KinodynError:
                    continue
                for x in found if isinstance(found, tuple) else (found,):
                    assert np.isfinite(x).all()


def test_too_large_a_result_names_the_state_that_caused_it() -> None:
    for state in range(11):
        q, v, a = states(11)
        v[state, 8] = 1e200
        for function in (lambda q=q, v=v: D.bias(ROBOT, q, v), lambda q=q, v=v: D.kinetic_energy(ROBOT, q, v)):
            with pytest.raises(InputError, match=rf"too large for float64 at state \[{state}\]"):
                function()
    v = np.full(NV, 1e200)
    with pytest.raises(InputError, match="the result is too large for float64: an argument is finite but far too big"):
        D.bias(ROBOT, ROBOT.neutral(), v)


@pytest.mark.parametrize("count", [0, -1, 2.0, None, "2", True, 5000, 2**40, [1]])
def test_an_invalid_number_of_threads_is_rejected(count: Any) -> None:
    before = kd.get_threads()
    with pytest.raises(InputError, match="threads must be an integer from 1 to 1024, got"):
        kd.set_threads(count)
    assert kd.get_threads() == before


@pytest.mark.parametrize("n", [-1, 2.5, "3", True, (2, -1), (2.0,), np.zeros(2), {3}])
def test_an_invalid_number_of_random_configurations_is_rejected(n: Any) -> None:
    with pytest.raises(InputError, match="n must be a nonnegative integer or a tuple of them, got"):
        ROBOT.random(n)


@pytest.mark.parametrize("seed", [-1, 2.5, "a", [1.5]])
def test_an_invalid_seed_is_rejected(seed: Any) -> None:
    with pytest.raises(InputError, match="seed must be a nonnegative integer"):
        ROBOT.random(seed=seed)


@pytest.mark.parametrize(
    ("share", "message"),
    [
        (np.nan, "s.* is not finite: nan"),
        (None, "s is None"),
        ("half", "s must be an array of real numbers"),
        (np.ones(4), r"batch shapes do not broadcast: .* s \(4,\)"),
    ],
)
def test_an_invalid_interpolation_fraction_is_rejected(share: Any, message: str) -> None:
    q = ROBOT.random(3)
    with pytest.raises(InputError, match=message):
        ROBOT.interpolate(q, q, share)


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({"gravity": [0.0, 0.0]}, r"gravity must be a number or an array of shape \(3,\)"),
        ({"gravity": "down"}, r"gravity must be a number or an array of shape \(3,\)"),
        ({"gravity": [0, 0, np.nan]}, "gravity must be finite"),
        ({"damping": -1.0}, "damping must be finite and not negative"),
        ({"damping": np.inf}, "damping must be finite and not negative"),
        ({"armature": np.ones(35)}, r"armature must be a number or an array of shape \(36,\)"),
        ({"armature": 1j}, r"armature must be a number or an array of shape \(36,\)"),
    ],
)
def test_invalid_constants_are_rejected(constants: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ROBOT.replace(**constants)
    with pytest.raises(InputError, match=message):
        Robot(ROBOT.description, **constants)


def test_a_robot_takes_a_description_and_known_constants_only() -> None:
    wrong: Any = None
    with pytest.raises(InputError, match="description must be a .*Description, got None"):
        Robot(wrong)
    with pytest.raises(TypeError, match="unexpected keyword argument 'stiffness'"):
        Robot(ROBOT.description, stiffness=1.0)  # type: ignore[call-arg]


def test_unknown_joints_and_configurations_are_rejected_with_the_nearest_names() -> None:
    with pytest.raises(UnknownNameError, match="unknown joint 'left_kne'; did you mean 'left_knee'"):
        ROBOT.joint("left_kne")
    with pytest.raises(UnknownNameError, match="unknown configuration 'standin'; did you mean 'standing'"):
        ROBOT.configuration("standin")
    wrong: Any
    for wrong in (None, 3, [1], b"standing"):
        with pytest.raises(UnknownNameError):
            ROBOT.joint(wrong)
        with pytest.raises(UnknownNameError):
            ROBOT.configuration(wrong)


def test_an_update_of_another_shape_is_rejected() -> None:
    state = kd.State(ROBOT, ROBOT.random(3), np.zeros((3, NV)))
    with pytest.raises(InputError, match="shape"):
        state.update(ROBOT.random(4), np.zeros((4, NV)))
    with pytest.raises(InputError, match="v is None"):
        state.update(ROBOT.random(3), None)  # type: ignore[arg-type]
    q = ROBOT.random(3)
    q[1, 3] = np.nan
    with pytest.raises(InputError, match=r"q\[1, 3\] is not finite"):
        state.update(q, np.zeros((3, NV)))
    q = ROBOT.random(3)
    np.testing.assert_allclose(state.update(q, np.zeros((3, NV))).com, K.com(ROBOT, q), atol=1e-14)


def test_an_array_is_not_a_frame_name() -> None:
    with pytest.raises(InputError, match="frame must be a name or an index, got numpy.ndarray"):
        kd.kinematics.pose(ROBOT, ROBOT.neutral(), np.array([3]))  # type: ignore[arg-type]


def test_wrenches_may_be_any_mapping() -> None:
    frame, still = ROBOT.frame_names[-1], np.zeros(ROBOT.nv)
    wrench = {frame: np.arange(6.0)}
    expected = kd.dynamics.inverse(ROBOT, ROBOT.neutral(), still, still, wrench)
    assert np.abs(expected).max() > 0
    given = kd.dynamics.inverse(ROBOT, ROBOT.neutral(), still, still, MappingProxyType(wrench))
    np.testing.assert_array_equal(given, expected)
