"""The fit: what it promises on panda, on an arm of the humanoid and on the whole humanoid, and what it cannot know."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.errors import InputError, KinodynError
from kinodyn.identification import (
    ExcitingTrajectory,
    Identification,
    Measurements,
    exciting_trajectory,
    fit,
    is_physically_consistent,
    measurements,
    simulate,
    sub_robot,
    torques,
    with_parameters,
)
from kinodyn.identification.consistent import Prior
from kinodyn.identification.inertias import regularised
from kinodyn.model.robot import Robot

HUMAN = kd.load("humanoid")


def excite(robot: Robot, seed: int, starts: int = 20) -> ExcitingTrajectory:
    """The best of a few random series: good enough, and quick."""
    return exciting_trajectory(robot, period=5.0, starts=starts, iterations=0, seed=seed)


def record(
    robot: Robot, motion: ExcitingTrajectory, *, rate: float = 200.0, seed: int = 0, noise: float = 0.01
) -> Measurements:
    time = motion.times(rate)
    return simulate(robot, time, *motion(time), noise=noise, seed=seed)


def wrong_masses(robot: Robot, seed: int = 0) -> Robot:
    """A robot whose links are 30 % too light or too heavy, with the shape that they have."""
    links = robot.inertial_parameters.reshape(-1, 10)
    factors = np.random.default_rng(seed).choice([0.7, 1.3], size=(len(links), 1))
    return with_parameters(robot, (factors * links).ravel())


def with_friction(robot: Robot, seed: int = 0) -> Robot:
    viscous, dry = np.random.default_rng(seed).uniform(0.2, 1.0, size=(2, robot.nv))
    return with_parameters(robot, robot.inertial_parameters, damping=viscous, friction=dry)


def noise_of(robot: Robot, data: Measurements, share: float = 0.01) -> Array:
    """The standard deviation of the noise that `simulate` put on each torque."""
    tau = kd.identification.torques(robot, data.q, *data.rates(), data.wrenches)
    return share * np.asarray(np.sqrt(np.mean(tau**2, axis=0)))


def swaying(robot: Robot, seed: int, samples: int, period: float = 4.0) -> Measurements:
    """A floating robot that sways about its standing posture; v and a by differences, no torques yet."""
    rng = np.random.default_rng(seed)
    time = np.arange(samples + 12) * period / samples
    change = np.zeros((len(time), robot.nv))
    for k in range(1, 5):
        for wave in (np.sin, np.cos):
            change += 0.15 / np.sqrt(k) * wave(2 * np.pi * k * time / period)[:, None] * rng.normal(size=robot.nv)
    q = robot.integrate(robot.configuration("standing"), change)
    return kd.identification.prepare(kd.identification.measurements(robot, time, q, np.zeros((len(time), robot.nv))))


def carried_by(robot: Robot, data: Measurements, feet: tuple[str, ...]) -> dict[str, Array]:
    """The smallest wrenches on the feet that carry the base through a motion."""
    needed = kd.identification.torques(robot, data.q, *data.rates())[:, :6]
    J = np.concatenate([kd.kinematics.jacobian(robot, data.q, foot)[:, :, :6] for foot in feet], axis=1)
    F = np.einsum("nij,nj->ni", np.linalg.pinv(np.swapaxes(J, 1, 2)), needed)
    return {foot: F[:, 6 * i : 6 * i + 6] for i, foot in enumerate(feet)}


def assert_fits(result: Identification, truth: Robot) -> None:
    """Held-out torques are met within 1.2 times their noise, by bodies that exist."""
    assert result.status == "converged"
    assert (result.residuals() <= 1.2 * noise_of(truth, result.test)).all()
    assert result.is_physically_consistent and is_physically_consistent(result.robot.inertial_parameters).all()
    assert (result.robot.damping >= 0.0).all() and (result.robot.friction >= 0.0).all()


PANDA = with_friction(kd.load("panda"))
ARM = sub_robot(HUMAN, HUMAN.description.chains["left_arm"], HUMAN.configuration("standing"))
RUNS = {robot.name: [record(robot, excite(robot, k), seed=k) for k in (0, 1)] for robot in (PANDA, ARM)}


@pytest.mark.parametrize("truth", [PANDA, ARM], ids=["panda", "arm of the humanoid"])
@pytest.mark.parametrize("off", [False, True], ids=["right prior", "masses off by 30 %"])
def test_held_out_torques_are_within_the_noise_and_every_inertia_is_consistent(truth: Robot, off: bool) -> None:
    prior = truth.replace(damping=0.0)
    prior = wrong_masses(prior) if off else prior
    data, other = RUNS[truth.name]
    result = fit(prior, data, held_out=other)
    assert_fits(result, truth)
    if off:
        assert (result.prior_residuals() > 2.0 * result.residuals()).any()


def test_standard_errors_are_the_size_of_the_errors() -> None:
    result = fit(wrong_masses(PANDA), RUNS["panda"][0])
    truth = np.concatenate([PANDA.inertial_parameters, PANDA.damping, PANDA.friction])
    off = (result.base_after - result.base.matrix @ truth) / result.base_standard_errors
    assert 0.5 < np.sqrt(np.mean(off**2)) < 1.5
    np.testing.assert_allclose(result.noise, noise_of(PANDA, RUNS["panda"][0]), rtol=0.1)


def test_friction_is_found() -> None:
    result = fit(kd.load("panda"), RUNS["panda"][0])
    errors = result.standard_errors[result.model.inertial :].reshape(2, 7)
    found = np.stack([result.robot.damping, result.robot.friction])
    expected = np.stack([PANDA.damping, PANDA.friction])
    assert (errors < 0.2 * expected).all() and (np.abs(found - expected) < 4.0 * errors).all()


def test_without_noise_least_squares_finds_the_base_parameters_exactly() -> None:
    truth = with_friction(kd.load("planar2r"))
    data = record(truth, excite(truth, 0), noise=0.0)
    result = fit(wrong_masses(kd.load("planar2r")), data, method="weighted", terms=("viscous", "coulomb", "offset"))
    exact = np.concatenate([truth.inertial_parameters, truth.damping, truth.friction, np.zeros(2)])
    np.testing.assert_allclose(result.base_after, result.base.matrix @ exact, atol=1e-9)
    np.testing.assert_allclose(result.offsets, 0.0, atol=1e-9)


def test_an_offset_and_an_armature_are_found() -> None:
    truth = kd.load("planar2r").replace(armature=[0.0, 0.3])
    motion = excite(truth, 0)
    data = record(truth, motion, noise=0.0)
    biased = measurements(truth, data.time, data.q, data.tau + [0.5, -0.25], v=data.v, a=data.a)
    result = fit(truth.replace(armature=0.0), biased, method="weighted", terms=("armature", "offset"))
    np.testing.assert_allclose(result.offsets, [0.5, -0.25], atol=1e-9)
    np.testing.assert_allclose(result.predict(biased), biased.tau, atol=1e-9)
    assert result.base.rank == 9  # six of the links, the armature of the second joint, two offsets


def test_least_squares_may_find_inconsistent_parameters_and_says_so() -> None:
    result = fit(PANDA, RUNS["panda"][0], method="ordinary")
    assert not result.is_physically_consistent and "NOT physically consistent" in result.text()
    with pytest.raises(KinodynError, match='not physically consistent.*method="consistent"'):
        _ = result.robot


def test_the_fitted_robot_survives_a_urdf_round_trip(tmp_path: Path) -> None:
    result = fit(wrong_masses(PANDA), RUNS["panda"][0])
    path = tmp_path / "fitted.urdf"
    kd.write_urdf(result.robot.description, path)
    data = result.test
    expected = result.predict(data)
    np.testing.assert_allclose(torques(result.robot, data.q, *data.rates()), expected, atol=1e-10)
    np.testing.assert_allclose(torques(kd.load(path), data.q, *data.rates()), expected, atol=1e-9)


def test_a_floating_humanoid_is_fitted_through_the_forces_on_its_feet() -> None:
    feet, runs = ("left_foot", "right_foot"), []
    for seed, samples in ((1, 160), (2, 60)):
        motion = swaying(HUMAN, seed, samples)
        wrenches = carried_by(HUMAN, motion, feet)
        runs.append(simulate(HUMAN, motion.time, motion.q, *motion.rates(), wrenches=wrenches, seed=seed))
    prior = wrong_masses(HUMAN)
    assert abs(prior.mass - HUMAN.mass) > 0.02 * HUMAN.mass
    result = fit(prior, runs[0], held_out=runs[1], terms=("viscous",))
    noise = noise_of(HUMAN, runs[1])
    assert (result.residuals()[6:] <= 1.2 * noise[6:]).all() and result.is_physically_consistent
    assert result.robot.mass == pytest.approx(HUMAN.mass, rel=1e-3)


def test_parameters_that_a_motion_does_not_excite_are_kept_and_named() -> None:
    motion = excite(ARM, 3)
    time = motion.times(60)
    q, v, a = (part * (np.arange(7) == 6) for part in motion(time))
    result = fit(ARM, simulate(ARM, time, q, v, a))
    assert any("viscous(left_elbow)" in name for name in result.unidentified)
    assert all("viscous(left_wrist_roll)" not in name for name in result.unidentified)
    assert "not identified" in result.text()
    moved = np.abs(result.robot.damping - ARM.damping) / ARM.damping
    assert moved[:6].max() < 1e-6


def test_a_recording_at_rest_is_reported_and_one_without_any_load_is_an_error() -> None:
    still = np.tile(ARM.random(seed=4), (50, 1))
    zero = np.zeros((50, 7))
    result = fit(ARM, simulate(ARM, np.arange(50.0), still, zero, zero))
    assert (
        sum(result.identified) <= result.rank <= 7 and len(result.unidentified) > 40 and result.is_physically_consistent
    )
    weightless = ARM.replace(gravity=[0.0, 0.0, 0.0])
    with pytest.raises(InputError, match="neither moves nor carries weight"):
        fit(weightless, simulate(weightless, np.arange(50.0), still, zero, zero))


def test_unusable_recordings_are_rejected() -> None:
    data = RUNS["panda"][0]
    with pytest.raises(InputError, match="5 samples of 7 torques are too few for 57 unknowns"):
        fit(PANDA, data[:5], held_out=data[5:])
    with pytest.raises(InputError, match="the data are of panda with joints"):
        fit(ARM, data)
    with pytest.raises(InputError, match="no v and a; kd.identification.prepare"):
        fit(PANDA, measurements(PANDA, data.time, data.q, data.tau))
    with pytest.raises(InputError, match='method must be "consistent", "weighted" or "ordinary"'):
        fit(PANDA, data, method="guess")  # type: ignore[arg-type]
    with pytest.raises(
        InputError, match="terms must be some of 'viscous', 'coulomb', 'armature', 'offset', in a tuple"
    ):
        fit(PANDA, data, terms=("stiction",))
    with pytest.raises(InputError, match="prior_spread must be a positive number"):
        fit(PANDA, data, prior_spread=0)


def test_derivatives_of_the_distance_agree_with_finite_differences() -> None:
    rng = np.random.default_rng(0)
    x0 = np.concatenate([regularised(ARM.inertial_parameters), [0.3, 0.2, 0.1]])
    prior = Prior(x0, 7, 2, np.abs(x0), np.array([1.0, 0.01]))
    x = x0 * (1.0 + 0.01 * rng.uniform(-1, 1, size=len(x0)))
    step = 1e-6 * np.abs(prior.whitening()).sum(axis=1)
    hessian = prior.hessian_root(x).T @ prior.hessian_root(x)
    for k in range(len(x)):
        h = step[k] * np.eye(len(x))[k]
        slope = (prior.distance(x + h) - prior.distance(x - h)) / (2 * step[k])
        assert slope == pytest.approx(prior.gradient(x)[k], rel=1e-4, abs=1e-4 / step[k] * 1e-6)
        rate = (prior.gradient(x + h) - prior.gradient(x - h)) / (2 * step[k])
        np.testing.assert_allclose(rate, hessian[k], rtol=1e-4, atol=1e-6 * np.abs(rate).max())


def test_the_distance_of_inconsistent_parameters_is_infinite() -> None:
    x0 = np.concatenate([regularised(ARM.inertial_parameters), [0.3]])
    prior = Prior(x0, 7, 1, np.ones(71), np.ones(1))
    heavy, rubbing = x0.copy(), x0.copy()
    heavy[0], rubbing[-1] = -1.0, -0.1
    assert prior.distance(heavy) == prior.distance(rubbing) == np.inf


def test_measured_and_predicted_torques_can_be_drawn(tmp_path: Path) -> None:
    result = fit(PANDA, RUNS["panda"][0])
    figure = result.plot(str(tmp_path / "torques.png"))
    assert (tmp_path / "torques.png").stat().st_size > 10_000
    assert len([axes for axes in figure.axes if axes.get_visible()]) == 7
