"""Commands return what the library computes, in JSON and in files."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import tables
from kinodyn.cli.files import read_columns

Run = Callable[[str], Any]  # the fixture of conftest.py


def test_fk_returns_the_poses_of_the_library(run: Run) -> None:
    robot = kd.load("panda")
    found = run("kinodyn fk panda --q random:5 --seed 3 --frame panda_link8 --json").result
    q = robot.random(5, seed=3)
    np.testing.assert_array_equal(found["q"], q)
    T = kd.kinematics.pose(robot, q, "panda_link8")
    np.testing.assert_array_equal(found["frames"]["panda_link8"]["T"], T)
    np.testing.assert_allclose(found["com"], kd.kinematics.com(robot, q))


def test_roll_pitch_yaw_reproduce_the_rotation_even_at_gimbal_lock() -> None:
    from scipy.spatial.transform import Rotation

    from kinodyn.cli.poses import parts

    R = Rotation.from_rotvec(np.random.default_rng(0).normal(size=(50, 3))).as_matrix()
    straight_up = Rotation.from_euler("xyz", [[0.3, -np.pi / 2, 0.5], [-0.4, np.pi / 2, 0.1]]).as_matrix()
    T = np.tile(np.eye(4), (52, 1, 1))
    T[:, :3, :3] = np.concatenate([R, straight_up])
    _, quaternion, angles = parts(T)
    np.testing.assert_allclose(Rotation.from_euler("xyz", angles).as_matrix(), T[:, :3, :3], atol=1e-12)
    np.testing.assert_allclose(Rotation.from_quat(quaternion).as_matrix(), T[:, :3, :3], atol=1e-12)


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".json", ".parquet"])
def test_rows_written_by_one_command_are_read_by_another(run: Run, suffix: str) -> None:
    robot = kd.load("ur5")
    assert run(f"kinodyn dynamics ur5 inverse --q random:7 --v random:7 --out state{suffix}").code == 0
    again = run(f"kinodyn fk ur5 --q state{suffix} --json").result
    q, v = robot.random(7, seed=0), np.random.default_rng(1).uniform(-1.0, 1.0, (7, 6))
    np.testing.assert_array_equal(again["q"], q)
    tau = tables.stack(read_columns(Path(f"state{suffix}")), "tau", robot.joint_names)
    np.testing.assert_allclose(tau, kd.dynamics.inverse(robot, q, v, 0 * v), atol=1e-12)


def test_the_json_file_equals_the_printed_json(run: Run) -> None:
    printed = run("kinodyn jacobian panda --q ready --json --out one.json")
    assert printed.document == json.loads(Path("one.json").read_text())
    np.testing.assert_array_equal(
        printed.result["J"],
        kd.kinematics.jacobian(kd.load("panda"), kd.load("panda").configuration("ready"), "panda_hand_tcp"),
    )


@pytest.mark.parametrize(
    ("quantity", "key"),
    [("inverse", "tau"), ("forward", "a"), ("mass-matrix", "M"), ("coriolis", "C"), ("gravity", "g"), ("bias", "bias"),
     ("momentum", "momentum"), ("regressor", "Y"), ("energy", "kinetic")],
)  # fmt: skip
def test_dynamics_returns_what_the_library_computes(run: Run, quantity: str, key: str) -> None:
    document = run(f"kinodyn dynamics ur5 {quantity} --q random --v random --a random --tau random --json").document
    robot = kd.load("ur5")
    q, v, a, tau = (np.array(document["inputs"][name]) for name in ("q", "v", "a", "tau"))
    d = kd.dynamics
    expected = {
        "tau": lambda: d.inverse(robot, q, v, a), "a": lambda: d.forward(robot, q, v, tau),
        "M": lambda: d.mass_matrix(robot, q), "C": lambda: d.coriolis_matrix(robot, q, v),
        "g": lambda: d.gravity(robot, q), "bias": lambda: d.bias(robot, q, v),
        "momentum": lambda: kd.centroidal.momentum(robot, q, v), "Y": lambda: d.regressor(robot, q, v, a),
        "kinetic": lambda: d.kinetic_energy(robot, q, v),
    }  # fmt: skip
    np.testing.assert_allclose(document["result"][key], expected[key](), atol=1e-12)


def test_a_wrench_acts_on_the_given_frame(run: Run) -> None:
    line = "kinodyn dynamics panda --q ready --json --wrench panda_link8="
    with_load, without = run(f"{line}0,0,-10").result["tau"], run(f"{line}0,0,0").result["tau"]
    robot = kd.load("panda")
    J = kd.kinematics.jacobian(robot, robot.configuration("ready"), "panda_link8")
    np.testing.assert_allclose(np.subtract(with_load, without), -J.T @ [0, 0, -10, 0, 0, 0], atol=1e-12)


def test_ik_reports_whether_the_target_is_reached(run: Run) -> None:
    good = run("kinodyn ik panda --position 0.4,0.1,0.5 --quaternion 1,0,0,0 --json")
    robot = kd.load("panda")
    T = kd.kinematics.pose(robot, good.result["q"], "panda_hand_tcp")
    np.testing.assert_allclose(T[:3, 3], [0.4, 0.1, 0.5], atol=1e-5)
    np.testing.assert_allclose(T[:3, :3], np.diag([1.0, -1.0, -1.0]), atol=1e-5)
    far = run("kinodyn ik panda --position 4,0,0 --json")
    assert good.code == 0 and far.code == 1
    assert far.result["status"] == ["unreachable"] and far.document["ok"] is False
    assert "does not reach" in run("kinodyn ik panda --position 4,0,0").out


def test_every_analytic_solution_reaches_the_target(run: Run) -> None:
    document = run("kinodyn ik ur5 --targets-of random --seed 4 --all --json").document
    robot = kd.load("ur5")
    q, T = np.array(document["result"]["q"]), np.array(document["inputs"]["T"])
    assert len(q) > 1
    np.testing.assert_allclose(kd.kinematics.pose(robot, q, "wrist_3_link"), np.tile(T, (len(q), 1, 1)), atol=1e-8)


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".json", ".parquet"])
def test_poses_that_fk_wrote_are_targets_for_ik(run: Run, suffix: str) -> None:
    run(f"kinodyn fk ur5 --q random:6 --out poses{suffix}")
    found = run(f"kinodyn ik ur5 --targets poses{suffix} --json")
    assert found.code == 0 and found.result["reached"] == 6


@pytest.mark.parametrize("kind", ["cubic", "quintic", "trapezoid", "jerk-limited", "time-optimal"])
def test_a_trajectory_goes_from_rest_to_rest_within_limits(run: Run, kind: str) -> None:
    done = run(f"kinodyn trajectory panda --from ready --to random --kind {kind} --dt 0.05 --json")
    robot, found = kd.load("panda"), done.result
    np.testing.assert_allclose(found["q"][0], robot.configuration("ready"), atol=1e-9)
    np.testing.assert_allclose(found["q"][-1], robot.random(seed=1), atol=1e-9)
    assert done.code == 0 and found["ok"] and (np.abs(found["v"]) <= robot.limits.velocity + 1e-9).all()


def test_a_trajectory_beyond_the_limits_is_exit_code_1(run: Run) -> None:
    done = run("kinodyn trajectory panda --from ready --to 0,0,0,1,0,0,0")
    assert done.code == 1 and "panda_joint4" in done.out


def test_identification_recovers_the_simulated_robot(run: Run) -> None:
    run("kinodyn identify planar2r --excite --out run.npz --noise 0")
    done = run("kinodyn identify planar2r run.npz --json")
    assert done.code == 0 and max(done.result["residual_after"]) < 1e-3


def test_simulate_equals_the_simulation_of_the_library(run: Run) -> None:
    assert run("kinodyn simulate planar2r --q0 0.5,0.2 --duration 0.5 --out run.npz --integrator rk4").code == 0
    recording = kd.Recording.load("run.npz")
    same = kd.sim.simulate(kd.load("planar2r"), None, 0.5, q0=[0.5, 0.2], record_dt=0.01, integrator="rk4")
    np.testing.assert_array_equal(recording.q, same.q)


def test_derived_code_computes_the_torques_of_the_engine(run: Run) -> None:
    assert run("kinodyn derive planar2r --out torques.py").code == 0
    namespace: dict[str, object] = {}
    exec(Path("torques.py").read_text(), namespace)
    robot = kd.load("planar2r")
    q, v, a = np.random.default_rng(0).normal(size=(3, 4, 2))
    tau = namespace["tau"](q, v, a)  # type: ignore[operator]
    np.testing.assert_allclose(tau, kd.dynamics.inverse(robot, q, v, a), atol=1e-12)


def test_workspace_saves_a_map_that_loads(run: Run) -> None:
    done = run("kinodyn workspace planar2r --samples 4096 --out map.npz --json")
    from kinodyn.kinematics.workspaces import Workspace

    assert Workspace.load("map.npz").max_reach == done.result["max_reach"] == pytest.approx(2.0)


def test_info_lists_limits_and_null_where_there_is_none(run: Run) -> None:
    joints = run("kinodyn info humanoid --json").result["joints"]
    assert joints[0]["kind"] == "floating" and joints[0]["lower"] is None
    robot = kd.load("humanoid")
    assert [joint["name"] for joint in joints[1:]] == list(robot.joint_names)


def test_the_base_can_be_chosen(run: Run) -> None:
    assert run("kinodyn info panda --base floating --json").result["nv"] == kd.load("panda").nv + 6


def test_push_maps_what_a_robot_survives(run: Run) -> None:
    done = run("kinodyn push --directions 1 --resolution 1.0 --processes 1 --stepping --plot pushes.png --json")
    (survived,), (bound,) = done.result["survived"], done.result["bound"]
    assert survived >= 2.0 * bound > 0 and done.result["stepping"]
    assert Path("pushes.png").stat().st_size > 10_000


def test_view_serves_a_local_page_until_ctrl_c(run: Run, outside: dict[str, object]) -> None:
    assert run("kinodyn view panda --port 18123").code == 0
    assert outside["url"] == "http://127.0.0.1:18123" and outside["status"] == 200 and outside["mode"] == "pose"
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", 18123), timeout=1)


def test_view_plays_a_recording_and_exports_it_to_one_file(run: Run, outside: dict[str, object]) -> None:
    assert run("kinodyn simulate planar2r --duration 0.2 --out fall.npz").code == 0
    assert run("kinodyn view planar2r --recording fall.npz").code == 0 and outside["mode"] == "play"
    assert run("kinodyn view planar2r --recording fall.npz --export fall.html").code == 0
    assert Path("fall.html").stat().st_size > 100_000
    assert run("kinodyn view planar2r --export fall.html").code == 2
    Path("again.npz").write_bytes(Path("fall.npz").read_bytes())
    assert run("kinodyn view planar2r --recording fall.npz --recording again.npz").code == 0
    assert outside["names"] == ["fall.npz", "again.npz"]


def test_the_viewer_opens_after_the_result_and_ctrl_c_closes_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(robot: kd.Robot, **settings: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kinodyn.cli.commands.simulate.open_viewer", stopped)
    done = run("kinodyn simulate planar2r --duration 0.1 --view --json")
    assert done.code == 0 and done.result["status"] == "complete"


REPORTED = [
    "check panda", "info panda", "fk panda --q random:3", "ik panda --targets-of random:3",
    "jacobian panda --q random:3",
    "dynamics panda energy", "dynamics panda momentum --v random", "dynamics panda regressor --q random:2",
    "trajectory panda --from ready --to random", "derive planar2r",
    "identify planar2r --excite", "simulate planar2r --duration 0.2", "bench planar2r --seconds 0.001 --batch 8",
]  # fmt: skip


@pytest.mark.parametrize("line", REPORTED)
def test_every_command_that_computes_writes_a_report(run: Run, line: str) -> None:
    done = run(f"kinodyn {line} --report page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert done.code == 0 and "<h2>Inputs</h2>" in page and f"kinodyn {kd.__version__}" in page
    drawn = not line.startswith(("check", "info", "derive"))
    assert ("data:image/png" in page) == drawn
