"""Write a description as SDF with frames chosen at random: the same robot, said in another way."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array
from kinodyn.description.base import root_link
from kinodyn.description.types import Description, Inertia, Joint
from kinodyn.spatial.poses import inverse_pose

KINDS = {"revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "fixed": "fixed", "ball": "ball"}


def random_pose(rng: np.random.Generator) -> Array:
    T = np.eye(4)
    T[:3, :3] = Rotation.random(random_state=rng).as_matrix()
    T[:3, 3] = rng.normal(size=3)
    return T


def written(T: Array, relative_to: str = "") -> str:
    angles = Rotation.from_matrix(T[:3, :3]).as_quat()
    values = " ".join(repr(float(each)) for each in (*T[:3, 3], *angles))
    frame = f' relative_to="{relative_to}"' if relative_to else ""
    return f'<pose{frame} rotation_format="quat_xyzw">{values}</pose>'


class SdfText:
    """The text of a robot: link `a` is the frame `a` on a link `a_body`, whose own frame is anywhere."""

    def __init__(self, description: Description, seed: int) -> None:
        self.rng, self.description = np.random.default_rng(seed), description
        self.places = {"__model__": np.eye(4)}  # frames that have been written, in the model
        self.links = {link.name: T for link, T in zip(description.links, self._link_poses(), strict=True)}
        self.offsets = {name: random_pose(self.rng) for name in self.links}
        root = root_link(description).name
        if description.base == "floating":
            self.offsets[root] = np.eye(4)  # coordinates of the base are those of this link
        parts = [self._link(link.name, link.inertia) for link in description.links]
        parts += [self._joint(joint) for joint in description.joints]
        if description.base == "fixed":
            parts.append(f'<joint name="stand" type="fixed"><parent>world</parent><child>{root}_body</child></joint>')
        self.text = f'<sdf version="1.11"><model name="{description.name}">{"".join(parts)}</model></sdf>'

    def _link_poses(self) -> list[Array]:
        root = random_pose(self.rng) if self.description.base == "floating" else np.eye(4)
        poses: dict[str, Array] = {}
        children = {joint.child: joint for joint in self.description.joints}

        def pose(name: str) -> Array:
            if name not in poses:
                joint = children.get(name)
                poses[name] = root if joint is None else pose(joint.parent) @ joint.T_parent_child
            return poses[name]

        return [pose(link.name) for link in self.description.links]

    def _placed(self, T: Array) -> str:
        """Write a pose in the model relative to a frame that is known by now."""
        frame = str(self.rng.choice(list(self.places)))
        return written(inverse_pose(self.places[frame]) @ T, frame)

    def _link(self, name: str, inertia: Inertia | None) -> str:
        D, T = self.offsets[name], self.links[name] @ self.offsets[name]
        text = f'<link name="{name}_body">{self._placed(T)}{self._inertial(inertia, D)}</link>'
        self.places[f"{name}_body"] = T
        text += f'<frame name="{name}" attached_to="{name}_body">'
        text += (written(inverse_pose(D)) if self.rng.random() < 0.5 else self._placed(self.links[name])) + "</frame>"
        self.places[name] = self.links[name]
        return text

    def _inertial(self, inertia: Inertia | None, D: Array) -> str:
        given = inertia or Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
        T = np.eye(4)
        T[:3, :3] = Rotation.random(random_state=self.rng).as_matrix()
        T[:3, 3] = (inverse_pose(D) @ [*given.com, 1.0])[:3]
        R = T[:3, :3].T @ D[:3, :3].T
        matrix = R @ given.matrix @ R.T
        names = {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2), "ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}
        entries = "".join(f"<{name}>{float(matrix[k])!r}</{name}>" for name, k in names.items())
        return f"<inertial>{written(T)}<mass>{given.mass!r}</mass><inertia>{entries}</inertia></inertial>"

    def _joint(self, joint: Joint) -> str:
        T = self.links[joint.child]
        place = self._placed(T) if self.rng.random() < 0.5 else written(inverse_pose(self.offsets[joint.child]))
        ends = f"<parent>{joint.parent}</parent><child>{joint.child}_body</child>"
        text = f'<joint name="{joint.name}" type="{KINDS[joint.kind]}">{place}{ends}{self._axis(joint, T)}</joint>'
        self.places[joint.name] = T
        return text

    def _axis(self, joint: Joint, T: Array) -> str:
        if joint.kind in ("fixed", "ball"):
            return ""
        frame = str(self.rng.choice(list(self.places)))
        xyz = self.places[frame][:3, :3].T @ T[:3, :3] @ joint.axis
        limits = {name: getattr(joint, name) for name in ("lower", "upper", "velocity", "effort")}
        limit = "".join(f"<{name}>{value!r}</{name}>" for name, value in limits.items() if np.isfinite(value))
        mimic = ""
        if joint.mimic is not None:
            factors = f"<multiplier>{joint.mimic.multiplier!r}</multiplier><offset>{joint.mimic.offset!r}</offset>"
            mimic = f'<mimic joint="{joint.mimic.joint}">{factors}<reference>0</reference></mimic>'
        dynamics = f"<damping>{joint.damping!r}</damping><friction>{joint.friction!r}</friction>"
        values = " ".join(repr(float(each)) for each in xyz)
        direction = f'<xyz expressed_in="{frame}">{values}</xyz>'
        return f"<axis>{direction}<limit>{limit}</limit><dynamics>{dynamics}</dynamics>{mimic}</axis>"
