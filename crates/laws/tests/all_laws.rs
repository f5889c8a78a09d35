//! What every law in the registry must stand: random operations, extreme parameters, a tidy entry.

use knee_laws::codecs::{Codec, Feedback, Header, Load, Marks, Wire, ecn, mlcp, xcp};
use knee_laws::laws::{Laws, RouterEntry, SenderEntry};
use knee_laws::params::{Kind, ParamInfo, Value};
use knee_laws::quantities::{BitRate, Bytes, Span, Time};
use knee_laws::registry::Router;
use knee_laws::router::{
    Arrival, Departure, Draw, LinkView, QueueView, RouterInfo, RouterLaw, Verdict,
};
use knee_laws::sender::{Ack, Congestion, Loss, Opening, RateSample, SenderLaw, Sending};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;

const PACKET_BYTES: u32 = 1000;

/// A parameter at either end of its range.
fn extremes(params: &[ParamInfo]) -> Vec<(String, Value)> {
    let value = |kind: &Kind, base| match kind {
        Kind::Number => Value::Number(base),
        Kind::Integer => Value::Integer(base as u64),
        Kind::Flag => Value::Flag(base != 0.0),
        Kind::Duration => Value::Duration(Span::from_seconds(base)),
        Kind::Rate => Value::Rate(BitRate::from_bps(base)),
        Kind::Size => Value::Size(Bytes(base as u64)),
        Kind::Choice(_) => unreachable!("words have no ends"),
    };
    let ends = |info: &ParamInfo| match &info.kind {
        Kind::Choice(words) => words.iter().cloned().map(Value::Choice).collect::<Vec<_>>(),
        kind => vec![value(kind, info.min), value(kind, info.max)],
    };
    let named = |info: &ParamInfo, value| (info.name.to_string(), value);
    params.iter().flat_map(|info| ends(info).into_iter().map(|v| named(info, v))).collect()
}

#[test]
fn entries_are_tidy() {
    let laws = Laws::default();
    let senders = laws.senders.iter().map(|law| {
        (&law.info.name, &law.info.title, &law.info.source, &law.info.params, &law.fingerprint)
    });
    let routers = laws.routers.iter().map(|law| {
        (&law.info.name, &law.info.title, &law.info.source, &law.info.params, &law.fingerprint)
    });
    for entries in [senders.collect::<Vec<_>>(), routers.collect()] {
        for (at, (name, title, source, params, fingerprint)) in entries.iter().enumerate() {
            assert_eq!(fingerprint.len(), 16, "{name}");
            assert!(name.bytes().all(|c| matches!(c, b'a'..=b'z' | b'0'..=b'9' | b'-')), "{name}");
            assert!(entries[..at].iter().all(|other| other.0 != *name), "{name} twice");
            assert!(!title.is_empty() && !source.is_empty(), "{name}");
            for info in *params {
                assert!(info.allows(&info.default), "{name}: default of {}", info.name);
                assert!(info.help.len() > 10, "{name}: help of {}", info.name);
                assert!(params.iter().filter(|other| other.name == info.name).count() == 1);
            }
        }
    }
    for SenderEntry { info, .. } in &laws.senders {
        let emitted = laws.router(&info.router).expect("a law's own router exists").info.codec;
        assert!(emitted == Codec::None || emitted.is_read_as(info.codec), "{}", info.name);
    }
}

// Senders.

/// What an ACK says of delivery: how many packets ago its packet left, over what time, losses, and
/// whether recovery or a lack of data holds.
#[derive(Clone, Copy, Debug)]
struct Rate {
    ago: u32,
    interval: Span,
    lost: u32,
    held: u8,
}

#[derive(Clone, Debug)]
enum Event {
    Ack { after: Span, rtt: Span, newly_acked: u32, in_flight: u32, feedback: Feedback, rate: Rate },
    Loss { in_flight: u32, by: Congestion },
    Timeout { in_flight: u32 },
    Wake,
}

/// From 1 us to 1000 s, every scale as often.
fn spans() -> impl Strategy<Value = Span> {
    (6.0..15.0).prop_map(|log10_ps| Span::from_ps(libm::pow(10.0, log10_ps) as u64))
}

fn feedbacks() -> impl Strategy<Value = Feedback> {
    prop_oneof![
        Just(Feedback::None),
        any::<bool>().prop_map(|congested| Feedback::Ecn { congested }),
        prop::sample::select(vec![Load::Low, Load::High, Load::Over]).prop_map(Feedback::Load),
        (-1e6..1e6).prop_map(|delta_bytes| Feedback::Xcp { delta_bytes }),
        (0..20u32, prop::sample::select(mlcp::INTERVALS_MS.to_vec()))
            .prop_map(|(code, ms)| Feedback::Mlcp { code, interval: Span::from_millis(ms) }),
        (prop::option::of(0.0..=1.0), any::<bool>())
            .prop_map(|(estimate, congested)| Feedback::Adpm { estimate, congested }),
        (1.0..1e10, 0..50u32).prop_map(|(rate, interval)| Feedback::Rate { rate, interval }),
    ]
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let rate = (0..1000u32, spans(), prop_oneof![3 => Just(0), 1 => 0..50u32], 0..12u8)
        .prop_map(|(ago, interval, lost, held)| Rate { ago, interval, lost, held });
    let ack = (spans(), spans(), 0..100u32, 0..10_000u32, feedbacks(), rate).prop_map(
        |(after, rtt, newly_acked, in_flight, feedback, rate)| Event::Ack {
            after,
            rtt,
            newly_acked,
            in_flight,
            feedback,
            rate,
        },
    );
    let by = prop::sample::select(vec![Congestion::Loss, Congestion::Mark]);
    let event = prop_oneof![
        20 => ack,
        2 => (0..10_000u32, by).prop_map(|(in_flight, by)| Event::Loss { in_flight, by }),
        1 => (0..10_000u32).prop_map(|in_flight| Event::Timeout { in_flight }),
        1 => Just(Event::Wake),
    ];
    prop::collection::vec(event, 1..200)
}

/// How far one ACK may raise a window: what it acknowledges; BBR's return to what it was before a
/// recovery; VCP's AI, long RTTs made up for, up to
/// sigma_ai / cwnd = 10 / cwnd; XCP's feedback; MLCP's and BMCC's MI at the lowest load and
/// AI, at their longest RTTs.
fn most_growth(law: &str, windows: (f64, f64), newly_acked: u32, feedback: Feedback) -> f64 {
    let (before, largest) = windows;
    match (law, feedback) {
        ("xcp", Feedback::Xcp { delta_bytes }) => delta_bytes.max(0.0) / f64::from(PACKET_BYTES),
        ("vcp", Feedback::Load(_)) => (10.0 / before).max(1.0),
        ("vcp-e2e", _) if newly_acked > 0 => (10.0 / before).max(1.0),
        ("mlcp", Feedback::Mlcp { .. }) => 2.0 * libm::pow(1.0 + 0.35 * 0.84 / 0.16, 2.5),
        ("bmcc", Feedback::Adpm { .. }) => {
            2.0 * (100.0 / before).max(libm::pow(1.0 + 0.35 * 0.85 / 0.15, 2.5))
        }
        ("rcp" | "qi-rcp" | "piqi-rcp", Feedback::Rate { .. }) => f64::INFINITY, // no window limits it
        ("vcp" | "vcp-e2e" | "xcp" | "mlcp" | "bmcc" | "rcp" | "qi-rcp" | "piqi-rcp", _) => 0.0,
        ("bbr" | "bbr3", _) => f64::from(newly_acked) + largest.max(4.0) - before,
        _ => f64::from(newly_acked),
    }
}

/// Runs a sender through the events; `bounded` also watches its growth.
fn drive_sender(law: &SenderEntry, params: &[(String, Value)], events: &[Event], bounded: bool) {
    let name = law.info.name.as_str();
    let opening = Opening::new(2.0, PACKET_BYTES);
    let mut law = law.build(params, &opening).expect("parameters within their range");
    let (mut now, mut rtt_seen) = (Time::ZERO, Span::ZERO);
    let (mut delivered, mut unsampled, mut largest) = (0, 0, law.window());
    for event in events {
        let before = law.window();
        match *event {
            Event::Ack { after, rtt, newly_acked, in_flight, feedback, rate } => {
                let Rate { ago, interval, lost, held } = rate;
                delivered += u64::from(newly_acked);
                let prior_delivered = delivered.saturating_sub(u64::from(ago));
                let sample = RateSample {
                    delivered,
                    prior_delivered,
                    interval,
                    rate: (delivered - prior_delivered) as f64 / interval.seconds(),
                    app_limited: held == 1,
                    newly_lost: lost,
                    lost,
                    prior_in_flight: in_flight + ago,
                };
                let sampled = newly_acked > 0 && held != 2;
                now += after;
                rtt_seen = rtt;
                law.on_ack(&Ack {
                    now,
                    newly_acked,
                    in_flight,
                    rtt,
                    smoothed_rtt: rtt,
                    min_rtt: rtt,
                    feedback,
                    recovering: held == 0,
                    app_limited: held == 1,
                    rate: sampled.then_some(sample),
                });
                let growth = law.window() - before;
                let most = most_growth(name, (before, largest), newly_acked + unsampled, feedback);
                unsampled = if sampled { 0 } else { unsampled + newly_acked };
                assert!(!bounded || growth <= most + 1e-9 * before, "{name}: {growth} > {most}");
            }
            Event::Loss { in_flight, by } => law.on_loss(&Loss { now, in_flight, by }),
            Event::Timeout { in_flight } => {
                law.on_timeout(&Loss { now, in_flight, by: Congestion::Timeout });
            }
            Event::Wake => {
                if let Some(at) = law.wake_at() {
                    now = now.max(at);
                    law.on_wake(now);
                    assert!(law.wake_at().is_none_or(|next| next > now), "{name} wakes for ever");
                }
            }
        }
        let window = law.window();
        largest = largest.max(window);
        assert!(window.is_finite() && window >= 1.0, "{name}: window {window} by {event:?}");
        if matches!(event, Event::Loss { .. } | Event::Timeout { .. }) {
            assert!(window <= before, "{name}: {event:?} grew the window {before} to {window}");
        }
        assert!(law.pacing_rate().is_none_or(|rate| rate.bps() > 0.0 && rate.bps().is_finite()));
        let sending =
            Sending { now, smoothed_rtt: rtt_seen, packet_bytes: PACKET_BYTES, identifier: 7 };
        let header = law.header(&sending).map(f32::from_bits);
        assert!(header.into_iter().all(f32::is_finite), "{name}: header {header:?}");
        law.observe(&mut |what, value| assert!(value.is_finite(), "{name}: {what} {value}"));
    }
}

// Routers.

#[derive(Clone, Debug)]
enum Step {
    Arrive { after: Span, size: u32, data: bool, codec: Codec, header: [f32; 4] },
    Finish { after: Span },
    Rate(f64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let pauses = || (6.0..11.0).prop_map(|log| Span::from_ps(libm::pow(10.0, log) as u64));
    let word = prop_oneof![8 => 0.0..1e6f32, 2 => -1e3..0.0f32, 1 => any::<f32>()];
    let arrive = (
        pauses(),
        40..=1500u32,
        any::<bool>(),
        prop::sample::select(Codec::ALL.to_vec()),
        prop::array::uniform4(word),
    )
        .prop_map(|(after, size, data, codec, header)| Step::Arrive {
            after,
            size,
            data,
            codec,
            header,
        });
    let step = prop_oneof![
        10 => arrive,
        5 => pauses().prop_map(|after| Step::Finish { after }),
        1 => (3.0..11.0).prop_map(|log| Step::Rate(libm::pow(10.0, log))),
    ];
    prop::collection::vec(step, 1..150)
}

struct Weyl(f64);
impl Draw for Weyl {
    fn uniform(&mut self) -> f64 {
        self.0 = (self.0 + 0.618_033_988_749_894_9) % 1.0;
        self.0
    }
}

struct Waiting {
    size: u32,
    data: bool,
    marks: Marks,
    header: Header,
    arrived: Time,
}

/// A link around a router law: one packet in service, the others in order.
struct Link {
    info: Arc<RouterInfo>,
    marks_ecn: bool,
    law: Router,
    now: Time,
    idle_since: Option<Time>,
    queue: VecDeque<Waiting>,
    draw: Weyl,
}

impl Link {
    fn new(entry: &RouterEntry, params: &[(String, Value)]) -> Self {
        let view = LinkView {
            rate: BitRate::from_mbps(10.0),
            delay_s: 0.02,
            buffer: Bytes(u64::MAX),
            packet_bytes: PACKET_BYTES,
        };
        let law = entry.build(params, &view).expect("parameters within their range");
        let (now, queue, draw) = (Time::ZERO, VecDeque::new(), Weyl(0.5));
        let info = entry.info.clone();
        let marks_ecn = info.codec.is_read_as(Codec::Ecn) || entry.marks_ecn(params);
        Self { info, marks_ecn, law, now, idle_since: Some(now), queue, draw }
    }

    fn view(&self, now: Time) -> QueueView {
        let bytes = self.queue.iter().map(|packet| u64::from(packet.size)).sum();
        QueueView { now, packets: self.queue.len() as u64, bytes }
    }

    /// Lets time pass, ticks included.
    fn advance(&mut self, after: Span) {
        let now = self.now + after;
        while let Some(at) = self.law.tick_at().filter(|at| *at <= now) {
            assert!(at >= self.now, "{}: a tick in the past", self.info.name);
            self.now = at;
            self.law.on_tick(&self.view(at));
            let next = self.law.tick_at();
            assert!(next.is_none_or(|next| next > at), "{}: ticks stand still", self.info.name);
        }
        self.now = now;
    }

    /// A law writes what its feedback's readers understand only; of a header XCP lowers the feedback,
    /// MLCP raises the pair, RCP lowers the rate and says when it was computed.
    fn check(&self, packet: &Waiting, marks: Marks, header: Header) {
        let name = self.info.name.as_str();
        assert_eq!(marks.codec(), packet.marks.codec(), "{name} changed a packet's codec");
        let ecn = self.marks_ecn && marks.codec().bears_mark();
        let own = ecn || self.info.codec.is_read_as(marks.codec());
        assert!(own || (marks == packet.marks && header == packet.header), "{name} overstepped");
        assert!(marks.codec().uses_ecn_bits() || marks.ecn() == packet.marks.ecn(), "{name}");
        for (at, (before, after)) in packet.header.into_iter().zip(header).enumerate() {
            let allowed = match (marks.codec(), at) {
                (Codec::Xcp, 2) => f32::from_bits(after) < f32::from_bits(before),
                (Codec::Mlcp, 0) => after > before,
                (Codec::Rate, 0) => f32::from_bits(after) < f32::from_bits(before),
                (Codec::Rate, 2) => true,
                _ => false,
            };
            assert!(allowed || after == before, "{name}: word {at}, {before} to {after}");
        }
    }

    fn arrive(&mut self, packet: Waiting) {
        let (mut marks, mut header) = (packet.marks, packet.header);
        let (queue, idle_since) = (self.view(self.now), self.idle_since);
        let arrival = Arrival { queue, idle_since, flow: 0, size: packet.size, data: packet.data };
        let mut wire = Wire { marks: &mut marks, header: &mut header };
        let verdict = self.law.on_arrival(&arrival, &mut wire, &mut self.draw);
        self.check(&packet, marks, header);
        if verdict == Verdict::Mark {
            let wire = Wire { marks: &mut marks, header: &mut header };
            let own = self.marks_ecn || self.info.codec.is_read_as(wire.marks.codec());
            assert!(own && ecn::is_capable(&wire));
        }
        if verdict != Verdict::Drop {
            self.queue.push_back(Waiting { marks, header, arrived: self.now, ..packet });
            if self.idle_since.take().is_some() {
                self.transmit();
            }
        }
    }

    /// The head of the queue, if any, enters service.
    fn transmit(&mut self) {
        let Some(packet) = self.queue.pop_front() else {
            self.idle_since = self.idle_since.or(Some(self.now));
            return;
        };
        let (mut marks, mut header) = (packet.marks, packet.header);
        let queue = self.view(self.now);
        let mut verdict = Verdict::Accept;
        if self.info.needs.departures {
            let waited = self.now.since(packet.arrived);
            let departure =
                Departure { queue, from: 0, waited, size: packet.size, data: packet.data };
            let mut wire = Wire { marks: &mut marks, header: &mut header };
            verdict = self.law.on_departure(&departure, &mut wire);
        }
        self.check(&packet, marks, header);
        if verdict == Verdict::Drop {
            self.transmit();
        }
    }

    fn run(&mut self, steps: &[Step]) {
        for step in steps {
            match *step {
                Step::Arrive { after, size, data, codec, header } => {
                    self.advance(after);
                    let header = header.map(f32::to_bits);
                    let (marks, arrived) = (codec.initial(), self.now);
                    self.arrive(Waiting { size, data, marks, header, arrived });
                }
                Step::Finish { after } => {
                    self.advance(after);
                    self.transmit();
                }
                Step::Rate(bps) => self.law.on_rate(BitRate::from_bps(bps)),
            }
            let signal = self.law.signal();
            assert!(signal.is_finite(), "{}: signal {signal} after {step:?}", self.info.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn senders_stand_any_events(events in events()) {
        for law in &Laws::shipped().senders {
            drive_sender(law, &[], &events, true);
        }
    }

    #[test]
    fn routers_stand_any_traffic(steps in steps()) {
        for law in &Laws::shipped().routers {
            Link::new(law, &[]).run(&steps);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn senders_stand_extreme_parameters(events in events()) {
        for law in &Laws::shipped().senders {
            for param in extremes(&law.info.params) {
                drive_sender(law, &[param], &events, false);
            }
        }
    }

    #[test]
    fn routers_stand_extreme_parameters(steps in steps()) {
        for law in &Laws::shipped().routers {
            for param in extremes(&law.info.params) {
                Link::new(law, &[param]).run(&steps);
            }
        }
    }
}

#[test]
fn a_router_leaves_a_header_without_rtt_at_no_change() {
    let xcp = Laws::shipped().router("xcp").expect("XCP");
    let mut link = Link::new(xcp, &[]);
    let asks = xcp::Congestion { window_bytes: 2e3, rtt_s: 0.0, delta_bytes: 1e6 };
    let (mut marks, mut header) = (Codec::Xcp.initial(), asks.write());
    let queue = link.view(Time::ZERO);
    let departure =
        Departure { queue, from: 0, waited: Span::ZERO, size: PACKET_BYTES, data: true };
    link.law.on_departure(&departure, &mut Wire { marks: &mut marks, header: &mut header });
    assert_eq!(xcp::read(xcp::echo(&header)), 0.0);
}
