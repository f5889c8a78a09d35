"""What packets carry of the network's load, and how it is read. VCP's bits are in vcp.py."""

import math
import struct
from itertools import pairwise


def height(load):
    """H of BMCC 4.1.2: linear through (0.15, 0), (0.75, 1/4), (1, 1/2), (1.2, 1)."""
    corners = [(0.0, 0.0), (0.15, 0.0), (0.75, 0.25), (1.0, 0.5), (1.2, 1.0), (99.0, 1.0)]
    (x0, y0), (x1, y1) = next((a, b) for a, b in pairwise(corners) if a[0] <= load < b[0])
    return y0 + (y1 - y0) * (load - x0) / (x1 - x0)


def price_path():
    """Paganini et al. 2003, IV-A: marks behind three hops; the price that marks of 31 tell.

    31 marks count as 30.5.
    """
    phi = 1000.0
    yield "price1_s,price2_s,price3_s,p,marked_of_31,estimate_s".split(",")
    for at, hops in enumerate(
        (a, b, c)
        for a in (0.0, 0.007, 0.1, 0.43)
        for b in (0.0, 0.02, 0.2)
        for c in (0.0, 0.05, 0.3)
    ):
        marked = at % 32
        share = min(marked, 30.5) / 31
        yield *hops, 1 - phi ** -sum(hops), marked, -math.log(1 - share) / math.log(phi)


def xcp_header():
    """XCP's header in single precision: words before and after a hop."""

    def word(x):
        return struct.unpack("<I", struct.pack("<f", x))[0]

    yield "window_bytes,rtt_s,asked_bytes,allowed_bytes,word0,word1,word2,word2_after".split(",")
    for window, rtt in ((2000.0, 0.0), (1.5e6, 0.08), (1e9, 1.25)):
        for asked in (0.0, 1e3, 1e13, -40.0):
            for allowed in (0.1, 250.0, -3.0, 1e6):
                words = word(window), word(rtt), word(asked), word(min(asked, allowed))
                yield (window, rtt, asked, allowed, *(f"{w:08x}" for w in words))


def rate_header():
    """RCP's header: of up to three hops the least rate, or that of the one hop asked for."""

    def single(x):
        return struct.unpack("<f", struct.pack("<f", x))[0]

    def word(x):
        return struct.unpack("<I", struct.pack("<f", x))[0]

    yield (
        "desired_bytes_s,rtt_s,sending_bytes_s,only_hop,rate1_bytes_s,rate2_bytes_s,rate3_bytes_s,"
        "interval1,interval2,interval3,word0,word1,word3,rate_bytes_s,interval"
    ).split(",")
    intervals = 0, 41, 7
    for desired, rtt, sending in ((1.25e14, 0.0, 0.0), (3e6, 0.08, 1e6 / 3), (1e9, 1.25, 2e8)):
        for only in (0, 1, 2, 3):
            for rates in ((1e6, 2e6, 4e6), (4e6, 1e6 / 7, 2e6), (2e6, 4e6, 1.9e6), (5e5, 5e5, 5e5)):
                heeded = [hop for hop in range(3) if only in (0, hop + 1)]
                rate, hop = min([(rates[hop], hop) for hop in heeded])
                if single(desired) <= rate:
                    rate, hop = (
                        desired,
                        heeded[0],
                    )  # the sender's wish stands; its stamp is the first that came
                yield (
                    desired,
                    rtt,
                    sending,
                    only,
                    *rates,
                    *intervals,
                    *(f"{word(x):08x}" for x in (desired, rtt, sending)),
                    single(rate),
                    intervals[hop] + 1,
                )


def mlcp_code():
    """MLCP 3.2 and 3.4.1: codes of the load factor and their meaning, of MLCP and n-bit schemes."""
    yield "mi_levels,md_levels,ii,load_factor,code,xi,beta".split(",")
    # MLCP, schemes A and C of 3.2.2.2, then 2, 3, 4 and 15 bits of 3.2.1.
    schemes = [(5, 8, 1), (5, 1, 1), (5, 2, 1)] + [(2**n - 3, 1, 0) for n in (2, 3, 4, 15)]
    for mi, md, ii in schemes:
        # Upper ends of the regions, the code's number being the place of the first above the load.
        ends = [0.8 * level / mi for level in range(1, mi + 1)] + [0.95] * ii + [1.0]
        ends += [1 + 0.2 * level / (md - 1) for level in range(1, md)]
        for load in (
            0.01,
            0.1,
            0.17,
            0.33,
            0.5,
            0.7,
            0.79,
            0.81,
            0.94,
            0.96,
            0.999,
            1.001,
            1.03,
            1.1,
            1.17,
            1.19,
            1.21,
            4.0,
        ):
            code = 1 + sum(end <= load for end in ends)
            xi = 0.35 * (1 - ends[code - 1]) / ends[code - 1] if load < 0.8 else ""
            steps = code - 1 - (mi + ii + 1)
            beta = 0.875 - (0.2 / (md - 1) * steps if md > 1 else 0) if load >= 1 else ""
            yield mi, md, ii, load, code, xi, beta


def adpm_map():
    """BMCC 4.1.2 and 7.2.2: H through its corners; its inverse is the identity."""
    yield "load_factor,height".split(",")
    for load in (
        0.0,
        0.1,
        0.15,
        0.16,
        0.3,
        0.5,
        0.74,
        0.75,
        0.8,
        0.99,
        1.0,
        1.01,
        1.1,
        1.19,
        1.2,
        2.0,
    ):
        yield load, height(load)


def adpm_packets():
    """BMCC 4.1.2 and 4.5: packets over two hops; their bits, the estimate, when it is echoed."""
    yield "run,identifier,load_1,load_2,ecn,estimate_height,echoed".split(",")

    def run(name, loads, n):
        estimate, i, wait, identifier = 0, 1, 0, 12345
        for packet in range(n):
            identifier = (identifier * 25173 + 13849) % 65536
            first, second = loads(packet)
            if max(first, second) >= 1.2:
                bits = 0b11
            else:
                bits = 0b01 if height(max(first, second)) * 65536 > identifier else 0b10
            before = estimate
            if bits == 0b11:
                estimate = 65536
            elif (bits == 0b10 and identifier < estimate) or (
                bits == 0b01 and identifier > estimate
            ):
                estimate = identifier
            if estimate != before:
                i, wait = 1, 0
            wait += 1
            echoed = wait == i
            if echoed:
                i, wait = i + 1, 0
            yield name, identifier, first, second, f"{bits:02b}", estimate / 65536, int(echoed)

    yield from run("still", lambda _: (0.4, 0.8), 60)
    yield from run("rises", lambda n: (0.2 + 0.01 * n, 0.3), 80)
    yield from run("falls", lambda n: (1.25 - 0.01 * n, 0.3), 80)
    yield from run("second", lambda n: (0.9, 1.1 if n % 40 < 20 else 0.5), 80)
