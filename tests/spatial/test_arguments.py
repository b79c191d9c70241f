"""Arguments of every public function: batches, types of numbers, and what is rejected. Its examples run."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from typing import Any

import numpy as np
import pytest

from kinodyn import spatial
from kinodyn.arrays import Array
from kinodyn.errors import InputError

# The arguments that are arrays, of each public function.
ARGUMENTS = {
    "adjoint": "pose",
    "analytic_map": "rotation",
    "as_angle_axis": "rotation",
    "as_euler": "rotation",
    "as_pose": "pose",
    "as_quaternion": "rotation",
    "as_rotation": "rotation",
    "euler_rates": "vector vector",
    "euler_rates_matrix": "vector",
    "exp": "twist",
    "exp3": "vector",
    "from_angle_axis": "number axis",
    "from_euler": "vector",
    "from_quaternion": "quaternion",
    "inertia_matrix": "number vector inertia",
    "interpolate": "pose pose number",
    "inverse": "pose",
    "left_jacobian": "twist",
    "left_jacobian_inverse": "twist",
    "log": "pose",
    "log3": "rotation",
    "move_inertia": "pose spatial_inertia",
    "move_twist": "pose twist",
    "move_wrench": "pose twist",
    "pose": "vector rotation",
    "pose_error": "pose pose",
    "quaternion_inverse": "quaternion",
    "quaternion_product": "quaternion quaternion",
    "quaternion_rates": "quaternion vector",
    "quaternion_rates_matrix": "quaternion",
    "quaternion_rotate": "quaternion vector",
    "right_jacobian": "twist",
    "right_jacobian_inverse": "twist",
    "rot_x": "number",
    "rot_y": "number",
    "rot_z": "number",
    "rotation_vector_rates": "vector vector",
    "rotation_vector_rates_matrix": "vector",
    "skew": "vector",
    "slerp": "quaternion quaternion number",
    "unskew": "skew",
}
RANK = {"number": 0, "vector": 1, "axis": 1, "twist": 1, "quaternion": 1}
RANK |= dict.fromkeys(("rotation", "pose", "skew", "inertia", "spatial_inertia"), 2)
FUNCTIONS = [(name, kinds.split()) for name, kinds in ARGUMENTS.items()]
PLACES = [(name, kinds, place) for name, kinds in FUNCTIONS for place in range(len(kinds))]
of_every_function = pytest.mark.parametrize(("name", "kinds"), FUNCTIONS, ids=[name for name, _ in FUNCTIONS])


def at_every_place(of_kinds: str = "", arguments: int = 1) -> pytest.MarkDecorator:
    """Run a test on each argument of the given kinds, all if none is given, of functions of so many arguments."""
    wanted = of_kinds.split() or RANK
    places = [(n, kinds, p) for n, kinds, p in PLACES if kinds[p] in wanted and len(kinds) >= arguments]
    return pytest.mark.parametrize(("name", "kinds", "place"), places, ids=[f"{n}-{p}" for n, _, p in places])


def sample(kind: str, batch: tuple[int, ...] = (), seed: int = 0) -> Array:
    """Draw good values of one kind of argument."""
    rng = np.random.default_rng(seed)
    vector = rng.uniform(0.1, 0.9, (*batch, 3))
    if kind in ("axis", "quaternion"):
        raw = rng.normal(size=(*batch, 3 if kind == "axis" else 4))
        return np.asarray(raw / np.linalg.norm(raw, axis=-1, keepdims=True))
    if kind == "number":
        return np.asarray(rng.uniform(0.1, 0.9, batch))
    return {
        "vector": lambda: vector,
        "twist": lambda: rng.normal(size=(*batch, 6)),
        "rotation": lambda: spatial.exp3(vector),
        "pose": lambda: spatial.exp(rng.normal(size=(*batch, 6))),
        "skew": lambda: spatial.skew(vector),
        "inertia": lambda: vector[..., None] * np.eye(3),
        "spatial_inertia": lambda: spatial.inertia_matrix(1.0, vector, np.eye(3)),
    }[kind]()


def call(name: str, arguments: list[Any]) -> Array:
    """Call a public function; where it returns two arrays, put them side by side."""
    result = getattr(spatial, name)(*arguments)
    return np.concatenate([result[0][..., None], result[1]], axis=-1) if isinstance(result, tuple) else result


def test_every_public_function_is_in_the_table() -> None:
    assert sorted(ARGUMENTS) == sorted(spatial.__all__)
    assert all(inspect.isfunction(getattr(spatial, name)) for name in spatial.__all__)


@of_every_function
def test_batches_broadcast_and_equal_one_by_one(name: str, kinds: list[str]) -> None:
    shapes = [(2, 1), (3,), (2, 3)][: len(kinds)] if len(kinds) > 1 else [(2, 3)]
    arguments = [sample(kind, shape, seed) for seed, (kind, shape) in enumerate(zip(kinds, shapes, strict=True))]
    together = call(name, arguments)
    assert together.shape[:2] == (2, 3) and together.dtype == np.float64
    stretched = [
        np.broadcast_to(array, (2, 3, *array.shape[array.ndim - RANK[kind] :]))
        for array, kind in zip(arguments, kinds, strict=True)
    ]
    for index in np.ndindex(2, 3):
        one = call(name, [array[index] for array in stretched])
        np.testing.assert_allclose(together[index], one, rtol=0, atol=1e-14)


@of_every_function
def test_empty_batches_give_empty_results(name: str, kinds: list[str]) -> None:
    one = call(name, [sample(kind) for kind in kinds])
    empty = call(name, [sample(kind, (2, 0)) for kind in kinds])
    assert empty.shape == (2, 0, *one.shape)


@of_every_function
def test_lists_single_precision_and_strided_arrays_give_float64(name: str, kinds: list[str]) -> None:
    arguments = [sample(kind, (4,)) for kind in kinds]
    expected = call(name, arguments)
    np.testing.assert_array_equal(call(name, [array.tolist() for array in arguments]), expected)
    strided = [np.asfortranarray(np.repeat(array, 2, axis=0))[::2] for array in arguments]
    np.testing.assert_allclose(call(name, strided), expected, rtol=0, atol=1e-15)
    single = call(name, [array.astype(np.float32) for array in arguments])
    assert single.dtype == np.float64
    np.testing.assert_allclose(single, expected, rtol=0, atol=2e-5)


@of_every_function
def test_arguments_are_not_modified(name: str, kinds: list[str]) -> None:
    arguments = [sample(kind, (3,)) for kind in kinds]
    before = [array.copy() for array in arguments]
    for array in arguments:
        array.setflags(write=False)
    call(name, arguments)
    for array, copy in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(array, copy)


@at_every_place()
def test_non_numeric_and_non_finite_arrays_are_rejected(name: str, kinds: list[str], place: int) -> None:
    good = sample(kinds[place])
    bad: list[Any] = ["zero", 1j * good, np.full(good.shape, np.nan), np.full(good.shape, np.inf), [[1.0], [1.0, 2.0]]]
    bad += [good * 1e200 + 1e200, {}, object()]
    if (name, place) != ("pose", 1):  # There, None means no rotation.
        bad.append(None)
    for value in bad:
        arguments: list[Any] = [sample(kind) for kind in kinds]
        arguments[place] = value
        with pytest.raises(InputError):
            call(name, arguments)


@at_every_place(" ".join(kind for kind in RANK if kind != "number"))  # Every shape is a batch of numbers.
def test_invalid_shapes_are_rejected(name: str, kinds: list[str], place: int) -> None:
    for shape in [(), (2,), (5,), (7, 7), (3, 5), (0,), (4, 3, 1)]:
        arguments: list[Any] = [sample(kind) for kind in kinds]
        arguments[place] = np.zeros(shape)
        with pytest.raises(InputError, match="shape"):
            call(name, arguments)


@at_every_place(arguments=2)
def test_batches_that_do_not_broadcast_are_rejected(name: str, kinds: list[str], place: int) -> None:
    arguments = [sample(kind, (2,)) for kind in kinds]
    arguments[place] = sample(kinds[place], (3,))
    with pytest.raises(InputError, match="are not compatible"):
        call(name, arguments)


@at_every_place("quaternion axis rotation pose")
def test_inexact_rotations_and_unit_vectors_are_rejected(name: str, kinds: list[str], place: int) -> None:
    kind, good = kinds[place], sample(kinds[place])
    bad = [1.01 * good, 0 * good, (1 + 1e-5) * good]
    if kind in ("rotation", "pose"):
        bad += [good @ np.diag([1.0, 1.0, -1.0, 1.0][: good.shape[-1]]), good + 0.01]
    for value in bad:
        arguments = [sample(k) for k in kinds]
        arguments[place] = value
        with pytest.raises(InputError, match=r"norm 1|orthonormal|left-handed|last row"):
            call(name, arguments)


@pytest.mark.parametrize(
    "name", [name for name in spatial.__all__ if "reference" in inspect.signature(getattr(spatial, name)).parameters]
)
def test_an_unknown_reference_lists_the_known_ones(name: str) -> None:
    arguments = [sample(kind) for kind in ARGUMENTS[name].split()]
    with pytest.raises(InputError, match='reference must be "local_world_aligned", "local" or "world"'):
        getattr(spatial, name)(*arguments, reference="body")


@pytest.mark.parametrize("module", [module.name for module in pkgutil.iter_modules(spatial.__path__)])
def test_examples_in_docstrings_run(module: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(f"kinodyn.spatial.{module}"))
    assert failed == 0


def test_main_functions_have_an_example() -> None:
    with_example = {name for name in spatial.__all__ if ">>>" in (getattr(spatial, name).__doc__ or "")}
    assert {
        "exp",
        "log",
        "pose",
        "move_twist",
        "move_wrench",
        "pose_error",
        "as_euler",
        "inertia_matrix",
    } < with_example
