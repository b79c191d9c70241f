"""Contact-aided extended Kalman filter (EKF): a base driven by its IMU and corrected by contacts with the ground.

The error is the invariant one of R. Hartley, M. Ghaffari, R. Eustice, J. Grizzle, "Contact-aided invariant extended
Kalman filtering for robot state estimation", 2020: the true state is exp(e) times the estimate. Rotations of flat feet
are included as by N. Rotella, M. Bloesch, L. Righetti, S. Schaal, "State estimation for a humanoid robot", 2014.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from kinodyn.arrays import Array
from kinodyn.errors import SingularError
from kinodyn.estimation.noise import SensorNoise
from kinodyn.estimation.rotations import orthonormalised, rotation

_EYE = np.eye(3)
# x @ _SKEW are the nine entries of [x]_x
_SKEW = np.zeros((3, 9))
_SKEW[[2, 1, 2, 0, 1, 0], [1, 2, 3, 5, 6, 7]] = [-1.0, 1.0, 1.0, -1.0, -1.0, 1.0]
_UNSKEW = 0.5 * _SKEW.T


class Measurement(NamedTuple):
    """Linear measurement of a set of contacts: y[rows] = H e + noise, and the contact of each row."""

    rows: NDArray[np.intp]
    H: Array
    owner: NDArray[np.intp]
    variance: Array


class ContactEKF:
    """Mean and covariance of base, contacts and biases.

    With n contacts, m of them flat, the error e has 15 + 3 n + 3 m rows: rotation of the base about world axes, its
    velocity and position, positions of the contacts, rotations of the flat ones, biases of gyro and accelerometer.

    Parameters
    ----------
    flat
        (n,) whether a contact also fixes the rotation, as a foot with a sole does.
    noise
        Expected noise of the sensors.
    gravity
        (3,) [m/s^2].

    Attributes
    ----------
    R : (3, 3)
        R_world_base.
    vectors : (2 + n, 3)
        Velocity of the base, its position, positions of the contacts, in the world.
    contact_rotations : (m, 3, 3)
        Rotations of the flat contacts in the world.
    gyro_bias, accelerometer_bias : (3,)
        In base axes.
    P : (15 + 3 n + 3 m, ...)
        Covariance of e.
    """

    def __init__(self, flat: list[bool], noise: SensorNoise, gravity: Array) -> None:
        n, self.flat = len(flat), [k for k, is_flat in enumerate(flat) if is_flat]
        self._flat = slice(None) if all(flat) else np.array(self.flat, dtype=int)  # a slice is faster
        places, turns = 9 + 3 * n, 9 + 3 * n + 3 * len(self.flat)
        self.noise, self.gravity, self.n, self.size = noise, np.array(gravity), n, turns + 6
        self.R, self.vectors = np.eye(3), np.zeros((2 + n, 3))
        self.contact_rotations = np.tile(_EYE, (len(self.flat), 1, 1))
        self.gyro_bias: Array = np.zeros(3)
        self.accelerometer_bias: Array = np.zeros(3)
        self._places, self._turns = slice(9, places), slice(places, turns)
        self._gyro, self._accelerometer = slice(turns, turns + 3), slice(turns + 3, turns + 6)
        self.P = np.zeros((self.size, self.size))
        self._diagonal = self.P.ravel()[:: self.size + 1]
        # transition and workspace with three more columns, for the noise of the gyro
        self._transition, self._work = np.eye(self.size, self.size + 3), np.zeros((self.size, self.size + 3))
        self._y = np.zeros(turns - 9)
        self._known: dict[tuple[int, ...], Measurement] = {}
        self._step: object = None
        self._process_noise = np.zeros(self.size)

    def reset(self, R: Array, velocity: Array, position: Array, deviation: Array) -> None:
        """Restart without contacts, from a base with standard deviations (3,) of rotation, velocity and position."""
        self.R = np.array(R)
        self.vectors[0], self.vectors[1] = velocity, position
        self.gyro_bias[:] = self.accelerometer_bias[:] = 0.0
        start = np.zeros(self.size)
        start[:9] = np.repeat(deviation, 3)
        start[self._gyro], start[self._accelerometer] = self.noise.gyro_bias, self.noise.accelerometer_bias
        # the invariant error of velocity and position excludes the part that is due to the rotation
        T = np.eye(self.size)
        T[3:9, :3] = (self.vectors[:2] @ _SKEW).reshape(-1, 3)
        self.P[:] = (T * start**2) @ T.T

    def predict(self, dt: float, acceleration: Array, angular_velocity: Array, slip_scale: tuple[float, ...]) -> None:
        """Integrate the IMU over dt [s]; `slip_scale` (n,) are factors on the random walk of the contacts."""
        half = rotation((0.5 * dt) * (angular_velocity - self.gyro_bias))
        R_middle = self.R @ half
        self._propagate_covariance(dt, slip_scale)
        change = dt * (R_middle @ (acceleration - self.accelerometer_bias) + self.gravity)
        self.vectors[1] += dt * (self.vectors[0] + 0.5 * change)
        self.vectors[0] += change
        self.R = R_middle @ half

    def _propagate_covariance(self, dt: float, slip_scale: tuple[float, ...]) -> None:
        """Propagate the covariance, P <- F P F^T + Q, with F = exp(A dt) to sufficient order."""
        if self._step != (dt, slip_scale):
            self._step = (dt, slip_scale)
            self._set_step(dt, np.array(slip_scale))
        F, R, moved, size = self._transition, -dt * self.R, self._places.stop, self.size
        F[:3, self._gyro] = F[3:6, self._accelerometer] = R
        F[3:moved, self._gyro] = (self.vectors @ _SKEW).reshape(-1, 3) @ R
        gyro = np.multiply(F[:moved, self._gyro], self.noise.gyro, out=F[:moved, size:])  # enters like its bias
        np.matmul(F[:, :size], self.P, out=self._work[:, :size])
        self._work[:moved, size:] = gyro
        np.matmul(self._work, F.T, out=self.P)
        self._diagonal += self._process_noise

    def _set_step(self, dt: float, slip_scale: Array) -> None:
        """Fill the constant parts: those of F that are due to gravity, and the process noise."""
        F, noise, Q = self._transition, self.noise, self._process_noise
        g = (self.gravity @ _SKEW).reshape(3, 3)
        F[3:6, :3], F[6:9, :3], F[6:9, 3:6] = dt * g, (0.5 * dt * dt) * g, dt * _EYE
        Q[3:6], Q[6:9] = (noise.accelerometer * dt) ** 2, 0.25 * (noise.accelerometer * dt * dt) ** 2
        scale = dt * slip_scale * slip_scale
        Q[self._places] = np.repeat(noise.slip**2 * scale, 3)
        Q[self._turns] = np.repeat(noise.roll**2 * scale[self.flat], 3)
        Q[self._gyro], Q[self._accelerometer] = dt * noise.gyro_drift**2, dt * noise.accelerometer_drift**2

    def add_contact(self, contact: int, T_base_contact: Array) -> None:
        """Start a contact at its measured pose (4, 4) in the base."""
        self.R = orthonormalised(self.R)
        self.vectors[2 + contact] = self.vectors[1] + self.R @ T_base_contact[:3, 3]
        self._copy_error(self._places.start + 3 * contact, slice(6, 9), self.noise.foot_position)
        if contact in self.flat:
            k = self.flat.index(contact)
            self.contact_rotations[k] = self.R @ T_base_contact[:3, :3]
            self._copy_error(self._turns.start + 3 * k, slice(0, 3), self.noise.foot_rotation)

    def _copy_error(self, row: int, base: slice, deviation: float) -> None:
        """Copy the error of three rows to three others, plus an independent deviation."""
        rows = slice(row, row + 3)
        self.P[rows, :] = self.P[base, :]
        self.P[:, rows] = self.P[:, base]
        self.P[rows, rows] = self.P[base, base] + deviation**2 * _EYE

    def correct_by_plane(self, contact: int, normal: Array, offset: float) -> None:
        """Correct by the constraint that a contact lies in the plane normal . x = offset."""
        place = self.vectors[2 + contact]
        H = np.zeros((1, self.size))
        H[0, :3] = (place @ _SKEW).reshape(3, 3) @ normal  # place x normal
        H[0, 9 + 3 * contact : 12 + 3 * contact] = normal
        plane = Measurement(np.zeros(1, dtype=int), H, np.array([contact]), np.array([self.noise.ground**2]))
        self._correct(plane, np.array([offset - normal @ place]), np.inf)

    def correct_by_contacts(self, contacts: tuple[int, ...], T_base_contacts: Array, gate: float) -> list[int]:
        """Correct by the measured poses of these contacts in the base; (n, 4, 4) are those of all contacts.

        If one deviates by more than `gate` standard deviations, nothing changes and the outliers are returned.
        """
        measured = self._known.get(contacts) or self._measurement(contacts)
        return self._correct(measured, self._innovation(T_base_contacts)[measured.rows], gate)

    def _measurement(self, contacts: tuple[int, ...]) -> Measurement:
        """Build the measurement of a set of contacts: e of their position and rotation relative to the base."""
        n, m = 3 * self.n, 3 * len(self.flat)
        H = np.hstack([np.zeros((n + m, 9)), np.eye(n + m), np.zeros((n + m, 6))])
        H[:n, 6:9], H[n:, :3] = -np.tile(_EYE, (self.n, 1)), -np.tile(_EYE, (len(self.flat), 1))
        owner = np.repeat([*range(self.n), *self.flat], 3)
        variance = np.repeat([self.noise.foot_position**2, self.noise.foot_rotation**2], [n, m])
        rows = np.flatnonzero(np.isin(owner, contacts))
        self._known[contacts] = Measurement(rows, H[rows], owner[rows], variance[rows])
        return self._known[contacts]

    def _innovation(self, T_base_contacts: Array) -> Array:
        """Compute the innovation (3 n + 3 m,) in world axes: measured minus expected poses of the contacts."""
        y, count = self._y, 3 * self.n
        seen = self.R @ T_base_contacts[:, :3]
        np.add(seen[:, :, 3], self.vectors[1] - self.vectors[2:], out=y[:count].reshape(-1, 3))
        if self.flat:
            M = seen[self._flat, :, :3] @ self.contact_rotations.transpose(0, 2, 1)
            # for small angles the sine replaces the angle
            np.matmul(M.reshape(-1, 9), _UNSKEW, out=y[count:].reshape(-1, 3))
        return y

    def _correct(self, measured: Measurement, y: Array, gate: float) -> list[int]:
        """Correct by a measurement, unless a row is beyond the gate; returns the contacts of those rows."""
        H, P, size = measured.H, self.P, self.size
        sides = np.empty((len(y), size + 1))
        HP = np.matmul(H, P, out=sides[:, :size])
        sides[:, size] = y
        S = HP @ H.T
        S.ravel()[:: len(y) + 1] += measured.variance
        _, solved, info = lapack.dposv(S, sides)
        if info != 0:
            raise SingularError("the covariance is not positive definite any more; reset the estimator")
        weighted = solved[:, size]  # S^-1 y
        if y.dot(weighted) > gate * gate:  # necessary for a single row to exceed the gate
            off = y * y > gate * gate * S.diagonal()
            if off.any():
                return sorted(set(measured.owner[off].tolist()))
        work = np.subtract(P, HP.T @ solved[:, :size], out=self._work[:, :size])
        np.add(work, work.T, out=P)
        P *= 0.5
        self._retract(weighted @ HP)
        return []

    def _retract(self, e: Array) -> None:
        """Multiply the estimate by exp(e), to second order because e is small."""
        turn, half = rotation(e[:3]), _EYE - 0.5 * (e[:3] @ _SKEW).reshape(3, 3)
        self.vectors = self.vectors @ turn.T + e[3 : self._places.stop].reshape(-1, 3) @ half
        self.R = turn @ self.R
        if self.flat:
            A = (e[self._turns].reshape(-1, 3) @ _SKEW).reshape(-1, 3, 3)
            self.contact_rotations += A @ (self.contact_rotations + 0.5 * (A @ self.contact_rotations))
        self.gyro_bias += e[self._gyro]
        self.accelerometer_bias += e[self._accelerometer]

    def deviation(self) -> Array:
        """Compute the standard deviations (9,) of rotation, velocity and position in world axes."""
        T = np.eye(9)
        T[3:, :3] = -(self.vectors[:2] @ _SKEW).reshape(-1, 3)
        result: Array = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", T, self.P[:9, :9], T), 0.0))
        return result
