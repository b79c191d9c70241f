"""Recordings in bags: they return unchanged, other readers agree, foreign bags load by joint names."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd

rosbags = pytest.importorskip("rosbags")

from kinodyn import rosmsgs  # noqa: E402
from kinodyn.rosmsgs import BagMessage  # noqa: E402


def recording(robot: kd.Robot, n: int = 20) -> kd.Recording:
    rng = np.random.default_rng(0)
    tau = rng.normal(size=(n, robot.nv))
    tau[:, : 6 if robot.base == "floating" else 0] = 0.0
    more = {
        "contacts": {"foot": np.arange(n) % 2 == 0},
        "forces": {"foot": rng.normal(size=(n, 6))},
        "signals": {"a b": rng.normal(size=(n, 2, 3)), "x": rng.normal(size=n)},
    }
    time = np.arange(n) * 0.002
    return kd.Recording.from_robot(robot, time, robot.random(n, seed=1), rng.normal(size=(n, robot.nv)), tau, **more)


@pytest.mark.parametrize("path", ["run.mcap", "bag"])
@pytest.mark.parametrize("name", ["panda", "humanoid"])
def test_a_recording_returns_from_a_bag(tmp_path: Path, name: str, path: str) -> None:
    robot = kd.load(name)
    saved = recording(robot)
    saved.save(tmp_path / path, robot=robot)
    saved.save(tmp_path / path, robot=robot)  # replaces it
    loaded = kd.Recording.load(tmp_path / path)
    for key, array in saved.arrays():
        np.testing.assert_allclose(loaded.array(key), array, rtol=0.0, atol=1e-9 if key == "time" else 0.0)
    assert (loaded.robot, loaded.q_names, loaded.v_names) == (saved.robot, saved.q_names, saved.v_names)
    for key, limit in saved.limits.items():
        np.testing.assert_array_equal(loaded.limits[key], limit)


@pytest.mark.parametrize("name", ["panda", "humanoid"])
def test_columns_are_found_by_the_joints_of_a_robot(tmp_path: Path, name: str) -> None:
    robot = kd.load(name)
    saved = recording(robot)
    saved.save(tmp_path / "run.mcap")
    loaded = kd.Recording.load(tmp_path / "run.mcap", robot=robot)
    for key in ("q", "v", "tau"):
        np.testing.assert_allclose(loaded.array(key), saved.array(key), rtol=0.0, atol=1e-15)
    with pytest.raises(kd.InputError, match="must have states of all joints|needs /odom or /tf"):
        kd.Recording.load(tmp_path / "run.mcap", robot=kd.load("ur5"))


def test_rosbags_reads_the_messages_and_their_definitions(tmp_path: Path) -> None:
    from rosbags.highlevel import AnyReader

    robot = kd.load("panda")
    saved = recording(robot)
    for path in ("run.mcap", "bag"):
        saved.save(tmp_path / path, robot=robot)
        source = tmp_path / path
        with AnyReader([source]) as reader:
            types = {each.topic: each.msgtype for each in reader.connections}
            assert types["/robot_description"] == "std_msgs/msg/String" and types["/tf"] == "tf2_msgs/msg/TFMessage"
            chosen = [each for each in reader.connections if each.topic == "/joint_states"]
            rows = [reader.deserialize(raw, each.msgtype) for each, _, raw in reader.messages(chosen)]
        np.testing.assert_array_equal([row.position for row in rows], saved.q)


def test_the_mcap_library_reads_the_messages(tmp_path: Path) -> None:
    reader_module = pytest.importorskip("mcap.reader")
    decoder = pytest.importorskip("mcap_ros2.decoder").DecoderFactory()
    robot = kd.load("panda")
    saved = recording(robot)
    saved.save(tmp_path / "run.mcap", robot=robot)
    with open(tmp_path / "run.mcap", "rb") as stream:
        reader = reader_module.make_reader(stream, decoder_factories=[decoder])
        found: dict[str, list] = {}
        for _, channel, _, message in reader.iter_decoded_messages():
            found.setdefault(channel.topic, []).append(message)
    np.testing.assert_array_equal([row.position for row in found["/joint_states"]], saved.q)
    assert found["/robot_description"][0].data.startswith("<?xml")
    links = {part.child_frame_id for message in (*found["/tf"], *found["/tf_static"]) for part in message.transforms}
    assert {joint.child for joint in robot.description.joints} <= links


def state(names: list[str], time: int, **fields: list[float]) -> BagMessage:
    return BagMessage("/joint_states", time, rosmsgs.new("sensor_msgs/JointState", name=names, **fields))


def test_a_foreign_bag_with_parts_of_the_joints_in_changing_order_loads(tmp_path: Path) -> None:
    robot = kd.load("planar2r")
    names = list(robot.joint_names)
    messages = [
        state(names[:1], 100, position=[0.0], velocity=[1.0]),  # the other joint is not known yet
        state(names[::-1], 1_000_000_100, position=[2.0, 1.0], velocity=[20.0, 10.0]),
        state(names[:1], 2_000_000_100, position=[3.0], velocity=[30.0]),
        state([*names, "gripper"], 3_000_000_100, position=[5.0, 6.0, 7.0], velocity=[1.0, 1.0, 1.0]),
    ]
    rosmsgs.write_bag(tmp_path / "bag", messages, {"/joint_states": "sensor_msgs/JointState"})
    with pytest.raises(kd.InputError, match="got none of panda_joint1"):
        kd.Recording.load(tmp_path / "bag", robot=kd.load("panda"))
    loaded = kd.Recording.load(tmp_path / "bag", robot=robot)
    assert loaded.time.tolist() == [0.0, 1.0, 2.0]
    assert loaded.q.tolist() == [[1.0, 2.0], [3.0, 2.0], [5.0, 6.0]]
    assert loaded.v.tolist() == [[10.0, 20.0], [30.0, 20.0], [1.0, 1.0]] and not loaded.tau.any()


def test_missing_velocities_are_differences_and_reported(tmp_path: Path) -> None:
    messages = [state(["a"], k * 10**9, position=[2.0 * k]) for k in range(4)]
    rosmsgs.write_bag(tmp_path / "x.mcap", messages, {"/joint_states": "sensor_msgs/JointState"})
    with pytest.warns(kd.DescriptionWarning, match="1 joints have no velocity"):
        loaded = kd.Recording.load(tmp_path / "x.mcap")
    np.testing.assert_allclose(loaded.v, 2.0)
    assert loaded.q_names == ("a",)


def test_a_floating_base_comes_from_tf_without_odometry(tmp_path: Path) -> None:
    robot = kd.load("humanoid")
    saved = recording(robot)
    messages = []
    for k, t in enumerate(saved.time):
        time = round(t * 1e9)
        messages.append(BagMessage("/tf", time, rosmsgs.transforms(robot, saved.q[k], time=time)))
        messages.append(
            BagMessage("/joint_states", time, rosmsgs.joint_state(robot, saved.q[k], saved.v[k], time=time))
        )
    types = {"/tf": "tf2_msgs/TFMessage", "/joint_states": "sensor_msgs/JointState"}
    rosmsgs.write_bag(tmp_path / "run.mcap", messages, types)
    loaded = kd.Recording.load(tmp_path / "run.mcap", robot=robot)
    np.testing.assert_allclose(np.abs(loaded.q[:, :3]), np.abs(saved.q[:, :3]), atol=1e-12)
    np.testing.assert_allclose(robot.difference(loaded.q, saved.q), 0.0, atol=1e-7)


def test_what_a_bag_cannot_hold_is_reported(tmp_path: Path) -> None:
    robot = kd.load("humanoid")
    saved = recording(robot)
    pushed = kd.Recording.from_robot(robot, saved.time, saved.q, saved.v, np.ones_like(saved.v))
    with pytest.warns(kd.DescriptionWarning, match="floating base are not written"):
        pushed.save(tmp_path / "run.mcap")
    batch = kd.Recording(
        "batch",
        np.arange(2.0),
        np.zeros((2, 3, 1)),
        np.zeros((2, 3, 1)),
        np.zeros((2, 3, 1)),
        q_names=("a",),
        v_names=("a",),
    )
    with pytest.raises(kd.InputError, match="must hold one recording, got a batch"):
        batch.save(tmp_path / "batch.mcap")
    with pytest.raises(kd.InputError, match="robot must have the joints of the recording"):
        saved.save(tmp_path / "run.mcap", robot=kd.load("panda"))


def test_a_folder_that_is_not_a_bag_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious").write_text("keep")
    with pytest.raises(kd.InputError, match="must be new or the folder of a bag"):
        recording(kd.load("panda")).save(tmp_path / "mine")
    assert (tmp_path / "mine" / "precious").exists()


@pytest.mark.parametrize("name", ["run.mcap", "bag"])
def test_broken_bags_are_input_errors(tmp_path: Path, name: str) -> None:
    recording(kd.load("panda")).save(tmp_path / name)
    file = next((tmp_path / name).glob("*.db3")) if name == "bag" else tmp_path / name
    data = file.read_bytes()
    rng = np.random.default_rng(0)
    for k in range(40):
        broken = bytearray(data[: rng.integers(1, len(data))] if k % 2 else data)
        for position in rng.integers(0, len(broken), 20):
            broken[position] = rng.integers(256)
        file.write_bytes(bytes(broken))
        with contextlib.suppress(kd.KinodynError):
            kd.Recording.load(tmp_path / name)


@pytest.mark.parametrize("text", ["", "a: [", "rosbag2_bagfile_information: {}", "&a [*a]"])
def test_broken_metadata_is_an_input_error(tmp_path: Path, text: str) -> None:
    recording(kd.load("panda")).save(tmp_path / "bag")
    (tmp_path / "bag" / "metadata.yaml").write_text(text)
    with pytest.raises(kd.InputError):
        kd.Recording.load(tmp_path / "bag")


def test_a_chunk_that_expands_beyond_its_declared_size_is_refused(tmp_path: Path) -> None:
    """100 MB of zeros in a few kB, declared as 10 bytes: the storage library would expand all of it."""
    try:
        from compression import zstd
    except ImportError:
        from backports import zstd
    bomb = zstd.compress(bytes(100_000_000))
    chunk = struct.pack("<QQQII", 0, 0, 10, 0, 4) + b"zstd" + struct.pack("<Q", len(bomb)) + bomb
    file = tmp_path / "bomb.mcap"
    file.write_bytes(b"\x89MCAP0\r\n" + struct.pack("<BQ", 6, len(chunk)) + chunk)
    with pytest.raises(kd.InputError, match="must expand to 10 bytes as declared"):
        kd.Recording.load(file)
    declared = struct.pack("<QQQII", 0, 0, 10**12, 0, 4) + chunk[32:]
    file.write_bytes(b"\x89MCAP0\r\n" + struct.pack("<BQ", 6, len(declared)) + declared)
    with pytest.raises(kd.InputError, match="must expand to at most"):
        kd.Recording.load(file)


def test_a_type_with_other_fields_is_refused(tmp_path: Path) -> None:
    from rosbags.rosbag2 import StoragePlugin, Writer

    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        definition = "int32 name\n"
        topic = writer.add_connection("/joint_states", "sensor_msgs/msg/JointState", msgdef=definition, rihs01="x")
        writer.write(topic, 0, b"\x00\x01\x00\x00\x01\x00\x00\x00")
    with pytest.raises(kd.InputError, match="must have the fields known here"):
        kd.Recording.load(tmp_path / "bag")


def test_a_missing_topic_suggests_the_nearest(tmp_path: Path) -> None:
    recording(kd.load("panda")).save(tmp_path / "run.mcap")
    with pytest.raises(kd.UnknownNameError, match="did you mean '/joint_states'"):
        kd.Recording.load(tmp_path / "run.mcap", topics={"joint_states": "/joint_state"})
    with pytest.raises(kd.InputError, match="topics must have the keys"):
        kd.Recording.load(tmp_path / "run.mcap", topics={"joints": "/joint_states"})
