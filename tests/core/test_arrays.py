"""Array arguments of every type, layout and batch shape give the right result, in `out` if it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.errors import InputError

from .humanoid import FRAME, NQ, NV, ROBOT, states

K, D = kd.kinematics, kd.dynamics

Ask = Any  # a public function with arguments for it, see conftest.py


def assert_same(found: Any, expected: Any, tolerance: float = 0.0) -> None:
    """Compare arrays or tuples of them."""
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for x, y in pairs:
        scale = np.abs(y).max(initial=1.0)
        np.testing.assert_allclose(x, y, rtol=0.0, atol=tolerance * scale)


def test_unusual_memory_layouts_give_the_same_result(ask: Ask) -> None:
    good = ask.arguments(4)
    expected = ask(*good)
    unusual: dict[str, Callable[[Array], Any]] = {
        "list": lambda x: x.tolist(),
        "Fortran order": np.asfortranarray,
        "every second row": lambda x: np.repeat(x, 2, axis=0)[::2],
        "every second column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
        "backwards": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
        "read-only": lambda x: np.broadcast_to(x, x.shape),
        "big endian": lambda x: x.astype(">f8"),
        "long double": lambda x: x.astype(np.longdouble),
        "a subclass": lambda x: x.view(np.recarray),
        "unaligned": lambda x: np.frombuffer(b"x" + x.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(x.shape),
    }
    for what, change in unusual.items():
        found = ask(*(change(array) for array in good))
        try:
            assert_same(found, expected)
        except AssertionError as error:
            raise AssertionError(what) from error


def test_float32_and_integer_arrays_are_converted(ask: Ask) -> None:
    good = ask.arguments(4)
    single = [array.astype(np.float32) for array in good]
    assert_same(ask(*single), ask(*(array.astype(float) for array in single)))
    whole = [np.tile(ROBOT.neutral() if k == "q" else np.arange(NV), (4, 1)).astype(int) for k in ask.kinds]
    for kind in (np.int64, np.int32, np.int8):
        given = [array.astype(kind) for array in whole]
        assert_same(ask(*given), ask(*(array.astype(float) for array in given)))


def test_arguments_are_not_modified(ask: Ask) -> None:
    good = ask.arguments(9)
    before = [array.copy() for array in good]
    ask(*good)
    for array, copy in zip(good, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_an_empty_batch_gives_an_empty_result(ask: Ask) -> None:
    one = ask(*ask.arguments(None))
    for batch in ((0,), (3, 0), (0, 2)):
        empty = [np.empty((*batch, NQ if kind == "q" else NV)) for kind in ask.kinds]
        found = ask(*empty)
        for x, y in zip(found, one, strict=True) if isinstance(one, tuple) else [(found, one)]:
            assert x.shape == (*batch, *np.shape(y))


def test_batches_of_any_size_agree_with_single_states(ask: Ask) -> None:
    """Of 1 to 17 states: full packs, rests and both."""
    for n in (1, 2, 3, 4, 5, 7, 8, 9, 16, 17):
        good = ask.arguments(n, seed=n)
        found = ask(*good)
        for i in range(n):
            one = ask(*(array[i] for array in good))
            assert_same(tuple(x[i] for x in found) if isinstance(one, tuple) else found[i], one, 1e-11)


def test_batch_axes_broadcast(ask: Ask) -> None:
    good = ask.arguments(35)
    if len(good) == 1:
        tall = [good[0].reshape(5, 7, -1)]
        assert_same(ask(*tall), reshaped(ask(*good)), 1e-12)
        return
    first, *rest = good
    found = ask(first[:5, None], *(array[:7] for array in rest))
    full = ask(np.repeat(first[:5], 7, axis=0), *(np.tile(array[:7], (5, 1)) for array in rest))
    assert_same(found, reshaped(full), 1e-12)
    found = ask(first.reshape(5, 7, -1), *(array[0] for array in rest))
    full = ask(first, *(np.tile(array[0], (35, 1)) for array in rest))
    assert_same(found, reshaped(full), 1e-12)


def reshaped(found: Any) -> Any:
    if isinstance(found, tuple):
        return tuple(reshaped(x) for x in found)
    return found.reshape(5, 7, *found.shape[1:])


def test_batches_that_do_not_broadcast_are_rejected_with_their_shapes(ask_several: Ask) -> None:
    good = ask_several.arguments(4)
    with pytest.raises(InputError, match=r"batch shapes do not broadcast: .*\(4, \d+\)"):
        ask_several(good[0][:3], *good[1:])


def test_float32_quaternions_are_accepted_and_normalised() -> None:
    q = ROBOT.random(9).astype(np.float32)
    R = K.pose(ROBOT, q, FRAME)[:, :3, :3]
    np.testing.assert_allclose(R @ np.swapaxes(R, 1, 2), np.broadcast_to(np.eye(3), R.shape), atol=1e-14)


def test_out_is_filled_and_returned(ask_with_out: Ask) -> None:
    good = ask_with_out.arguments(9)
    expected = ask_with_out(*good)
    room = (
        tuple(np.full_like(x, np.nan) for x in expected) if isinstance(expected, tuple) else np.full_like(expected, 7)
    )
    found = ask_with_out(*good, out=room)
    if isinstance(expected, tuple):
        assert all(x is y for x, y in zip(found, room, strict=True))
    else:
        assert found is room
    assert_same(found, expected)


def test_an_unsuitable_out_array_is_rejected(ask_with_out: Ask) -> None:
    good = ask_with_out.arguments(3)
    expected = ask_with_out(*good)

    def rejected(make: Callable[[Array], Any], message: str) -> None:
        room = tuple(make(x) for x in expected) if isinstance(expected, tuple) else make(expected)
        with pytest.raises(InputError, match=message):
            ask_with_out(*good, out=room)

    def read_only(x: Array) -> Array:
        x = x.copy()
        x.flags.writeable = False
        return x

    rejected(lambda x: x[0].copy(), r"out must have shape \(3, .*\), got")
    rejected(lambda x: np.concatenate([x, x]), r"out must have shape \(3, .*\), got \(6")
    rejected(lambda x: x.astype(np.float32), "out must be a writeable, C-contiguous float64 array")
    rejected(lambda x: x.astype(">f8"), "out must be a writeable, C-contiguous float64 array")
    rejected(lambda x: np.repeat(x, 2, axis=0)[::2], "out must be a writeable, C-contiguous float64 array")
    rejected(lambda x: np.asfortranarray(np.stack([x, x]))[0], "out must be a writeable, C-contiguous float64 array")
    rejected(read_only, "out must be a writeable, C-contiguous float64 array")
    rejected(lambda x: x.tolist(), "out must be a NumPy array, got list")


@pytest.mark.parametrize("function", [D.inverse_derivatives, D.forward_derivatives])
def test_out_for_several_results_must_be_distinct_arrays(function: Callable[..., Any]) -> None:
    good, room = states(3), np.empty((3, NV, NV))
    for wrong in (room, [room] * 3, (room,), (room,) * 4):
        with pytest.raises(InputError, match="out must be a tuple of 3 arrays"):
            function(ROBOT, *good, out=wrong)
    with pytest.raises(InputError, match="share memory"):
        function(ROBOT, *good, out=(room, room.copy(), room))


def test_out_may_be_an_argument() -> None:
    for n in (None, 9, 200):
        q, v, a = states(n)
        expected = ROBOT.integrate(q, v)
        moved = q.copy()
        assert ROBOT.integrate(moved, v, out=moved) is moved
        np.testing.assert_array_equal(moved, expected)
        for function in (D.inverse, D.forward):
            tau, x = function(ROBOT, q, v, a), a.copy()
            function(ROBOT, q, v, x, out=x)
            np.testing.assert_array_equal(x, tau)
        x = v.copy()
        np.testing.assert_array_equal(D.bias(ROBOT, q, x, out=x), D.bias(ROBOT, q, v))


def test_out_may_partially_overlap_an_argument() -> None:
    """Row i of the answer lies on row i + 1 of the velocities."""
    q, v, _ = states(20)
    memory = np.empty((21, NV))
    memory[1:] = v
    np.testing.assert_array_equal(D.bias(ROBOT, q, memory[1:], out=memory[:-1]), D.bias(ROBOT, q, v))


def test_selected_frames_are_returned_in_the_given_order() -> None:
    q = ROBOT.random(5)
    wanted = ["head", "left_foot", "head", "world", 7]
    found = K.poses(ROBOT, q, frames=wanted)
    for i, frame in enumerate(wanted):
        np.testing.assert_allclose(found[:, i], K.pose(ROBOT, q, frame), atol=1e-14)
    assert K.poses(ROBOT, q, frames=[]).shape == (5, 0, 4, 4)


def test_wrenches_broadcast_and_an_empty_dict_is_none() -> None:
    q, v, a = states(3)
    np.testing.assert_array_equal(D.inverse(ROBOT, q, v, a, {}), D.inverse(ROBOT, q, v, a))
    found = D.inverse(ROBOT, q, v, a, {FRAME: np.ones((4, 1, 6)), "head": np.ones((3, 6))})
    assert found.shape == (4, 3, NV)
    on_all = {name: np.ones(6) for name in ROBOT.frame_names}
    pull = sum(np.einsum("...ij,i->...j", K.jacobian(ROBOT, q, name), np.ones(6)) for name in ROBOT.frame_names)
    np.testing.assert_allclose(D.inverse(ROBOT, q, v, a, on_all), D.inverse(ROBOT, q, v, a) - pull, atol=1e-10)


@pytest.mark.parametrize("turns", [1, 1000, 10**6, 10**9])
def test_full_turns_change_results_only_by_rounding(turns: int, instruction_set: str) -> None:
    q = ROBOT.random(9)
    more = q.copy()
    more[:, 7:] += 2 * np.pi * turns
    tolerance = 1e-13 + 20 * np.spacing(2 * np.pi * turns)
    np.testing.assert_allclose(K.poses(ROBOT, more), K.poses(ROBOT, q), atol=tolerance)
    np.testing.assert_allclose(K.poses(ROBOT, more[0]), K.poses(ROBOT, q[0]), atol=tolerance)


@pytest.mark.parametrize("angle", [1e4, 99999.0, 100001.0, 1e10, 1e15, 1e22, 1e300])
def test_huge_angles_agree_with_the_c_library(angle: float, instruction_set: str) -> None:
    robot = kd.load("planar2r")
    T = K.pose(robot, np.tile([angle, 0.0], (5, 1)), robot.frame_names[-1])
    np.testing.assert_allclose(T[:, 0, 0], np.cos(angle), atol=1e-13)
    np.testing.assert_allclose(T[:, 1, 0], np.sin(angle), atol=1e-13)


def test_results_larger_than_the_cache_are_written_completely(instruction_set: str) -> None:
    """They go past the cache, where alignment counts: room that begins in the middle of 16 bytes too."""
    n = 8 * 2**20 // (NV * NV * 8) + 3
    q = ROBOT.random(n)
    expected = np.concatenate([D.mass_matrix(ROBOT, part) for part in np.array_split(q, 20)])
    memory = np.full(n * NV * NV + 1, np.nan)
    for start in (0, 1):
        room = memory[start : start + n * NV * NV].reshape(n, NV, NV)
        np.testing.assert_allclose(D.mass_matrix(ROBOT, q, out=room), expected, atol=1e-12)
    np.testing.assert_allclose(D.mass_matrix(ROBOT, q), expected, atol=1e-12)


@pytest.mark.parametrize("offset", range(8))
@pytest.mark.parametrize("function", [D.mass_matrix, K.poses])
def test_large_results_fill_unaligned_memory_exactly(
    function: Callable[..., Array], offset: int, instruction_set: str
) -> None:
    few = 48
    n = few * 32 + 3  # more bytes than from which the cache is bypassed, in packs of which the last is not full
    q, rows = states(few)[0], np.arange(n) % few
    small = function(ROBOT, q)
    memory = np.full(n * small[0].size + 16, 7.0)
    out = memory[offset : offset + n * small[0].size].reshape(n, *small.shape[1:])
    function(ROBOT, q[rows], out=out)
    np.testing.assert_array_equal(out, small[rows])
    assert (memory[:offset] == 7.0).all() and (memory[offset + out.size :] == 7.0).all()


@pytest.mark.parametrize("n", [1, 7, 60, 2000])
def test_new_results_are_writable_arrays_and_large_ones_begin_at_a_cache_line(n: int) -> None:
    M = D.mass_matrix(ROBOT, states(n)[0])
    assert M.flags.c_contiguous and M.flags.writeable and M.shape == (n, NV, NV)
    assert M.nbytes < 2**16 or M.ctypes.data % 64 == 0
    M[...] = 1.0
    assert M.sum() == M.size
