//! Router laws under a source that does not respond. Their drops and queues follow from conservation and their fixed
//! points.
//!
//! The link carries a packet of 1000 bytes each ms, and one arrives each 1 / load ms. So a queue that neither grows nor
//! empties loses 1 - 1 / load of the packets. Statistics begin half-way.

use knee_laws::codecs::{Codec, Wire};
use knee_laws::params::Value;
use knee_laws::quantities::{BitRate, Bytes, Span, Time};
use knee_laws::registry::Router;
use knee_laws::router::{Arrival, Draw, LinkView, QueueView, RouterLaw, Verdict};
use std::collections::VecDeque;

const PACKET_BYTES: u32 = 1000;

/// splitmix64.
struct Random(u64);
impl Draw for Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The result of the second half.
struct Outcome {
    /// Share of the packets that was dropped.
    dropped: f64,
    /// Mean queue that a packet met, in packets.
    queue: f64,
}

fn run(law: &str, params: &[(&str, Value)], load: f64, seconds: u64) -> Outcome {
    let link = LinkView {
        rate: BitRate::from_mbps(8.0),
        delay_s: 0.02,
        buffer: Bytes(200_000),
        packet_bytes: PACKET_BYTES,
    };
    let params: Vec<_> =
        params.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let mut law = Router::build(law, &params, &link).expect("parameters within their range");
    let mut random = Random(1);
    let service = link.rate.time_for(u64::from(PACKET_BYTES));
    // When the packets that wait will be served, and when the last of them is done.
    let (mut starts, mut free_at) = (VecDeque::<Time>::new(), Time::ZERO);
    let view = |starts: &mut VecDeque<Time>, now| {
        while starts.front().is_some_and(|start| *start <= now) {
            starts.pop_front();
        }
        let packets = starts.len() as u64;
        QueueView { now, packets, bytes: packets * u64::from(PACKET_BYTES) }
    };
    let offered = (1000.0 * load) as u64 * seconds;
    let (mut dropped, mut queued) = (0, 0);
    for packet in 0..offered {
        let now = Time::ZERO + Span::from_seconds(packet as f64 * 0.001 / load);
        while let Some(at) = law.tick_at().filter(|at| *at <= now) {
            law.on_tick(&view(&mut starts, at));
        }
        let queue = view(&mut starts, now);
        let idle_since = (free_at <= now).then_some(free_at);
        let arrival = Arrival { queue, idle_since, flow: 0, size: PACKET_BYTES, data: true };
        let (mut marks, mut header) = (Codec::None.initial(), [0; 4]);
        let mut wire = Wire { marks: &mut marks, header: &mut header };
        let verdict = law.on_arrival(&arrival, &mut wire, &mut random);
        let full = queue.bytes + u64::from(PACKET_BYTES) > link.buffer.count();
        let counts = u64::from(packet >= offered / 2);
        queued += counts * queue.packets;
        if verdict == Verdict::Drop || full {
            dropped += counts;
        } else {
            let start = now.max(free_at);
            starts.push_back(start);
            free_at = start + service;
        }
    }
    let counted = (offered - offered / 2) as f64;
    Outcome { dropped: dropped as f64 / counted, queue: queued as f64 / counted }
}

#[track_caller]
fn expect(what: f64, value: f64, tolerance: f64) {
    assert!((what - value).abs() < tolerance, "{what}, not {value}");
}

#[test]
fn pie_holds_its_target_delay() {
    let outcome = run("pie", &[], 1.25, 400);
    expect(outcome.dropped, 0.2, 0.002);
    expect(outcome.queue, 15.0, 0.5); // 15 ms
}

/// Gains for this loop, q'' + 1.25 q' + 1.25 (q - q_ref) = 0: those of the paper are for TCP on 15 Mbps.
#[test]
fn pi_holds_its_reference_queue() {
    let gains = [
        ("a", Value::Number(0.001_01)),
        ("b", Value::Number(0.001)),
        ("frequency", Value::Number(100.0)),
    ];
    let outcome = run("pi", &gains, 1.25, 400);
    expect(outcome.dropped, 0.2, 0.002);
    expect(outcome.queue, 50.0, 1.0);
}

#[test]
fn avq_lets_through_its_share_of_the_link() {
    let outcome = run("avq", &[], 1.25, 400);
    expect(outcome.dropped, 1.0 - 0.98 / 1.25, 0.002);
    expect(outcome.queue, 0.0, 0.5); // 98 % of evenly spaced arrivals, which hardly ever wait
}

#[test]
fn adaptive_red_brings_the_queue_into_its_band() {
    let thresholds = [
        ("min_threshold", Value::Number(20.0)),
        ("max_threshold", Value::Number(60.0)),
        ("mean_packet_size", Value::Size(Bytes(1000))),
        ("queue_weight", Value::Number(0.01)),
    ];
    let outcome = run("ared", &thresholds, 1.1, 400);
    expect(outcome.dropped, 1.0 - 1.0 / 1.1, 0.002);
    expect(outcome.queue, 40.0, 4.0); // 20 + 0.4 x 40 to 20 + 0.6 x 40
    let fixed = run("red", &thresholds, 1.1, 400);
    assert!(fixed.queue > 60.0, "{}", fixed.queue); // RED's max_p of 0.1 drops too little
}

/// Overflows and idle times balance where p alone drops the excess.
#[test]
fn blue_finds_the_probability() {
    let outcome = run("blue", &[], 1.25, 400);
    expect(outcome.dropped, 0.2, 0.01);
}
