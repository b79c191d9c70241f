"""The stage: light, ground and where the camera stands."""

from __future__ import annotations

import numpy as np
import viser

from kinodyn.description.types import Array

VIEW = np.array([1.0, -0.75, 0.42])  # from where a robot that looks along x is seen: from ahead, its right, above
FIELD = np.deg2rad(40.0)  # of view, upright
SUN, FILL = (2.0, -1.2, 4.5), (-2.0, 3.0, 1.5)  # where light comes from
BLUE = (58, 110, 165)


def set_stage(server: viser.ViserServer, *, ground: bool = True) -> None:
    """Put up lights, a ground with a grid, and the panel's colours."""
    scene = server.scene
    # lights of our own: an environment map looks no better on plain colours, and takes long without a graphics card
    scene.configure_default_lights(enabled=False)
    scene.configure_environment_map(None)
    scene.add_light_hemisphere("/lights/sky", sky_color=(255, 255, 255), ground_color=(196, 198, 206), intensity=1.7)
    scene.add_light_directional("/lights/sun", color=(255, 250, 240), intensity=2.8, cast_shadow=True, position=SUN)
    scene.add_light_directional("/lights/fill", color=(225, 235, 255), intensity=0.7, position=FILL)
    if ground:
        scene.add_grid(
            "/ground",
            width=20.0,
            height=20.0,
            infinite_grid=True,
            cell_size=0.1,
            section_size=1.0,
            cell_color=(226, 229, 233),
            section_color=(186, 193, 202),
            cell_thickness=0.6,
            fade_distance=14.0,
            plane_color=(246, 247, 249),
            plane_opacity=1.0,
            shadow_opacity=0.35,
            position=(0.0, 0.0, -1e-3),
        )
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BLUE)


def aim_camera(server: viser.ViserServer, bounds: Array) -> None:
    """Let new pages see everything between two corners (2, 3) [m]."""
    middle = bounds.mean(axis=0)
    radius = 0.5 * float(np.linalg.norm(bounds[1] - bounds[0]))
    away = 1.08 * max(radius, 0.1) / np.sin(0.5 * FIELD)
    camera = server.initial_camera
    camera.fov = FIELD
    camera.near, camera.far = 0.01 * away, 100.0 * away + 50.0
    camera.look_at = middle
    camera.position = middle + away * VIEW / np.linalg.norm(VIEW)


def follow_with_camera(server: viser.ViserServer, moved: Array) -> None:
    """Move every page's camera along the ground with a robot that moved by (3,) [m]."""
    way = np.array([moved[0], moved[1], 0.0])
    if not 1e-6 < np.linalg.norm(way) < 0.5:  # it stands, or it was put somewhere else
        return
    for client in server.get_clients().values():
        client.camera.position = client.camera.position + way  # what it looks at comes along
