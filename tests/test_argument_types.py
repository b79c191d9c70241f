"""Public functions refuse arguments of another type than their annotations say, and keep their signatures."""

from __future__ import annotations

import inspect
import os
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import pytest
from numpy.typing import ArrayLike

import kinodyn as kd
from kinodyn.argument_types import check_types, kind_of

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot


class Shape(Protocol):
    """Anything with an area."""

    def area(self) -> float: ...  # noqa: D102


class Square:
    """A shape that does not know the protocol."""

    def area(self) -> float:
        """Compute the area."""
        return 1.0


# annotation, values that fit, values that do not, and what the error says
KINDS: list[tuple[Any, list[Any], list[Any], str]] = [
    (str, ["", "a"], [None, 1, b"a", np.array(["a", "b"])], "a string"),
    (bool, [True, np.bool_(False)], [None, 0, 1.0, "yes", np.zeros(3)], "True or False"),
    (float, [1, 1.5, np.float32(2), np.array(3.0), np.nan], [None, True, "1", [1.0], 1j, 10**400], "a number"),
    (int, [1, np.int64(2)], [None, True, 1.0, "1", 2**63, np.array([1])], "an integer"),
    (Square, [Square()], [None, Square, "a"], "a Square"),
    (Shape, [Square()], [None, Square, 3], "an object with area"),
    (float | None, [None, 1.0], ["a", np.zeros(2)], "a number or None"),
    (str | os.PathLike[str] | None, [None, "a", Path("a")], [3, b"a", "a\0b"], "a string or path or None"),
    (Literal["left", "right"], ["left"], ["up", None, np.array(["left"])], '"left" or "right"'),
    (Literal["a", "b"] | Square, ["a", Square()], ["c", None], '"a", "b" or a Square'),
    (Callable[[int], int], [abs, lambda x: x], [None, "abs", 3], "a function"),
    (Sequence[str], [[], ["a"], ("a", "b")], ["ab", None, [1], {"a": 1}, iter(["a"])], "a list of strings"),
    (Iterable[str], [["a"], {"a"}, iter(["a"])], ["ab", None, [1], 3], "a list of strings"),
    (tuple[Square, ...], [(), [Square()]], [Square(), (None,)], "a list of Square objects"),
    (
        Mapping[str, int],
        [{}, {"a": 1}],
        [None, [("a", 1)], {"a": "b"}, {1: 1}],
        "a mapping with strings as keys, each value an integer",
    ),
    (float | tuple[float, float], [1.0, (1, 2), np.ones(2)], [(1, 2, 3), "ab", None], "a number or 2 numbers"),
]


@pytest.mark.parametrize(("hint", "right", "wrong", "described"), KINDS)
def test_a_type_allows_its_values_and_no_others(hint: Any, right: list[Any], wrong: list[Any], described: str) -> None:
    kind = kind_of(hint)
    assert kind is not None and kind.described.startswith(described)
    assert all(kind.fits(value) for value in right)
    assert [value for value in wrong if kind.fits(value)] == []


@pytest.mark.parametrize("hint", [Any, object, ArrayLike, np.ndarray, ArrayLike | None, Sequence[float]])
def test_arrays_are_left_to_the_checks_of_values(hint: Any) -> None:
    assert kind_of(hint) is None


@check_types
def described(robot: Robot, /, name: str = "arm", *scales: float, loop: bool = False, **robots: object) -> str:
    """Describe a robot."""
    return f"{robot.name} {name} {loop} {len(scales)} {len(robots)}"


@check_types
@dataclass(frozen=True)
class Settings:
    """Settings of an example."""

    gain: float = 1.0
    mode: Literal["a", "b"] = "a"


def test_arguments_by_position_and_by_name_are_checked() -> None:
    robot = kd.load("planar2r")
    assert described(robot, "x", 1.0, loop=True, robot=5) == "planar2r x True 1 1"
    with pytest.raises(kd.InputError, match=r"robot must be a kinodyn.Robot, got None"):
        described(None)  # type: ignore[arg-type]
    with pytest.raises(kd.InputError, match=r"name must be a string, got \[1, 2\]"):
        described(robot, [1, 2])  # type: ignore[arg-type]
    with pytest.raises(kd.InputError, match=r"loop must be True or False, got ndarray"):
        described(robot, loop=np.zeros(2))  # type: ignore[arg-type]


def test_a_class_checks_what_it_is_made_from() -> None:
    assert Settings(2.0, "b") == Settings(mode="b", gain=2.0)
    with pytest.raises(kd.InputError, match=r'mode must be "a" or "b", got 3'):
        Settings(mode=3)  # type: ignore[arg-type]


def test_signature_name_and_pickle_are_those_of_the_function() -> None:
    assert list(inspect.signature(described).parameters) == ["robot", "name", "scales", "loop", "robots"]
    assert described.__doc__ == "Describe a robot." and described.__name__ == "described"
    assert pickle.loads(pickle.dumps(kd.walking.walk)) is kd.walking.walk


def test_long_values_are_cut_in_the_message() -> None:
    with pytest.raises(kd.InputError, match=r"got \[0, 1, 2, 3, \.\.\.\]"):
        described(kd.load("planar2r"), list(range(1000)))  # type: ignore[arg-type]
    with pytest.raises(kd.InputError, match="got an integer of 33220 bits"):
        described(kd.load("planar2r"), 10**10000)  # type: ignore[arg-type]


CALLS: list[Callable[[], object]] = [
    lambda: kd.walking.walk("humanoid"),  # type: ignore[arg-type]
    lambda: kd.walking.GaitSettings.from_robot(None),  # type: ignore[arg-type]
    lambda: kd.walking.SwingTrajectory(np.eye(4), np.eye(4), 0.0, 1e308),
    lambda: kd.description.description_from_dh([kd.DH(a=1.0)], gravity=(0.0, 0.0, np.nan)),
    lambda: kd.load("planar2r", srdf="a\0b"),
    lambda: kd.sim.simulate(kd.load("planar2r"), None, 1.0, until=3),  # type: ignore[arg-type]
    lambda: kd.sim.simulate(kd.load("planar2r"), None, 1.0, delay=1e60),
    lambda: kd.planning.plan_cartesian(None, [0.0], np.eye(4), "tool"),  # type: ignore[arg-type]
    lambda: kd.trajectory.cubic_spline([[0.0], [1.0]], [0.0, 1.0], v0=[[1.0], [1.0, 2.0]]),  # type: ignore[list-item]
    lambda: kd.trajectory.cartesian.CartesianLimits(linear_velocity=np.ones(3)),  # type: ignore[arg-type]
    lambda: kd.ik.solve(kd.load("planar2r"), {}, iterations=2**31),
    lambda: kd.collision.free(None, [0.0]),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("call", CALLS)
def test_wrong_arguments_end_in_an_error_of_kinodyn(call: Callable[[], object]) -> None:
    with pytest.raises(kd.errors.KinodynError):
        call()


@check_types
def unresolved(value: NoSuchName, name: str = "a") -> object:  # type: ignore[name-defined]  # noqa: F821
    """Return the value."""
    return value


def test_an_annotation_that_cannot_be_evaluated_allows_everything() -> None:
    assert unresolved(3) == 3
    with pytest.raises(kd.InputError, match="name must be a string"):
        unresolved(3, 4)  # type: ignore[arg-type]


@check_types
def message(kind: str, fields: Mapping[str, object] | None = None, /, **more: object) -> dict[str, object]:
    """Return fields by name."""
    return {"kind": kind, **(fields or {}), **more}


def test_a_field_may_have_the_name_of_a_parameter_by_position() -> None:
    assert message("cloud", fields=[1]) == {"kind": "cloud", "fields": [1]}
