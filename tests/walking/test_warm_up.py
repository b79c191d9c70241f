"""What a walk calls for the first time takes longer: it is called before the first tick."""

from __future__ import annotations

import subprocess
import sys

from kinodyn.walking import Biped, Planner
from kinodyn.walking.warm_up import warm_up

# In a process of its own: functions that other tests have called would not be noticed.
WALK = """
import kinodyn as kd
from kinodyn import argument_types

body = kd.walking.Biped.from_robot(kd.load("humanoid"))
simulator = kd.walking.make_simulator(body, "mujoco")
controller = kd.walking.WalkingController(body)
noise = {"q": 1e-4, "v": 1e-2, "gyro": 0.01, "accelerometer": 0.1}
acting = kd.walking.EstimatingController(controller, body.robot, body.q, dt=controller.dt, noise=noise)
first_calls = []
original = argument_types._Tests.__init__

def noticed(self, function):
    first_calls.append(function.__qualname__)
    original(self, function)

class Observed:
    signals, rolling_feet = controller.signals, ()
    def act(self, observation):
        argument_types._Tests.__init__ = noticed
        try:
            return acting.act(observation)
        finally:
            argument_types._Tests.__init__ = original

controller.command((0.4, 0.0, 0.0), at=0.1)
push = kd.walking.impulse_push(body, 1.0, 0.5 * body.robot.mass, start=1.6)
kd.walking.simulation.run_controller(simulator, controller, 2.4, acting=Observed(), pushes=[push])
assert controller.planner.schedule.count > 2 and controller.fallen is None
print(sorted(set(first_calls)))
"""


def test_no_tick_of_a_walk_evaluates_annotations() -> None:
    found = subprocess.run([sys.executable, "-c", WALK], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_warming_up_does_not_change_the_planner(body: Biped) -> None:
    planner = Planner(body)
    schedule, reference = planner.schedule, planner.reference(0.3)
    warm_up(planner)
    assert planner.schedule is schedule and planner.plan is None and not planner.walking
    assert (planner.reference(0.3).com == reference.com).all()
