"""Adds [project.urls] of the repository that builds a release to pyproject.toml: a fork has its own addresses."""

import os
from pathlib import Path

home = f"{os.environ['GITHUB_SERVER_URL']}/{os.environ['GITHUB_REPOSITORY']}"
owner, name = os.environ["GITHUB_REPOSITORY"].split("/")
urls = {
    "Source": home,
    "Documentation": f"https://{owner}.github.io/{name}/",
    "Changelog": f"{home}/blob/{os.environ['GITHUB_REF_NAME']}/CHANGELOG.md",
    "Issues": f"{home}/issues",
}
file = Path(__file__).parents[1] / "pyproject.toml"
lines = [f'{label} = "{address}"' for label, address in urls.items()]
file.write_text(file.read_text() + "\n[project.urls]\n" + "\n".join(lines) + "\n")
