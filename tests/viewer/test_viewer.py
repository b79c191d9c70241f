"""The viewer as an object: address, port, modes, threads, closing."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import viser
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

import kinodyn as kd
from kinodyn.viewer.gui import InputSync
from kinodyn.viewer.origin_check import is_local, rejection_reason
from kinodyn.viewer.server import address

from .conftest import wait_until


@pytest.fixture(scope="module")
def robot() -> kd.Robot:
    return kd.load("planar3r")


@pytest.fixture
def viewer(robot: kd.Robot) -> Iterator[kd.viewer.Viewer]:
    with kd.view(robot, quiet=True) as opened:
        yield opened


def nod(robot: kd.Robot, amplitude: float = 0.5) -> kd.Recording:
    t = np.linspace(0.0, 1.0, 41)
    q = amplitude * np.sin(2 * np.pi * t)[:, None] * np.ones(robot.nq)
    return kd.Recording.from_robot(robot, t, q, 0 * q, 0 * q)


def test_it_listens_locally_on_a_free_port_and_prints_its_address(
    robot: kd.Robot, capsys: pytest.CaptureFixture[str]
) -> None:
    with kd.view(robot) as viewer, kd.view(robot, quiet=True) as second:
        assert viewer.host == "127.0.0.1" and viewer.port != second.port
        assert capsys.readouterr().out.startswith(f"planar3r at http://127.0.0.1:{viewer.port} ")
    assert capsys.readouterr().out == ""


def test_a_port_in_use_and_a_foreign_host_are_errors(robot: kd.Robot) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(kd.KinodynError, match=f"port {taken.getsockname()[1]} of 127.0.0.1"):
            kd.view(robot, port=taken.getsockname()[1])
    with pytest.raises(kd.KinodynError, match="192.0.2.1"), pytest.warns(UserWarning, match="192.0.2.1"):
        kd.view(robot, host="192.0.2.1")
    for wrong in ({"port": 0}, {"port": 70000}, {"port": "80"}, {"host": ""}):
        with pytest.raises(kd.InputError):
            kd.view(robot, **wrong)


def test_other_hosts_give_a_warning(robot: kd.Robot) -> None:
    with pytest.warns(UserWarning, match="everybody who has its address"):
        kd.view(robot, host="0.0.0.0", quiet=True).close()
    assert is_local("127.0.0.1") and is_local("localhost") and is_local("::1")
    assert not is_local("0.0.0.0") and not is_local("example.org")
    assert address("::1", 80) == "http://[::1]:80" and address("0.0.0.0", 80) == "http://127.0.0.1:80"


def test_only_its_own_pages_are_accepted(viewer: kd.viewer.Viewer) -> None:
    here, version = f"127.0.0.1:{viewer.port}", Subprotocol(f"viser-v{viser.__version__}")
    for origin in (Origin(f"http://{here}"), None):  # a program sends none
        with connect(f"ws://{here}", origin=origin, subprotocols=[version]) as socket_:
            assert socket_.recv(timeout=10.0)
    for origin in ("http://example.org", f"http://localhost:{viewer.port}", "null"):
        with pytest.raises(InvalidStatus, match="403"):
            connect(f"ws://{here}", origin=Origin(origin), subprotocols=[version])
    for host, status in ((here, 200), (f"localhost:{viewer.port}", 200), ("example.org", 403)):
        line = HTTPConnection("127.0.0.1", viewer.port, timeout=10.0)
        line.request("GET", "/", headers={"Host": host})
        assert line.getresponse().status == status
        line.close()


def test_requests_are_accepted_by_host_and_origin() -> None:
    assert rejection_reason(["[::1]:80"], ["http://[::1]:80"], host="::1") == ""
    for host in ("127.0.0.1", "0.0.0.0", "robot.lan"):  # a name that points here
        assert "'evil.org'" in rejection_reason(["evil.org"], ["http://evil.org"], host=host)
    assert rejection_reason(["robot.lan:80"], ["http://robot.lan:80"], host="robot.lan") == ""
    assert rejection_reason(["192.0.2.1:80"], ["http://192.0.2.1:80"], host="0.0.0.0") == ""
    assert rejection_reason([f"{socket.gethostname()}:80"], [], host="0.0.0.0") == ""
    assert "evil.org" in rejection_reason(["robot.lan:80"], ["http://evil.org"], host="robot.lan")
    assert rejection_reason([], [], host="0.0.0.0") and rejection_reason(["a", "b"], [], host="0.0.0.0")
    assert rejection_reason(["[::1"], [], host="0.0.0.0")


def test_a_viewer_that_others_can_reach_serves_only_those_who_have_its_token(robot: kd.Robot) -> None:
    def answer(path: str, cookie: str = "") -> tuple[int, str]:
        line = HTTPConnection("127.0.0.1", viewer.port, timeout=10.0)
        line.request("GET", path, headers={"Cookie": cookie} if cookie else {})
        response = line.getresponse()
        line.close()
        return response.status, (response.getheader("Set-Cookie") or "").partition(";")[0]

    version = Subprotocol(f"viser-v{viser.__version__}")
    with pytest.warns(UserWarning, match="everybody who has its address"):
        viewer = kd.view(robot, host="0.0.0.0", quiet=True)
    with viewer:
        here = f"ws://127.0.0.1:{viewer.port}"
        for path, cookie in (("/", ""), ("/?token=x", ""), ("/", "kinodyn_token=x"), ("/", "kinodyn_token")):
            assert answer(path, cookie)[0] == 403
        with pytest.raises(InvalidStatus, match="403"):
            connect(here, subprotocols=[version])
        status, cookie = answer(viewer.url.removeprefix(f"http://127.0.0.1:{viewer.port}"))
        assert status == 302 and answer("/", cookie)[0] == 200
        with connect(here, subprotocols=[version], additional_headers={"Cookie": cookie}) as socket_:
            assert socket_.recv(timeout=10.0)


def test_no_page_can_open_a_tunnel(viewer: kd.viewer.Viewer) -> None:
    assert viewer.server.request_share_url() is None


def test_closing_frees_the_port_and_stops_the_threads_and_may_be_repeated(robot: kd.Robot) -> None:
    before = threading.active_count()
    viewer = kd.view(robot, quiet=True)
    port = viewer.port
    viewer.close()
    viewer.close()
    assert viewer.closed and threading.active_count() <= before
    with kd.view(robot, port=port, quiet=True) as again:
        assert again.port == port


def test_wait_blocks_until_it_is_closed(robot: kd.Robot) -> None:
    viewer = kd.view(robot, quiet=True)
    waiting = threading.Thread(target=viewer.wait)
    waiting.start()
    viewer.wait(0.05)
    assert waiting.is_alive()
    viewer.close()
    waiting.join(5.0)
    assert not waiting.is_alive()


def test_it_shows_the_given_configuration_and_rejects_invalid_ones(viewer: kd.viewer.Viewer) -> None:
    viewer.q = [0.1, 0.2, 0.3]
    np.testing.assert_array_equal(viewer.q, [0.1, 0.2, 0.3])
    for wrong in ([0.1, np.nan, 0.3], [0.1, 0.2], np.zeros((2, 3)), "here"):
        with pytest.raises(kd.InputError):
            viewer.q = wrong
    with pytest.raises(kd.InputError):
        viewer.show([0, 0, 0], v=[np.inf, 0, 0])
    with pytest.raises(kd.UnknownNameError):
        viewer.show([0, 0, 0], forces={"nose": np.zeros(6)})
    np.testing.assert_array_equal(viewer.q, [0.1, 0.2, 0.3])


def test_a_drag_moves_the_joints_and_showing_a_configuration_ends_it(viewer: kd.viewer.Viewer) -> None:
    place = kd.kinematics.pose(viewer.robot, [0.2, 0.6, 0.6], "link3")[:3, 3]
    viewer.drag("link3", place)
    assert viewer.mode == "drag"
    wait_until(lambda: viewer.dragging.reached(viewer.q), "the arm follows")
    np.testing.assert_allclose(kd.kinematics.pose(viewer.robot, viewer.q, "link3")[:3, 3], place, atol=2e-3)
    viewer.q = [0.0, 0.5, 0.0]
    assert viewer.mode == "pose" and viewer.dragging.targets == {}
    with pytest.raises(kd.UnknownNameError):
        viewer.drag("nose", place)


def test_playback_runs_and_recordings_are_side_by_side(robot: kd.Robot) -> None:
    with kd.view(robot, quiet=True, recording=[nod(robot), nod(robot, -0.5)]) as viewer:
        assert viewer.mode == "play" and viewer.player is not None
        wait_until(lambda: viewer.player.time > 0.1, "the clock runs")
        viewer.pause()
        viewer.seek(0.25)
        wait_until(lambda: abs(viewer.q[0] - 0.5) < 1e-3, "it is at its highest")
        first, second = (viewer.server.scene.get_handle_by_name(name) for name in ("/world/robot", "/world/robot 2"))
        assert first is not None and second is not None
        assert abs(first.position[1] - second.position[1]) > 0.1
        viewer.q = np.zeros(3)  # another mode: the copy leaves
        assert viewer.server.scene.get_handle_by_name("/world/robot 2") is None
        viewer.play(speed=2.0, loop=False)
        wait_until(lambda: not viewer.player.playing, "it comes to its end")
        assert viewer.player.time == viewer.player.duration


def test_recordings_have_labels_and_terrain(robot: kd.Robot) -> None:
    plain = nod(robot)
    valley = replace(plain, terrain={"vertices": [[0, 0, -0.2], [1, 0, 0], [0, 1, 0]], "faces": [[0, 1, 2]]})
    with kd.view(robot, quiet=True, recording={"here": plain, "there": valley}) as viewer:
        scene = viewer.server.scene
        names = [scene.get_handle_by_name(f"/world/robot{k}/name") for k in ("", " 2")]
        assert [name.text for name in names] == ["here", "there"]
        ground = scene.get_handle_by_name("/world/robot 2/terrain")
        np.testing.assert_allclose(ground.vertices, valley.terrain["vertices"])
        assert scene.get_handle_by_name("/world/robot/terrain") is None
        assert not scene.get_handle_by_name("/ground").visible  # it would hide the valley
        viewer.play(plain)  # alone, on level ground
        assert scene.get_handle_by_name("/world/robot/name") is None
        assert scene.get_handle_by_name("/ground").visible


def test_a_widget_is_not_set_while_a_user_moves_it() -> None:
    box, sync = SimpleNamespace(value=False, update_timestamp=time.time() - 60.0), InputSync()
    sync.assign(box, True)
    assert box.value is True
    box.value, box.update_timestamp = False, time.time()  # a click whose callback has not run yet
    sync.assign(box, True)
    assert box.value is False
    box.update_timestamp -= 2.0  # long ago
    sync.assign(box, True)
    assert box.value is True


def test_playing_and_pushing_need_a_recording_and_a_walk(viewer: kd.viewer.Viewer) -> None:
    for action in (viewer.play, lambda: viewer.seek(0.0), lambda: viewer.push([1, 0, 0])):
        with pytest.raises(kd.InputError):
            action()
    with pytest.raises(kd.KinodynError, match="fixed base"):
        viewer.walk()


def test_several_threads_may_use_it_at_once(viewer: kd.viewer.Viewer) -> None:
    failed = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        try:
            for _ in range(25):
                viewer.q = rng.uniform(-1, 1, 3)
                viewer.layer("frames", bool(rng.integers(2)))
                viewer.drag("link3", rng.uniform(-1, 1, 3))
                viewer.release()
        except Exception as error:
            failed.append(error)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    time.sleep(0.05)
    assert failed == [] and viewer.problem == ""


def test_a_floating_robot_stands_on_the_ground_and_walks_on_command() -> None:
    humanoid = kd.load("humanoid")
    with kd.view(humanoid, quiet=True, show=["forces", "zmp", "support"]) as viewer:
        soles = kd.balance.sole_points(humanoid, viewer.q, kd.balance.feet(humanoid))
        assert abs(soles[:, 2].min()) < 1e-3
        viewer.walk([0.2, 0.0, 0.0])
        wait_until(lambda: viewer.walker is not None and viewer.walker.time > 0.1, "it walks")
        wait_until(lambda: "left_sole" in viewer._page.robots.snapshots[0].forces, "its forces are shown")
        viewer.stop_walking()
        assert viewer.mode == "pose" and not viewer.walker.running
        viewer.walker.problem = "it fell after 0.10 s"
        with pytest.raises(kd.KinodynError, match="stand_up"):
            viewer.walk()
        viewer.stand_up()
        assert viewer.mode == "walk" and viewer.walker.problem == "" and viewer.problem == ""
    assert not viewer.walker.running


def test_a_notebook_shows_the_page(robot: kd.Robot) -> None:
    viewer = kd.view(robot, quiet=True)
    assert f'<iframe src="http://127.0.0.1:{viewer.port}"' in viewer._repr_html_()
    viewer.close()
    assert "closed" in viewer._repr_html_() and "iframe" not in viewer._repr_html_()


def test_an_export_is_one_self_contained_file(robot: kd.Robot, tmp_path: Path) -> None:
    with kd.view(robot, quiet=True) as viewer:
        path = viewer.export_html(nod(robot), tmp_path / "nod.html", fps=10)
    page = path.read_text(encoding="utf-8")
    assert path == tmp_path / "nod.html" and list(tmp_path.iterdir()) == [path]
    assert "__VISER_EMBED_DATA__" in page and 'src="http' not in page
    for wrong, message in (({"fps": 0}, "fps"), ({"show": ["smoke"]}, "smoke"), ({"frame": "nose"}, "nose")):
        with pytest.raises(kd.KinodynError, match=message):
            kd.viewer.export_html(robot, nod(robot), tmp_path / "no.html", **wrong)
    with pytest.raises(kd.InputError, match="folder"):
        kd.viewer.export_html(robot, nod(robot), tmp_path / "nowhere" / "no.html")
