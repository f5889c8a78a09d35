"""Draw fluid-miaimd.png beside this file: the MIAIMD model of VCP below and above its bound."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

import knee.fluid

FLOWS, RTT = 30, 0.08
SETTING = {"capacity": "150 Mbps", "rtt": "80 ms", "flows": FLOWS}


def main() -> None:
    """Draw."""
    figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
    for kappa in (0.5, 1.4, 1.8, 2.2):
        rest = knee.fluid.miaimd_equilibrium(**SETTING, kappa=kappa).row(0, named=True)
        frame = knee.fluid.miaimd(
            **SETTING,
            kappa=kappa,
            initial_window=1.1 * rest["window_packets"] / FLOWS,
            duration="4.8 s",
        )
        axes.plot(
            frame["time_s"] / RTT,
            frame["window_packets"] / rest["window_packets"],
            label=f"κ = {kappa}",
        )
    bound = rest["kappa_bound"]
    axes.set(
        xlabel="time, RTTs", ylabel="w / w*", yscale="log", title=f"stable up to κ = {bound:.2f}"
    )
    figure.legend(loc="outside right center")
    axes.margins(x=0)
    figure.savefig(Path(__file__).with_name("fluid-miaimd.png"), dpi=110)


if __name__ == "__main__":
    main()
