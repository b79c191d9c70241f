"""TSID on the motion of benchmarks/control_inverse_dynamics.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

try:
    import tsid.tsid_pywrap as tsid  # wheels up to 1.7.1 have their files one folder too deep
except ImportError:
    import tsid

from control_scene import COM, FEET, FREQUENCY, FRICTION, HAND, HANDS, POSTURE, SOLE, TORSO, TURN, Motion
from pinocchio_model import build
from setups import Array

REGULARISATION = 1e-8  # weight of forces [1/N^2]: that which TSID's solver adds


class Tsid:
    """TSID with the same robot, tasks, gains, weights, cones and torque limits."""

    name = "TSID"

    def __init__(self, motion: Motion) -> None:
        robot = motion.robot
        self.model = build(robot.description)
        self.robot = tsid.RobotWrapper(self.model, tsid.RootJointType.FLOATING_BASE_SYSTEM, False)
        self.form = tsid.InverseDynamicsFormulationAccForce("tsid", self.robot, False)
        q, v = motion.start, np.zeros(robot.nv)
        self.form.computeProblemData(0.0, q, v)
        self.feet = [self._add_contact(foot) for foot in FEET]  # TSID keeps no references to its tasks
        self.com = self._add_task(tsid.TaskComEquality("com", self.robot), 3, COM)
        self.hands = {hand: self._add_task(tsid.TaskSE3Equality(hand, self.robot, hand), 6, HAND) for hand in HANDS}
        self.torso = tsid.TaskSE3Equality(TORSO, self.robot, TORSO)
        self.torso.setMask(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]))
        self._add_task(self.torso, 6, TURN)
        self.torso.setReference(self._sample(self._frame_pose(TORSO)))
        joints = robot.nv - 6
        self.posture = self._add_task(tsid.TaskJointPosture("posture", self.robot), joints, POSTURE)
        reference = tsid.TrajectorySample(joints)
        reference.value(q[7:])
        self.posture.setReference(reference)
        self.bounds = tsid.TaskActuationBounds("torques", self.robot)
        effort = robot.limits.effort[6:]
        self.bounds.setBounds(-effort, effort)
        self.form.addActuationTask(self.bounds, 1.0, 0, 0.0)
        self.solver = tsid.SolverHQuadProgFast("solver")
        self.solver.resize(self.form.nVar, self.form.nEq, self.form.nIn)
        self.rows = [
            (t, q, v, com, {hand: self._sample(pin.SE3(T), rate, gain) for hand, (T, rate, gain) in hands.items()})
            for t, q, v, com, hands in motion.ticks
        ]

    def _frame_pose(self, frame: str) -> Any:
        return self.robot.framePosition(self.form.data(), self.model.getFrameId(frame))

    def _add_contact(self, foot: str) -> Any:
        contact = tsid.Contact6d(
            foot, self.robot, foot, np.array(SOLE).T, np.array([0.0, 0.0, 1.0]), FRICTION, 0.0, 1e4
        )
        contact.setKp(np.zeros(6))
        contact.setKd(np.full(6, 40.0))
        contact.setReference(self._frame_pose(foot))
        self.form.addRigidContact(contact, REGULARISATION, 1.0, 0)
        return contact

    def _add_task(self, task: Any, rows: int, weight: float) -> Any:
        task.setKp(np.full(rows, FREQUENCY**2))
        task.setKd(np.full(rows, 2.0 * FREQUENCY))
        self.form.addMotionTask(task, weight**2, 1, 0.0)
        return task

    @staticmethod
    def _sample(T: Any, rate: Array | None = None, gain: Array | None = None) -> Any:
        sample = tsid.TrajectorySample(12, 6)
        sample.value(tsid.SE3ToVector(T))
        sample.derivative(np.zeros(6) if rate is None else rate)
        sample.second_derivative(np.zeros(6) if gain is None else gain)
        return sample

    def tick(self, k: int) -> Array:
        """Set the references of tick k, solve, and return the torques (nv,)."""
        t, q, v, (p, rate, gain), hands = self.rows[k]
        sample = tsid.TrajectorySample(3)
        sample.value(p)
        sample.derivative(rate)
        sample.second_derivative(gain)
        self.com.setReference(sample)
        for hand, reference in hands.items():
            self.hands[hand].setReference(reference)
        self.solution = self.solver.solve(self.form.computeProblemData(t, q, v))
        tau: Array = self.form.getActuatorForces(self.solution)
        return tau

    def acceleration(self) -> Array:
        """Return the accelerations (nv,) of the last tick."""
        a: Array = self.form.getAccelerations(self.solution)
        return a

    def solved(self) -> bool:
        """Return whether TSID reports its last solution as optimal."""
        return int(self.solution.status) == 0
