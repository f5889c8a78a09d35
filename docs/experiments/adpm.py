"""How well ADPM brings a value, against random marking and marking with static quantization.

Writes docs/pictures/adpm.png and prints the numbers of docs/laws/bmcc.md. Values are heights H in
[0, 1]; every scheme sees the same ones.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from knee.plots.style import BLUE, GREEN, ORANGE, PURPLE, STYLE, VERMILION, write_figure

RUNS = 2000
PACKETS = 1000
STEP = 0.05
"""Between two measurements a changing value moves by up to this much."""

Array = np.ndarray
Scheme = Callable[[Array, np.random.Generator], Array]


def adpm(values: Array, random: np.random.Generator) -> Array:
    """Each packet's threshold bounds the value; the tightest bound so far that still holds."""
    estimates = np.empty_like(values)
    estimate = np.zeros(values.shape[0])
    for packet in range(values.shape[1]):
        threshold = random.integers(65536, size=len(estimate)) / 65536
        marked = values[:, packet] > threshold
        estimate = np.where(
            marked, np.maximum(estimate, threshold), np.minimum(estimate, threshold)
        )
        estimates[:, packet] = estimate
    return estimates


def random_marking(window: int) -> Scheme:
    """Packets are marked with the value's probability; the mean of the last `window`."""

    def scheme(values: Array, random: np.random.Generator) -> Array:
        marks = random.random(values.shape) < values
        sums = np.cumsum(marks, axis=1, dtype=float)
        sums[:, window:] -= sums[:, :-window].copy()
        return sums / np.minimum(np.arange(1, values.shape[1] + 1), window)

    return scheme


def static_quantization(bits: int) -> Scheme:
    """Thommes and Coates: a packet carries the bit of the value that its identifier chooses."""

    def scheme(values: Array, random: np.random.Generator) -> Array:
        levels = np.floor(values * 2**bits).astype(int).clip(0, 2**bits - 1)
        known = np.full((values.shape[0], bits), 0.5)
        weights = 2.0 ** np.arange(bits)
        rows = np.arange(values.shape[0])
        estimates = np.empty_like(values)
        for packet in range(values.shape[1]):
            place = random.integers(bits, size=values.shape[0])
            known[rows, place] = (levels[:, packet] >> place) & 1
            estimates[:, packet] = (known @ weights + 0.5) / 2**bits
        return estimates

    return scheme


SCHEMES: dict[str, tuple[Scheme, str]] = {
    "ADPM": (adpm, BLUE),
    "random, 32 packets": (random_marking(32), ORANGE),
    "random, 512 packets": (random_marking(512), VERMILION),
    "static, 4 bits": (static_quantization(4), GREEN),
    "static, 8 bits": (static_quantization(8), PURPLE),
}


def constant(scheme: Scheme) -> Array:
    """Mean square error after 1, 2 .. packets of a constant value."""
    random = np.random.default_rng(1)
    values = np.repeat(random.random((RUNS, 1)), PACKETS, axis=1)
    return np.asarray(np.square(scheme(values, random) - values).mean(axis=0))


def changing(scheme: Scheme, packets: int) -> float:
    """Mean square error where the value moves after so many packets, reflected at 0 and 1."""
    random = np.random.default_rng(1)
    intervals = max(20, 400 // packets)
    steps = random.uniform(-STEP, STEP, (RUNS // 10, 2 * intervals))
    path = random.random((RUNS // 10, 1)) + np.cumsum(steps, axis=1)
    reflected = np.abs((path + 1) % 2 - 1)
    values = np.repeat(reflected, packets, axis=1)
    half = values.shape[1] // 2
    return float(np.square(scheme(values, random) - values)[:, half:].mean())


def draw(path: Path) -> None:
    """Write the picture, and print what it shows."""
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    still, moving = figure.subplots(1, 2)
    counts = [1, 2, 5, 10, 20, 50, 100, 200, 500]
    print("scheme                  constant: after 10, 100, 1000   changing every 10, 100, 500")
    for name, (scheme, colour) in SCHEMES.items():
        errors = constant(scheme)
        moved = [changing(scheme, packets) for packets in counts]
        still.plot(np.arange(1, PACKETS + 1), errors, color=colour, label=name)
        moving.plot(counts, moved, color=colour, marker="o", markersize=3)
        after = [errors[n - 1] for n in (10, 100, 1000)]
        every = [moved[counts.index(n)] for n in (10, 100, 500)]
        print(f"{name:22}", *(f"{error:9.1e}" for error in [*after, *every]))
    axes(still, "constant value", "packets received")
    axes(moving, f"value moves by up to {STEP:g}", "packets between two moves")
    figure.legend(*still.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    write_figure(figure, path)


def axes(at: Axes, title: str, label: str) -> None:
    """Name a panel."""
    at.set(title=title, xlabel=label, ylabel="mean square error", xscale="log", yscale="log")


if __name__ == "__main__":
    with rc_context(STYLE):
        draw(Path(__file__).parent.parent / "pictures" / "adpm.png")
