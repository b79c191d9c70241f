"""Measure state estimation while walking: errors of the estimated base, and the computation time of an update.

    python benchmarks/estimation.py                        # humanoid, talos, g1: 10 s each
    python benchmarks/estimation.py --robots humanoid --seeds 5 --speed 0.2 --json

The noise is that of low-cost sensors, with biases, drawn again for each seed.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from typing import Any

import numpy as np

import kinodyn as kd

NOISE = {"q": 1e-4, "v": 1e-2, "gyro": 0.01, "accelerometer": 0.1, "gyro_bias": 0.005, "accelerometer_bias": 0.03}
FIELDS = {
    "tilt_rms_deg": "tilt, rms [deg]",
    "tilt_max_deg": "tilt, largest [deg]",
    "velocity_rms": "velocity, rms [m/s]",
    "velocity_max": "velocity, largest [m/s]",
    "height_max": "height, largest [m]",
    "drift": "drift at the end [m]",
    "heading_deg": "heading at the end [deg]",
    "distance": "distance [m]",
}


def walk(robot: kd.Robot, speed: float, seconds: float, seed: int) -> dict[str, Any]:
    """Walk once by the estimate, and measure its errors."""
    result = kd.walking.walk(robot, (speed, 0.0, 0.0), duration=seconds, estimate=True, noise=NOISE, seed=seed)
    run = result.recording
    errors = kd.estimation.base_errors(run.q, run.v, run.signals["q_estimated"], run.signals["v_estimated"])
    tilt, velocity = np.degrees(errors.tilt), np.linalg.norm(errors.velocity, axis=-1)
    numbers = (
        np.sqrt(np.mean(tilt**2)),
        tilt.max(),
        np.sqrt(np.mean(velocity**2)),
        velocity.max(),
        np.abs(errors.position[:, 2]).max(),
        np.linalg.norm(errors.position[-1, :2]),
        abs(np.degrees(errors.heading[-1])),
        result.distance,
    )
    return {"walked": result.walked, **{name: float(value) for name, value in zip(FIELDS, numbers, strict=True)}}


def update_time(robot: kd.Robot, updates: int = 2000) -> float:
    """Measure the median time of an update with all feet on the ground [s]."""
    estimator = kd.estimation.LeggedEstimator(robot)
    q, v = robot.neutral(), np.zeros(robot.nv)
    estimator.reset(q)
    imu = (-robot.gravity, np.zeros(3))
    force = np.array([*(-robot.mass / len(estimator.feet) * robot.gravity), 0.0, 0.0, 0.0])
    wrenches = {foot.frame: force for foot in estimator.feet}
    times = []
    for _ in range(updates):
        begin = time.perf_counter()
        estimator.update(1e-3, imu, q[7:], v[6:], wrenches)
        times.append(time.perf_counter() - begin)
    return float(np.median(times))


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="+", default=["humanoid", "talos", "g1"])
    parser.add_argument("--speed", type=float, default=0.3, help="forward [m/s]")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", kd.DescriptionWarning)
    report: dict[str, dict[str, Any]] = {}
    for name in options.robots:
        robot = kd.load(name, base="floating")
        runs = [walk(robot, options.speed, options.seconds, seed) for seed in range(options.seeds)]
        report[name] = {"update_time": update_time(robot), "runs": runs}
    if options.json:
        print(json.dumps(report, indent=1))
        return
    for name, measured in report.items():
        runs = measured["runs"]
        print(f"{name}: walked {sum(run['walked'] for run in runs)} of {len(runs)}, worst of them:")
        for field, label in FIELDS.items():
            print(f"  {label:26} {max(run[field] for run in runs):.4f}")
        print(f"  {'update [ms]':26} {1e3 * measured['update_time']:.3f}")


if __name__ == "__main__":
    main()
