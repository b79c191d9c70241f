"""A process that publishes joint states at a rate: the peer of the loopback tests."""

from __future__ import annotations

import sys
import time

import numpy as np

import kinodyn as kd


def main(domain: int, rate: float, seconds: float) -> None:
    names = [f"joint{k}" for k in range(30)]
    fields = {"name": names, "position": np.zeros(30), "velocity": np.zeros(30), "effort": np.zeros(30)}
    with kd.interop.ros.Node(domain=domain) as node:
        publisher = node.publisher("/joint_states", "sensor_msgs/JointState", kd.interop.ros.QoS(depth=1000))
        if not publisher.wait_for_peers(timeout=20.0):
            sys.exit("no subscriber")
        begin = time.perf_counter()
        for k in range(round(rate * seconds)):
            now = time.time_ns()
            header = {"stamp": {"sec": now // 10**9, "nanosec": now % 10**9}, "frame_id": str(k)}
            publisher.publish(kd.interop.ros.new("sensor_msgs/JointState", header=header, **fields))
            time.sleep(max(begin + (k + 1) / rate - time.perf_counter(), 0.0))
        time.sleep(1.0)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]))
