"""Preview control of the zero moment point (ZMP): the simple alternative to MPC, without constraints.

S. Kajita et al., "Biped walking pattern generation by using preview control of zero-moment point", 2003; the gains are
those of T. Katayama et al., "Design of an optimal controller for a discrete-time system subject to previewable demand",
1985.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_discrete_are

from kinodyn.arrays import Array
from kinodyn.checks import not_overflowed, numbers, positive
from kinodyn.display import displayed
from kinodyn.errors import InputError


@displayed
class PreviewTrajectory(NamedTuple):
    """Result of preview control.

    Attributes
    ----------
    com, velocity, acceleration : (n, 2)
        Of the CoM [m, m/s, m/s^2].
    zmp : (n, 2)
        [m]
    """

    com: Array
    velocity: Array
    acceleration: Array
    zmp: Array


@displayed
@dataclass(frozen=True, eq=False)
class PreviewControl:
    """Preview controller of the cart-table model, made by `PreviewControl.design`.

    The input u is the jerk of the CoM, constant over dt; the state is x = (position, velocity, acceleration), the ZMP
    is C x. The control law is u = -integral * (sum of errors) - state @ x + preview @ (upcoming references).

    Attributes
    ----------
    dt : float
        [s]
    A, B, C : (3, 3), (3,), (3,)
        x(k + 1) = A x + B u, zmp = C x.
    integral : float
        Integral gain.
    state : (3,)
        State feedback gains.
    preview : (n,)
        Gains of the references 1 to n samples from now.
    riccati : (4, 4)
        Solution of the Riccati equation.
    """

    dt: float
    A: Array
    B: Array
    C: Array
    integral: float
    state: Array
    preview: Array
    riccati: Array

    @classmethod
    def design(
        cls, omega: float, dt: float, *, horizon: float = 1.6, error: float = 1.0, jerk: float = 1e-6
    ) -> PreviewControl:
        """Compute the gains from the Riccati equation.

        Parameters
        ----------
        omega
            Natural frequency of the pendulum [rad/s].
        dt
            Sampling time [s].
        horizon
            Length of the preview [s].
        error, jerk
            Weights of the squared ZMP error [1/m^2] and of the squared jerk of the CoM [s^6/m^2].

        Returns
        -------
        PreviewControl
        """
        values = {"omega": omega, "dt": dt, "horizon": horizon, "error": error, "jerk": jerk}
        for name, value in values.items():
            positive(name, value)
        A = np.array([[1.0, dt, 0.5 * dt**2], [0.0, 1.0, dt], [0.0, 0.0, 1.0]])
        B = np.array([dt**3 / 6.0, dt**2 / 2.0, dt])
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            C = not_overflowed("1 / omega^2", np.array([1.0, 0.0, -1.0 / np.square(np.float64(omega))]))
        F, G, Q = augmented(A, B, C, error)
        P = solve_discrete_are(F, G[:, None], Q, np.array([[jerk]]))
        scale = float(jerk + G @ P @ G)
        gain = G @ P @ F / scale
        closed = F - np.outer(G, gain)
        preview = np.empty(max(1, round(horizon / dt)))
        row = P[:, 0].copy()
        for k in range(len(preview)):
            preview[k] = G @ row / scale
            row = closed.T @ row
        return cls(dt, A, B, C, float(gain[0]), gain[1:], preview, P)

    def __call__(
        self, reference: ArrayLike, *, com: ArrayLike | None = None, velocity: ArrayLike = 0.0
    ) -> PreviewTrajectory:
        """Track a ZMP reference.

        Parameters
        ----------
        reference
            ZMP (n, 2) sampled every dt [m]; constant after its end.
        com
            CoM (2,) at the start [m]; by default the start of the reference.
        velocity
            Velocity of the CoM (2,) at the start [m/s].
        """
        p = numbers("reference", reference, 2)
        if p.ndim != 2 or len(p) < 1:
            raise InputError(f"reference must have shape (n, 2), got {p.shape}")
        # relative to the start of the reference, so that standing there needs no control
        extended = np.concatenate([p, np.repeat(p[-1:], len(self.preview), axis=0)]) - p[0]
        x = np.zeros((3, 2))
        x[0], x[1] = (p[0] if com is None else numbers("com", com, 2)) - p[0], numbers("velocity", velocity)
        states, total = np.empty((len(p), 3, 2)), np.zeros(2)
        for k in range(len(p)):
            states[k] = x
            total = total + self.C @ x - extended[k]
            u = -self.integral * total - self.state @ x + self.preview @ extended[k + 1 : k + 1 + len(self.preview)]
            x = self.A @ x + np.multiply.outer(self.B, u)
        return PreviewTrajectory(states[:, 0] + p[0], states[:, 1], states[:, 2], self.C @ states + p[0])


def augmented(A: Array, B: Array, C: Array, error: float) -> tuple[Array, Array, Array]:
    """Augment the change of the state by the tracking error: F (4, 4), G (4,), Q (4, 4) of the regulator."""
    F = np.zeros((4, 4))
    F[0, 0], F[0, 1:], F[1:, 1:] = 1.0, C @ A, A
    G = np.concatenate([[C @ B], B])
    Q = np.zeros((4, 4))
    Q[0, 0] = error
    return F, G, Q
