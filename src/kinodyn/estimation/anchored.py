"""The filter itself: a base that is moved by its inertial unit and held by anchors on the ground.

An extended Kalman filter with the error of R. Hartley, M. Ghaffari, R. Eustice, J. Grizzle, "Contact-aided invariant
extended Kalman filtering for robot state estimation", 2020: the true state is exp(e) times the estimate. Rotations of
flat feet join it as N. Rotella, M. Bloesch, L. Righetti, S. Schaal, "State estimation for a humanoid robot", 2014, did.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinodyn.description.types import Array
from kinodyn.estimation.noise import SensorNoise
from kinodyn.estimation.rotations import rotation, straightened

START = (1e-3, 1e-2, 1e-3)  # deviations of rotation [rad], velocity [m/s] and position [m] at the start
_EYE = np.eye(3)
# x -> the nine entries of [x]_x
_SKEW = np.zeros((9, 3))
_SKEW[[1, 2, 3, 5, 6, 7], [2, 1, 2, 0, 1, 0]] = [-1.0, 1.0, 1.0, -1.0, -1.0, 1.0]


class Seen(NamedTuple):
    """What a set of anchors tells, row by row: y = e[rows] - e[base] + noise, and whose row it is."""

    anchors: list[int]
    turning: list[int]
    rows: NDArray[np.intp]
    base: NDArray[np.intp]
    owner: NDArray[np.intp]
    variance: Array


class AnchoredFilter:
    """Mean and covariance of base, anchors and biases.

    The error e has 15 + 6 n rows for n anchors: rotation of the base about the world's axes, velocity, position,
    positions of anchors, their rotations, bias of the gyro, bias of the accelerometer.

    Parameters
    ----------
    flat
        (n,) whether an anchor holds rotations too, as a flat foot does.

    Attributes
    ----------
    R : (3, 3)
        R_world_base.
    columns : (3, 2 + n)
        Velocity of the base, its position, positions of the anchors, in the world.
    turned : (n, 3, 3)
        Rotations of the anchors in the world.
    gyro_bias, accelerometer_bias : (3,)
        In the base's axes.
    P : (15 + 6 n, 15 + 6 n)
        Covariance of e.
    """

    def __init__(self, flat: list[bool], noise: SensorNoise, gravity: Array) -> None:
        n = len(flat)
        self.flat, self.noise, self.gravity, self.n, self.size = flat, noise, np.array(gravity), n, 15 + 6 * n
        self.R, self.columns, self.turned = np.eye(3), np.zeros((3, 2 + n)), np.tile(_EYE, (n, 1, 1))
        self.gyro_bias, self.accelerometer_bias = np.zeros(3), np.zeros(3)
        self.P = np.zeros((self.size, self.size))
        self._transition, self._wander = np.eye(self.size), np.zeros(self.size)
        self._places, self._turns = slice(9, 9 + 3 * n), slice(9 + 3 * n, 9 + 6 * n)
        self._gyro, self._accelerometer = slice(9 + 6 * n, 12 + 6 * n), slice(12 + 6 * n, 15 + 6 * n)
        self._gravity_cross = (_SKEW @ self.gravity).reshape(3, 3)
        self._known: dict[tuple[int, ...], Seen] = {}

    def reset(self, R: Array, velocity: Array, position: Array) -> None:
        """Start anew from a base that is known well, without any anchor."""
        self.R = np.array(R)
        self.columns[:, 0], self.columns[:, 1] = velocity, position
        self.gyro_bias[:] = self.accelerometer_bias[:] = 0.0
        start = np.zeros(self.size)
        start[:9] = np.repeat(START, 3)
        start[self._gyro], start[self._accelerometer] = self.noise.gyro_bias, self.noise.accelerometer_bias
        self.P = np.diag(start**2)

    def predict(self, dt: float, acceleration: Array, angular_velocity: Array, creep: Array) -> None:
        """Move the base along the readings of dt [s]; anchors creep by `creep` (n,) times the usual."""
        half = rotation((0.5 * dt) * (angular_velocity - self.gyro_bias))
        R_middle = self.R @ half
        change = R_middle @ (acceleration - self.accelerometer_bias) + self.gravity
        self._set_transition(dt)
        self._spread(dt, creep)
        self.columns[:, 1] += dt * self.columns[:, 0] + (0.5 * dt * dt) * change
        self.columns[:, 0] += dt * change
        self.R = R_middle @ half

    def _set_transition(self, dt: float) -> None:
        """Write exp(A dt) to the order that matters; A does not depend on the error, and hardly on the state."""
        F, R = self._transition, -dt * self.R
        F[3:6, :3], F[6:9, :3] = dt * self._gravity_cross, (0.5 * dt * dt) * self._gravity_cross
        F[6:9, 3:6] = dt * _EYE
        F[:3, self._gyro] = F[3:6, self._accelerometer] = R
        arms = (_SKEW @ self.columns).T.reshape(-1, 3)
        F[3 : self._places.stop, self._gyro] = arms @ R

    def _spread(self, dt: float, creep: Array) -> None:
        """Carry the covariance along and add what the sensors and the feet may have done."""
        F, noise, wander = self._transition, self.noise, self._wander
        gyro = F[: self._places.stop, self._gyro]  # noise of the gyro enters as its bias does
        self.P = F @ self.P @ F.T
        self.P[: self._places.stop, : self._places.stop] += (noise.gyro**2) * (gyro @ gyro.T)
        wander[3:6], wander[6:9] = (noise.accelerometer * dt) ** 2, 0.25 * (noise.accelerometer * dt * dt) ** 2
        often = np.repeat(dt * creep * creep, 3)
        wander[self._places], wander[self._turns] = noise.slip**2 * often, noise.roll**2 * often
        wander[self._gyro], wander[self._accelerometer] = dt * noise.gyro_drift**2, dt * noise.accelerometer_drift**2
        self.P.flat[:: self.size + 1] += wander

    def drop(self, anchor: int, position: Array, turned: Array) -> None:
        """Put an anchor where the base sees it now, at `position` (3,) with rotation `turned` (3, 3) in its axes."""
        self.columns[:, 2 + anchor] = self.columns[:, 1] + self.R @ position
        self.turned[anchor] = self.R @ turned
        for first, base, deviation in (
            (self._places.start, slice(6, 9), self.noise.foot_position),
            (self._turns.start, slice(0, 3), self.noise.foot_rotation),
        ):
            rows = slice(first + 3 * anchor, first + 3 * anchor + 3)
            self.P[rows, :] = self.P[base, :]
            self.P[:, rows] = self.P[:, base]
            self.P[rows, rows] = self.P[base, base] + deviation**2 * _EYE

    def land(self, anchor: int, normal: Array, offset: float) -> None:
        """Take in that an anchor lies in the plane normal . x = offset."""
        place = self.columns[:, 2 + anchor]
        H = np.zeros(self.size)
        H[:3] = (_SKEW @ place).reshape(3, 3) @ normal  # place x normal
        H[9 + 3 * anchor : 12 + 3 * anchor] = normal
        PH = self.P @ H
        gain = PH / (H @ PH + self.noise.ground**2)
        self._correct(gain[:, None], PH[None, :], np.array([offset - normal @ place]))

    def see(self, anchors: list[int], position: Array, turned: Array, gate: float) -> list[int]:
        """Correct by where the base sees anchors: positions (n, 3), rotations (n, 3, 3) of all, in its axes.

        If one is off by more than `gate` standard deviations nothing changes; returns those that are.
        """
        seen = self._known.get(tuple(anchors)) or self._look(anchors)
        y = self._innovation(seen, position, turned)
        PH = self.P[:, seen.rows] - self.P[:, seen.base]
        S = PH[seen.rows] - PH[seen.base]
        S.flat[:: len(y) + 1] += seen.variance
        off = y * y > gate * gate * S.diagonal()
        if off.any():
            return sorted(set(seen.owner[off].tolist()))
        self._correct(np.linalg.solve(S, PH.T).T, PH.T, y)
        return []

    def _look(self, anchors: list[int]) -> Seen:
        turning = [k for k in anchors if self.flat[k]]
        axes, many, few = np.arange(3), np.array(anchors), np.array(turning, dtype=int)
        rows = np.concatenate([9 + 3 * many[:, None] + axes, 9 + 3 * (self.n + few[:, None]) + axes])
        base = np.concatenate([np.tile(6 + axes, (len(many), 1)), np.tile(axes, (len(few), 1))])
        deviation = np.repeat([self.noise.foot_position, self.noise.foot_rotation], [3 * len(many), 3 * len(few)])
        owner = np.repeat(np.concatenate([many, few]), 3)
        self._known[tuple(anchors)] = Seen(anchors, turning, rows.ravel(), base.ravel(), owner, deviation**2)
        return self._known[tuple(anchors)]

    def _innovation(self, seen: Seen, position: Array, turned: Array) -> Array:
        """Compare where anchors are seen with where they are thought to be, along the world's axes."""
        there = position[seen.anchors] @ self.R.T + (self.columns[:, 1] - self.columns.T[2:][seen.anchors])
        if not seen.turning:
            return np.asarray(there.ravel())
        M = self.R @ turned[seen.turning] @ self.turned[seen.turning].transpose(0, 2, 1)
        # the sine of a small angle is as good as the angle
        turn = 0.5 * (M[:, [2, 0, 1], [1, 2, 0]] - M[:, [1, 2, 0], [2, 0, 1]])
        return np.concatenate([there.ravel(), turn.ravel()])

    def _correct(self, gain: Array, HP: Array, y: Array) -> None:
        e = gain @ y
        P = self.P - gain @ HP
        self.P = 0.5 * (P + P.T)
        turn = rotation(e[:3])
        # to second order in the rotation, exp(e) moves the columns by [1 + [e_R]_x / 2] e
        moves = e[3 : self._places.stop].reshape(-1, 3).T
        self.columns = turn @ self.columns + moves + 0.5 * (_SKEW @ e[:3]).reshape(3, 3) @ moves
        self.R = straightened(turn @ self.R)
        for k in range(self.n):
            rows = slice(self._turns.start + 3 * k, self._turns.start + 3 * k + 3)
            self.turned[k] = rotation(e[rows]) @ self.turned[k]
        self.gyro_bias += e[self._gyro]
        self.accelerometer_bias += e[self._accelerometer]

    def deviation(self) -> Array:
        """Compute the standard deviations (9,) of rotation, velocity and position along the world's axes."""
        T = np.eye(9)
        T[3:, :3] = -(_SKEW @ self.columns[:, :2]).T.reshape(-1, 3)
        result: Array = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", T, self.P[:9, :9], T), 0.0))
        return result
