"""The libraries of benchmarks/gradients.py: each prepares a run that returns a value and its gradients."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

import kinodyn as kd
from kinodyn.arrays import Array

Run = Callable[[], tuple[Array, ...]]
Maker = Callable[[Any], Run]


def installed() -> list[str]:
    """Return the packages of the peers that are installed."""
    found = []
    for name in ("torch", "jax", "pytorch_kinematics", "adam-robotics", "jaxsim"):
        try:
            version(name)
        except PackageNotFoundError:
            continue
        found.append(name)
    return found


def _torch() -> Any:
    import torch

    torch.set_num_threads(1)
    return torch


def _jax() -> Any:
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax


def kinodyn_poses(dtype: str) -> Maker:
    """Evaluate `kd.interop.torch.poses`."""

    def make(problem: Any) -> Run:
        torch = _torch()
        q = torch.tensor(problem.q, dtype=getattr(torch, dtype), requires_grad=True)
        weights = torch.tensor(problem.pose_weights, dtype=q.dtype)

        def run() -> tuple[Array, ...]:
            poses = kd.interop.torch.poses(problem.robot, q, frames=problem.ends)
            (gradient,) = torch.autograd.grad((weights * poses).sum(), q)
            return poses.detach().numpy(), gradient.numpy()

        return run

    return make


def pytorch_kinematics_poses(dtype: str) -> Maker:
    """Evaluate the chain of pytorch_kinematics, with its analytic gradient."""

    def make(problem: Any) -> Run:
        torch = _torch()
        import pytorch_kinematics as pk

        chain = pk.build_chain_from_urdf(problem.urdf.read_bytes()).to(dtype=getattr(torch, dtype))
        names = chain.get_joint_parameter_names()
        order = [problem.robot.joint_names.index(name) for name in names]
        ends = chain.get_frame_indices(*problem.ends)
        q = torch.tensor(problem.q[:, order], dtype=getattr(torch, dtype), requires_grad=True)
        weights = torch.tensor(problem.pose_weights, dtype=q.dtype).movedim(1, 0).contiguous()
        back = np.argsort(order)

        def run() -> tuple[Array, ...]:
            poses = chain.forward_kinematics_tensor(q)[ends]
            (gradient,) = torch.autograd.grad((weights * poses).sum(), q)
            return poses.detach().movedim(0, 1).numpy(), gradient.numpy()[:, back]

        return run

    return make


def kinodyn_torch_dynamics(problem: Any) -> Run:
    """Evaluate `kd.interop.torch.inverse`."""
    torch = _torch()
    motion = [torch.tensor(each, requires_grad=True) for each in (problem.q, problem.v, problem.a)]
    weights = torch.tensor(problem.torque_weights)

    def run() -> tuple[Array, ...]:
        tau = kd.interop.torch.inverse(problem.robot, *motion)
        gradients = torch.autograd.grad((weights * tau).sum(), motion)
        return tau.detach().numpy(), *(each.numpy() for each in gradients)

    return run


def _compiled(jax: Any, problem: Any, torques: Callable[..., Any]) -> Run:
    """Compile a function (q, v, a) -> tau over a batch together with its gradient."""

    def scalar(q: Any, v: Any, a: Any, weights: Any) -> Any:
        tau = torques(q, v, a)
        return (weights * tau).sum(), tau

    arrays = [jax.numpy.asarray(each) for each in (problem.q, problem.v, problem.a, problem.torque_weights)]
    function = jax.jit(jax.value_and_grad(scalar, argnums=(0, 1, 2), has_aux=True))

    def run() -> tuple[Array, ...]:
        (_, tau), gradients = jax.block_until_ready(function(*arrays))
        return np.asarray(tau), *map(np.asarray, gradients)

    return run


def kinodyn_jax_dynamics(problem: Any) -> Run:
    """Evaluate `kd.interop.jax.inverse`."""
    return _compiled(_jax(), problem, lambda q, v, a: kd.interop.jax.inverse(problem.robot, q, v, a))


def adam_dynamics(problem: Any) -> Run:
    """Evaluate M a + h of adam."""
    jax = _jax()
    from adam.jax import KinDynComputations

    gravity = jax.numpy.concatenate([jax.numpy.asarray(problem.robot.gravity), jax.numpy.zeros(3)])
    model = KinDynComputations(str(problem.urdf), list(problem.robot.joint_names), gravity=gravity)
    base, still = jax.numpy.eye(4), jax.numpy.zeros(6)

    def torques(q: Any, v: Any, a: Any) -> Any:
        return model.mass_matrix(base, q)[6:, 6:] @ a + model.bias_force(base, q, still, v)[6:]

    return _compiled(jax, problem, jax.vmap(torques))


def jaxsim_dynamics(problem: Any) -> Run:
    """Evaluate the inverse dynamics of jaxsim."""
    jax = _jax()
    import jaxsim.api as js

    model = js.model.JaxSimModel.build_from_model_description(
        problem.urdf.read_text(), is_urdf=True, gravity=-problem.robot.gravity[2]
    )
    model = js.model.reduce(model, considered_joints=tuple(problem.robot.joint_names))
    names = model.joint_names()
    order = np.array([problem.robot.joint_names.index(name) for name in names])
    back = np.argsort(order)

    def torques(q: Any, v: Any, a: Any) -> Any:
        data = js.data.JaxSimModelData.build(model, joint_positions=q[order], joint_velocities=v[order])
        _, tau = js.model.inverse_dynamics(model, data, joint_accelerations=a[order])
        return tau[back]

    return _compiled(jax, problem, jax.vmap(torques))


POSES: dict[str, Maker] = {
    "kinodyn in PyTorch": kinodyn_poses("float64"),
    "pytorch_kinematics": pytorch_kinematics_poses("float64"),
    "kinodyn in PyTorch, float32": kinodyn_poses("float32"),
    "pytorch_kinematics, float32": pytorch_kinematics_poses("float32"),
}
DYNAMICS: dict[str, Maker] = {
    "kinodyn in PyTorch": kinodyn_torch_dynamics,
    "kinodyn in JAX": kinodyn_jax_dynamics,
    "adam in JAX": adam_dynamics,
    "jaxsim": jaxsim_dynamics,
}
