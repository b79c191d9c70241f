"""Standard jobs: one file each, imported on first use, so that workers import only what their function needs."""
