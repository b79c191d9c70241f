"""The stage: lights, ground and camera."""

from __future__ import annotations

import numpy as np
import viser

from kinodyn.arrays import Array

VIEW_DIRECTION = np.array([1.0, -0.75, 0.42])  # from the robot to the camera: front right, above
WORLD_DIRECTION = np.array([-0.5, -1.0, 0.62])  # with obstacles, which are most often in front: right, behind, above
FIELD_OF_VIEW = np.deg2rad(40.0)  # vertical
KEY_LIGHT, FILL_LIGHT = (2.0, -1.2, 4.5), (-2.0, 3.0, 1.5)  # positions of the lights [m]
SECTION = 1.0  # distance of the grid's stronger lines [m]
WORLD = "/world"
BLUE = (58, 110, 165)


class Stage:
    """Lights, a ground with a grid, and a world that moves relative to a fixed camera.

    A walking robot is followed by moving the world, not the camera: pages report their camera poses with a delay, and
    would work against the server.
    """

    def __init__(self, server: viser.ViserServer) -> None:
        self._server, scene = server, server.scene
        # own lights: an environment map looks no better on plain colours and is slow without a graphics card
        scene.configure_default_lights(enabled=False)
        scene.configure_environment_map(None)
        sky, floor = (255, 255, 255), (196, 198, 206)
        scene.add_light_hemisphere("/lights/sky", sky_color=sky, ground_color=floor, intensity=1.7)
        scene.add_light_directional(
            "/lights/sun", color=(255, 250, 240), intensity=2.8, cast_shadow=True, position=KEY_LIGHT
        )
        scene.add_light_directional("/lights/fill", color=(225, 235, 255), intensity=0.7, position=FILL_LIGHT)
        self._ground = scene.add_grid(
            "/ground",
            infinite_grid=True,
            cell_size=0.1,
            section_size=SECTION,
            cell_color=(226, 229, 233),
            section_color=(186, 193, 202),
            cell_thickness=0.6,
            fade_distance=14.0,
            plane_color=(246, 247, 249),
            plane_opacity=1.0,
            shadow_opacity=0.35,
            position=(0.0, 0.0, -1e-3),
        )
        self._world = scene.add_frame(WORLD, show_axes=False)
        server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BLUE)

    @property
    def centre(self) -> Array:
        """The point (2,) of the ground at the centre of the view [m]."""
        return -np.array(self._world.position[:2])

    def follow(self, point: Array) -> None:
        """Centre the view on a point (2,) or (3,) of the world [m]; the grid moves along."""
        x, y = (float(part) for part in point[:2])
        self._world.position = (-x, -y, 0.0)
        self._ground.position = (-(x % SECTION), -(y % SECTION), -1e-3)

    def hide_ground_below(self, lowest: float) -> None:
        """Hide the level ground if the terrain goes down to `lowest` < 0 [m] and would be covered by it."""
        self._ground.visible = lowest > -1e-3

    def aim_camera(self, bounds: Array, direction: Array = VIEW_DIRECTION) -> None:
        """Aim the initial camera so that the box between two corners (2, 3) [m] is visible."""
        centre = bounds.mean(axis=0) - np.array([*self.centre, 0.0])
        radius = 0.5 * float(np.linalg.norm(bounds[1] - bounds[0]))
        away = 1.08 * max(radius, 0.1) / np.sin(0.5 * FIELD_OF_VIEW)
        camera = self._server.initial_camera
        camera.fov = FIELD_OF_VIEW
        camera.near, camera.far = 0.01 * away, 100.0 * away + 50.0
        camera.look_at = centre
        camera.position = centre + away * direction / np.linalg.norm(direction)
