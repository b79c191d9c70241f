"""Errors are one paragraph with the right exit code and leave no partial files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
import kinodyn.cli
from kinodyn.cli.progress import progress_bar

Run = Callable[[str], Any]  # the fixture of conftest.py

USAGE_ERRORS = [
    ("kinodyn fk pnda", "did you mean 'panda'"),
    ("kinodyn fk nowhere.urdf", "does not exist"),
    ("kinodyn fk panda --q 1,2", "q must be 7 numbers, got 2"),
    ("kinodyn fk panda --q redy", "did you mean 'ready'"),
    ("kinodyn fk panda --q panda_joint9=1", "did you mean 'panda_joint"),
    ("kinodyn fk panda --q panda_joint1=x", "must be name=number"),
    ("kinodyn fk panda --q missing.csv", "does not exist"),
    ("kinodyn fk panda --frame hand", "unknown frame"),
    ("kinodyn fk panda --out here.xlsx", "allowed are .json, .csv, .npz, .parquet"),
    ("kinodyn fk panda --out nowhere/x.csv", "folder"),
    ("kinodyn fk panda --plot x.txt", "allowed are .png, .svg, .pdf"),
    ("kinodyn fk panda --speed 3", "No such option"),
    ("kinodyn nothing", "No such command"),
    ("kinodyn ik panda", "exactly one of --position"),
    ("kinodyn ik panda --position 1,2", "must be 3 numbers"),
    ("kinodyn ik panda --position 1,2,3 --quaternion 1,1,1,1", "norm 1"),
    ("kinodyn dynamics panda gravity --wrench panda_link8=0,0,1", "no effect on gravity"),
    ("kinodyn dynamics panda --wrench panda_link8", "FRAME=fx,fy,fz"),
    ("kinodyn trajectory panda", "final configuration is missing"),
    ("kinodyn trajectory panda --from ready --to random --duration 0.1", "too short"),
    ("kinodyn identify panda", "a recording is needed"),
    ("kinodyn derive humanoid", "allowed are"),
    ("kinodyn walk --push 60", "such as 60@3.0"),
    ("kinodyn walk --push a@3", "must be numbers"),
    ("kinodyn walk --turn 1 --turn-deg 2", "give one of them"),
    ("kinodyn walk --speed 9", "too fast"),
    ("kinodyn walk --save x.json", "allowed are .npz, .parquet, .csv"),
    ("kinodyn walk --set swing_hight=0.1", "did you mean 'swing_height'"),
    ("kinodyn walk --set swing_height=-1", "swing_height must be a number from 0 to 2"),
    ("kinodyn push --set swing_height", "must be FIELD=VALUE"),
    ("kinodyn walk --engine bullet", "'bullet' is not one of 'mujoco', 'native'. `kinodyn walk --help`"),
    ("kinodyn fk planar2r --q nan,1", "q[0] is not finite"),
    ("kinodyn fk planar2r --q random:0", "draws no samples"),
    ("kinodyn ik planar2r --targets-of random:0", "draws no samples"),
    ("kinodyn fk planar2r --frame link1 --all", "exclude each other"),
    ("kinodyn jacobian planar2r --frame link1 --com", "cannot be combined"),
    ("kinodyn ik ur5 --position 0.3,0.2,0.4 --all", "give --rpy or --quaternion"),
    ("kinodyn simulate planar2r --target random", "--control is none"),
    ("kinodyn simulate planar2r --push-frame link1", "--push-frame needs a --push"),
    ("kinodyn identify planar2r --excite --urdf x.urdf", "--excite does not fit"),
    ("kinodyn identify planar2r run.csv --urdf nowhere/x.urdf", "folder"),
    ("kinodyn view humanoid --recording walk.npz --export x.txt", "allowed are .html, .htm"),
    ("kinodyn plan panda", "either --to or --request"),
    ("kinodyn plan panda --to redy", "did you mean 'ready'"),
    ("kinodyn plan panda --to 1,2", "--to must be 7 numbers, got 2"),
    ("kinodyn plan panda --to panda_hand_tcp=1,2", "must be 3 or 6 or 7 numbers, got 2"),
    ("kinodyn plan panda --to panda_hnd=1,2,3", "unknown frame 'panda_hnd'"),
    ("kinodyn plan panda --to panda_hand_tcp=1,2,3,1,1,1,1", "quaternion of norm 1"),
    ("kinodyn plan panda --to ready --to panda_hand_tcp=1,2,3", "mixes a configuration and poses"),
    ("kinodyn plan panda --to ready --to ready", "which is for poses"),
    ("kinodyn plan panda --to ready --from random:3", "one configuration, got 3"),
    ("kinodyn plan panda --to ready --from 9,0,0,0,0,0,0", "outside its limits"),
    ("kinodyn plan panda --to ready --scene missing.yaml", "cannot be read"),
    ("kinodyn plan panda --to ready --group legs", "'legs'"),
    ("kinodyn plan panda --to ready --time-budget -1", "time_budget"),
    ("kinodyn collide panda --scene missing.yaml", "cannot be read"),
    ("kinodyn collide panda --write-srdf x.txt", "allowed are .srdf, .xml"),
    ("kinodyn view panda --group legs", "'legs'"),
    ("kinodyn bench planar2r --seconds 0", "greater than or equal to 0.0001"),
    ("kinodyn walk --height 1.2 panda", "only for 'humanoid'"),
]


@pytest.mark.parametrize(("line", "said"), USAGE_ERRORS, ids=[line for line, _ in USAGE_ERRORS])
def test_a_usage_error_is_one_paragraph_and_exit_code_2(run: Run, line: str, said: str) -> None:
    done = run(line)
    assert done.code == 2 and done.out == ""
    assert said in done.err and "Traceback" not in done.err
    assert done.err.strip().splitlines()[-1].startswith("error: ")


FILES = [
    ("gap.csv", "joint1,joint2\n0.1,\n", "q[0, 1] is not finite"),
    ("short.csv", "joint1,joint2\n0.1\n", "row 0 has 1 cells; the first line has 2"),
    ("word.csv", "joint1,joint2\n0.1,a\n", "row 0, column 'joint2' is 'a', not a number"),
    ("comma.csv", "joint1;joint2\n0,1;0,2\n", "write ',' between columns and '.' in numbers"),
    ("quoted.csv", 'joint1,joint2\n"0,1","0,2"\n', "is '0,1', not a number; write a decimal point"),
    ("nan.csv", "joint1,joint2\n0.1,nan\n", "q[0, 1] is not finite"),
    ("none.csv", "joint1,joint2\n", "has no rows of q"),
    ("other.json", '{"a": 1}', "it has: nothing"),
    ("ragged.json", "[[1, 2], [3]]", "row 1 has 1 entries and row 0 has 2"),
    ("text.npz", "hello", "cannot be read as NPZ without pickle"),
]


@pytest.mark.parametrize(("name", "content", "said"), FILES, ids=[name for name, _, _ in FILES])
def test_the_error_for_an_invalid_file_says_where_it_is(run: Run, name: str, content: str, said: str) -> None:
    Path(name).write_text(content)
    done = run(f"kinodyn fk planar2r --q {name}")
    assert done.code == 2 and said in done.err and "bug in kinodyn" not in done.err


@pytest.mark.parametrize("row", ["0,0,0,0,0,0,0", "nan,0,0,0,0,0,1"])
def test_the_error_for_an_invalid_target_names_its_row(run: Run, row: str) -> None:
    Path("poses.csv").write_text(f"x,y,z,qx,qy,qz,qw\n0.3,0.2,0.1,0,0,0,1\n{row}\n")
    done = run("kinodyn ik ur5 --targets poses.csv")
    assert done.code == 2 and "row 1 of poses.csv is not a pose" in done.err


@pytest.mark.parametrize("option", ["--out x.csv", "--plot x.png", "--report x.html"])
def test_a_read_only_folder_is_reported_before_the_computation(
    run: Run, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(kd.kinematics, "poses", lambda *given, **more: pytest.fail("the computation started"))
    done = run(f"kinodyn fk panda {option}")
    assert done.code == 2 and "you may not write in" in done.err


def test_a_folder_in_place_of_a_file_is_reported_before_the_computation(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kd.kinematics, "poses", lambda *given, **more: pytest.fail("the computation started"))
    Path("x.csv").mkdir()
    done = run("kinodyn fk panda --out x.csv")
    assert done.code == 2 and "it is a folder" in done.err


def test_if_one_file_fails_the_result_is_printed_and_the_others_are_written(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def disk_full(*given: object, **more: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("kinodyn.tables.write", disk_full)
    done = run("kinodyn fk planar2r --out x.csv --report x.html")
    assert done.code == 2 and "no space left" in done.err
    assert "planar2r: link2" in done.out and Path("x.html").stat().st_size > 0


def test_no_arguments_show_the_help_without_an_error_message(run: Run) -> None:
    done = run("kinodyn")
    assert done.code == 2 and "Usage" in done.out and done.err == ""


def test_with_json_the_error_is_a_document_on_stdout(run: Run) -> None:
    done = run("kinodyn fk pnda --json")
    assert done.code == 2
    assert done.document["ok"] is False and "'panda'" in done.document["error"]


def test_a_robot_that_cannot_walk_is_exit_code_1(run: Run) -> None:
    done = run("kinodyn walk panda")
    assert done.code == 1 and "does not have two legs" in done.err
    assert "effort limit" not in done.err  # nor advice on a robot that cannot walk


def test_an_unexpected_exception_is_reported_as_a_bug(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kd.kinematics, "poses", lambda *given, **more: 1 / 0)
    done = run("kinodyn fk panda")
    assert done.code == 70 and "ZeroDivisionError" in done.err and "Traceback" not in done.err
    assert "Traceback" in run("kinodyn fk panda --debug").err


def test_a_description_warning_is_one_line_and_an_error_with_strict(run: Run) -> None:
    Path("odd.urdf").write_text(
        "<robot name='odd'><link name='a'/><joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
        "<limit effort='1' velocity='1' lower='-1' upper='1'/></joint><link name='b'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='3' ixy='0' ixz='0' iyz='0'/></inertial></link></robot>"
    )
    done = run("kinodyn fk odd.urdf")
    assert done.code == 0
    assert [line[:8] for line in done.err.strip().splitlines()] == ["warning:"]
    assert run("kinodyn check odd.urdf").code == 0
    strict = run("kinodyn check odd.urdf --strict --json")
    assert strict.code == 1 and strict.result["findings"][0]["level"] == "warning"


def test_check_reports_the_line_of_an_error(run: Run) -> None:
    Path("bad.urdf").write_text(
        "<robot name='bad'>\n<link name='a'/>\n<link name='b'/>\n"
        "<joint name='j' type='fixed'>\n<parent link='a'/>\n<child link='c'/>\n</joint></robot>"
    )
    done = run("kinodyn check bad.urdf --json")
    assert done.code == 1 and done.result["usable"] is False
    assert done.result["findings"][0]["level"] == "error" and done.result["findings"][0]["line"] is not None
    assert run("kinodyn fk bad.urdf").code == 2


def test_the_first_ctrl_c_stops_the_computation_and_the_handler_is_restored() -> None:
    before = signal.getsignal(signal.SIGINT)
    with progress_bar("something") as progress:
        assert progress(1, 3)
        signal.raise_signal(signal.SIGINT)
        assert not progress(2, 3)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupted_ik_keeps_the_solved_targets(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    solve = kd.ik.solve

    def interrupted(*given: object, **more: object) -> object:
        signal.raise_signal(signal.SIGINT)
        return solve(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("kinodyn.cli.commands.ik.CHUNK", 4)
    monkeypatch.setattr(kd.ik, "solve", interrupted)
    done = run("kinodyn ik ur5 --targets-of random:10 --out part.npz --json")
    assert done.code == 130 and done.document["interrupted"] is True
    assert np.load("part.npz")["q"].shape == (4, 6)


def test_an_interrupt_before_there_is_a_result_is_reported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kd.kinematics, "poses", lambda *given, **more: signal.raise_signal(signal.SIGINT))
    done = run("kinodyn fk panda --json")
    assert done.code == 130 and done.document["interrupted"] is True and "nothing" not in done.out
    assert "interrupted before there was any result" in done.err


def test_an_interrupted_bench_stops_with_complete_rows(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = iter(range(10_000_000))
    poses = kd.kinematics.com

    def interrupted(*given: Any, **more: Any) -> Any:
        if next(calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return poses(*given, **more)

    monkeypatch.setattr(kd.kinematics, "com", interrupted)
    done = run("kinodyn bench planar2r --seconds 0.01 --batch 2 --json")
    assert done.code == 130 and [row["function"] for row in done.result["rows"]] == ["poses of all frames", "jacobian"]


def test_ctrl_c_in_a_subprocess_keeps_the_recording(tmp_path: Path) -> None:
    line = "-m kinodyn simulate planar2r --duration 1e5 --out kept.npz --json"
    with subprocess.Popen(
        [sys.executable, *line.split()], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None and "simulating" in process.stderr.readline()
            time.sleep(0.3)
            os.kill(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130 and "Traceback" not in err
    assert json.loads(out)["interrupted"] is True
    recording = kd.Recording.load(tmp_path / "kept.npz")
    assert recording.status == "interrupted" and len(recording) >= 1


def test_ctrl_c_during_import_shows_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupting:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> None:
            if name == "kinodyn.cli.entry":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "kinodyn.cli.entry", raising=False)
    monkeypatch.delattr(kinodyn.cli, "entry", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupting, *sys.meta_path])
    assert kinodyn.cli.main(["info", "panda"]) == 130
