"""What is printed fits on a screen, and notebooks show tables."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.display import MAX_TEXT, displayed, short

LONGEST = MAX_TEXT + 60  # characters; the name of the class is not cut


def public_classes() -> Iterator[tuple[str, type]]:
    """Iterate over the classes in all public namespaces."""
    seen, pending = {kd.__name__}, [kd]
    while pending:
        module = pending.pop()
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isclass(found):
                yield f"{module.__name__}.{name}", found
            elif inspect.ismodule(found) and found.__name__ not in seen:
                seen.add(found.__name__)
                pending.append(found)


CLASSES = {
    name: cls
    for name, cls in public_classes()
    if not issubclass(cls, BaseException) and not getattr(cls, "_is_protocol", False)
}


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_every_public_class_is_shown_as_text_html_and_latex(name: str) -> None:
    cls = CLASSES[name]
    assert cls.__repr__ not in (object.__repr__, tuple.__repr__)
    assert cls.__repr__.__qualname__.partition(".")[0] != "recursive_repr"
    assert callable(cls._repr_html_) and callable(cls._repr_latex_)


def results() -> Iterator[Any]:
    """Compute one result of many kinds."""
    arm, humanoid = kd.load("ur5"), kd.load("humanoid")
    q = arm.random(300)
    T = kd.kinematics.pose(arm, q, "wrist_3_link")
    yield from (arm, arm.limits, arm.description, arm.description.links[1], arm.description.joints[0], humanoid.limits)
    yield kd.State(arm, q)
    yield kd.ik.solve(arm, {"wrist_3_link": T})
    yield kd.ik.analytic(arm, T, "wrist_3_link")
    yield kd.kinematics.workspace(arm, "wrist_3_link", samples=1000)
    yield kd.sim.simulate(arm, None, 0.1)
    world = kd.collision.World()
    world.add_box("table", [1.0, 1.0, 0.1], np.eye(4))
    yield from (world, world.snapshot())
    path = arm.interpolate(q[0], q[1], np.linspace(0.0, 1.0, 50))
    timed = kd.trajectory.time_optimal(path, velocity=1.0, acceleration=2.0)
    yield from (timed, timed.trajectory)
    moved = T[0].copy()
    moved[2, 3] -= 0.02
    line = kd.trajectory.cartesian.line(T[0], moved, duration=1.0, law="minimum_jerk")
    yield from (line, line.follow(arm, "wrist_3_link", q[0]), kd.ik.track(arm, T[:1], "wrist_3_link", q[0]))
    yield from kd.balance.biped_feet(humanoid)
    body = kd.walking.Biped.from_robot(humanoid)
    yield from (body, kd.walking.GaitSettings.from_robot(body))
    yield kd.qp.solve(np.eye(40), np.ones(40))
    gains = kd.control.Gains(np.ones(6), np.ones(6))
    yield from (gains, kd.control.PDGravity(arm, q[0], gains), kd.control.ComputedTorque(arm, q[0], gains))
    yield from (kd.tasks.FrameTask("wrist_3_link"), kd.limits.PositionLimit(), kd.jobs.Samples(10))


def test_results_take_a_few_lines_and_their_tables_are_well_formed() -> None:
    for result in results():
        name = type(result).__name__
        assert len(repr(result)) <= LONGEST and repr(result).count("\n") < 5, name
        table = ElementTree.fromstring(result._repr_html_())
        assert name in (table.findtext("caption") or ""), name
        assert all(len(cell.text or "") < 120 for cell in table.iter("td")), name
        latex = result._repr_latex_()
        plain = latex.replace(r"\{", "").replace(r"\}", "")
        assert latex.startswith("$") and plain.count("{") == plain.count("}"), name


class Pair(NamedTuple):
    left: np.ndarray
    right: str


@dataclass
class Record:
    values: np.ndarray
    names: tuple[str, ...]
    _hidden: int = 0


def test_arrays_are_summarised_and_small_values_are_shown() -> None:
    record = displayed(Record)(np.zeros((400, 7)), ("a", "b"))
    assert repr(record) == "Record(values=<float64 (400, 7)>, names=('a', 'b'))"
    assert repr(displayed(Pair)(np.array([1.0, 2.5]), "x" * 100)) == f"Pair(left=[1, 2.5], right='{'x' * 56}...)"
    assert short(np.float64(0.1)) == "0.1" and short({"a": 1}) == "{'a': ...}"
    assert short((1.0,)) == "(1.0,)" and short(np.arange(3)) == "[0, 1, 2]" and short([0] * 99) == "<99 entries>"


def test_a_table_escapes_what_it_shows() -> None:
    shown = displayed(Record)(np.zeros(20), ("<script>",))
    assert "<script>" not in shown._repr_html_() and "from 0 to 0" in shown._repr_html_()
