"""The site builds with the claims' figures and without them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

PAGE = "# Claims\n\n## one\n\n![Figure 3: queue](drawn.png)\n\n![Figure 4: rates](absent.png)\n"
CONFIGURATION = """
import sys
sys.path.insert(0, {docs!r})
extensions = ["absent_figures", "myst_parser"]
"""


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", ".", "built"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_sentence_stands_where_a_claims_figure_is_not_drawn(tmp_path: Path) -> None:
    pytest.importorskip("myst_parser")
    (tmp_path / "conf.py").write_text(CONFIGURATION.format(docs=str(ROOT / "docs")))
    (tmp_path / "index.md").write_text("# Site\n\n```{toctree}\nclaims/xia2008/report\n```\n")
    page = tmp_path / "claims" / "xia2008" / "report.md"
    page.parent.mkdir(parents=True)
    page.write_text(PAGE)
    picture = (ROOT / "docs" / "pictures" / "schemes.png").read_bytes()
    (page.parent / "drawn.png").write_bytes(picture)
    html = tmp_path / "built" / "claims" / "xia2008" / "report.html"

    done = build(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    text = html.read_text("utf-8")
    assert text.count("<img") == 1
    assert 'alt="Figure 3: queue"' in text
    assert "<em>Figure 4: rates</em>: not drawn here" in text
    assert "knee reproduce xia2008" in re.sub("<[^>]+>", "", text)

    (page.parent / "absent.png").write_bytes(picture)
    done = build(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert html.read_text("utf-8").count("<img") == 2, "the page is made anew"

    (tmp_path / "index.md").write_text("# Site\n\n![a picture](nowhere.png)\n")
    assert "nowhere.png" in build(tmp_path).stderr, "elsewhere it is a mistake"


def test_the_repository_stays_light() -> None:
    """Git keeps a dozen of the claims' figures; `make reproduce` draws all."""
    listed = subprocess.run(
        ["git", "ls-files", "docs/claims/*.png"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    kept = listed.stdout.split()
    assert 8 <= len(kept) <= 16
    reports = {file: file.read_text("utf-8") for file in (ROOT / "docs/claims").glob("*/report.md")}
    for name in kept:
        picture = ROOT / name
        assert picture.name in reports[picture.parent / "report.md"], f"no page shows {name}"
