//! What is counted, against what can be counted by hand: a burst over a link of a packet a millisecond.

mod support;

use knee_laws::codecs::{Codec, Wire};
use knee_laws::laws::Laws;
use knee_laws::quantities::{BitRate, Span, Time};
use knee_laws::registry::{Router, Sender};
use knee_laws::router::{Arrival, Departure, Draw, LinkView, Needs, RouterLaw, Verdict};
use knee_laws::sender::{Ack, Congestion, Loss as Congested, SenderLaw};
use knee_sim::Simulation;
use knee_sim::config::*;
use knee_sim::report::{LinkReport, Report};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use support::wlan::Greedy;

const MS: Span = Span::from_millis(1);

fn at(ms: u64) -> Time {
    Time::ZERO + MS * ms
}

/// A flow of so many packets over a link of 8 Mbps: a packet of 1000 bytes takes a millisecond.
struct Burst {
    law: Sender,
    packets: Option<u64>,
    start: u64,
    warmup: u64,
    end: u64,
    transport: Transport,
}

impl Burst {
    /// All at once.
    fn of(packets: u64) -> Self {
        Self {
            law: Sender::Custom(Box::new(Greedy(packets as f64))),
            packets: Some(packets),
            start: 0,
            warmup: 0,
            end: 1000,
            transport: Transport { min_rto: Span::from_secs(10), ..Transport::default() },
        }
    }

    /// Over this link, whose rate, delay of 10 ms and statistics are the test's.
    fn over(self, link: LinkConfig) -> Report {
        let link =
            LinkConfig { rate: BitRate::from_mbps(8.0), delay: MS * 10, measured: true, ..link };
        let back = LinkConfig::plain("back", BitRate::from_mbps(8e6), MS * 10);
        let mut simulation = Simulation::new(NetworkConfig {
            seed: 1,
            links: vec![link, back],
            groups: vec![Group { name: "burst".to_owned(), transport: self.transport }],
            flows: vec![FlowConfig {
                group: GroupId(0),
                law: self.law,
                route: Route { forward: vec![LinkId(0)], backward: vec![LinkId(1)] },
                start: at(self.start),
                stop: None,
                packets: self.packets,
            }],
            aggregates: vec![],
            media: vec![],
            sources: vec![],
            probes: vec![],
            warmup: at(self.warmup),
            end: at(self.end),
        });
        simulation.run_until(at(self.end)).expect("no law fails");
        simulation.finish()
    }
}

fn plain() -> LinkConfig {
    LinkConfig::plain("link", BitRate::from_mbps(8.0), MS)
}

/// A link under a law that asks for departures but leaves all packets alone: its packets wait in the queue.
fn held() -> LinkConfig {
    let view = LinkView {
        rate: BitRate::from_mbps(8.0),
        delay_s: 0.01,
        buffer: Buffer::Packets(1000).room(1000),
        packet_bytes: 1000,
    };
    let law = Laws::shipped().router("xcp").expect("a law");
    let router = law.build(&[], &view).expect("its defaults");
    LinkConfig { router, needs: law.info.needs, ..plain() }
}

/// A law of the test's own.
fn under(law: impl RouterLaw + Send + 'static, needs: Needs, buffer: Buffer) -> LinkConfig {
    LinkConfig { router: Router::Custom(Box::new(law)), needs, buffer, ..plain() }
}

/// Drops every so many-th packet, on arrival or on departure, and keeps count.
#[derive(Clone)]
struct Dropper {
    on_arrival: bool,
    every: u64,
    seen: u64,
    dropped: Arc<AtomicU64>,
}

impl Dropper {
    fn new(on_arrival: bool, every: u64) -> Self {
        Self { on_arrival, every, seen: 0, dropped: Arc::default() }
    }

    fn next(&mut self) -> Verdict {
        self.seen += 1;
        if !self.seen.is_multiple_of(self.every) {
            return Verdict::Accept;
        }
        self.dropped.fetch_add(1, Ordering::Relaxed);
        Verdict::Drop
    }
}

impl RouterLaw for Dropper {
    fn on_arrival(&mut self, _: &Arrival, _: &mut Wire<'_>, _: &mut dyn Draw) -> Verdict {
        if self.on_arrival { self.next() } else { Verdict::Accept }
    }
    fn on_departure(&mut self, _: &Departure, _: &mut Wire<'_>) -> Verdict {
        if self.on_arrival { Verdict::Accept } else { self.next() }
    }
}

/// Packets, and the bytes that waited for them, leave the queue with the drop.
#[test]
fn what_a_law_drops_is_counted_and_waits_no_longer() {
    for (on_arrival, needs) in
        [(true, Needs::ARRIVALS), (true, Needs::DEPARTURES), (false, Needs::DEPARTURES)]
    {
        let law = Dropper::new(on_arrival, 4);
        let dropped = law.dropped.clone();
        let burst = Burst { end: 10_000, transport: Transport::default(), ..Burst::of(100) };
        let report = burst.over(under(law, needs, Buffer::Unlimited));
        let (link, flow) = (&report.links[0], &report.flows[0]);
        let told = dropped.load(Ordering::Relaxed);
        assert!(told >= 25 && flow.completion_s < 10.0, "{told} {flow:?}");
        assert_eq!((link.dropped, link.offered), (told, flow.data_packets), "{link:?}");
        // What left took a millisecond of the ten seconds each.
        let left = (link.offered - told) as f64;
        assert!((link.utilisation - left / 10_000.0).abs() < 1e-9, "{link:?}");
        assert!((link.queue_mean_bytes / link.queue_mean_packets - 1000.0).abs() < 1e-6);
    }
}

/// A queue that kept the bytes of dropped packets would soon refuse what a buffer of ten takes.
#[test]
fn a_drop_on_departure_makes_room() {
    let law = Dropper::new(false, 2);
    let dropped = law.dropped.clone();
    let sender = Sender::Custom(Box::new(Greedy(8.0)));
    let transport = Transport::default();
    let burst = Burst { law: sender, packets: Some(200), end: 60_000, transport, ..Burst::of(0) };
    let report = burst.over(under(law, Needs::DEPARTURES, Buffer::Bytes(10_000)));
    let link = &report.links[0];
    assert_eq!(link.dropped, dropped.load(Ordering::Relaxed), "none for want of room: {link:?}");
    assert!(report.flows[0].completion_s < 60.0, "{:?}", report.flows[0]);
}

/// Marks what it is offered.
struct Marker;

impl RouterLaw for Marker {
    fn on_arrival(&mut self, _: &Arrival, _: &mut Wire<'_>, _: &mut dyn Draw) -> Verdict {
        Verdict::Mark
    }
}

/// One packet is in service, and three wait; the first flight of the other six is dropped, marked by nobody.
#[test]
fn what_is_dropped_for_want_of_room_is_not_marked() {
    for needs in [Needs::ARRIVALS, Needs::DEPARTURES] {
        let transport = Transport { codec: Codec::Ecn, ..Burst::of(10).transport };
        let burst = Burst { transport, end: 20, ..Burst::of(10) };
        let report = burst.over(under(Marker, needs, Buffer::Packets(3)));
        let LinkReport { offered, marked, dropped, .. } = report.links[0];
        assert_eq!((offered, marked, dropped), (10, 4, 6));
    }
}

/// One packet more than a buffer holds, and the one in service beside it.
#[test]
fn a_buffer_takes_what_it_is_said_to_take_and_no_more() {
    for (buffer, room) in [(Buffer::Packets(9), 9), (Buffer::Bytes(9999), 9)] {
        for link in [plain, held] {
            for excess in [0, 1] {
                let burst = Burst { end: 20, ..Burst::of(1 + room + excess) };
                let report = burst.over(LinkConfig { buffer, ..link() });
                let link = &report.links[0];
                assert_eq!((link.dropped, link.queue_max_packets), (excess, room as f64));
            }
        }
    }
}

/// A hundred packets at once are 100 ms of work: what is promised has not been transmitted.
#[test]
fn utilisation_counts_what_has_been_transmitted() {
    for link in [plain, held] {
        for (start, warmup, end, expected) in
            [(60, 0, 100, 0.4), (0, 50, 200, 1.0 / 3.0), (0, 0, 200, 0.5), (0, 150, 200, 0.0)]
        {
            let report = Burst { start, warmup, end, ..Burst::of(100) }.over(link());
            let found = report.links[0].utilisation;
            assert!((found - expected).abs() < 1e-9, "{start} {warmup} {end}: {found}");
        }
    }
}

/// One in service and 99 waiting: each length from 99 to 0 lasts a millisecond.
#[test]
fn a_queue_that_drains_evenly_has_its_mean_and_its_90th_percentile() {
    for buffer in [Buffer::Unlimited, Buffer::Bytes(1_000_000)] {
        for link in [plain, held] {
            let burst = Burst { end: 100, ..Burst::of(100) };
            let report = burst.over(LinkConfig { buffer, ..link() });
            let link = &report.links[0];
            assert!((link.queue_mean_packets - 49.5).abs() < 1e-9, "{link:?}");
            assert!((link.queue_mean_bytes - 49_500.0).abs() < 1e-6, "{link:?}");
            assert_eq!((link.queue_p90_packets, link.queue_max_packets), (89.0, 99.0));
            if let Some(bytes) = link.queue_p90_bytes {
                assert!((89_000.0..90_000.0).contains(&bytes), "{bytes}"); // bins of 1000 bytes
                assert_eq!(link.queue_max_bytes, Some(99_000.0));
            }
        }
    }
}

/// Two packets, 5 ms apart.
struct Paced;

impl SenderLaw for Paced {
    fn on_ack(&mut self, _: &Ack) {}
    fn on_loss(&mut self, _: &Congested) {}
    fn on_timeout(&mut self, _: &Congested) {}
    fn window(&self) -> f64 {
        2.0
    }
    fn pacing_rate(&self) -> Option<BitRate> {
        Some(BitRate::from_mbps(1.6))
    }
}

/// RFC 7323, 4.3: a delayed ACK returns the stamp of the first packet that it acknowledges. Its RTT is the packets'
/// distance, the transmission of the second, and the way there and back.
#[test]
fn a_delayed_ack_times_the_oldest_packet() {
    let transport = Transport { packets_per_ack: 2, ..Burst::of(0).transport };
    let law = Sender::Custom(Box::new(Paced));
    let report = Burst { law, packets: Some(20), transport, ..Burst::of(0) }.over(plain());
    let flow = &report.flows[0];
    assert_eq!(flow.rtt_samples, 10);
    assert!((flow.rtt_mean_ms - (5.0 + 1.0 + 20.0)).abs() < 1e-3, "{flow:?}");
    // Alone, a packet waits for the timer.
    let transport = Transport { ack_delay: MS * 40, ..transport };
    let law = Sender::Custom(Box::new(Greedy(1.0)));
    let report = Burst { law, packets: Some(10), transport, ..Burst::of(0) }.over(plain());
    let flow = &report.flows[0];
    assert!((flow.rtt_mean_ms - (1.0 + 40.0 + 20.0)).abs() < 1e-3, "{flow:?}");
}

/// What a law has been told of losses.
#[derive(Clone, Default)]
struct Told {
    /// How often.
    losses: Arc<AtomicU64>,
    /// Packets acknowledged so far.
    acked: Arc<AtomicU64>,
    /// The same with the last ACK of the first recovery.
    recovered: Arc<AtomicU64>,
    is_over: bool,
}

/// A window of 40 packets.
impl SenderLaw for Told {
    fn on_ack(&mut self, ack: &Ack) {
        self.is_over |= self.losses.load(Ordering::Relaxed) > 0 && !ack.recovering;
        self.acked.fetch_add(u64::from(ack.newly_acked), Ordering::Relaxed);
        if !self.is_over {
            self.recovered.store(self.acked.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
    fn on_loss(&mut self, loss: &Congested) {
        assert_eq!(loss.by, Congestion::Loss);
        self.losses.fetch_add(1, Ordering::Relaxed);
    }
    fn on_timeout(&mut self, _: &Congested) {
        panic!("a timeout");
    }
    fn window(&self) -> f64 {
        40.0
    }
}

/// Drops these arrivals.
struct Picky(Vec<u64>, u64);

impl RouterLaw for Picky {
    fn on_arrival(&mut self, _: &Arrival, _: &mut Wire<'_>, _: &mut dyn Draw) -> Verdict {
        self.1 += 1;
        if self.0.contains(&(self.1 - 1)) { Verdict::Drop } else { Verdict::Accept }
    }
}

/// RFC 6675, 5: a recovery lasts until all is acknowledged that was outstanding when it began, and losses within it
/// are one event of congestion. Packet 10 is lost; the ACKs of 0 to 9 let 40 to 49 go, those of 11 and 12 let 50 and
/// 51 go, and that of 13 begins the recovery: 10 goes again, then 52, the arrivals 52 and 53.
#[test]
fn a_sack_recovery_ends_with_the_last_packet_that_was_outstanding_when_it_began() {
    for (lost, events) in [
        (vec![10], 1),
        (vec![10, 20, 30, 39], 1),
        (vec![10, 51], 1),
        (vec![10, 51, 50, 49, 48], 1),
        (vec![10, 53], 2),
        (vec![10, 51, 53], 2),
    ] {
        let told = Told::default();
        let law = Sender::Custom(Box::new(told.clone()));
        let count = lost.len() as u64;
        let link = under(Picky(lost.clone(), 0), Needs::ARRIVALS, Buffer::Unlimited);
        let report = Burst { law, packets: Some(300), ..Burst::of(0) }.over(link);
        let flow = &report.flows[0];
        assert_eq!(told.losses.load(Ordering::Relaxed), events, "{lost:?}");
        assert_eq!((flow.retransmissions, flow.timeouts), (count, 0), "{lost:?}");
        assert!(flow.completion_s < 1.0, "{lost:?} {flow:?}");
        // The law is told that the recovery goes on up to the ACK that covers 0 to 51, and no further: another
        // window may be acknowledged with it, and what is resent beside that.
        let recovered = told.recovered.load(Ordering::Relaxed);
        let most = if events > 1 { 300 } else { 93 };
        assert!((52..=most).contains(&recovered), "{lost:?}: {recovered}");
    }
}
