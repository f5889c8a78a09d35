//! On a bad network, no law stalls, panics, sends without bound or computes a NaN.
//!
//! Every sender of the registry runs inside a [`Guard`] that checks its window after each event. Every transfer is finite
//! and has to complete.

use knee_laws::codecs::{Codec, Header, Wire};
use knee_laws::laws::Laws;
use knee_laws::quantities::{BitRate, Span, Time};
use knee_laws::registry::{Router, Sender};
use knee_laws::router::{Arrival, Draw, LinkView, Needs, RouterLaw, Verdict};
use knee_laws::sender::{Ack, Loss, Opening, Recovery, SenderInfo, SenderLaw, Sending};
use knee_sim::Simulation;
use knee_sim::config::*;
use knee_sim::report::{FlowReport, Report};

/// The receiver's window. It bounds a law that a router tells to send without limit.
const MAX_WINDOW: f64 = 5000.0;
const PACKETS: u64 = 600;

/// A law whose answers are checked.
struct Guard {
    law: Sender,
    name: String,
    /// The largest window so far.
    peak: f64,
    is_sack: bool,
}

impl Guard {
    fn check(&mut self) {
        let (name, window) = (self.name.clone(), self.law.window());
        assert!(window.is_finite() && window >= 1.0, "{name}: a window of {window}");
        self.peak = self.peak.max(window.min(MAX_WINDOW));
        if let Some(rate) = self.law.pacing_rate() {
            assert!(rate.bps().is_finite() && rate.bps() > 0.0, "{name}: paced at {rate}");
        }
        self.law.observe(&mut |what, value| assert!(!value.is_nan(), "{name}: {what} is NaN"));
    }
}

impl SenderLaw for Guard {
    fn on_ack(&mut self, ack: &Ack) {
        // A fast retransmission may exceed the window by a packet. Without SACK, what has arrived out of
        // order counts again once recovery ends: at most another window (RFC 5681's FlightSize).
        let most = if self.is_sack { self.peak } else { 2.0 * self.peak } + 1.0;
        assert!(f64::from(ack.in_flight) <= most, "{}: peak {} {ack:?}", self.name, self.peak);
        self.law.on_ack(ack);
        self.check();
    }
    fn on_loss(&mut self, loss: &Loss) {
        let before = self.law.window();
        self.law.on_loss(loss);
        self.check();
        assert!(self.law.window() <= before, "{}: a loss opened its window", self.name);
    }
    fn on_timeout(&mut self, loss: &Loss) {
        let before = self.law.window();
        self.law.on_timeout(loss);
        self.check();
        assert!(self.law.window() <= before, "{}: a timeout opened its window", self.name);
    }
    fn window(&self) -> f64 {
        self.law.window()
    }
    fn pacing_rate(&self) -> Option<BitRate> {
        self.law.pacing_rate()
    }
    fn wake_at(&self) -> Option<Time> {
        self.law.wake_at()
    }
    fn on_wake(&mut self, now: Time) {
        self.law.on_wake(now);
        self.check();
    }
    fn header(&self, sending: &Sending) -> Header {
        let header = self.law.header(sending);
        let numbers = header.map(f32::from_bits);
        assert!(numbers.iter().all(|x| x.is_finite()), "{}: sends {numbers:?}", self.name);
        header
    }
}

/// A router law that writes random bits into headers and marks.
struct Liar {
    /// Share of packets that it marks; a packet that cannot be marked is dropped.
    marks: f64,
}

impl RouterLaw for Liar {
    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        wire: &mut Wire<'_>,
        draw: &mut dyn Draw,
    ) -> Verdict {
        if !arrival.data {
            return Verdict::Accept;
        }
        wire.marks.set_ecn((4.0 * draw.uniform()) as u8);
        let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 0.0, 1e6, -1e6];
        for word in wire.header.iter_mut() {
            let pick = (16.0 * draw.uniform()) as usize;
            let random = (draw.uniform() * f64::from(u32::MAX)) as u32;
            *word = odd.get(pick).map_or(random, |odd| odd.to_bits());
        }
        if draw.uniform() < self.marks { Verdict::Mark } else { Verdict::Accept }
    }
}

/// A finite transfer over one link each way.
struct Path {
    router: Option<&'static str>,
    delay: Span,
    buffer: Buffer,
    loss: Option<RandomLoss>,
    reorder: Option<Reorder>,
    changes: Vec<(Time, LinkChange)>,
    packets: u64,
    /// Share of packets that a [`Liar`] changes.
    lies: f64,
    /// Is there a link with a [`Liar`] before the router?
    after_a_liar: bool,
}

impl Default for Path {
    fn default() -> Self {
        Self {
            router: None,
            delay: Span::from_millis(10),
            buffer: Buffer::Packets(50),
            loss: None,
            reorder: None,
            changes: vec![],
            packets: PACKETS,
            lies: 0.0,
            after_a_liar: false,
        }
    }
}

impl Path {
    const MBPS: f64 = 20.0;

    fn link(&self, name: &str, router: &str) -> LinkConfig {
        let view = LinkView {
            rate: BitRate::from_mbps(Self::MBPS),
            delay_s: self.delay.seconds(),
            buffer: self.buffer.room(1000),
            packet_bytes: 1000,
        };
        let law = Laws::shipped().router(router);
        LinkConfig {
            buffer: self.buffer,
            router: match law {
                Some(law) => law.build(&[], &view).expect("its defaults"),
                None => Router::Custom(Box::new(Liar { marks: self.lies })),
            },
            needs: law.map_or(Needs::ARRIVALS, |law| law.info.needs),
            changes: self.changes.clone(),
            loss: self.loss,
            reorder: self.reorder,
            measured: true,
            ..LinkConfig::plain(name, view.rate, self.delay)
        }
    }

    /// Runs a sender to the end of its transfer, for at most a day.
    fn run(&self, sender: &SenderInfo) -> Report {
        let opening = Opening::new(10.0, 1000);
        let law = Sender::build(&sender.name, &[], &opening).expect("a law");
        let is_sack = sender.recovery == Recovery::Sack;
        let guard = Guard { law, name: sender.name.clone(), peak: 10.0, is_sack };
        let router = self.router.unwrap_or(&sender.router);
        let mut links = vec![self.link("there", router), self.link("back", "droptail")];
        let mut forward = vec![LinkId(0)];
        if self.after_a_liar {
            let before = self.link("before", "a liar");
            links.push(LinkConfig { rate: BitRate::from_mbps(10.0 * Self::MBPS), ..before });
            forward.insert(0, LinkId(2));
        }
        let route = Route { forward, backward: vec![LinkId(1)] };
        let end = Time::ZERO + Span::from_secs(86_400);
        let mut simulation = Simulation::new(NetworkConfig {
            seed: 1,
            links,
            groups: vec![Group {
                name: "one".to_owned(),
                transport: Transport {
                    recovery: sender.recovery,
                    codec: sender.codec,
                    max_window: MAX_WINDOW,
                    ..Transport::default()
                },
            }],
            flows: vec![FlowConfig {
                group: GroupId(0),
                law: Sender::Custom(Box::new(guard)),
                route,
                start: Time::ZERO,
                stop: None,
                packets: Some(self.packets),
            }],
            aggregates: vec![],
            media: vec![],
            sources: vec![],
            probes: vec![Probe { quantity: Quantity::Signal, interval: Span::from_secs(1) }],
            warmup: Time::ZERO,
            end,
        });
        // In steps, since ticks of laws and routers would go on for the whole day.
        for step in 1..=1440 {
            simulation.run_until(Time::ZERO + Span::from_secs(60 * step)).expect("no law fails");
            let report = simulation.report();
            if report.flows[0].completion_s.is_finite() {
                return report;
            }
        }
        panic!("{} over {router} stalled: {:?}", sender.name, simulation.report().flows);
    }

    /// Runs a sender's transfer. Asserts that it completes within `seconds`, and sends at most `sent` packets for each packet
    /// of the transfer.
    fn transfer(&self, sender: &SenderInfo, seconds: f64, sent: f64) -> FlowReport {
        let report = self.run(sender);
        let flow = report.flows[0].clone();
        if std::env::var_os("KNEE_SHOW").is_some() {
            let ratio = flow.data_packets as f64 / self.packets as f64;
            println!("{:9} {:8.2} s {ratio:6.2}", sender.name, flow.completion_s);
        }
        assert_eq!(flow.data_packets, self.packets + flow.retransmissions, "{}", sender.name);
        assert!(
            flow.data_packets as f64 <= sent * self.packets as f64,
            "{}: {flow:?}",
            sender.name
        );
        assert!(flow.completion_s < seconds, "{}: {flow:?}", sender.name);
        assert!(flow.rtt_mean_ms >= 2.0 * self.delay.millis() && flow.goodput_mbps.is_finite());
        for sample in &report.series.samples {
            assert!(sample.value.is_finite(), "{}: a signal of {}", sender.name, sample.value);
        }
        for link in &report.links {
            assert!((0.0..=1.0).contains(&link.utilisation), "{}: {link:?}", sender.name);
            assert!(link.queue_mean_bytes.is_finite(), "{}: {link:?}", sender.name);
            assert!(link.dropped + link.lost <= link.offered, "{}: {link:?}", sender.name);
        }
        flow
    }
}

fn bernoulli(probability: f64) -> Option<RandomLoss> {
    Some(RandomLoss::Bernoulli { probability })
}

fn senders() -> impl Iterator<Item = SenderInfo> {
    Laws::shipped().senders.iter().map(|law| SenderInfo::clone(&law.info))
}

fn sack() -> SenderInfo {
    senders().find(|law| law.name == "sack").expect("a law")
}

#[test]
fn thirty_per_cent_of_data_and_acks_are_lost() {
    let path = Path { loss: bernoulli(0.3), ..Path::default() };
    for sender in senders() {
        path.transfer(&sender, 3600.0, 4.0);
    }
}

#[test]
fn bursts_of_loss_and_reordering() {
    let path = Path {
        // Bursts of five packets, a third of all; every fifth packet is up to two RTTs late.
        loss: Some(RandomLoss::GilbertElliott { enter: 0.1, leave: 0.2, good: 0.0, bad: 1.0 }),
        reorder: Some(Reorder { probability: 0.2, delay: Span::from_millis(40) }),
        ..Path::default()
    };
    for sender in senders() {
        path.transfer(&sender, 14_400.0, 4.0);
    }
}

#[test]
fn the_rate_falls_and_rises_a_thousandfold_and_the_rtt_with_it() {
    // 20 Mbps, for a minute 20 kbps, 20 Mbps again: a packet takes 0.4 s instead of 0.4 ms.
    let change =
        |s, mbps| (Time::ZERO + Span::from_secs(s), LinkChange::Rate(BitRate::from_mbps(mbps)));
    let changes = vec![change(1, 0.02), change(61, 20.0)];
    let path = Path { changes, packets: 20_000, ..Path::default() };
    for sender in senders() {
        // PIQI-RCP comes down by tau_1 an interval: seconds at 20 Mbps into 20 kbps. Constant bit rate does not slow down:
        // up to 60 s at 125 packets a second are lost.
        let sent = match sender.name.as_str() {
            "piqi-rcp" => 2.0,
            "cbr" => 1.0 + 60.0 * 125.0 / 20_000.0,
            _ => 1.2,
        };
        let flow = path.transfer(&sender, 3600.0, sent);
        assert!(flow.completion_s > 60.0);
    }
}

#[test]
fn a_thousand_times_the_delay() {
    for delay in [Span::from_micros(10), Span::from_secs(10)] {
        let path = Path { delay, ..Path::default() };
        for sender in senders() {
            // A round trip of 20 s without slowing down: constant bit rate resends for as long as that at 125 packets a second.
            let sent = if sender.name == "cbr" { 1.0 + 20.0 * 125.0 / 600.0 } else { 3.0 };
            path.transfer(&sender, 3600.0 + delay.seconds() * 1000.0, sent);
        }
    }
}

#[test]
fn a_buffer_of_one_packet() {
    let path = Path { buffer: Buffer::Packets(1), ..Path::default() };
    for sender in senders() {
        path.transfer(&sender, 600.0, 4.0);
    }
}

#[test]
fn routers_and_receivers_lie() {
    for lies in [0.0, 0.3] {
        let path = Path { router: Some("a liar"), lies, packets: 5000, ..Path::default() };
        for mut sender in senders() {
            path.transfer(&sender, 3600.0, 6.0);
            if sender.codec == Codec::Ecn {
                sender.codec = Codec::AccurateEcn; // which the law does not know
                path.transfer(&sender, 3600.0, 6.0);
            }
        }
    }
}

#[test]
fn every_router_with_one_packet_of_room_and_loss() {
    for law in &Laws::shipped().routers {
        let path = Path {
            router: Some(&law.info.name),
            buffer: Buffer::Packets(1),
            loss: bernoulli(0.3),
            packets: 200,
            ..Path::default()
        };
        for codec in [Codec::None, Codec::Ecn] {
            path.transfer(&SenderInfo { codec, ..sack() }, 3600.0, 4.0);
        }
    }
}

#[test]
fn every_router_behind_one_that_lies() {
    for law in &Laws::shipped().routers {
        let path = Path { router: Some(&law.info.name), after_a_liar: true, ..Path::default() };
        for name in ["sack", "vcp", "xcp", "prague"] {
            let sender = senders().find(|law| law.name == name);
            path.transfer(&sender.expect("a law"), 3600.0, 6.0);
        }
    }
}

/// Losses are counted apart from drops, at the rate asked for, and use capacity.
#[test]
fn lost_packets_use_capacity_and_are_not_drops() {
    let path = Path {
        loss: bernoulli(0.1),
        buffer: Buffer::Unlimited,
        packets: 20_000,
        ..Path::default()
    };
    let report = path.run(&sack());
    for link in &report.links {
        let expected = 0.1 * link.offered as f64;
        assert_eq!(link.dropped, 0);
        assert!((link.lost as f64 - expected).abs() < 4.0 * (0.9 * expected).sqrt(), "{link:?}");
    }
    assert_eq!(report.links[0].data_packets, report.flows[0].data_packets);
}
