"""The settings of the reference results, as scenarios of knee, with the figures to compare."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

import polars as pl

import knee

HERE = Path(__file__).parent
RED_OF_NS3 = {
    "law": "red",
    "queue_weight": 0.002,
    "max_p": 0.1,
    "byte_mode": False,
    "mark_limit": 1,
}
DUMBBELLS = {
    # label: rate in Mbps, flows each way, duration and warm-up in s, group of tolerances
    "W1oneway": (150, 30, 0, 60, 10, "one-way"),
    "W3": (150, 1000, 0, 20, 5, "one-way"),
    "W1": (150, 30, 30, 60, 10, "two-way"),
    "W2": (1000, 30, 30, 10, 5, "two-way"),
    "W3bidir": (150, 1000, 1000, 20, 5, "crowd"),
    "W1t20": (150, 30, 30, 20, 10, "two-way"),
}
# The packets' own size, which ns-2's results tell; its default is 500 B.
RED_OF_NS2 = {"law": "red", "mean_packet_size": "1000 B"}
NS2_VARIANTS: dict[str, dict[str, object]] = {
    f"{sender}/red": {"name": f"{sender}/red", "sender": sender, "router": RED_OF_NS2}
    for sender in ("sack", "newreno")
}
# A queue that marks all above one threshold. ns-3's DCTCP lets ACKs be marked, htsim's queue asks
# no packet: neither drops ACKs there.
STEP = {
    "law": "red",
    "queue_weight": 1,
    "max_p": 1,
    "byte_mode": False,
    "wait": False,
    "mark_limit": 2,
    "spare_acks": True,
}
TOLERANCE_OF = {"dctcp": "dctcp", "bbr": "bbr"}
# The authors' code of VCP, and single habits as the text has them.
ABLATION: dict[str, dict[str, object]] = {
    "authors": {},
    "text's AI": {"sender": {"ai_scaling": "rate", "ai_limit": "sigma"}},
    "text's queue average": {"router": {"queue_average": "ewma"}},
    "fixed gamma": {"router": {"gamma_rule": "fixed"}},
    "no rounding": {"router": {"rounding": "none"}},
    "prescribed after cut": {"sender": {"after_cut": "prescribed"}},
}
NS2_ABLATION = {
    "authors-code": "authors",
    "paperAI": "text's AI",
    "paperQueueEWMA": "text's queue average",
    "fixedGamma098": "fixed gamma",
    "noPlus1Rounding": "no rounding",
    "unconditionalFreeze": "prescribed after cut",
    "paper_all": "vcp",
}
# Jain index of the same over RTTs from 40 to 330 ms; of these runs the files hold no more.
SPREAD = dict(
    zip(NS2_ABLATION.values(), (0.935, 0.989, 0.947, 0.94, 0.936, 0.93, 0.988), strict=True)
)
FIRM = ("W1oneway", "W3")
FIRM_LAWS = ("TcpNewReno/droptail", "TCP/droptail")
LAWS = (
    *FIRM_LAWS,
    *("TcpNewReno/red", "TcpCubic/droptail", "TcpCubic/red"),
    *("TcpDctcp/step", "TcpDctcp/red", "DCTCP/step", "TcpBbr/droptail"),
)
# It uses a quarter of the link and hardly has a queue: growth in whole bytes is all it could tell.
LEFT_OUT = {("htsim", "W2", "DCTCP/step")}


@dataclass(frozen=True)
class Case:
    """One reference run: what it gave, and which variant of which setting answers to it."""

    simulator: str
    point: str
    group: str
    protocol: str
    reference: Mapping[str, float]
    buffer_packets: float = 0.0
    x: float = 0.0
    """Capacity in Mbps or number of forward flows, where there is a curve over it."""
    curve: str = ""
    errors: Mapping[str, float] = field(default_factory=dict)
    """Standard errors of the differences between both means, where the reference tells them."""


OF_BOTTLENECK = {
    "utilisation": "utilisation",
    "queue_packets": "queue_mean_packets",
    "drop_rate": "drop_rate",
    "jain": "jain",
}
"""Figures of a dumbbell, and the columns of the summary that hold them."""


def at_bottleneck(results: knee.Results, case: Case) -> Mapping[str, list[float]]:
    """Figures of the case's variant at the forward bottleneck, a value a seed."""
    chosen = results.summary.filter(
        (pl.col("protocol") == case.protocol) & (pl.col("link") == "bottleneck")
    )
    return {name: chosen[column].to_list() for name, column in OF_BOTTLENECK.items()}


@dataclass(frozen=True)
class Setting:
    """A scenario and the cases it answers to."""

    scenario: knee.Scenario
    seeds: int
    packets: float
    """About how many packets all its runs carry: what progress is counted in."""
    cases: list[Case] = field(default_factory=list)
    measure: Callable[[knee.Results, Case], Mapping[str, list[float]]] = at_bottleneck
    """Figures to compare, each with a value a seed."""


def table_of(name: str) -> list[dict[str, str]]:
    """The rows of a file beside this one."""
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _ns2_reference(row: Mapping[str, str]) -> dict[str, float]:
    figures = {
        "utilisation": float(row["util_frac"]),
        "queue_packets": float(row["qmean_pkts"]),
        "drop_rate": float(row["drop_rate_frac"]),
    }
    if float(row["thr_min_mbps"]) > 0.05 * float(row["thr_mean_mbps"]):
        figures["jain"] = float(row["jain_fwd"])  # else a flow of ns-2 stands still
    return figures


def _ns2(rows: list[dict[str, str]], curve: str, seeds: int, variants: list[str]) -> Setting:
    rate, flows = float(rows[0]["capacity_mbps"]), int(rows[0]["n_fwd"])
    reverse, seconds = int(rows[0]["n_rev"]), float(rows[0]["duration_s"])
    scenario = knee.dumbbell(
        rate=1e6 * rate,
        rtt=1e-3 * float(rows[0]["rtt_ms"]),
        flows=flows,
        reverse=reverse,
        duration=seconds,
        probes="none",
    ).variants(*(NS2_VARIANTS.get(name, name) for name in variants))
    groups = {"vcp": "ns2-vcp", "xcp": "ns2-xcp", "sack/red": "ns2-red", "newreno/red": "ns2-red"}
    protocols = {"VCP": "vcp", "XCP": "xcp", "SACK": "sack/red", "NEWRENO": "newreno/red"}
    setting = Setting(scenario, seeds, 2 * rate * 125 * seconds * seeds * len(variants))
    for row in rows:
        protocol = protocols[row["proto"]]
        at = f"{rate:g} Mbps" if curve == "capacity" else f"{flows} flow{'s' * (flows > 1)}"
        point = f"{protocol} {at}"
        x = rate if curve == "capacity" else float(flows)
        buffer = float(row["buffer_pkts"])
        reference = _ns2_reference(row)
        case = Case("ns-2", point, groups[protocol], protocol, reference, buffer, x, curve)
        setting.cases.append(case)
    return setting


def _mean(rows: list[dict[str, str]]) -> dict[str, float]:
    """The figures of ns-2 over its seeds, as far as all have them."""
    figures = [_ns2_reference(row) for row in rows]
    names = set.intersection(*(set(one) for one in figures))
    return {name: fmean(one[name] for one in figures) for name in names}


def _vcp_point(rows: list[dict[str, str]], curve: str, seeds: int) -> Setting:
    """VCP as its authors have it; its text beside, on which no verdict is passed."""
    laws = {"vcp-authors": "ns2-vcp-authors", "vcp": "ns2-vcp-text"}
    setting = _ns2(rows[:1], curve, seeds, list(laws))
    (case,) = setting.cases
    at, reference = case.point.removeprefix(f"{case.protocol} "), _mean(rows)
    setting.cases[:] = [
        replace(case, point=f"{law} {at}", group=group, protocol=law, reference=reference)
        for law, group in laws.items()
    ]
    return setting


def _ablation(
    rtt: str, step: str, references: Mapping[str, tuple[Mapping[str, float], float]]
) -> Setting:
    """The authors' code with single habits as the text has them, and all of the text."""
    variants = [{"name": name, "protocol": "vcp-authors", **ABLATION[name]} for name in ABLATION]
    base = knee.dumbbell(
        rate="150 Mbps",
        rtt=rtt,
        rtt_step=step,
        flows=30,
        reverse=30,
        duration="120 s",
        probes="none",
    )
    setting = Setting(base.variants(*variants, "vcp"), 5, 1.8e7 * len(variants))
    group = "ns2-vcp-spread" if step != "0 s" else "ns2-vcp"
    where = "40 to 330 ms" if step != "0 s" else "base"
    for name, (reference, buffer) in references.items():
        point = f"{name} {where}" + (" (text)" if name == "vcp" else "")
        setting.cases.append(Case("ns-2", point, group, name, reference, buffer))
    return setting


def vcp() -> Iterator[Setting]:
    """VCP in ns-2: habit by habit, against capacity and number of flows."""
    rows = {row["variant"]: row for row in table_of("ns2-ablation-base.csv")}
    base = {
        name: (_ns2_reference(rows[variant]), float(rows[variant]["buffer_pkts"]))
        for variant, name in NS2_ABLATION.items()
    }
    yield _ablation("80 ms", "0 s", base)
    yield _ablation("40 ms", "10 ms", {name: ({"jain": j}, 1500.0) for name, j in SPREAD.items()})
    for table, curve, key in (
        ("ns2-capacity.csv", "capacity", "capacity_mbps"),
        ("ns2-flows.csv", "flows", "n_fwd"),
    ):
        rows_of_vcp = [row for row in table_of(table) if row["proto"] == "VCP"]
        for value in sorted({float(row[key]) for row in rows_of_vcp}):
            chosen = [row for row in rows_of_vcp if float(row[key]) == value]
            yield _vcp_point(chosen, curve, 3 if key == "n_fwd" or value > 150 else 5)


def ns2() -> Iterator[Setting]:
    """VCP, and XCP, SACK and NewReno against capacity and number of flows."""
    yield from vcp()
    capacity = [row for row in table_of("ns2-capacity.csv") if row["proto"] != "VCP"]
    for rate in sorted({float(row["capacity_mbps"]) for row in capacity}):
        rows = [row for row in capacity if float(row["capacity_mbps"]) == rate]
        yield _ns2(rows, "capacity", 3 if rate > 150 else 5, ["xcp", "sack/red"])
    counts = [row for row in table_of("ns2-flows.csv") if row["proto"] != "VCP"]
    for count in sorted({int(row["n_fwd"]) for row in counts}):
        rows = [row for row in counts if int(row["n_fwd"]) == count]
        yield _ns2(rows, "flows", 3, ["xcp", "sack/red", "newreno/red"])


def _dumbbell_reference(row: Mapping[str, str]) -> dict[str, float]:
    return {
        "utilisation": float(row["util_all_frac"]),
        "queue_packets": float(row["mean_queue_pkts"]),
        "drop_rate": float(row["data_drop_rate"]),
        "jain": float(row["jain_fwd"]),
    }


def _dumbbell(rows: list[dict[str, str]], simulator: str, label: str, laws: list[str]) -> Setting:
    rate, flows, reverse, seconds, warmup, group = DUMBBELLS[label]
    red = RED_OF_NS3 | {"min_threshold": rate, "max_threshold": 5 * rate}  # BDP: 10 packets a Mbps
    # ns-3's TcpNewReno recovers by SACK, htsim's TCP as RFC 6582.
    senders = {"TcpNewReno": "sack", "TcpCubic": "cubic", "TCP": "newreno"}
    senders |= {"TcpDctcp": "dctcp", "DCTCP": "dctcp", "TcpBbr": "bbr"}
    step = 1.7 * rate  # packets: 0.17 of the buffer
    mark_all = STEP | {"min_threshold": step, "max_threshold": step}
    if simulator == "htsim":
        mark_all |= {"byte_mode": True, "mean_packet_size": "1000 B"}
    routers: dict[str, object] = {"red": red, "step": mark_all, "droptail": "droptail"}
    transport: dict[str, object] = {"initial_window": 10}
    variants = []
    for law in laws:
        variant, aqm = law.split("/")
        sender: dict[str, object] = {"law": senders[variant]}
        router = routers[aqm]
        if variant == "TCP":  # constants of htsim's TcpSrc
            sender["initial_ssthresh"] = 100
        elif variant == "DCTCP":  # and of its DCTCPSrc
            sender["initial_alpha"] = 0
            sender["initial_ssthresh"] = 2  # its first timeout, of 10 ms, ends slow start
        elif variant == "TcpDctcp" and aqm == "red":
            router = red | {"spare_acks": True}
        name = f"{senders[variant]}/{aqm}"
        variants.append({"name": name, "sender": sender, "router": router})
    if simulator == "htsim":
        transport |= {"min_rto": "250 ms", "recovery": "newreno"}
    scenario = knee.dumbbell(
        rate=1e6 * rate,
        rtt="80 ms",
        flows=flows,
        reverse=reverse,
        buffer=f"{10 * rate} packets" if simulator == "ns-3" else 1e4 * rate,
        duration=seconds,
        warmup=warmup,
        transport=transport,
        probes="none",
    )
    share = {"dumbbell.bottleneck_share": 0.95, "dumbbell.access_factor": 10}
    scenario = scenario.replace(set=share).variants(*variants)
    packets = (2 if reverse else 1) * rate * 125.0 * seconds * 5 * len(variants)
    setting = Setting(scenario, 5, packets)
    for row, named in zip(rows, variants, strict=True):
        protocol = str(named["name"])
        firm = label in FIRM and f"{row['variant']}/{row['aqm']}" in FIRM_LAWS
        tolerance = "firm" if firm else TOLERANCE_OF.get(senders[row["variant"]], group)
        point = f"{label} {protocol}"
        reference, buffer = _dumbbell_reference(row), float(row["buffer_pkts"] or 1500)
        setting.cases.append(Case(simulator, point, tolerance, protocol, reference, buffer))
    return setting


def dumbbells(*, firm: bool) -> Iterator[Setting]:
    """The dumbbell of ns-3 and htsim; only the firm points if so asked."""
    for simulator, name in (("ns-3", "ns3-dumbbell.csv"), ("htsim", "htsim-dumbbell.csv")):
        for label in FIRM if firm else DUMBBELLS:
            chosen: dict[str, dict[str, str]] = {}
            for row in table_of(name):
                law = f"{row['variant']}/{row['aqm']}"
                wanted = row["label"] == label and law in (FIRM_LAWS if firm else LAWS)
                if wanted and (simulator, label, law) not in LEFT_OUT:
                    chosen.setdefault(law, row)
            if chosen:
                yield _dumbbell(list(chosen.values()), simulator, label, list(chosen))
