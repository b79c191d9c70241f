"""The ready jobs give what the functions they call give, and report inputs that cannot be used."""

import json

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import tables
from kinodyn.model.fingerprint import fingerprint

pytest.importorskip("pyarrow")


def swing(robot, seed, n=401, duration=2.0):
    """Return time, q, v, a of a motion between two random configurations, at rest at both ends."""
    start, end = robot.random(2, seed=seed)
    time = np.linspace(0.0, duration, n)
    w = np.pi / duration
    s, ds, dds = (1 - np.cos(w * time)) / 2, w * np.sin(w * time) / 2, w**2 * np.cos(w * time) / 2
    return time, start + (end - start) * s[:, None], *((end - start) * each[:, None] for each in (ds, dds))


def save_swing(robot, path, seed):
    time, q, v, a = swing(robot, seed)
    tau = kd.dynamics.inverse(robot, q, v, a)
    kd.Recording.from_robot(robot, time, q, v, tau).save(path)
    return time, q, v, tau


def test_inverse_kinematics_reaches_what_one_call_reaches(tmp_path, threads):
    robot = kd.load("ur5")
    T = kd.kinematics.pose(robot, robot.random(300, seed=4), "wrist_3_link")
    job = kd.jobs.inverse_kinematics(robot, T, "wrist_3_link", out=tmp_path, engine=threads, shard=100, seed=3)
    found = job.read()
    assert found["success"].all() and found["q"].shape == (300, robot.nq)
    np.testing.assert_allclose(kd.kinematics.pose(robot, found["q"], "wrist_3_link"), T, atol=1e-5)
    with pytest.raises(kd.InputError, match=r"targets must be poses \(n, 4, 4\)"):
        kd.jobs.inverse_kinematics(robot, np.eye(4), "wrist_3_link", out=tmp_path / "x", engine=threads)
    with pytest.raises(kd.UnknownNameError, match="tool9"):
        kd.jobs.inverse_kinematics(robot, T, "tool9", out=tmp_path / "x", engine=threads)
    with pytest.raises(kd.InputError, match="weights must be a finite number"):
        kd.jobs.inverse_kinematics(robot, T, "wrist_3_link", out=tmp_path / "x", engine=threads, weights=object())


def test_another_robot_of_the_same_name_is_refused(tmp_path, threads):
    robot = kd.load("ur5")
    T = kd.kinematics.pose(robot, robot.random(10), "wrist_3_link")
    kd.jobs.inverse_kinematics(robot, T, "wrist_3_link", out=tmp_path, engine=threads)
    loaded = robot.with_payload("wrist_3_link", 1.0)
    assert fingerprint(loaded) != fingerprint(robot) and fingerprint(robot) == fingerprint(kd.load("ur5"))
    with pytest.raises(kd.InputError, match="parameters.fingerprint was"):
        kd.jobs.inverse_kinematics(loaded, T, "wrist_3_link", out=tmp_path, engine=threads)


@pytest.mark.parametrize("name", ["panda", "scara", "puma560"])
def test_statistics_of_a_fixed_base_are_those_of_inverse_dynamics(tmp_path, threads, name):
    robot = kd.load(name)
    time, q, v, tau = save_swing(robot, tmp_path / "swing.npz", seed=1)
    found = kd.jobs.motion_statistics(robot, tmp_path / "swing.npz", out=tmp_path / "out", engine=threads).read()
    inner = slice(6, -6)  # the differences remove six samples at each end
    np.testing.assert_allclose(found["rms_torque"], np.sqrt(np.mean(tau[inner] ** 2, axis=0)), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found["peak_torque"], np.abs(tau[inner]).max(axis=0), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found["peak_speed"], np.abs(v[inner]).max(axis=0), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        found["energy"], np.abs(np.diff(time)[0] * tau * v)[inner].sum(axis=0), rtol=1e-3, atol=1e-3
    )
    possible = (np.abs(tau[inner]) <= robot.limits.effort).all(axis=1).mean()
    assert found["feasible"][0] == pytest.approx(possible) and (found["beyond_limits"] == 0).all()


def test_a_standing_robot_needs_the_torques_of_gravity_and_cannot_lean_on_air(tmp_path, threads):
    robot = kd.load("humanoid")
    body = kd.walking.Biped.from_robot(robot)
    time, still = np.linspace(0.0, 1.0, 51), np.zeros((51, robot.nv))
    standing = np.tile(body.q, (51, 1))
    hovering = standing.copy()
    hovering[:, 2] += 0.5
    for label, q in (("standing", standing), ("hovering", hovering)):
        kd.Recording.from_robot(robot, time, q, still, still).save(tmp_path / f"{label}.npz")
    job = kd.jobs.motion_statistics(robot, tmp_path, out=tmp_path / "out", engine=threads)
    found = {str(shard["file"][0]): shard for shard in job.shards()}
    assert found["standing.npz"]["feasible"][0] == 1.0 and found["hovering.npz"]["feasible"][0] == 0.0
    arms = [k for k, joint in enumerate(found["standing.npz"]["joint"]) if "elbow" in joint or "shoulder" in joint]
    gravity = kd.dynamics.gravity(robot, body.q)[6:]
    np.testing.assert_allclose(found["standing.npz"]["rms_torque"][arms], np.abs(gravity)[arms], atol=1e-6)


def test_recordings_that_do_not_fit_are_reported(tmp_path, threads):
    robot = kd.load("panda")
    save_swing(robot, tmp_path / "good.npz", seed=2)
    save_swing(kd.load("ur5"), tmp_path / "other.npz", seed=2)
    (tmp_path / "broken.npz").write_bytes(b"no archive")
    job = kd.jobs.motion_statistics(robot, tmp_path, out=tmp_path / "out", engine=threads)
    assert job.status == "incomplete" and job.done == 1
    errors = " ".join(failure.error for failure in job.failed.values())
    assert "ur5" in errors or "coordinates" in errors
    assert "broken.npz" in errors


def test_each_recording_is_identified(tmp_path, threads):
    robot = kd.load("planar2r")
    motion = kd.identification.exciting_trajectory(robot, starts=2, iterations=2, terms=("viscous",))
    time = motion.times(100.0)
    for seed in range(3):
        data = kd.identification.simulate(robot, time, *motion(time), noise=0.01, seed=seed)
        data.save(tmp_path / f"run{seed}.csv")
    job = kd.jobs.identify(robot, tmp_path, out=tmp_path / "out", engine=threads, terms=("viscous",))
    single = kd.identification.fit(robot, kd.identification.read(tmp_path / "run1.csv", robot), terms=("viscous",))
    shard = list(job.shards())[1]
    assert shard["file"][0] == "run1.csv" and tuple(shard["name"]) == single.names
    np.testing.assert_array_equal(shard["after"], single.after)
    assert len(np.unique(job.read()["after"].reshape(3, -1), axis=0)) == 3


def test_clips_are_retargeted_and_broken_ones_reported(tmp_path, threads):
    robot = kd.load("humanoid")
    motion = kd.retarget.example_motion()
    points = {
        f"{name}.{axis}": motion.positions[:, k, i]
        for k, name in enumerate(motion.names)
        for i, axis in enumerate("xyz")
    }
    tables.write(tmp_path / "walk.csv", {"time": np.arange(len(motion)) / motion.rate, **points})
    (tmp_path / "broken.bvh").write_text("HIERARCHY\n")
    job = kd.jobs.retarget(tmp_path, robot, out=tmp_path / "out", engine=threads)
    assert job.done == 1 and list(job.failed) == [0] and "broken.bvh" in job.failed[0].error
    clip = next(iter(job.shards()))
    expected = kd.retarget.retarget(tmp_path / "walk.csv", robot)
    np.testing.assert_array_equal(clip["q"], expected.q)
    assert json.loads(clip["report"][0])["frames"] == len(expected.q)

    expected.save(tmp_path / "expected.npz")
    of_job = kd.jobs.motion_statistics(robot, tmp_path / "out", out=tmp_path / "of_job", engine=threads).read()
    of_file = kd.jobs.motion_statistics(robot, tmp_path / "expected.npz", out=tmp_path / "of_file", engine=threads)
    assert set(of_job.pop("file")) == {"walk.csv"}
    for name, column in of_job.items():
        np.testing.assert_array_equal(column, of_file.read()[name])
    other = kd.jobs.motion_statistics(kd.load("panda"), tmp_path / "out", out=tmp_path / "other", engine=threads)
    assert "must have 7 coordinates as panda has" in other.failed[0].error


def test_an_envelope_counts_walks(tmp_path, threads):
    robot = kd.load("humanoid")
    found = kd.jobs.walking_envelope(robot, [0.3, 9.0], out=tmp_path, seeds=1, duration=5.0, engine=threads)
    np.testing.assert_array_equal(found.rate[:, 0, 0], [1.0, 0.0])
    assert found.runs["reason"][0] == "" and "9" in found.runs["reason"][1]
    assert found.runs["measured_speed"][0] == pytest.approx(0.3, rel=0.2)
    assert found.plot().axes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"speeds": []}, "at least one value"),
        ({"speeds": [np.nan]}, "speeds"),
        ({"speeds": 0.3, "seeds": 0}, "seeds must be"),
        ({"speeds": 0.3, "duration": 1.0}, "duration must be"),
        ({"speeds": 0.3, "mass_error": 1.5}, "mass_error must be"),
    ],
)
def test_bad_grids_are_refused(tmp_path, arguments, message):
    with pytest.raises(kd.InputError, match=message):
        kd.jobs.walking_envelope(kd.load("humanoid"), out=tmp_path, **arguments)


def test_files_are_listed_in_order_without_hidden_ones(tmp_path):
    for name in ("b.csv", "a.CSV", ".hidden.csv", "c.txt"):
        (tmp_path / name).touch()
    for suffixes in ((".csv",), ".csv"):
        assert [path.name for path in kd.jobs.Files([tmp_path], suffixes).paths] == ["a.CSV", "b.csv"]
    for bad, message in (
        (tmp_path / "none", "does not exist"),
        ([], "no files"),
        ([3], "paths must be a string or path or a list"),
    ):
        with pytest.raises(kd.InputError, match=message):
            kd.jobs.Files(bad)


NAN = float("nan")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda out: kd.jobs.retarget("x.bvh", kd.load("humanoid"), out=out, rate=NAN), "rate must be"),
        (lambda out: kd.jobs.retarget("x.bvh", kd.load("humanoid"), out=out, mapping=3), "mapping must be"),
        (lambda out: kd.jobs.identify(kd.load("planar2r"), "x.csv", out=out, terms=("a",)), "terms must be"),
        (lambda out: kd.jobs.identify(kd.load("planar2r"), "x.csv", out=out, colour=1), "colour"),
        (lambda out: kd.jobs.identify(kd.load("planar2r"), "x.csv", out=out, cutoff=-1.0), "cutoff must be"),
        (lambda out: kd.jobs.motion_statistics(None, "x.npz", out=out), "must be a kinodyn.Robot"),
        (lambda out: kd.jobs.walking_envelope(kd.load("humanoid"), 0.3, frictions=0.0, out=out), "frictions positive"),
        (lambda out: kd.retarget.play(None), "clip must be"),
        (lambda out: kd.jobs.Files(None), "paths must be a string or path or a list"),
        (lambda out: kd.jobs.Files(out, ".csv"), r"does not exist"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_computed(tmp_path, call, message):
    with pytest.raises(kd.KinodynError, match=message):
        call(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_target_that_is_no_pose_is_named_before_the_job_starts(tmp_path, threads):
    robot = kd.load("ur5")
    T = kd.kinematics.pose(robot, robot.random(5), "wrist_3_link")
    T[3, 0, 0] = np.nan
    with pytest.raises(kd.InputError, match="row 3 is not"):
        kd.jobs.inverse_kinematics(robot, T, "wrist_3_link", out=tmp_path, engine=threads)
    T[3] = np.eye(4)
    with pytest.raises(kd.InputError, match="tolerance must be"):
        kd.jobs.inverse_kinematics(robot, T, "wrist_3_link", out=tmp_path, engine=threads, tolerance=-1.0)
