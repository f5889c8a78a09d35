"""Sphinx configuration of knee's site: MyST Markdown, furo, warnings are errors (`make docs`)."""

import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

_cargo = tomllib.loads((Path(__file__).parents[1] / "Cargo.toml").read_text("utf-8"))

project = "knee"
author = "The knee developers"
copyright = "The knee developers"  # noqa: A001
release = version = _cargo["workspace"]["package"]["version"]

extensions = [
    "absent_figures",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
]
myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autoclass_content = "class"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
default_role = "code"

html_theme = "furo"
html_title = f"knee {release}"
