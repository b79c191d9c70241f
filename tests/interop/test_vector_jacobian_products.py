"""Gradients behind the operators of PyTorch and JAX, on arrays of NumPy: rates of the functions along any motion."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.interop.differentiable import FUNCTIONS, Call

ROBOT = kd.load("humanoid")
SOLES = tuple(ROBOT.frame_index(name) for name in ("left_sole", "right_sole"))
CALLS = {
    "pose": Call("pose", ROBOT, SOLES[:1]),
    "poses": Call("poses", ROBOT, SOLES),
    "com": Call("com", ROBOT),
    **{f"velocity {r}": Call("velocity", ROBOT, SOLES[:1], r) for r in ("local", "world", "local_world_aligned")},
    "inverse": Call("inverse", ROBOT),
    "inverse with wrenches": Call("inverse", ROBOT, SOLES),
    "forward": Call("forward", ROBOT),
    "forward with wrenches": Call("forward", ROBOT, SOLES),
    "contact_dynamics": Call("contact_dynamics", ROBOT, SOLES, "surface point", (0.0, 0.0, 0.0, 0.1, -0.05, 0.02)),
    "contact_dynamics of a surface": Call("contact_dynamics", ROBOT, SOLES[:1], "surface", (0.05, 0.0, -0.01)),
    "integrate": Call("integrate", ROBOT),
    "difference": Call("difference", ROBOT),
}
BATCH, H = 3, 1e-4


def rate(f: object) -> Array:
    return np.asarray((8 * (f(H) - f(-H)) - (f(2 * H) - f(-2 * H))) / (12 * H))  # type: ignore[operator]


def test_every_function_is_tested() -> None:
    assert {call.function for call in CALLS.values()} == set(FUNCTIONS)


@pytest.mark.parametrize("name", CALLS)
def test_gradients_are_the_rates_of_the_function_along_any_motion(name: str) -> None:
    call, rng = CALLS[name], np.random.default_rng(2)
    axes = [axis for _, axis in FUNCTIONS[call.function].inputs]
    inputs = [
        ROBOT.random(BATCH, seed=k) if axis == "q" else rng.normal(size=(BATCH, ROBOT.nv))
        for k, axis in enumerate(axes)
    ]
    if call.function == "difference":  # far from half a turn, where logarithms jump
        inputs[1] = ROBOT.integrate(inputs[0], 0.5 * rng.normal(size=(BATCH, ROBOT.nv)))
    if "wrenches" in name:
        inputs += [10.0 * rng.normal(size=(BATCH, 6)) for _ in call.frames]
        axes += ["wrench"] * len(call.frames)
    motions = [
        rng.normal(size=(BATCH, ROBOT.nv if axis == "q" else each.shape[-1]))
        for axis, each in zip(axes, inputs, strict=True)
    ]

    def moved(h: float) -> list[Array]:
        return [
            ROBOT.integrate(each, h * motion) if axis == "q" else each + h * motion
            for axis, each, motion in zip(axes, inputs, motions, strict=True)
        ]

    result = call.value(inputs)
    assert result.shape == (BATCH, *call.tail)
    gradient = rng.normal(size=result.shape)
    found = call.vjp(inputs, result, gradient)
    expected = rate(lambda h: (gradient * call.value(moved(h))).reshape(BATCH, -1).sum(axis=-1))
    along = np.zeros(BATCH)
    for k, each in enumerate(found):
        assert each.shape == inputs[k].shape
        along += (each * rate(lambda h, k=k: moved(h)[k])).sum(axis=-1)  # type: ignore[misc]
    np.testing.assert_allclose(along, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
