"""The search for the strongest push stops at the first fall."""

from __future__ import annotations

import pytest

import kinodyn as kd
from kinodyn.walking import push_maps


@pytest.mark.parametrize(("weak", "strong"), [(1.02, 1.4), (2.1, 2.3), (0.1, 3.0)])
def test_the_result_is_below_the_first_fall(weak: float, strong: float, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = kd.load("humanoid")
    bound = push_maps.push_map(robot, [0.0], resolution=0.9, max_ratio=1.0, processes=1).bound[0]

    def stands(robot: kd.Robot, angle: float, impulse: float, **more: object) -> bool:
        return not weak < impulse / bound < strong

    monkeypatch.setattr(push_maps, "survives_push", stands)
    found = push_maps.push_map(robot, [0.0], stepping=True, resolution=0.05, processes=1)
    assert weak - 0.05 <= found.ratio[0] <= weak


def test_the_search_ends_at_the_largest_push(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push_maps, "survives_push", lambda *given, **more: True)
    found = push_maps.push_map(kd.load("humanoid"), [0.0, 1.0], max_ratio=1.3, processes=1)
    assert found.ratio == pytest.approx([1.3, 1.3])
    assert found.condition == "without a step"
