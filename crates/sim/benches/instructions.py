"""Guards speed where wall time is noise: instructions that the first seconds of two workloads take.

Counts with callgrind and compares with instructions.json beside this file. A count may be up
to 3 % above; more fails. `--bless` writes the counts of this build.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

WORKLOADS = ["W1, 6 s", "W1 vcp, 12 s"]
MARGIN = 0.03
KNOWN = Path(__file__).with_suffix(".json")


def binary() -> str:
    """Build the benchmark and return its path."""
    command = ["cargo", "bench", "--locked", "-p", "knee-sim", "--bench", "workloads", "--no-run"]
    built = subprocess.run(
        [*command, "--message-format=json"], check=True, stdout=subprocess.PIPE, text=True
    )
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    [path] = [
        message["executable"]
        for message in messages
        if message.get("executable") and message["target"]["name"] == "workloads"
    ]
    return str(path)


def instructions(path: str, workload: str) -> int:
    """Count the instructions of one run of a workload."""
    counted = subprocess.run(
        [
            *("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"),
            *(path, "--only", workload, "--repeats", "1"),
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    found = re.search(r"Collected : (\d+)", counted.stderr)
    if found is None:
        sys.exit(f"callgrind counted nothing:\n{counted.stderr}")
    return int(found[1])


def main() -> None:
    """Compare, or write with --bless."""
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is needed (Debian: apt install valgrind)")
    path = binary()
    counts = {workload: instructions(path, workload) for workload in WORKLOADS}
    if "--bless" in sys.argv[1:]:
        KNOWN.write_text(json.dumps(counts, indent=2) + "\n")
    known = json.loads(KNOWN.read_text())
    slower = False
    for workload, count in counts.items():
        change = count / known[workload] - 1
        slower |= change > MARGIN
        print(f"{workload:14} {count / 1e6:8.1f} million instructions, {change:+.1%}")
    if slower:
        sys.exit(
            f"more than {MARGIN:.0%} above {KNOWN.name}: faster code, or --bless with a reason"
        )


if __name__ == "__main__":
    main()
