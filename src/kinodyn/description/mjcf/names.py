"""Unique names: MuJoCo allows bodies, joints and sites without a name, and one name for several kinds."""

from __future__ import annotations

from collections.abc import Collection

import mujoco

from kinodyn.description.messages import listed


class Names:
    """The names of bodies, joints and sites by MuJoCo's ids, completed where the file has none.

    An unnamed body is called "body3" after its id, a joint "joint5", a site "site2". A site with the name of a body is
    called "<name>_site", because links and sites share one list of frames.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self.bodies = _named(model, mujoco.mjtObj.mjOBJ_BODY, model.nbody, "body")
        self.joints = _named(model, mujoco.mjtObj.mjOBJ_JOINT, model.njnt, "joint")
        sites = _named(model, mujoco.mjtObj.mjOBJ_SITE, model.nsite, "site")
        self._links = set(self.bodies)
        self._all_joints = set(self.joints)
        # Sites are named first, because names of links made later must differ from them too.
        taken: set[str] = set(sites) - self._links
        self.sites = [_unused(f"{s}_site", self._links | taken) if s in self._links else s for s in sites]
        self._renamed = [
            f"{site!r} is {name!r}"
            for k, (site, name) in enumerate(zip(sites, self.sites, strict=True))
            if site != name and not self._is_frame_of(model, k, site)
        ]
        self._links.update(self.sites)

    def _is_frame_of(self, model: mujoco.MjModel, site: int, body: str) -> bool:
        """Return whether a site is the frame of the body of its name, so that the body's name means the same."""
        at_origin = not model.site_pos[site].any() and abs(float(model.site_quat[site, 0])) == 1.0
        return at_origin and self.bodies[int(model.site_bodyid[site])] == body

    def renamed_sites(self) -> str:
        """Return a sentence that names the sites with the name of another frame, a body, and what they are called."""
        return f"sites with the name of a body are renamed: {listed(self._renamed)}" if self._renamed else ""

    def new_link(self, body: str, joint: str) -> str:
        """Create and reserve the name of the massless link that moves with `joint` before `body` does."""
        name = _unused(f"{body}/{joint}", self._links)
        self._links.add(name)
        return name

    def new_fixed_joint(self, body: str) -> str:
        """Create and reserve the name of the fixed joint that carries `body`."""
        name = _unused(f"{body}_fixed", self._all_joints)
        self._all_joints.add(name)
        return name


def _named(model: mujoco.MjModel, kind: mujoco.mjtObj, count: int, prefix: str) -> list[str]:
    given = [mujoco.mj_id2name(model, kind, i) or "" for i in range(count)]
    taken = set(given)
    return [name or _unused(f"{prefix}{i}", taken) for i, name in enumerate(given)]


def _unused(name: str, taken: Collection[str]) -> str:
    """Append underscores to `name` until it is not taken."""
    while name in taken:
        name += "_"
    return name
