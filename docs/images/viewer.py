"""Take screenshots of the viewer in headless Chromium: python docs/images/viewer.py

Needs Chromium (KINODYN_CHROMIUM, or the system's), playwright and the extra "robots"; takes three minutes.
"""

from __future__ import annotations

import io
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

import kinodyn as kd

HERE = Path(__file__).parent
SIZE = {"width": 1100, "height": 680}
ARGUMENTS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


@contextmanager
def chromium() -> Iterator[Any]:
    """Start the browser."""
    path = os.environ.get("KINODYN_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


def screenshot(
    browser: Any, name: str, viewer: kd.viewer.Viewer, tab: str, act: Callable[[Any], None] | None = None
) -> None:
    """Open the page at a tab, perform an action, and save a screenshot."""
    page = browser.new_context(viewport=SIZE).new_page()
    page.goto(viewer.url)
    page.get_by_role("tab", name=tab).click()
    page.wait_for_timeout(8000)
    for notice in page.locator(".mantine-Notification-closeButton").all():  # a warning about the missing graphics card
        notice.click()
    if act is not None:
        act(page)
    page.wait_for_timeout(4000)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(HERE / f"{name}.png", optimize=True)
    page.close()


def reach(viewer: kd.viewer.Viewer) -> None:
    """Drag the right hand forward and down, and wait until it is there."""
    T = viewer.dragging.measure("right_palm", viewer.q).copy()
    T[:3, 3] += [0.3, -0.15, -0.35]
    viewer.drag("right_palm", T)
    for _ in range(200):
        viewer.wait(0.02)


def step_back(page: Any) -> None:
    """Move the camera away until the whole workspace is visible."""
    page.mouse.move(380, 340)
    for _ in range(6):
        page.mouse.wheel(0, 200)
        page.wait_for_timeout(300)


def plan_around_a_wall(robot: kd.Robot) -> kd.planning.Plan:
    """Plan from one side of a wall to the other."""
    world = kd.collision.World()
    world.add_box("table", (0.5, 1.2, 0.02), ((0.6, 0.0, 0.012), None))
    world.add_box("wall", (0.5, 0.04, 0.55), ((0.6, 0.0, 0.28), None))
    ready = robot.configuration("ready")
    left, right = ready.copy(), ready.copy()
    left[[0, 1, 3]], right[[0, 1, 3]] = (0.5, 0.3, -1.9), (-0.5, 0.3, -1.9)
    return kd.planning.plan(robot, left, right, world)


def halfway(page: Any) -> None:
    """Stop the robot on its path."""
    time = page.locator("input[inputmode=decimal]:visible").first  # next to the slider
    time.fill("1.1")
    time.press("Enter")


def walk(page: Any, viewer: kd.viewer.Viewer) -> None:
    """Walk for some seconds."""
    page.get_by_role("button", name="Start walking").click()
    page.wait_for_timeout(3000)
    page.keyboard.press("i")
    page.keyboard.press("i")
    while viewer.walker is None or viewer.walker.time < 4.0:
        page.wait_for_timeout(200)


def main() -> None:
    """Take all screenshots."""
    warnings.simplefilter("ignore", kd.DescriptionWarning)
    human, panda, talos = (kd.load(name) for name in ("humanoid", "panda", "talos"))
    walks = {f"{v} m/s": kd.walking.walk(human, (v, 0.0, 0.0), duration=4.0).recording for v in (0.15, 0.3, 0.4)}
    with chromium() as browser:
        with kd.view(human, show=["com", "projection", "support"], quiet=True) as viewer:
            reach(viewer)
            screenshot(browser, "viewer", viewer, "Joints")
        with kd.view(talos, show=["frames"], quiet=True) as viewer:
            screenshot(browser, "viewer_talos", viewer, "Show")
        with kd.view(panda, show=["ellipsoid", "workspace"], quiet=True) as viewer:
            viewer.gizmos.visible = False
            screenshot(browser, "viewer_panda", viewer, "Show", step_back)
        with kd.view(panda, plan=plan_around_a_wall(panda), show=["distances"], quiet=True) as viewer:
            screenshot(browser, "planning", viewer, "Plan", halfway)
        with kd.view(human, recording=walks, show=["com", "support"], quiet=True) as viewer:
            viewer.pause()
            viewer.seek(1.8)
            screenshot(browser, "viewer_play", viewer, "Play")
        with kd.view(human, show=["support", "forces", "zmp"], quiet=True) as viewer:
            screenshot(browser, "viewer_walk", viewer, "Walk", lambda page: walk(page, viewer))


if __name__ == "__main__":
    main()
