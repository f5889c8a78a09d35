"""knee: a congestion-control laboratory built around explicit feedback.

import knee

r = knee.run("scenarios/quickstart.toml")
r.summary                   # a polars frame: a row a protocol, seed and link
r.series("queue")           # samples against time
r.plot("overview.png")

s = knee.dumbbell(rate="150 Mbps", rtt="80 ms", flows=30, reverse=30, protocol="vcp")
knee.run(s, seeds=3).summary
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from knee._core import ScenarioError, ScenarioWarning, __version__
    from knee.analysis.fairness import fair_shares
    from knee.columns import DamagedError
    from knee.comparison import Comparison, compare_schemes
    from knee.results import FolderError, PictureError, Results, run
    from knee.scenario import Scenario, compare, dumbbell, graph, parking_lot
    from knee.sessions import Session, session
    from knee.sweeps import sweep
else:
    # A name's module is imported when the name is first asked for: `import knee` takes no time.
    _HOMES = {
        "knee._core": ("ScenarioError", "ScenarioWarning", "__version__"),
        "knee.analysis.fairness": ("fair_shares",),
        "knee.columns": ("DamagedError",),
        "knee.comparison": ("Comparison", "compare_schemes"),
        "knee.sessions": ("Session", "session"),
        "knee.sweeps": ("sweep",),
        "knee.results": ("FolderError", "PictureError", "Results", "run"),
        "knee.scenario": ("Scenario", "compare", "dumbbell", "graph", "parking_lot"),
    }

    def __getattr__(name):
        from importlib import import_module

        for home, names in _HOMES.items():
            if name in names:
                globals()[name] = getattr(import_module(home), name)
                return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})


__all__ = [
    "Comparison",
    "DamagedError",
    "FolderError",
    "PictureError",
    "Results",
    "Scenario",
    "ScenarioError",
    "ScenarioWarning",
    "Session",
    "__version__",
    "compare",
    "compare_schemes",
    "dumbbell",
    "fair_shares",
    "graph",
    "parking_lot",
    "run",
    "session",
    "sweep",
]
