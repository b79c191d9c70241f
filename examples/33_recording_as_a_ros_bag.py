"""A motion as a ROS 2 bag: planned, executed in simulation, saved as MCAP, and read back by joint names.

The bag has /joint_states, /tf and /robot_description: Foxglove, RViz and `ros2 bag play` show the robot. Needs
`pip install 'kinodyn[ros]'`. --plot FILE draws the positions that were saved and those that a controller of
ros2_control would follow, from the points of the JointTrajectory message.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd

Array: TypeAlias = NDArray[np.float64]
START, GOAL = np.array([0, -0.8, 0, -2.4, 0, 1.6, 0.8]), np.array([1.4, -0.2, 0.3, -1.8, 0.1, 1.6, 0.8])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    arguments = parser.parse_args()

    robot = kd.load("panda")
    world = kd.collision.World()
    world.add_box("wall", (0.3, 0.05, 1.0), ((0.45, 0.35, 0.3), None))
    plan = kd.planning.plan(robot, START, GOAL, world)
    recording = kd.planning.execute(plan, robot).recording

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.mcap"
        recording.save(path, robot=robot)
        with kd.interop.ros.read_bag(path) as bag:
            for topic, kind in bag.topics.items():
                print(f"{topic:28} {kind:29} {bag.counts[topic]:5} messages")
        loaded = kd.Recording.load(path, robot=robot)
    print("positions return exactly:", bool((loaded.q == recording.q).all()))

    # The same motion for a joint trajectory controller: its knots, which lose nothing.
    points = kd.interop.moveit.joint_trajectory(plan.trajectory(), robot)
    message = kd.interop.moveit.to_message(points)
    data = kd.interop.ros.encode(message)
    print(f"JointTrajectory: {len(points)} points in {len(data)} bytes of CDR")
    received = kd.interop.moveit.read_trajectory(kd.interop.ros.decode(data, "trajectory_msgs/JointTrajectory"))
    assert isinstance(received, kd.interop.moveit.JointTrajectory)
    followed = received.motion(robot)(np.clip(recording.time, 0.0, points.time[-1]))
    print(f"the controlled arm stays within {np.ceil(1e3 * np.abs(followed - recording.q).max()):.0f} mrad of it")

    if arguments.plot:
        draw(arguments.plot, robot, recording, points, followed)


def draw(path: str, robot: kd.Robot, recording: kd.Recording, points: Any, followed: Array) -> None:
    """Draw the positions of the joints that move most."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 3.5), layout="constrained")
    for k in np.argsort(-np.ptp(recording.q, axis=0))[:4]:
        (line,) = axis.plot(recording.time, recording.q[:, k], label=robot.joint_names[k])
        axis.plot(recording.time, followed[:, k], "--", color="0.3", linewidth=0.8)
        axis.plot(points.time, points.position[:, k], "o", color=line.get_color(), markersize=3)
    axis.set(xlabel="time [s]", ylabel="position [rad]", title="Recorded motion, and the points of the message")
    axis.legend(fontsize="small")
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
