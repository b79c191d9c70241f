"""What a file says about a robot, before anything is computed from it."""
