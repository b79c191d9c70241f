"""Long native calls: Ctrl-C ends them soon, and refused threads leave them working. In processes of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

PRELUDE = """
import os, resource, signal, threading, time, warnings
import numpy as np
import kinodyn as kd

def delay(call):
    '''Return the CPU time of all threads from Ctrl-C to its exception; the call must not end before.'''
    sent = []
    def interrupt():
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(0.3, interrupt)
    timer.start()
    try:
        call()
    except KeyboardInterrupt:
        return time.process_time() - sent[0]
    raise SystemExit("the call has ended before Ctrl-C")

robot = kd.load("humanoid")
q = robot.random(10_000, seed=0)
v = np.zeros((len(q), robot.nv))
"""


def run(code: str) -> str:
    """Run Python code after the prelude and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + code], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


REACHING = """
T = kd.kinematics.pose(robot, robot.configuration("standing"), "left_palm").copy()
T[:3, 3] += [3.0, 2.0, 1.0]
feet = [kd.tasks.ContactTask(f"{side}_sole") for side in ("left", "right")]
solver = kd.ik.WholeBody(robot, [*feet, kd.tasks.FrameTask("left_palm", T), kd.tasks.FrameTask("right_palm", T)])
"""

CALLS = {
    "batch": "def call():\n    while True: kd.dynamics.forward_derivatives(robot, q, v, v)",
    "robot with hundreds of joints": """
chain = kd.from_dh([kd.DH(a=0.1, d=0.0, alpha=0.3)] * 500).replace(armature=1.0)
states = chain.random(30, seed=0)
def call():
    while True: kd.dynamics.forward_derivatives(chain, states, states, states)
""",
    "whole body": f"""{REACHING}
def call():
    while True: solver.solve(robot.random(500, seed=1), iterations=10**7)
""",
    "general arm": """
arm = kd.from_dh([kd.DH(a=0.1, d=0.2, alpha=a) for a in (1.0, 0.7, 1.2, 0.6, 1.1, 0.8)])
T = kd.kinematics.pose(arm, arm.random(20_000, seed=0), arm.frame_names[-1])
def call():
    while True: kd.ik.analytic(arm, T, arm.frame_names[-1])
""",
    "sampling": """
def call():
    while True: robot.random(3_000_000)
""",
    "threads of Python": f"""{REACHING}
from kinodyn.threads import map_in_threads
def work(seed):
    while True: solver.solve(robot.random(20, seed=seed), iterations=10**7)
def call():
    list(map_in_threads(work, range(8)))
""",
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_ends_a_native_call(name: str, threads: int) -> None:
    """It would not end; a second of CPU time is allowed, that of up to three threads and of freeing memory."""
    code = f"{CALLS[name]}\nkd.set_threads({threads})\nprint(delay(call))\nprint(kd.kinematics.com(robot, q).shape)"
    waited, shape = run(code).splitlines()
    assert float(waited) < 1.0
    assert shape == "(10000, 3)"  # the pool works on


@pytest.mark.parametrize("megabytes", [40, 300, 302, 304, 306, 308])  # what stacks of 8 MB leave differs
def test_fewer_threads_than_asked_for_do_the_same_work_and_one_warning_says_so(megabytes: int) -> None:
    out = run(f"""
expected = kd.dynamics.inverse(robot, q, v, v)
kd.set_threads(300)
with open("/proc/self/status") as status:
    used = next(int(line.split()[1]) for line in status if line.startswith("VmSize")) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + ({megabytes} << 20),) * 2)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(3):
        found = kd.dynamics.inverse(robot, q[:2000], v[:2000], v[:2000])
print(np.array_equal(found, expected[:2000]), len(caught))
print(caught[0].message)
""")
    first, message = out.splitlines()
    assert first == "True 1"
    assert "the system refused" in message and "of 300 threads" in message


@pytest.mark.parametrize("value", ["0", "3000", "many", "-1"])
def test_an_impossible_number_of_threads_in_the_environment_is_refused(value: str) -> None:
    code = f"import os; os.environ['KINODYN_THREADS'] = {value!r}; import kinodyn; kinodyn.load('ur5')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode != 0
    assert "a whole number from 1 to 1024 is needed" in done.stderr


def test_an_error_in_one_thread_ends_the_others() -> None:
    out = run(f"""{REACHING}
from kinodyn.threads import map_in_threads
def work(seed):
    if seed == 0:
        raise kd.InputError("as requested")
    while True: solver.solve(robot.random(20, seed=seed), iterations=10**7)
try:
    list(map_in_threads(work, range(8)))
except kd.InputError as error:
    print(error)
print(list(map_in_threads(max, [1, 5], [2, 4])))
""")
    assert out.splitlines() == ["as requested", "[2, 5]"]
