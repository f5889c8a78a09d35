#!/usr/bin/env python3
"""Writes the test vectors from the papers' equations. See README.md."""

import csv
import io
import sys
from pathlib import Path

import bbr
import cbr
import delays_and_marks
import explicit
import feedback
import routers
import tcp
import vcp


def text(rows):
    """The rows as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


TABLES = [
    vcp.vcp_router,
    vcp.vcp_router_authors,
    vcp.load2_hops,
    routers.red_automatic,
    routers.red_curve,
    routers.red_uniform,
    routers.pie_probability,
    routers.pi_probability,
    routers.rem_price,
    routers.price_router,
    feedback.price_path,
    tcp.cubic_window,
    tcp.hstcp_response,
    tcp.htcp_growth,
    routers.xcp_control,
    feedback.xcp_header,
    feedback.rate_header,
    routers.rcp_router,
    routers.piqi_rcp_router,
    feedback.mlcp_code,
    routers.mlcp_router,
    feedback.adpm_map,
    feedback.adpm_packets,
    routers.bmcc_router,
]
"""Tables with columns of their own; each is named after its function."""

SENDERS = [
    tcp.reno,
    tcp.cubic,
    tcp.hstcp,
    tcp.scalable,
    tcp.htcp,
    tcp.bic,
    tcp.westwood,
    delays_and_marks.vegas,
    delays_and_marks.fast,
    delays_and_marks.dctcp,
    delays_and_marks.prague,
    bbr.bbr,
    bbr.bbr3,
    cbr.cbr,
    vcp.vcp,
    vcp.vcp_authors,
    vcp.vcp_e2e,
    explicit.xcp,
    explicit.rcp,
    explicit.piqi_rcp,
    explicit.mlcp,
    explicit.bmcc,
    explicit.scalable_price,
    explicit.scalable_delay,
]
"""Senders, all with the columns of flows.py."""


def main():
    """Writes the files, or compares them where the command line says --check."""
    here = Path(__file__).parent
    files = {here / f"{table.__name__}.csv": text(table()) for table in TABLES}
    files |= {
        here / "senders" / f"{table.__name__.replace('_', '-')}.csv": text(table())
        for table in SENDERS
    }
    stray = {*here.glob("*.csv"), *here.glob("senders/*.csv")} - {*files}
    if "--check" in sys.argv[1:]:
        wrong = [
            path for path, rows in files.items() if not path.exists() or path.read_text() != rows
        ]
        if wrong or stray:
            names = ", ".join(map(str, sorted([*wrong, *stray])))
            sys.exit(f"not what vectors/generate.py writes: {names}")
        return
    for path, rows in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(rows)
    for path in stray:
        path.unlink()


if __name__ == "__main__":
    main()
