"""knee: a congestion-control laboratory built around explicit feedback.

import knee

r = knee.run("scenarios/quickstart.toml")
r.summary                   # a polars frame: a row a protocol, seed and link
r.series("queue")           # samples against time
r.plot("overview.png")

s = knee.dumbbell(rate="150 Mbps", rtt="80 ms", flows=30, reverse=30, protocol="vcp")
knee.run(s, seeds=3).summary
"""

from knee._core import ScenarioError, __version__
from knee.analysis.fairness import fair_shares
from knee.comparison import Comparison, compare_schemes
from knee.results import FolderError, Results, run
from knee.scenario import Scenario, compare, dumbbell, graph, parking_lot
from knee.sweep import sweep

__all__ = [
    "Comparison",
    "FolderError",
    "Results",
    "Scenario",
    "ScenarioError",
    "__version__",
    "compare",
    "compare_schemes",
    "dumbbell",
    "fair_shares",
    "graph",
    "parking_lot",
    "run",
    "sweep",
]
