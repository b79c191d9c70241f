"""Commands of collision checking and planning agree with the library."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.viewer.viewer import Viewer

from .conftest import REQUEST, SCENE

Run = Callable[[str], Any]  # the fixture of conftest.py

LEFT, RIGHT = [0.9, -0.2, 0, -2, 0, 1.6, 0.8], [-0.9, -0.2, 0, -2, 0, 1.6, 0.8]
SIDES = "--from 0.9,-0.2,0,-2,0,1.6,0.8 --to -0.9,-0.2,0,-2,0,1.6,0.8"


@pytest.fixture(scope="module")
def panda() -> kd.Robot:
    return kd.load("panda")


@pytest.fixture(scope="module")
def world(panda: kd.Robot) -> kd.collision.World:
    return kd.interop.moveit.read_scene(SCENE, panda).world


def test_a_plan_starts_and_ends_as_asked_and_is_free(
    run: Run, scene: None, panda: kd.Robot, world: kd.collision.World
) -> None:
    done = run(f"kinodyn plan panda {SIDES} --scene scene.yaml --json")
    assert done.code == 0
    result = done.result
    path, q, time = (np.array(result[name]) for name in ("path", "q", "time"))
    assert result["status"] == "solved" and result["group"] == [joint.name for joint in panda.joints]
    np.testing.assert_allclose(path[[0, -1]], [LEFT, RIGHT], atol=1e-9)
    np.testing.assert_allclose(q[[0, -1]], [LEFT, RIGHT], atol=1e-6)
    assert time[-1] == pytest.approx(result["duration"]) and np.diff(time).min() > 0.0
    assert kd.collision.motion_free(panda, path[:-1], path[1:], world).all()
    assert kd.collision.free(panda, q, world).all()
    exact = min(kd.collision.distance(panda, row, world, exact=True).distance for row in q)
    assert exact - 5e-3 < result["smallest_distance"] < exact + 5e-3  # it is measured at other samples
    bound = kd.collision.distance(panda, q, world).distance
    np.testing.assert_allclose(result["distance"], bound, atol=1e-6)


def test_a_request_gives_start_goal_and_budget(run: Run, scene: None, panda: kd.Robot) -> None:
    done = run("kinodyn plan panda --scene scene.yaml --request request.yaml --json")
    assert done.code == 0
    np.testing.assert_allclose(np.array(done.result["path"])[[0, -1]], [LEFT, RIGHT], atol=1e-9)
    assert done.document["inputs"]["time_budget"] == 2.0


def test_groups_states_and_pairs_come_from_an_srdf_file(run: Run) -> None:
    Path("arm.srdf").write_text(
        """<robot name="panda"><group name="wrist"><joint name="panda_joint6"/><joint name="panda_joint7"/></group>
        <group_state name="turned" group="wrist"><joint name="panda_joint7" value="1.5"/></group_state>
        <disable_collisions link1="panda_link0" link2="panda_link7" reason="Never"/></robot>"""
    )
    done = run("kinodyn plan panda --srdf arm.srdf --from ready --to turned --group wrist --json")
    assert done.code == 0 and done.result["group"] == ["panda_joint6", "panda_joint7"]
    assert done.result["path"][-1][6] == pytest.approx(1.5)
    assert run("kinodyn collide panda --srdf arm.srdf --q ready").code == 0
    assert run("kinodyn plan panda --from ready --to ready --group wrist").code == 2


@pytest.mark.parametrize("pose", ["0.5,0.25,0.3,3.14159265,0,0", "0.5,0.25,0.3,1,0,0,0", "0.5,0.25,0.3"])
def test_a_goal_is_a_pose(run: Run, scene: None, panda: kd.Robot, pose: str) -> None:
    done = run(f"kinodyn plan panda --from ready --to panda_hand_tcp={pose} --scene scene.yaml --json")
    assert done.code == 0
    T = kd.kinematics.pose(panda, done.result["path"][-1], "panda_hand_tcp")
    np.testing.assert_allclose(T[:3, 3], [0.5, 0.25, 0.3], atol=1e-5)
    if pose.count(",") > 2:
        np.testing.assert_allclose(T[:3, :3], np.diag([1.0, -1.0, -1.0]), atol=1e-5)


def test_two_frames_can_have_goals(run: Run) -> None:
    robot = kd.load("humanoid")
    q = robot.configuration("standing")
    goals = {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        goals[f"{side}_palm"] = kd.kinematics.pose(robot, q, f"{side}_palm")[:3, 3] + [0.15, 0.05 * sign, 0.15]
    to = " ".join(f"--to {frame}={','.join(map(str, p))}" for frame, p in goals.items())
    done = run(f"kinodyn plan humanoid --from standing {to} --json")
    assert done.code == 0
    for frame, p in goals.items():
        T = kd.kinematics.pose(robot, done.result["path"][-1], frame)
        np.testing.assert_allclose(T[:3, 3], p, atol=1e-5)


NO_PATH = [
    (f"{SIDES} --scene inside.yaml", "goal_in_collision", "the goal collides: .* with board"),
    ("--from -0.9,-0.2,0,-2,0,1.6,0.8 --to ready --scene inside.yaml", "start_in_collision", "the start collides: "),
    ("--from ready --to panda_hand_tcp=3,0,0,0,0,0", "out_of_reach", "no configuration reaches the goal"),
]


@pytest.mark.parametrize(("given", "status", "message"), NO_PATH, ids=[status for _, status, _ in NO_PATH])
def test_a_missing_path_is_exit_code_1_with_the_reason(
    run: Run, panda: kd.Robot, given: str, status: str, message: str
) -> None:
    x, y, z = kd.kinematics.pose(panda, RIGHT, "panda_hand_tcp")[:3, 3]
    Path("inside.yaml").write_text(SCENE.replace("[0.6, 0.0, 0.3]", f"[{x}, {y}, {z}]"))
    done = run(f"kinodyn plan panda {given} --json")
    assert done.code == 1 and not done.document["ok"]
    assert done.result["status"] == status and re.search(message, done.result["message"])


def test_the_report_of_a_plan_has_figures_and_distances(run: Run, scene: None) -> None:
    done = run(f"kinodyn plan panda {SIDES} --scene scene.yaml --report plan.html --plot plan.png --out plan.npz")
    assert done.code == 0
    page = Path("plan.html").read_text()
    assert page.count("<img") == 3 and "smallest distance, exact shapes [mm]" in page
    assert Path("plan.png").stat().st_size > 10_000
    recording = kd.Recording.load("plan.npz")
    np.testing.assert_allclose(recording.q[-1], RIGHT, atol=1e-6)
    assert np.abs(recording.tau).max() > 1.0


def test_path_constraints_of_a_request_are_kept(run: Run, scene: None, panda: kd.Robot) -> None:
    joint = "{joint_name: panda_joint4, position: -2.0, tolerance_above: 0.5, tolerance_below: 0.4}"
    Path("request.yaml").write_text(f"{REQUEST}path_constraints: {{joint_constraints: [{joint}]}}\n")
    done = run("kinodyn plan panda --scene scene.yaml --request request.yaml --json")
    assert done.code == 0
    q = np.array(done.result["q"])[:, panda.joint("panda_joint4").q.start]
    assert q.min() >= -2.4 - 1e-6 and q.max() <= -1.5 + 1e-6
    Path("request.yaml").write_text(
        f"{REQUEST}path_constraints: {{joint_constraints: [{{joint_name: panda_joint4, position: 0.0}}]}}\n"
    )
    done = run("kinodyn plan panda --scene scene.yaml --request request.yaml")
    assert done.code == 1 and "start violates constraint" in done.out and "panda_joint4" in done.out


def test_padding_of_links_is_kept(run: Run, scene: None) -> None:
    Path("scene.yaml").write_text(SCENE + "link_padding: [{link_name: panda_link7, padding: 2.0}]\n")
    done = run(f"kinodyn plan panda {SIDES} --scene scene.yaml --json")
    assert done.code == 1 and done.result["status"] == "start_in_collision" and "panda_link7" in done.out


def test_collide_lists_contacts_and_near_pairs(
    run: Run, scene: None, panda: kd.Robot, world: kd.collision.World
) -> None:
    done = run("kinodyn collide panda --q 0,0.9,0,-1,0,1.6,0.8 --scene scene.yaml --json")
    assert done.code == 1 and not done.result["free"]
    contacts = kd.collision.contacts(panda, [0, 0.9, 0, -1, 0, 1.6, 0.8], world)
    assert [tuple(part["names"]) for part in done.result["contacts"]] == [part.names for part in contacts]
    np.testing.assert_allclose(
        [part["depth"] for part in done.result["contacts"]], [part.depth for part in contacts], atol=1e-6
    )
    distances = [pair["distance"] for pair in done.result["near"]]
    assert distances == sorted(distances) and done.result["distance"] == distances[0] < 0.0 < distances[-1] < 0.1
    free = run("kinodyn collide panda --q ready --scene scene.yaml --json")
    assert free.code == 0 and free.result["free"] and free.result["contacts"] == []
    expected = kd.collision.distance(panda, panda.configuration("ready"), world, exact=True)
    assert free.result["distance"] == pytest.approx(float(expected.distance), abs=1e-6)


def test_collide_counts_the_free_configurations(
    run: Run, scene: None, panda: kd.Robot, world: kd.collision.World
) -> None:
    q = panda.random(60, seed=3)
    np.savez("rows.npz", q=q)
    done = run("kinodyn collide panda --q rows.npz --scene scene.yaml --out table.csv --json")
    expected = [not kd.collision.contacts(panda, row, world) for row in q]
    assert 0 < sum(expected) < 60 and done.code == 1
    assert done.result["free"] == expected and done.result["free_count"] == sum(expected)
    touching = sum(len(kd.collision.contacts(panda, row, world)) for row in q)
    assert sum(pair["count"] for pair in done.result["pairs"]) == touching
    assert len(Path("table.csv").read_text().splitlines()) == 61


def test_collide_describes_spheres_and_writes_the_allowed_pairs(run: Run) -> None:
    done = run("kinodyn collide ur5 --spheres --write-srdf pairs.srdf --json")
    robot = kd.load("ur5")
    spheres = kd.collision.robot_spheres(robot)
    assert done.result["spheres"]["count"] == len(spheres.fine)
    assert set(done.result["spheres"]["links"]) == set(spheres.links)
    assert Path("pairs.srdf").read_text().count("<disable_collisions") == len(kd.collision.allowed_pairs(robot))


def test_view_shows_a_scene_and_plans_in_it(run: Run, scene: None, outside: dict[str, Any]) -> None:
    assert run("kinodyn view panda --scene scene.yaml --to ready").code == 0
    assert outside["world"] == ("board", "ball") and outside["mode"] == "plan" and outside["goal"] is not None
    assert run("kinodyn view panda --scene scene.yaml").code == 0
    assert outside["mode"] == "plan" and outside["goal"] is None


def test_plan_view_shows_the_plan(run: Run, scene: None, outside: dict[str, Any]) -> None:
    assert run(f"kinodyn plan panda {SIDES} --scene scene.yaml --view").code == 0
    assert outside["plan"].success and outside["world"] == ("board", "ball")


def test_ctrl_c_stops_the_search(run: Run, scene: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from kinodyn import _core

    def interrupted(*given: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(_core, "rrt_connect", interrupted)
    done = run(f"kinodyn plan panda {SIDES} --scene scene.yaml --json")
    assert done.code == 130 and done.document["interrupted"] and done.result["status"] == "interrupted"


def test_closing_the_viewer_stops_its_planner(panda: kd.Robot) -> None:
    viewer = Viewer(panda)
    viewer.plan(RIGHT)
    viewer.close()
    assert not viewer.planning.busy
