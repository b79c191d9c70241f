"""Four-bar linkages and slider-cranks against the closed forms of the textbooks.

All move in the x-y plane, gravity along -y, and are written with complex numbers: a bar of length r at angle t is
r e^(i t). The torque at the crank is found by virtual power: with velocities per unit of crank rate it must balance the
inertial forces and the weights of all bars. (R. L. Norton, "Design of Machinery", chapters 4, 6, 7 and 10.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.types import Description, Inertia, Joint, Link
from kinodyn.model.robot import Robot

G = -9.81j
EXACT = 1e-9


@dataclass(frozen=True)
class Bar:
    """A bar: its length, mass, inertia about its centre of mass, and where that is: a complex share of the length."""

    length: float
    mass: float
    inertia: float
    centre: complex


@dataclass(frozen=True)
class Motion:
    """Angle, rate and angular acceleration of a bar, and the motion of its centre of mass (complex)."""

    angle: float
    rate: float
    acceleration: float
    v: complex
    a: complex


def turned(bar: Bar, angle: float, rate: float, acceleration: float, v: complex = 0j, a: complex = 0j) -> Motion:
    """Move a bar about its start, which has velocity v and acceleration a."""
    r = bar.length * bar.centre * np.exp(1j * angle)
    return Motion(angle, rate, acceleration, v + 1j * rate * r, a + (1j * acceleration - rate**2) * r)


def torque(parts: list[tuple[float, float, Motion, Motion]]) -> float:
    """Balance by virtual power: (mass, inertia, motion, motion per unit of crank rate) of each part."""
    total = 0.0
    for mass, inertia, real, virtual in parts:
        total += mass * ((real.a - G) * np.conj(virtual.v)).real + inertia * real.acceleration * virtual.rate
    return float(total)


def link(name: str, bar: Bar) -> Link:
    place = np.array([bar.length * bar.centre.real, bar.length * bar.centre.imag, 0.0])
    return Link(name, Inertia(bar.mass, place, np.diag([0.5, 0.5, 1.0]) * bar.inertia))


def joint(name: str, kind: str, parent: str, child: str, at: complex = 0j) -> Joint:
    T = np.eye(4)
    T[:2, 3] = at.real, at.imag
    axis = [1.0, 0.0, 0.0] if kind == "prismatic" else [0.0, 0.0, 1.0]
    return Joint(name, kind, parent, child, T, np.array(axis))


def at_end(bar: Bar) -> Array:
    T = np.eye(4)
    T[0, 3] = bar.length
    return T


class FourBar:
    """A crank at the origin, a coupler at its end, a rocker at x = ground whose end meets the coupler's."""

    def __init__(self, crank: float, coupler: float, rocker: float, ground: float, side: int = 1) -> None:
        self.crank = Bar(crank, 1.1, 0.02, 0.45 + 0.1j)
        self.coupler = Bar(coupler, 1.7, 0.05, 0.55 - 0.2j)
        self.rocker = Bar(rocker, 0.9, 0.03, 0.4 + 0.05j)
        self.ground, self.side = ground, side
        bars = {"crank": self.crank, "coupler": self.coupler, "rocker": self.rocker}
        joints = (
            joint("j1", "continuous", "ground", "crank"),
            joint("j2", "continuous", "crank", "coupler", crank + 0j),
            joint("j3", "continuous", "ground", "rocker", ground + 0j),
        )
        links = (Link("ground"), *(link(name, bar) for name, bar in bars.items()))
        self.robot = Robot(Description("four-bar", links, joints, gravity=(0.0, -9.81, 0.0)))
        self.loop = self.tie("x y")

    def tie(self, directions: str) -> kd.contact.Loop:
        ends = {"T_frame": at_end(self.coupler), "T_other": at_end(self.rocker)}
        return kd.contact.Loop("coupler", "rocker", directions=directions, **ends)

    def angles(self, crank: float) -> tuple[float, float]:
        """Angles of coupler and rocker: the triangle of coupler, rocker and the diagonal between them."""
        diagonal = self.crank.length * np.exp(1j * crank) - self.ground
        d, b, c = abs(diagonal), self.coupler.length, self.rocker.length
        rocker = np.angle(diagonal) - self.side * np.arccos((d * d + c * c - b * b) / (2 * d * c))
        return float(np.angle(c * np.exp(1j * rocker) - diagonal)), float(rocker)

    def motion(self, angle: float, rate: float, acceleration: float) -> list[Motion]:
        """Give the motion of crank, coupler and rocker."""
        a, b, c = self.crank.length, self.coupler.length, self.rocker.length
        t2, (t3, t4) = angle, self.angles(angle)
        w2, w3 = rate, a * rate * np.sin(t4 - t2) / (b * np.sin(t3 - t4))
        w4 = a * rate * np.sin(t2 - t3) / (c * np.sin(t4 - t3))
        pull = a * acceleration * np.sin(t2 - t3) + a * w2**2 * np.cos(t2 - t3)
        e4 = (pull + b * w3**2 - c * w4**2 * np.cos(t4 - t3)) / (c * np.sin(t4 - t3))
        push = a * acceleration * np.sin(t2 - t4) + a * w2**2 * np.cos(t2 - t4)
        e3 = (c * w4**2 - push - b * w3**2 * np.cos(t3 - t4)) / (b * np.sin(t3 - t4))
        end = a * np.exp(1j * t2)
        v, at = 1j * w2 * end, (1j * acceleration - w2**2) * end
        crank = turned(self.crank, t2, w2, acceleration)
        return [crank, turned(self.coupler, t3, w3, e3, v, at), turned(self.rocker, t4, w4, e4)]

    def torque(self, angle: float, rate: float, acceleration: float) -> float:
        bars = (self.crank, self.coupler, self.rocker)
        pairs = zip(bars, self.motion(angle, rate, acceleration), self.motion(angle, 1.0, 0.0), strict=True)
        return torque([(bar.mass, bar.inertia, real, virtual) for bar, real, virtual in pairs])

    def pin_force(self, parts: list[Motion]) -> complex:
        """The force of the rocker on the coupler: moments of the rocker about its pivot, of the coupler about its."""
        _, coupler, rocker = parts
        start = self.crank.length * np.exp(1j * parts[0].angle)
        needs, arms = [], []
        for bar, part in ((self.coupler, coupler), (self.rocker, rocker)):
            along = np.exp(1j * part.angle)
            centre, inertial = bar.length * bar.centre * along, bar.mass * (part.a - G)
            needs.append(bar.inertia * part.acceleration + (np.conj(centre) * inertial).imag)
            arms.append(bar.length * along)
        assert abs(start + arms[0] - self.ground - arms[1]) < 1e-12
        # arm x force = need for the coupler, and with the opposite force for the rocker
        rows = [[-arms[0].imag, arms[0].real], [arms[1].imag, -arms[1].real]]
        x, y = np.linalg.solve(rows, needs)
        return complex(x, y)


# A crank that turns fully, a parallelogram, one in which nothing turns fully, and the first with its elbow turned.
BARS = {
    "Grashof": (FourBar(0.1, 0.35, 0.3, 0.3), np.linspace(0.1, 6.2, 41)),
    "parallelogram": (FourBar(0.2, 0.4, 0.2, 0.4, side=1), np.linspace(0.3, 2.8, 26)),
    "triple rocker": (FourBar(0.25, 0.2, 0.3, 0.45), np.linspace(-0.9, 0.9, 30)),
    "crossed": (FourBar(0.1, 0.35, 0.3, 0.3, side=-1), np.linspace(0.1, 6.2, 41)),
}


@pytest.fixture(params=BARS)
def case(request: pytest.FixtureRequest) -> tuple[FourBar, Array]:
    return BARS[request.param]


def states(bars: FourBar, angles: Array) -> tuple[Array, Array, Array, Array, list[list[Motion]]]:
    """Positions, velocities, accelerations and torques of the tree, with the motions from which they come."""
    rng = np.random.default_rng(5)
    drive = [(angle, *rng.normal(size=2) * [3.0, 10.0]) for angle in angles]
    motions = [bars.motion(*each) for each in drive]

    def of_tree(key: str) -> Array:
        values = np.array([[getattr(part, key) for part in parts] for parts in motions])
        return np.stack([values[:, 0], values[:, 1] - values[:, 0], values[:, 2]], axis=-1)

    tau = np.zeros((len(angles), 3))
    tau[:, 0] = [bars.torque(*each) for each in drive]
    return of_tree("angle"), of_tree("rate"), of_tree("acceleration"), tau, motions


def test_the_position_of_a_four_bar_agrees_with_the_closed_form(case: tuple[FourBar, Array]) -> None:
    bars, angles = case
    q, v, _, _, _ = states(bars, angles)
    assert np.abs(kd.contact.constraint_error(bars.robot, q, [bars.loop])).max() < 1e-14
    J = kd.contact.jacobian(bars.robot, q, [bars.loop])
    np.testing.assert_allclose((J @ v[..., None])[..., 0], 0.0, atol=EXACT)
    # opened by a little and projected, the crank ends at another angle; there too the closed form must hold
    found = kd.contact.project(bars.robot, q + [[0.0, 0.02, -0.01]], [bars.loop])
    assert found.success.all()
    for own in found.q:
        coupler, rocker = bars.angles(own[0])
        turned_by = np.array([own[0] + own[1] - coupler, own[2] - rocker])
        np.testing.assert_allclose(np.exp(1j * turned_by), 1.0, atol=1e-9)


def test_motion_and_forces_of_a_four_bar_agree_with_the_closed_form(case: tuple[FourBar, Array]) -> None:
    bars, angles = case
    q, v, a, tau, motions = states(bars, angles)
    found, forces = kd.contact.dynamics(bars.robot, q, v, tau, [bars.loop])
    np.testing.assert_allclose(found, a, rtol=EXACT, atol=EXACT * np.abs(a).max())
    assert (forces.rank == 2).all() and forces.consistent.all()
    # the force is told in the axes of the rocker
    expected = [bars.pin_force(parts) * np.exp(-1j * parts[2].angle) for parts in motions]
    own = forces[bars.loop.name] @ [1.0, 1.0j]
    np.testing.assert_allclose(own, expected, rtol=EXACT, atol=EXACT * np.abs(expected).max())


def test_a_hinge_constrains_a_planar_loop_like_a_pin(case: tuple[FourBar, Array]) -> None:
    bars, angles = case
    q, v, a, tau, _ = states(bars, angles)
    found, forces = kd.contact.dynamics(bars.robot, q, v, tau, [bars.tie("x y z rx ry")])
    assert (forces.rank == 2).all() and forces.rows == 5 and forces.consistent.all()
    np.testing.assert_allclose(found, a, rtol=EXACT, atol=EXACT * np.abs(a).max())
    np.testing.assert_allclose(forces.vector[:, 2:], 0.0, atol=EXACT * np.abs(forces.vector).max())


def test_the_projected_equation_is_that_of_the_crank_alone(case: tuple[FourBar, Array]) -> None:
    bars, angles = case
    q, v, a, tau, _ = states(bars, angles)
    M, h, S, N = kd.contact.projected(bars.robot, q, v, [bars.loop])
    assert M.shape == (len(q), 1, 1)
    y = (np.swapaxes(N, -1, -2) @ a[..., None])[..., 0, 0]
    left = M[:, 0, 0] * y + h[:, 0]
    np.testing.assert_allclose(left, (S @ tau[..., None])[:, 0, 0], rtol=0, atol=EXACT * np.abs(left).max())


class SliderCrank:
    """A crank at the origin, a rod at its end, a slider along x at the height `offset` that the rod's end meets."""

    def __init__(self, crank: float, rod: float, offset: float) -> None:
        self.crank, self.rod = Bar(crank, 0.8, 0.01, 0.4 + 0.1j), Bar(rod, 0.6, 0.02, 0.45 + 0.05j)
        self.offset, self.mass = offset, 2.0
        joints = (
            joint("j1", "continuous", "ground", "crank"),
            joint("j2", "continuous", "crank", "rod", crank + 0j),
            joint("j3", "prismatic", "ground", "slider", 1j * offset),
        )
        slider = Link("slider", Inertia(self.mass, np.zeros(3), np.eye(3) * 0.01))
        links = (Link("ground"), link("crank", self.crank), link("rod", self.rod), slider)
        self.robot = Robot(Description("slider-crank", links, joints, gravity=(0.0, -9.81, 0.0)))
        self.loop = kd.contact.Loop("rod", "slider", T_frame=at_end(self.rod), directions="x y")

    def motion(self, angle: float, rate: float, acceleration: float) -> tuple[list[Motion], Array]:
        """Give the motion of crank, rod and slider, and place, rate and acceleration of the slider."""
        r, n, s, c = self.crank.length, self.rod.length, np.sin(angle), np.cos(angle)
        lean = np.arcsin((r * s - self.offset) / n)  # of the rod, downwards
        w = r * rate * c / (n * np.cos(lean))
        e = (r * acceleration * c - r * rate**2 * s + n * w**2 * np.sin(lean)) / (n * np.cos(lean))
        x = r * c + n * np.cos(lean)
        v = -r * rate * s - n * w * np.sin(lean)
        a = -r * acceleration * s - r * rate**2 * c - n * e * np.sin(lean) - n * w**2 * np.cos(lean)
        end = r * np.exp(1j * angle)
        rod = turned(self.rod, -lean, -w, -e, 1j * rate * end, (1j * acceleration - rate**2) * end)
        slider = Motion(0.0, 0.0, 0.0, complex(v), complex(a))
        return [turned(self.crank, angle, rate, acceleration), rod, slider], np.array([x, v, a])

    def torque(self, angle: float, rate: float, acceleration: float) -> float:
        masses = (self.crank.mass, self.rod.mass, self.mass)
        inertias = (self.crank.inertia, self.rod.inertia, 0.0)
        real, virtual = self.motion(angle, rate, acceleration)[0], self.motion(angle, 1.0, 0.0)[0]
        return torque(list(zip(masses, inertias, real, virtual, strict=True)))


@pytest.mark.parametrize("offset", [0.0, 0.03])
def test_a_slider_crank_agrees_with_the_closed_form(offset: float) -> None:
    engine = SliderCrank(0.1, 0.3, offset)
    rng = np.random.default_rng(6)
    drive = [(angle, *rng.normal(size=2) * [20.0, 100.0]) for angle in np.linspace(0.0, 6.2, 50)]
    parts = [engine.motion(*each) for each in drive]
    tree = np.array(
        [
            [
                (crank.angle, rod.angle - crank.angle, slider[0]),
                (crank.rate, rod.rate - crank.rate, slider[1]),
                (crank.acceleration, rod.acceleration - crank.acceleration, slider[2]),
            ]
            for (crank, rod, _), slider in parts
        ]
    )
    q, v, expected = np.moveaxis(tree, 1, 0)
    tau = np.zeros_like(q)
    tau[:, 0] = [engine.torque(*each) for each in drive]
    assert np.abs(kd.contact.constraint_error(engine.robot, q, [engine.loop])).max() < 1e-14
    a, _ = kd.contact.dynamics(engine.robot, q, v, tau, [engine.loop])
    np.testing.assert_allclose(a, expected, rtol=EXACT, atol=EXACT * np.abs(expected).max())
