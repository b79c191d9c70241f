"""The page in a real browser: what it draws, what moves it, and that nothing leaves the machine.

One test goes through one page, because opening pages is slow.
"""

from __future__ import annotations

import socket
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import viser

import kinodyn as kd

from .conftest import SIZE, BrowserPage, difference, wait_until

LOCAL = ("http://127.0.0.1:", "ws://127.0.0.1:", "blob:http://127.0.0.1:", "blob:null", "data:", "file:")


@pytest.fixture(scope="module")
def robot() -> kd.Robot:
    return kd.load("humanoid")


@pytest.fixture(scope="module")
def bow(robot: kd.Robot) -> kd.Recording:
    """Move both arms up and down for two seconds."""
    time = np.linspace(0.0, 2.0, 61)
    q = np.tile(robot.configuration("standing"), (61, 1))
    for side in ("left", "right"):
        q[:, robot.joint(f"{side}_shoulder_pitch").q] = -1.4 * np.sin(np.pi * time / 2.0)[:, None] ** 2
    still = np.zeros((61, robot.nv))
    return kd.Recording.from_robot(robot, time, q, still, still)


def test_the_page_draws_drags_plays_walks_and_closes(browser: Any, robot: kd.Robot, bow: kd.Recording) -> None:
    viewer = kd.view(robot, quiet=True)
    plain(viewer)
    coarse = f"{viewer.url}/?fixedDpr=0.5"  # a quarter of the pixels: software draws them here
    try:
        tab = BrowserPage(browser, coarse)
        assert_the_robot_is_drawn(viewer, tab)
        other = BrowserPage(browser, coarse)
        assert_a_slider_moves_the_robot_in_both_pages(viewer, tab, other)
        other.close()
        wait_until(lambda: viewer.clients == 1, "one page is left")
        assert_a_gizmo_drags_the_hand(viewer, tab)
        assert_playback_advances(viewer, tab, bow)
        assert_keys_and_buttons_make_it_walk(viewer, tab)
        assert_no_errors_and_no_external_requests(tab, other)
        tab.close()
    finally:
        viewer.close()
    assert_the_port_is_free(viewer.port)
    assert viewer.problem == ""


def test_an_exported_recording_plays_offline(browser: Any, robot: kd.Robot, bow: kd.Recording, tmp_path: Path) -> None:
    path = kd.viewer.export_html(robot, bow, tmp_path / "bow.html", fps=20, show=["com", "support"])
    tab = BrowserPage(browser, f"{path.as_uri()}?fixedDpr=0.5", offline=True)
    wait_until(lambda: tab.page.locator("canvas").count() > 0 and tab.dark_fraction() > 0.01, "the robot is drawn")
    before = tab.see()
    wait_until(lambda: difference(before, tab.see()) > 0.002, "the recording plays")
    assert_no_errors_and_no_external_requests(tab)
    assert not [url for url in tab.requests if url.startswith(("http:", "https:", "ws:", "wss:"))]
    tab.close()


def test_a_plan_follows_its_goal_and_the_obstacles(browser: Any) -> None:
    panda, world = kd.load("panda"), kd.collision.World()
    world.add_box("wall", (0.4, 0.04, 0.6), ((0.6, 0.0, 0.3), None))
    start, goal = (np.array([turn, -0.2, 0.0, -2.0, 0.0, 1.6, 0.8]) for turn in (-0.9, 0.9))
    viewer = kd.view(panda, start, world=world, quiet=True)
    plain(viewer)
    try:
        tab = BrowserPage(browser, f"{viewer.url}/?fixedDpr=0.5")
        wait_until(lambda: viewer.clients == 1, "the page connects")
        assert_obstacles_are_drawn(viewer, tab)
        tab.page.get_by_role("tab", name="Plan").click()
        viewer.plan(goal)
        tab.page.get_by_text("Solved in").wait_for()
        assert_the_plan_plays(viewer, tab)
        assert_a_gizmo_drags_the_goal(viewer, tab)
        assert_a_gizmo_drags_an_obstacle(viewer, tab)
        hand = kd.kinematics.pose(panda, viewer.planning.outcome.plan.path[-1], "panda_hand_tcp")[:3, 3]
        world.add_sphere("balloon", 0.2, hand)
        tab.page.get_by_text("Goal in collision: the goal collides").wait_for()
        assert_no_errors_and_no_external_requests(tab)
        tab.close()
    finally:
        viewer.close()
    assert_the_port_is_free(viewer.port)
    assert viewer.problem == ""


def assert_obstacles_are_drawn(viewer: kd.viewer.Viewer, tab: BrowserPage) -> None:
    wait_until(lambda: tab.dark_fraction() > 0.01, "the robot is drawn")
    before = tab.see()
    viewer.world.add_box("block", (0.5, 0.5, 0.5), ((0.2, 0.0, 1.0), None))
    wait_until(lambda: difference(before, tab.see()) > 0.02, "an object appears")
    viewer.world.remove("block")
    wait_until(lambda: difference(before, tab.see()) < 0.01, "it disappears")


def assert_the_plan_plays(viewer: kd.viewer.Viewer, tab: BrowserPage) -> None:
    tab.page.get_by_role("button", name="Pause", exact=True).click()
    wait_until(lambda: not viewer.planning.player.playing, "it is paused")
    timeline = tab.page.get_by_role("slider").first
    timeline.focus()
    timeline.press("Home")
    wait_until(lambda: np.allclose(viewer.q, viewer.planning.problem.start, atol=1e-3), "the robot is at the start")
    before = tab.see()
    tab.page.get_by_role("button", name="Play", exact=True).click()
    wait_until(lambda: viewer.planning.player.time > 0.2, "the timeline moves")
    wait_until(lambda: difference(before, tab.see()) > 0.005, "the page shows the motion")


def assert_a_gizmo_drags_the_goal(viewer: kd.viewer.Viewer, tab: BrowserPage) -> None:
    ((frame, gizmo),) = viewer.planning.goals.items()
    T = kd.kinematics.pose(viewer.robot, viewer.planning.outcome.plan.path[-1], frame)
    gizmo.handle.scale = 0.3  # the page is small
    ahead, arrow = T[:3, 2], 0.3

    def displacement() -> np.ndarray:
        goal = viewer.planning.problem.goal
        return goal[frame][:3, 3] - T[:3, 3] if isinstance(goal, dict) else np.zeros(3)

    for pause in (100, 300, 600, 1000, 2000):  # a busy page needs time to see what the mouse is over
        drag_along(viewer, tab, T[:3, 3], arrow * ahead, pause, share=0.4)
        if displacement() @ ahead > 0.3 * arrow:
            break
        viewer.replan(goal={frame: T})  # it missed
    moved = displacement()
    assert moved @ ahead > 0.3 * arrow and np.linalg.norm(moved - (moved @ ahead) * ahead) < 0.1 * arrow
    wait_until(
        lambda: not viewer.planning.busy and viewer.planning.outcome.problem.goal is viewer.planning.problem.goal,
        "it is planned again",
    )
    assert viewer.planning.outcome.plan.success
    reached = kd.kinematics.pose(viewer.robot, viewer.planning.outcome.plan.path[-1], frame)
    np.testing.assert_allclose(reached, viewer.planning.problem.goal[frame], atol=1e-4)


def assert_a_gizmo_drags_an_obstacle(viewer: kd.viewer.Viewer, tab: BrowserPage) -> None:
    place, ahead, arrow = viewer.world["wall"].pose[:3, 3], np.array([0.0, 0.0, 1.0]), 0.5
    viewer.select("wall")
    viewer.planning.object_gizmo.handle.scale = arrow
    before = viewer.planning.outcome

    def displacement() -> np.ndarray:
        return viewer.world["wall"].pose[:3, 3] - place

    for pause in (100, 300, 600, 1000, 2000):
        drag_along(viewer, tab, place, arrow * ahead, pause, share=0.3)
        if displacement() @ ahead > 0.1 * arrow:
            break
        viewer.world.move("wall", (place, None))  # it missed
    moved = displacement()
    assert moved @ ahead > 0.1 * arrow and np.linalg.norm(moved - (moved @ ahead) * ahead) < 0.1 * arrow
    wait_until(
        lambda: not viewer.planning.busy and viewer.planning.outcome.problem.world is viewer.world.snapshot(),
        "it is planned again",
    )
    plan = viewer.planning.outcome.plan
    assert viewer.planning.outcome is not before and plan.success
    assert kd.collision.motion_free(viewer.robot, plan.path[:-1], plan.path[1:], viewer.world).all()
    viewer.select(None)


def plain(viewer: kd.viewer.Viewer) -> None:
    """Leave out the shadows, which take long without a graphics card."""
    sun = viewer.server.scene.get_handle_by_name("/lights/sun")
    assert isinstance(sun, viser.DirectionalLightHandle)
    sun.cast_shadow = False


def assert_the_robot_is_drawn(viewer: kd.viewer.Viewer, tab: BrowserPage) -> None:
    wait_until(lambda: viewer.clients == 1, "the page connects")
    viewer.gizmos.visible = False
    wait_until(lambda: tab.dark_fraction() > 0.01, "the robot is drawn")
    root = viewer.server.scene.get_handle_by_name("/world/robot")
    assert root is not None
    root.visible = False  # the dark pixels are the robot's: without it there are none
    wait_until(lambda: tab.dark_fraction() < 1e-3, "the robot is hidden")
    root.visible = True
    wait_until(lambda: tab.dark_fraction() > 0.01, "the robot is drawn again")


def assert_a_slider_moves_the_robot_in_both_pages(
    viewer: kd.viewer.Viewer, tab: BrowserPage, other: BrowserPage
) -> None:
    wait_until(lambda: viewer.clients == 2, "a second page connects")
    wait_until(lambda: other.dark_fraction() > 0.01, "the second page draws the robot")
    q, seen, seen_there = viewer.q, tab.see(), other.see()
    joint = viewer.robot.joint("right_hip_pitch")
    slider = tab.page.get_by_role("slider").nth(2)  # the third joint
    slider.focus()
    slider.press("Home")
    lower = float(viewer.robot.limits.lower[joint.q][0])
    wait_until(lambda: abs(float(viewer.q[joint.q][0]) - lower) < 1e-3, "the hip is at its lower limit")
    np.testing.assert_array_equal(np.delete(viewer.q, joint.q), np.delete(q, joint.q))
    wait_until(lambda: difference(seen, tab.see()) > 0.01, "the page shows the leg lifted")
    wait_until(lambda: difference(seen_there, other.see()) > 0.01, "the other page shows it too")
    shown = other.page.get_by_role("slider").nth(2)
    wait_until(lambda: abs(float(shown.get_attribute("aria-valuenow")) - lower) < 1e-3, "its slider follows")


def assert_a_gizmo_drags_the_hand(viewer: kd.viewer.Viewer, tab: BrowserPage) -> None:
    q, hand = viewer.q_start, viewer.dragging.measure("right_palm", viewer.q_start)
    viewer.show(q)
    viewer.gizmos.visible = True
    up, arrow = hand[:3, 2], float(viewer.gizmos.handles["right_palm"].scale)

    def displacement() -> np.ndarray:
        return viewer.dragging.measure("right_palm", viewer.q)[:3, 3] - hand[:3, 3]

    for pause in (100, 300, 600, 1000, 2000):  # a busy page needs time to see what the mouse is over
        drag_along(viewer, tab, hand[:3, 3], arrow * up, pause)
        if (
            viewer.mode == "drag"
            and float((viewer.dragging.targets["right_palm"][:3, 3] - hand[:3, 3]) @ up) > 0.5 * arrow
        ):
            break
        viewer.show(q)  # it missed
    wait_until(lambda: float(displacement() @ up) > 0.5 * arrow, "the hand follows along the arrow")
    wait_until(lambda: viewer.dragging.reached(viewer.q), "the hand is there")
    assert np.linalg.norm(displacement() - (displacement() @ up) * up) < 0.1 * arrow  # it went nowhere else
    assert np.abs(viewer.q - q).max() > 0.02
    for foot in ("left_sole", "right_sole"):
        poses = [kd.kinematics.pose(viewer.robot, at, foot) for at in (q, viewer.q)]
        np.testing.assert_allclose(poses[1], poses[0], atol=1e-3)


def drag_along(
    viewer: kd.viewer.Viewer,
    tab: BrowserPage,
    origin: np.ndarray,
    arrow: np.ndarray,
    pause: float,
    share: float = 1.0,
) -> None:
    """Grab the head of a gizmo's arrow with the mouse and pull it by a fraction of the arrow's length."""
    start, end = (on_screen(viewer, origin + along * arrow) for along in (0.93, 0.93 + share))
    mouse = tab.page.mouse
    mouse.move(*(start + 2.0))
    tab.page.wait_for_timeout(pause)
    mouse.move(*start)
    tab.page.wait_for_timeout(pause)
    mouse.down()
    for part in (0.25, 0.5, 0.75, 1.0):
        tab.page.wait_for_timeout(0.5 * pause)
        mouse.move(*(start + part * (end - start)))
    tab.page.wait_for_timeout(pause)
    mouse.up()
    tab.page.wait_for_timeout(pause)


def assert_playback_advances(viewer: kd.viewer.Viewer, tab: BrowserPage, recording: kd.Recording) -> None:
    viewer.play(recording)
    viewer.pause()
    viewer.seek(0.0)
    tab.page.get_by_role("tab", name="Play").click()
    timeline = tab.page.get_by_role("slider").first
    wait_until(lambda: timeline.get_attribute("aria-valuenow") == "0", "the timeline is at its start")
    before = tab.see()
    tab.page.get_by_role("button", name="Play", exact=True).click()
    wait_until(lambda: float(timeline.get_attribute("aria-valuenow")) > 0.2, "the timeline moves")
    wait_until(lambda: difference(before, tab.see()) > 0.005, "the page shows the motion")
    tab.page.get_by_role("button", name="Pause", exact=True).click()
    wait_until(lambda: viewer.player is not None and not viewer.player.playing, "it is paused")


def assert_keys_and_buttons_make_it_walk(viewer: kd.viewer.Viewer, tab: BrowserPage) -> None:
    tab.page.get_by_role("tab", name="Walk").click()
    tab.page.get_by_role("button", name="Start walking").click()
    wait_until(lambda: viewer.walker is not None and viewer.walker.time > 0.1, "the simulation runs")
    assert viewer.walker is not None
    (client,) = viewer.server.get_clients().values()
    place = np.array(client.camera.position)
    for key, velocity in (("i", [0.1, 0.0, 0.0]), ("j", [0.1, 0.0, 0.1]), ("l", [0.1, 0.0, 0.0])):
        tab.page.keyboard.press(key, delay=100)
        wait_until(partial(commanded, viewer, velocity), f"the key {key} sets the velocity")
    np.testing.assert_allclose(client.camera.position, place, atol=1e-6)  # keys of the walk are not the camera's
    tab.page.get_by_role("button", name="Push for 0.1 s").click()
    wait_until(lambda: viewer.walker.pushes == 1, "the push arrives")
    tab.page.get_by_role("button", name="Pause", exact=True).click()
    wait_until(lambda: viewer.mode == "pose" and not viewer.walker.running, "it pauses")


def commanded(viewer: kd.viewer.Viewer, velocity: list[float]) -> bool:
    return viewer.walker is not None and np.allclose(viewer.walker.velocity, velocity)


def assert_no_errors_and_no_external_requests(*pages: BrowserPage) -> None:
    for tab in pages:
        assert tab.errors == []
        assert tab.requests and [url for url in tab.requests if not url.startswith(LOCAL)] == []


def assert_the_port_is_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("kinodyn")]


def on_screen(viewer: kd.viewer.Viewer, point: np.ndarray) -> np.ndarray:
    """Project a point of the world to the pixels (2,) of the page."""
    (client,) = viewer.server.get_clients().values()
    camera = client.camera
    ahead = camera.look_at - camera.position
    ahead = ahead / np.linalg.norm(ahead)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right = right / np.linalg.norm(right)
    away = point - camera.position
    depth = away @ ahead
    half = 0.5 * SIZE["height"]
    scale = half / np.tan(0.5 * camera.fov) / depth
    x = 0.5 * SIZE["width"] + scale * (away @ right)
    return np.array([x, half - scale * (away @ np.cross(right, ahead))])
