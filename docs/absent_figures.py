"""Sphinx extension: what a claim's page shows in place of a figure that nobody has drawn yet.

`make reproduce` draws the figures of claims into `docs/claims`; git keeps a dozen of them. A picture
that is missing elsewhere is a warning as always.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

FOLDER = "claims/"


class AbsentFigures(SphinxTransform):
    """Puts a sentence where a figure is missing; it runs before Sphinx collects images."""

    default_priority = 500

    def apply(self) -> None:
        """Replace the images of this page that are not there."""
        if not self.env.docname.startswith(FOLDER):
            return
        paper = self.env.docname.split("/")[1]
        for image in list(self.document.findall(nodes.image)):
            name, path = self.env.relfn2path(image["uri"], self.env.docname)
            if not Path(path).is_file():
                self.env.note_dependency(name)  # drawn later, it makes this page anew
                title = nodes.emphasis("", image.get("alt", image["uri"]))
                how = [
                    nodes.Text(": not drawn here; "),
                    nodes.literal("", f"knee reproduce {paper}"),
                    nodes.Text(" draws it, "),
                    nodes.literal("", "make reproduce"),
                    nodes.Text(" puts it here."),
                ]
                image.replace_self([title, *how])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(AbsentFigures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
