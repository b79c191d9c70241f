"""A headless Chromium for the tests of the viewer."""

from __future__ import annotations

import io
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--use-gl=angle",  # WebGL in software, where there is no graphics card
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SIZE = {"width": 820, "height": 400}
SCENE_COLUMNS = slice(312, 484)  # pixels between a notice on the left and the panel on the right
TIMEOUT = 120.0  # s, for a busy machine


def chromium_path() -> str | None:
    """Return the path of the browser: KINODYN_CHROMIUM, or the system's chromium."""
    given = os.environ.get("KINODYN_CHROMIUM")
    if given:
        return given if Path(given).exists() else None
    return next((found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start one browser for all tests."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = chromium_path()
    if path is None:
        pytest.skip("no Chromium: set KINODYN_CHROMIUM to its path")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield running
        running.close()


class BrowserPage:
    """A page in the browser, with its requests and the errors it reported."""

    def __init__(self, browser: Any, url: str, *, offline: bool = False) -> None:
        self.context = browser.new_context(viewport=SIZE, offline=offline)
        self.page = self.context.new_page()
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda line: line.type == "error" and self.errors.append(line.text))
        self.page.goto(url)

    def see(self) -> np.ndarray:
        """Return a screenshot of the centre of the scene, where the robot is: (height, width, 3) from 0 to 255."""
        shot = Image.open(io.BytesIO(self.page.screenshot()))
        return np.asarray(shot.convert("RGB"), dtype=int)[:, SCENE_COLUMNS]

    def dark_fraction(self) -> float:
        """Return the fraction of the scene that is darker than ground and grid."""
        return float((self.see().min(axis=-1) < 150).mean())

    def close(self) -> None:
        self.context.close()


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition."""
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end, f"did not happen within {TIMEOUT:g} s: {what}"
        time.sleep(0.05)


def difference(before: np.ndarray, after: np.ndarray) -> float:
    """Return the fraction of pixels that changed."""
    return float((np.abs(after - before).max(axis=-1) > 24).mean())
