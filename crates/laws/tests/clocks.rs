//! What laws remember over time: which instants and extremes count, and for how long.

use knee_laws::codecs::xcp::CongestionHeader;
use knee_laws::codecs::{Codec, Header, Wire};
use knee_laws::laws::Laws;
use knee_laws::quantities::{BitRate, Bytes, Span, Time};
use knee_laws::registry::{Router, Sender};
use knee_laws::router::{Arrival, Departure, Draw, LinkView, QueueView, RouterLaw, Verdict};
use knee_laws::routers::xcp::Params;
use knee_laws::sender::{Ack, Congestion as Cause, Loss, Opening, SenderLaw};

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn sender(name: &str) -> Sender {
    Sender::build(name, &[], &Opening::new(100.0, 1000)).expect("a law")
}

fn lose(law: &mut Sender, ms: u64) {
    law.on_loss(&Loss { now: at(ms), in_flight: 100, by: Cause::Loss });
}

fn shown(law: &Sender, what: &str) -> f64 {
    let mut found = f64::NAN;
    law.observe(&mut |name, value| {
        if name == what {
            found = value;
        }
    });
    found
}

/// RFC 9438, 5.8: time in which the application, or a recovery, keeps the window from growing is not part of t.
#[test]
fn cubics_clock_stands_still_while_the_window_may_not_grow() {
    let rtt = Span::from_millis(100);
    let grown = |pause: u64, halt: fn(&mut Ack)| {
        let mut law = sender("cubic");
        lose(&mut law, 0);
        for n in 1..=10 {
            law.on_ack(&Ack::new(at(100 * n), 1, 70, rtt));
        }
        let before = law.window();
        for n in 1..=pause {
            let mut ack = Ack::new(at(1000 + 100 * n), 1, 1, rtt);
            halt(&mut ack);
            law.on_ack(&ack);
        }
        assert_eq!(law.window(), before);
        for n in 1..=30 {
            law.on_ack(&Ack::new(at(1000 + 100 * (pause + n)), 10, 70, rtt));
        }
        law.window()
    };
    let without = grown(0, |_| {});
    assert_eq!(grown(200, |ack| ack.app_limited = true), without);
    assert_eq!(grown(200, |ack| ack.recovering = true), without);
    // Had the clock gone on for twenty seconds, the cubic would have left the last maximum far behind.
    assert!((70.0..110.0).contains(&without), "{without}");
}

/// Leith and Shorten, (3): RTT_max is the largest since the last backoff, as this implementation says; what a recovery
/// measures does not count. A steady throughput, RTTs from 70 ms up.
#[test]
fn htcps_longest_rtt_is_that_since_the_last_backoff() {
    let mut law = sender("htcp");
    let mut now = 0;
    let mut beta = |longest: u64, in_recovery: u64| {
        for n in 0..200 {
            now += 10;
            let ms = if n == 100 { longest } else { 70 };
            let mut ack = Ack::new(at(now), 1, 7, Span::from_millis(ms));
            ack.min_rtt = Span::from_millis(70);
            law.on_ack(&ack);
        }
        now += 10;
        let ack = Ack::new(at(now), 1, 7, Span::from_millis(in_recovery));
        law.on_ack(&Ack { recovering: true, min_rtt: Span::from_millis(70), ..ack });
        lose(&mut law, now);
        shown(&law, "beta")
    };
    assert_eq!(beta(140, 70), 0.5); // nothing to compare the throughput with
    for (longest, in_recovery, expected) in [
        (100, 70, 0.7),
        (125, 70, 0.56),
        (100, 70, 0.7),
        (100, 140, 0.7),
        (70, 70, 0.8),
        (500, 70, 0.5),
    ] {
        let found = beta(longest, in_recovery);
        assert!((found - expected).abs() < 1e-12, "{longest} {in_recovery}: {found}");
    }
}

struct Never;
impl Draw for Never {
    fn uniform(&mut self) -> f64 {
        1.0 - f64::EPSILON
    }
}

fn router(name: &str, mbps: f64) -> Router {
    let view = LinkView {
        rate: BitRate::from_mbps(mbps),
        delay_s: 0.04,
        buffer: Bytes(1_000_000),
        packet_bytes: 1000,
    };
    Laws::shipped().router(name).expect("a law").build(&[], &view).expect("its defaults")
}

/// Does CoDel drop a packet that leaves now after waiting so long?
fn drops(law: &mut Router, ms: u64, waited: u64) -> bool {
    let (mut marks, mut header) = (Codec::None.initial(), [0; 4]);
    let queue = QueueView { now: at(ms), packets: 50, bytes: 50_000 };
    let waited = Span::from_millis(waited);
    let departure = Departure { queue, from: 0, waited, size: 1000, data: true };
    let mut wire = Wire { marks: &mut marks, header: &mut header };
    law.on_departure(&departure, &mut wire) == Verdict::Drop
}

/// RFC 8289, 5.5: a dropping period that begins within 16 intervals of when the last would have dropped next resumes
/// at the number of drops by which that one grew, a later one with one.
#[test]
fn codel_remembers_its_rate_of_dropping_for_sixteen_intervals() {
    // Late for a second: drops at 100, 200, 271, 329, 379, 423, 464, 502, 538, 571, ... ms.
    let second = |pause: u64| {
        let mut law = router("codel", 8.0);
        let first = (0..1000).filter(|ms| drops(&mut law, *ms, 20)).count() as u64;
        assert!(!drops(&mut law, 1000, 1));
        let from = 1000 + pause;
        let seen: Vec<u64> = (from..from + 400).filter(|ms| drops(&mut law, *ms, 20)).collect();
        assert_eq!(seen[0], from + 100, "an interval late");
        (first, seen[1] - seen[0])
    };
    let (count, soon) = second(1400);
    // count grew from 1; the next drop comes after an interval over its root.
    let expected = 100.0 / libm::sqrt((count - 1) as f64);
    assert!((soon as f64 - expected).abs() <= 1.0, "{soon} ms, not {expected}");
    // The next drop would have been due some 20 ms after the end: 16 intervals end in between.
    assert_eq!(second(1490).1, soon);
    assert_eq!(second(1540).1, 100);
    assert_eq!(second(5000).1, 100);
}

/// Katabi, 3.5: Q is the least queue of its interval, not the last or the mean.
#[test]
fn xcp_drains_the_persistent_queue_not_bursts() {
    let capacity = 1e9; // so much that the queues below delay nobody
    let persistent = |met: [u64; 6], last: u64| {
        let mut law = router("xcp", 8000.0);
        let tick = |law: &mut Router, bytes: u64| {
            let now = law.tick_at().expect("a tick");
            law.on_tick(&QueueView { now, packets: bytes / 1000, bytes });
            now
        };
        tick(&mut law, 0); // the first control interval, and that of its queue, are over
        let begin = tick(&mut law, 200_000); // the queue's next is half as long
        for bytes in met {
            let asks = CongestionHeader { window_bytes: 1e4, rtt_s: 0.1, delta_bytes: 1e4 };
            let (mut marks, mut header): (_, Header) = (Codec::Xcp.initial(), asks.write());
            let mut wire = Wire { marks: &mut marks, header: &mut header };
            let queue = QueueView { now: begin, packets: bytes / 1000, bytes };
            let arrival = Arrival { queue, idle_since: None, flow: 0, size: 1000, data: true };
            law.on_arrival(&arrival, &mut wire, &mut Never);
        }
        tick(&mut law, last);
        assert_eq!(law.signal(), 0.0);
        assert_eq!(tick(&mut law, 300_000), at(100));
        // (1): what the queue takes away from alpha (C - y).
        let (mean_rtt, params) = (0.1, Params::default());
        let spare = params.alpha * (capacity - 6000.0 / 0.05);
        (spare - law.signal() * capacity) * mean_rtt / params.beta
    };
    for (met, last, expected) in [
        ([20_000; 6], 20_000, 20e3),
        ([90_000, 80_000, 12_000, 50_000, 95_000, 99_000], 99_000, 12e3),
        ([12_000, 80_000, 90_000, 50_000, 95_000, 99_000], 50_000, 12e3),
        ([30_000; 6], 5_000, 5e3),
        ([30_000, 0, 30_000, 30_000, 30_000, 30_000], 30_000, 0.0),
        ([500_000; 6], 400_000, 200e3),
    ] {
        let found = persistent(met, last);
        assert!((found - expected).abs() < 1.0, "{found}, not {expected}");
    }
}
