"""The notice of third-party licences that goes into the wheel: of what is linked into `knee._core`.

`make generate` writes it, `make check-generated` compares it. Licence texts are those that the
packages bring along; nothing is fetched that a build does not fetch.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TARGETS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")
LICENCE_FILE = re.compile(r"licen[cs]e|copying|notice", re.IGNORECASE)
HEAD = """\
Third-party software in knee's wheels

The compiled part of knee is linked with the Rust packages below and with the Rust standard
library (copyright The Rust Project contributors, MIT OR Apache-2.0). What may be had under
Apache-2.0 is used under it: its text is in LICENSE-APACHE beside this file. Notices that such
packages add, and the texts of other licences, follow the list."""


def cargo(*words: str) -> str:
    """What a cargo command prints."""
    command = ["cargo", *words]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def linked() -> list[dict[str, Any]]:
    """The packages of others that are linked into the extension, as `cargo metadata` has them."""
    targets = [word for target in TARGETS for word in ("--target", target)]
    tree = cargo(
        *("tree", "--locked", "--package", "knee-python", "--edges", "normal,no-proc-macro"),
        *("--prefix", "none", "--format", "{p}", *targets),
    )
    names = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    every = json.loads(cargo("metadata", "--locked", "--format-version", "1"))["packages"]
    found = [each for each in every if (each["name"], f"v{each['version']}") in names]
    return sorted((each for each in found if each["source"]), key=lambda each: each["name"])


def texts(package: dict[str, Any]) -> list[str]:
    """What has to go along with a package, beside the text of Apache-2.0."""
    folder = Path(package["manifest_path"]).parent
    files = sorted(file for file in folder.iterdir() if LICENCE_FILE.search(file.name))
    alternatives = re.split(r" OR |/", package["license"])
    if "Apache-2.0" in alternatives:
        files = [file for file in files if "NOTICE" in file.name.upper()]
    elif not files:
        raise SystemExit(f"{package['name']} ({package['license']}) brings no licence along")
    found = (file.read_text("utf-8").strip() for file in files)
    return [text for text in found if not text.startswith("Apache License")]


def notice() -> str:
    """The whole notice."""
    packages = linked()
    listed = [
        f"{each['name']} {each['version']}: {each['license']}, {each['repository']}"
        for each in packages
    ]
    owners: dict[str, list[str]] = {}
    for package in packages:
        for text in texts(package):
            owners.setdefault(text, []).append(package["name"])
    parts = [HEAD, "\n".join(listed)]
    parts += [f"{'-' * 80}\n{', '.join(names)}\n\n{text}" for text, names in owners.items()]
    lines = "\n\n".join(parts).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


if __name__ == "__main__":
    print(notice(), end="")
