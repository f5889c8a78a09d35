"""802.11b in ns-2 and in a slot-level model, saturated uploads and TCP, as scenarios of knee."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial

import polars as pl
from cases import Case, Setting, table_of

import knee

HABITS_OF_NS2 = {
    "overhead": "34 B",
    "open_window": True,
    "after_collision": "50 us",  # DIFS
    "immediate_access": False,
}
# What knee's medium can be: without capture, beacons, or a timer of releases before 2.30.
VARIANTS: dict[str, dict[str, object]] = {
    "base": {},
    "CWMin32": {"cw_min": 32},
    "circle_no_capture": {},
    "random_positions_no_capture": {},
    "retry_limit_1000": {"short_retry_limit": 255},  # the most that knee has; none gets there
}
SLOT_LEVEL = "standard_EIFS_after_failure"
ERRORS_OF_DATA = ("-", "data_at_addressee")  # scopes of errors that knee has
WARMUP, UPLOAD_SECONDS, TCP_SECONDS = 10.0, 60.0, 100.0
UPLOAD_SEEDS, TCP_SEEDS = 5, 10
STARTS = {"uniform": ["1 s", "1.5 s"]}
Values = Mapping[str, list[float]]


def _error(deviation: float, runs: int, ours: float) -> float:
    """The standard error of a difference of means of `runs` and of `ours`, which deviate alike."""
    return deviation * math.sqrt(1 / runs + 1 / ours)


def _count_error(share: float, of: float, of_ours: float) -> float:
    """The standard error of a difference of two counted shares, at least one having been seen."""
    return math.sqrt(max(share * (1 - share) * of, 1.0)) / of * math.sqrt(1 + of / of_ours)


def saturated(row: Mapping[str, str], mac: Mapping[str, object]) -> Setting:
    """Stations that always have a packet; ACKs come back by wire, so that only data contend."""
    stations, size = int(row["n"]), int(row["packet_bytes"])
    names = [f"client{number}" for number in range(1, stations + 1)]
    back = {"from": "base", "rate": "1 Gbps", "delay": "0 s", "measured": False}
    channel: dict[str, object] = {
        "name": "lan",
        "base": "base",
        "rate": f"{row['mac_rate_mbps']} Mbps",
        "station": [{"name": name} for name in names],
        "mac": dict(mac),
    }
    if float(row["per"]):
        channel["errors"] = float(row["per"])
    settings = {
        "duration": WARMUP + UPLOAD_SECONDS,
        "warmup": WARMUP,
        "probes": "none",
        "sender": {"law": "cbr", "rate": "20 Mbps"},
        "router": "droptail",
        "transport": {"data_size": f"{size} B", "max_window": 50},
        "flows": [{"name": "up", "count": stations, "from": names, "to": "base", "start": STARTS}],
        "link": [back | {"name": f"wire-{name}", "to": name} for name in names],
        "wlan": [channel],
    }
    packets = 1000 * UPLOAD_SECONDS * UPLOAD_SEEDS
    scenario = knee.Scenario.of(settings, name="saturated")
    return Setting(scenario, UPLOAD_SEEDS, packets, measure=partial(of_stations, size=size))


def of_stations(results: knee.Results, _: Case, *, size: int) -> Values:
    """What all stations delivered, and what became of their transmissions, a value a seed."""
    counts = ["attempts", "delivered", "retry_drops"]
    sums = results.stations.group_by("seed", maintain_order=True).agg(pl.col(counts).sum())
    chosen = sums.select(
        aggregate_mbps=pl.col("delivered") * size * 8e-6 / UPLOAD_SECONDS,
        failures=1 - pl.col("delivered") / pl.col("attempts"),
        retry_drops=pl.col("retry_drops") / (pl.col("delivered") + pl.col("retry_drops")),
    )
    return chosen.to_dict(as_series=False)


def _upload_case(row: Mapping[str, str], simulator: str, group: str, note: str) -> Case:
    figures = {
        "aggregate_mbps": float(row["aggregate_mbps"]),
        "failures": float(row["fail_prob_per_attempt"]),
        "retry_drops": float(row["retry_drop_prob"]),
    }
    seeds, seconds = int(row["seeds"]), float(row["measured_s"])
    ours = UPLOAD_SEEDS * UPLOAD_SECONDS / seconds
    packets = figures["aggregate_mbps"] * 1e6 / 8 / float(row["packet_bytes"]) * seconds
    attempts = packets / (1 - figures["failures"])
    failures = float(row.get("fail_prob_sd", "0"))
    errors = {
        "aggregate_mbps": _error(float(row["aggregate_sd"]), seeds, ours),
        "failures": _error(failures, seeds, ours)
        if failures
        else _count_error(figures["failures"], attempts * seeds, attempts * ours),
        "retry_drops": _count_error(figures["retry_drops"], packets * seeds, packets * ours),
    }
    number, size, rate = row["n"], row["packet_bytes"], float(row["mac_rate_mbps"])
    point = f"{number} x {size} B, {rate:g} Mbps" + _of_errors(row) + note
    return Case(simulator, point, group, "", figures, errors=errors)


def _of_errors(row: Mapping[str, str]) -> str:
    return f", {100 * float(row['per']):g} % errors" if float(row["per"]) else ""


def uploads() -> Iterator[Setting]:
    """Saturated uploads: ns-2 with its habits, the slot-level model with the standard's timing."""
    for row in table_of("wlan/ns2_upload_summary.csv"):
        if row["variant"] in VARIANTS and row["per_scope"] in ERRORS_OF_DATA:
            setting = saturated(row, HABITS_OF_NS2 | VARIANTS[row["variant"]])
            base = row["variant"] == "base"
            note = "" if base else f", {row['variant'].replace('_', ' ')}"
            group = "wlan-ns2" if base else "wlan-ns2-variants"
            setting.cases.append(_upload_case(row, "ns-2", group, note))
            yield setting
    for row in table_of("wlan/slot_reference.csv"):
        if row["variant"] == SLOT_LEVEL:
            setting = saturated(row, {})
            setting.cases.append(_upload_case(row, "slot level", "wlan-slots", ""))
            yield setting


def tcp(row: Mapping[str, str]) -> Setting:
    """SACK between clients and a server behind the base station."""
    channel: dict[str, object] = {
        "download": int(row["down_flows"]),
        "upload": int(row["up_flows"]),
        "rate": f"{row['mac_rate_mbps']} Mbps",
        "buffer": "63 packets",  # a limit of 64 holds so many beside the one in the MAC
        "wired_rate": "100 Mbps",
        "wired_delay": "2 ms",
        "mac": HABITS_OF_NS2,
        "start": STARTS,
    }
    if float(row["per"]):
        channel["errors"] = float(row["per"])
    settings = {
        "duration": WARMUP + TCP_SECONDS,
        "warmup": WARMUP,
        "probes": "none",
        "sender": {"law": "sack", "initial_ssthresh": 1000},
        "router": "droptail",
        "transport": {
            "data_size": "1500 B",
            "max_window": 1000,
            "packets_per_ack": 1 + int(row["delayed_ack"]),
        },
        "wlan": channel,
    }
    packets = 600 * TCP_SECONDS * TCP_SEEDS
    scenario = knee.Scenario.of(settings, name="tcp")
    return Setting(scenario, TCP_SEEDS, packets, measure=partial(of_tcp, scenario))


def _sent(flows: pl.DataFrame) -> pl.DataFrame:
    """What all flows of a seed sent in the whole run: three counts."""
    counts = ["data_packets", "retransmissions", "timeouts"]
    return flows.group_by("seed", maintain_order=True).agg(pl.col(counts).sum().cast(pl.Int64))


def of_tcp(scenario: knee.Scenario, results: knee.Results, case: Case) -> Values:
    """What flows got, and what the base station and the clients lost, a value a seed.

    Counts of flows are of the whole run: those of its warm-up are run for themselves and left out.
    """
    start = knee.run(
        scenario, seeds=results.summary["seed"].n_unique(), set={"duration": WARMUP, "warmup": 0}
    )
    sent = _sent(results.flows).join(_sent(start.flows), on="seed", suffix="_before")
    after = {
        name: pl.col(name) - pl.col(f"{name}_before")
        for name in ("data_packets", "retransmissions", "timeouts")
    }
    of_senders = sent.select(
        "seed",
        timeouts_per_s=after["timeouts"] / TCP_SECONDS,
        retransmitted=after["retransmissions"] / after["data_packets"],
    )
    by_way = [
        pl.col("goodput_mbps").filter(pl.col("group") == group).sum().alias(name)
        for group, name in (("download", "down_mbps"), ("upload", "up_mbps"))
    ]
    goodput = pl.col("goodput_mbps")
    of_flows = results.flows.group_by("seed", maintain_order=True).agg(
        *by_way,
        total_mbps=goodput.sum(),
        jain=goodput.sum() ** 2 / ((goodput**2).sum() * pl.len()),
    )
    is_base = pl.col("station") == "wlan/base"
    failed = [
        (
            1 - pl.col("delivered").filter(which).sum() / pl.col("attempts").filter(which).sum()
        ).alias(name)
        for which, name in ((is_base, "base_failures"), (~is_base, "station_failures"))
    ]
    of_channel = results.stations.group_by("seed", maintain_order=True).agg(*failed)
    queue = results.summary.filter(pl.col("link") == "wlan/base")
    of_queue = queue.select("seed", base_drops="drop_rate")
    whole = of_flows.sort("seed")
    for part in (of_senders, of_channel, of_queue):
        whole = whole.join(part, on="seed", maintain_order="left")
    return whole.select(FIGURES_OF[case.group]).to_dict(as_series=False)


OF_TCP = {
    "total_mbps": "total_mbps",
    "jain": "jain_all_flows",
    "base_failures": "bs_fail_prob",
    "station_failures": "station_fail_prob",
    "base_drops": "bs_queue_drop_fraction",
    "timeouts_per_s": "timeouts_per_s",
    "retransmitted": "retransmitted_fraction",
}
"""Figures of TCP, and ns-2's columns of them."""
OF_MIXED = ["down_mbps", "up_mbps", "jain", "base_drops", "timeouts_per_s", "retransmitted"]
FIGURES_OF = {"wlan-download": list(OF_TCP), "wlan-upload": list(OF_TCP), "wlan-mixed": OF_MIXED}
MIXED = {
    "down_flows": "5",
    "up_flows": "5",
    "mac_rate_mbps": "11",
    "per": "0",
    "delayed_ack": "0",
}


def _tcp_case(row: Mapping[str, str]) -> Case:
    figures = {name: float(row[column]) for name, column in OF_TCP.items()}
    seeds, seconds = int(row["seeds"]), float(row["measured_s"])
    ours = TCP_SEEDS * TCP_SECONDS / seconds
    timeouts = max(figures["timeouts_per_s"] * seconds, 1 / seeds)
    errors = {
        "total_mbps": _error(float(row["total_sd"]), seeds, ours),
        "jain": _error(float(row["jain_sd"]), seeds, ours),
        "timeouts_per_s": _error(math.sqrt(timeouts) / seconds, seeds, ours),
    }
    group = "wlan-download" if int(row["down_flows"]) else "wlan-upload"
    return Case("ns-2", _point(row), group, "", figures, errors=errors)


def _point(row: Mapping[str, str]) -> str:
    flows = [
        f"{row[key]} {way}"
        for key, way in (("down_flows", "down"), ("up_flows", "up"))
        if int(row[key])
    ]
    delayed = ", delayed ACKs" if int(row["delayed_ack"]) else ""
    return f"{' + '.join(flows)}, {float(row['mac_rate_mbps']):g} Mbps" + _of_errors(row) + delayed


def transfers() -> Iterator[Setting]:
    """SACK down, up, and both ways at once, of which ns-2's figures are not at hand."""
    for row in table_of("wlan/ns2_tcp_summary.csv"):
        if row["per_scope"] in ERRORS_OF_DATA:
            setting = tcp(row)
            setting.cases.append(_tcp_case(row))
            yield setting
    mixed = tcp(MIXED)
    mixed.cases.append(Case("knee alone", _point(MIXED), "wlan-mixed", "", {}))
    yield mixed


def wlans() -> Iterator[Setting]:
    """All of them."""
    yield from uploads()
    yield from transfers()
