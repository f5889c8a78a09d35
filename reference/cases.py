"""The settings of the reference results, as scenarios of knee, with the figures to compare."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

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
FIRM = ("W1oneway", "W3")
FIRM_LAWS = ("TcpNewReno/droptail", "TCP/droptail")
LAWS = (
    *FIRM_LAWS,
    *("TcpNewReno/red", "TcpCubic/droptail", "TcpCubic/red"),
    *("TcpDctcp/step", "TcpDctcp/red", "DCTCP/step", "TcpBbr/droptail"),
)
# Slow start ends at 100 packets there, a constant of htsim's that knee's dctcp does not have.
LEFT_OUT = {("htsim", "W2", "DCTCP/step")}


@dataclass(frozen=True)
class Case:
    """One reference run: what it gave, and which variant of which setting answers to it."""

    simulator: str
    point: str
    group: str
    protocol: str
    reference: Mapping[str, float]
    buffer_packets: float
    x: float = 0.0
    """Capacity in Mbps or number of forward flows, where there is a curve over it."""
    curve: str = ""


@dataclass(frozen=True)
class Setting:
    """A scenario and the cases it answers to."""

    scenario: knee.Scenario
    seeds: int
    packets: float
    """About how many packets all its runs carry: what progress is counted in."""
    cases: list[Case] = field(default_factory=list)


def _rows(name: str) -> list[dict[str, str]]:
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
        rate=f"{rate:g} Mbps",
        rtt=f"{rows[0]['rtt_ms']} ms",
        flows=flows,
        reverse=reverse,
        duration=f"{seconds:g} s",
        probes="none",
    ).variants(*(NS2_VARIANTS.get(name, name) for name in variants))
    groups = {"vcp": "ns2-vcp", "xcp": "ns2-xcp", "sack/red": "ns2-red", "newreno/red": "ns2-red"}
    protocols = {"VCP": "vcp", "XCP": "xcp", "SACK": "sack/red", "NEWRENO": "newreno/red"}
    setting = Setting(scenario, seeds, 2 * rate * 125 * seconds * seeds * len(variants))
    for row in rows:
        protocol = protocols[row["proto"]]
        at = f"{rate:g} Mbps" if curve == "capacity" else f"{flows} flow{'s' * (flows > 1)}"
        point = f"{protocol} {at}" + (" (text)" if protocol == "vcp" else "")
        x = rate if curve == "capacity" else float(flows)
        buffer = float(row["buffer_pkts"])
        reference = _ns2_reference(row)
        case = Case("ns-2", point, groups[protocol], protocol, reference, buffer, x, curve)
        setting.cases.append(case)
    return setting


def ns2() -> Iterator[Setting]:
    """VCP's text, and XCP, SACK and NewReno against capacity and number of flows."""
    ablation = [row for row in _rows("ns2-ablation-base.csv") if row["variant"] == "paper_all"]
    yield _ns2(ablation, "", 5, ["vcp"])
    capacity = [row for row in _rows("ns2-capacity.csv") if row["proto"] != "VCP"]
    for rate in sorted({float(row["capacity_mbps"]) for row in capacity}):
        rows = [row for row in capacity if float(row["capacity_mbps"]) == rate]
        yield _ns2(rows, "capacity", 3 if rate > 150 else 5, ["xcp", "sack/red"])
    counts = [row for row in _rows("ns2-flows.csv") if row["proto"] != "VCP"]
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
        elif variant == "TcpDctcp" and aqm == "red":
            router = red | {"spare_acks": True}
        name = f"{senders[variant]}/{aqm}"
        variants.append({"name": name, "sender": sender, "router": router})
    if simulator == "htsim":
        transport |= {"min_rto": "250 ms", "recovery": "newreno"}
    scenario = knee.dumbbell(
        rate=f"{rate} Mbps",
        rtt="80 ms",
        flows=flows,
        reverse=reverse,
        buffer=f"{10 * rate} packets" if simulator == "ns-3" else f"{10 * rate} kB",
        duration=f"{seconds} s",
        warmup=f"{warmup} s",
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
            for row in _rows(name):
                law = f"{row['variant']}/{row['aqm']}"
                wanted = row["label"] == label and law in (FIRM_LAWS if firm else LAWS)
                if wanted and (simulator, label, law) not in LEFT_OUT:
                    chosen.setdefault(law, row)
            if chosen:
                yield _dumbbell(list(chosen.values()), simulator, label, list(chosen))
