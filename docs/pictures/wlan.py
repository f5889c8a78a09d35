"""Draw docs/pictures/wlan.png: what starves, and what one slow station costs."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import polars as pl

import knee

SCENARIO = "wlan-download"
SEEDS = 3
SCHEMES = ("sack", "bmcc", "cubic/fq-codel")


def per_flow(settings: dict[str, object]) -> dict[str, float]:
    """Mean goodput of a flow of each group, Mbps."""
    run = knee.run(SCENARIO, seeds=SEEDS, set=settings)
    goodput = pl.col("goodput_mbps").mean()
    groups = run.flows.group_by("group", maintain_order=True).agg(goodput)
    return dict(zip(groups["group"], groups["goodput_mbps"], strict=True))


def main() -> None:
    """Run three pairs of runs, and draw them side by side."""
    figure, (starving, slow) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    for place, scheme in enumerate(SCHEMES):
        variant: dict[str, object] = {"variant": [{"protocol": scheme}]}
        both = per_flow(variant | {"wlan.download": 3, "wlan.upload": 3})
        for offset, group in ((-0.2, "download"), (0.2, "upload")):
            bar = starving.bar(place + offset, both[group], 0.4, color=COLOURS[group])
            starving.bar_label(bar, fmt="%.2f", fontsize=8)
        for offset, group, rates in (
            (-0.2, "all at 11 Mbps", ["11 Mbps"] * 5),
            (0.2, "one at 1 Mbps", ["1 Mbps"] + ["11 Mbps"] * 4),
        ):
            goodput = per_flow(variant | {"wlan.rates": rates})["download"]
            bar = slow.bar(place + offset, goodput, 0.4, color=COLOURS[group])
            slow.bar_label(bar, fmt="%.2f", fontsize=8)
    for axes, title, groups in (
        (starving, "3 downloads beside 3 uploads", ("download", "upload")),
        (slow, "5 downloads", ("all at 11 Mbps", "one at 1 Mbps")),
    ):
        axes.set_title(title, fontsize=10)
        axes.set_xticks(range(len(SCHEMES)), SCHEMES)
        axes.set_ylabel("Mbps a flow")
        axes.spines[["top", "right"]].set_visible(False)
        for group in groups:
            axes.bar(0, 0, color=COLOURS[group], label=group)
        axes.set_ylim(top=1.2 * axes.get_ylim()[1])
        axes.legend(frameon=False, fontsize=8, ncols=2, loc="upper right")
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)


COLOURS = {
    "download": "#0072b2",
    "upload": "#d55e00",
    "all at 11 Mbps": "#0072b2",
    "one at 1 Mbps": "#d55e00",
}

if __name__ == "__main__":
    main()
