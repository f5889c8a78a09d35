"""Fluid models: delay-differential equations, their equilibria and stability bounds, closed forms.

import knee.fluid

frame = knee.fluid.miaimd(capacity="150 Mbps", rtt="80 ms", flows=30, kappa=0.25)
frame["window_packets"].to_numpy()

Quantities are text with a unit ("150 Mbps", "80 ms", "1000 B") or numbers in SI units (150e6 bit/s,
0.08 s, 1000 bytes). Every function returns a polars frame whose column names end in their unit. A
setting that is refused raises `knee.ScenarioError`, a `ValueError` of one sentence.
"""

from knee.fluid.jain2007 import (
    rcp,
    rcp_bounds,
)
from knee.fluid.paganini2003 import (
    scalable,
    scalable_delay,
    scalable_delay_rest,
    scalable_margin,
    scalable_network,
    scalable_network_loci,
    scalable_network_margin,
    scalable_network_rest,
    scalable_nyquist,
)
from knee.fluid.qazi2010 import (
    bmcc_detection,
    bmcc_epochs,
    bmcc_startup,
    mlcp_rtts,
)
from knee.fluid.wlan import (
    wlan_capacity,
    wlan_saturation,
)
from knee.fluid.xia2008 import (
    max_min,
    miaimd,
    miaimd_equilibrium,
    miaimd_network,
    miaimd_network_equilibrium,
    miaimd_sweep,
)

__all__ = [
    "bmcc_detection",
    "bmcc_epochs",
    "bmcc_startup",
    "max_min",
    "miaimd",
    "miaimd_equilibrium",
    "miaimd_network",
    "miaimd_network_equilibrium",
    "miaimd_sweep",
    "mlcp_rtts",
    "rcp",
    "rcp_bounds",
    "scalable",
    "scalable_delay",
    "scalable_delay_rest",
    "scalable_margin",
    "scalable_network",
    "scalable_network_loci",
    "scalable_network_margin",
    "scalable_network_rest",
    "scalable_nyquist",
    "wlan_capacity",
    "wlan_saturation",
]
