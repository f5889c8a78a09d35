//! Random events for any sender law, and random traffic for any router law, with assertions that hold for every law.
#![allow(dead_code)] // each test uses a part

use knee_laws::codecs::{Codec, Feedback, Header, Load, Marks, Wire, ecn, mlcp};
use knee_laws::laws::{RouterEntry, SenderEntry};
use knee_laws::params::{Kind, ParamInfo, Value};
use knee_laws::quantities::{BitRate, Bytes, Span, Time};
use knee_laws::registry::{Router, Sender};
use knee_laws::router::{
    Arrival, Departure, Draw, LinkView, QueueView, RouterInfo, RouterLaw, Verdict, Waiting,
};
use knee_laws::sender::{Ack, Congestion, Loss, Opening, RateSample, SenderLaw, Sending};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;

pub const PACKET_BYTES: u32 = 1000;

/// Parameters by name.
pub type Values = [(String, Value)];

/// The value of a parameter that is `base` in its base unit.
pub fn value(info: &ParamInfo, base: f64) -> Value {
    match &info.kind {
        Kind::Number => Value::Number(base),
        Kind::Integer => Value::Integer(base as u64),
        Kind::Flag => Value::Flag(base != 0.0),
        Kind::Duration => Value::Duration(Span::from_seconds(base)),
        Kind::Rate => Value::Rate(BitRate::from_bps(base)),
        Kind::Size => Value::Size(Bytes(base as u64)),
        Kind::Choice(words) => {
            Value::Choice(words[(base * words.len() as f64) as usize % words.len()].clone())
        }
    }
}

// Senders.

/// The delivery rate of an ACK: how many packets ago its packet left, the time since, losses; and whether the flow is in
/// recovery or application-limited.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    ago: u32,
    interval: Span,
    lost: u32,
    held: u8,
}

#[derive(Clone, Debug)]
pub enum Event {
    Ack { after: Span, rtt: Span, newly_acked: u32, in_flight: u32, feedback: Feedback, rate: Rate },
    Loss { in_flight: u32, by: Congestion },
    Timeout { in_flight: u32 },
    Wake,
}

/// From 1 us to 1000 s, uniform in the logarithm.
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

pub fn events() -> impl Strategy<Value = Vec<Event>> {
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

/// The most by which one ACK may raise a window: the packets that it acknowledges. Exceptions: BBR restores its window
/// after a recovery; VCP's AI adds up to sigma_ai / cwnd = 10 / cwnd at long RTTs; XCP's feedback; MLCP's and BMCC's MI at
/// the lowest load, and AI, at their longest RTTs.
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

/// A sender under random events.
pub struct Flow {
    name: String,
    pub law: Sender,
    now: Time,
    rtt: Span,
    delivered: u64,
    /// Packets acknowledged since the last sample of the delivery rate.
    unsampled: u32,
    largest: f64,
    /// Is its growth checked?
    bounded: bool,
    /// All that it has answered.
    pub answers: Vec<u64>,
}

impl Flow {
    /// A flow with these parameters. Without any, its growth is checked too.
    pub fn new(entry: &SenderEntry, params: &Values) -> Self {
        let opening = Opening::new(2.0, PACKET_BYTES);
        let law = entry.build(params, &opening).expect("parameters within their range");
        Self {
            name: entry.info.name.clone(),
            largest: law.window(),
            law,
            now: Time::ZERO,
            rtt: Span::ZERO,
            delivered: 0,
            unsampled: 0,
            bounded: params.is_empty(),
            answers: vec![],
        }
    }

    /// A parameter changes.
    pub fn tune(&mut self, name: &str, value: &Value) {
        self.bounded = false;
        self.law.tune(name, value).unwrap_or_else(|error| panic!("{}: {error:?}", self.name));
        self.check(&format!("{name} = {value}"));
    }

    /// Runs it through the events.
    pub fn run(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.step(event));
    }

    pub fn step(&mut self, event: &Event) {
        let before = self.law.window();
        match *event {
            Event::Ack { after, rtt, newly_acked, in_flight, feedback, rate } => {
                self.now += after;
                self.rtt = rtt;
                let sample = self.sample(newly_acked, in_flight, rate);
                self.law.on_ack(&Ack {
                    feedback,
                    recovering: rate.held == 0,
                    app_limited: rate.held == 1,
                    rate: sample,
                    ..Ack::new(self.now, newly_acked, in_flight, rtt)
                });
                let acked = newly_acked + self.unsampled;
                self.unsampled = if sample.is_some() { 0 } else { acked };
                let growth = self.law.window() - before;
                let most = most_growth(&self.name, (before, self.largest), acked, feedback);
                let fine = !self.bounded || growth <= most + 1e-9 * before;
                assert!(fine, "{}: {growth} > {most}", self.name);
            }
            Event::Loss { in_flight, by } => {
                self.law.on_loss(&Loss { now: self.now, in_flight, by });
            }
            Event::Timeout { in_flight } => {
                self.law.on_timeout(&Loss { now: self.now, in_flight, by: Congestion::Timeout });
            }
            Event::Wake => {
                if let Some(at) = self.law.wake_at() {
                    self.now = self.now.max(at);
                    self.law.on_wake(self.now);
                    let next = self.law.wake_at();
                    assert!(
                        next.is_none_or(|next| next > self.now),
                        "{} wakes for ever",
                        self.name
                    );
                }
            }
        }
        let window = self.law.window();
        self.largest = self.largest.max(window);
        if matches!(event, Event::Loss { .. } | Event::Timeout { .. }) {
            let name = &self.name;
            assert!(window <= before, "{name}: {event:?} grew the window {before} to {window}");
        }
        self.check(&format!("{event:?}"));
    }

    fn sample(&mut self, newly_acked: u32, in_flight: u32, rate: Rate) -> Option<RateSample> {
        let Rate { ago, interval, lost, held } = rate;
        self.delivered += u64::from(newly_acked);
        let prior_delivered = self.delivered.saturating_sub(u64::from(ago));
        let sample = RateSample {
            delivered: self.delivered,
            prior_delivered,
            interval,
            rate: (self.delivered - prior_delivered) as f64 / interval.seconds(),
            app_limited: held == 1,
            newly_lost: lost,
            lost,
            prior_in_flight: in_flight + ago,
        };
        (newly_acked > 0 && held != 2).then_some(sample)
    }

    /// Asserts that its answers are finite, and its window is at least a packet.
    fn check(&mut self, after: &str) {
        let (name, law, answers) = (&self.name, &self.law, &mut self.answers);
        let window = law.window();
        assert!(window.is_finite() && window >= 1.0, "{name}: window {window} by {after}");
        let rate = law.pacing_rate().map(|rate| rate.bps());
        assert!(rate.is_none_or(|bps| bps > 0.0 && bps.is_finite()), "{name}: {rate:?} by {after}");
        let sending = Sending {
            now: self.now,
            smoothed_rtt: self.rtt,
            packet_bytes: PACKET_BYTES,
            identifier: 7,
        };
        let header = law.header(&sending);
        let fine = header.map(f32::from_bits).into_iter().all(f32::is_finite);
        assert!(fine, "{name}: header {header:?} by {after}");
        answers.extend([window.to_bits(), rate.unwrap_or(0.0).to_bits()]);
        answers.extend(header.map(u64::from));
        law.observe(&mut |what, value| {
            assert!(value.is_finite(), "{name}: {what} {value} by {after}");
            answers.push(value.to_bits());
        });
    }
}

// Routers.

#[derive(Clone, Debug)]
pub enum Step {
    Arrive { after: Span, size: u32, data: bool, codec: Codec, header: [f32; 4] },
    Finish { after: Span },
    Rate(f64),
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
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

#[derive(Clone, Copy)]
struct Packet {
    size: u32,
    flow: u32,
    data: bool,
    marks: Marks,
    header: Header,
    arrived: Time,
}

/// The buffer of a link.
const BUFFER: Bytes = Bytes(40_000);

/// A link around a router law: one packet in service, the others in the law's queues.
pub struct Link {
    info: Arc<RouterInfo>,
    marks_ecn: bool,
    pub law: Router,
    now: Time,
    idle_since: Option<Time>,
    queues: Vec<VecDeque<Packet>>,
    draw: Weyl,
    /// Has a parameter changed since the last tick?
    tuned: bool,
    /// All that it has answered.
    pub answers: Vec<u64>,
}

fn waiting(queue: &VecDeque<Packet>) -> Waiting {
    let bytes = queue.iter().map(|packet| u64::from(packet.size)).sum();
    Waiting { packets: queue.len() as u64, bytes }
}

impl Link {
    pub fn new(entry: &RouterEntry, params: &Values) -> Self {
        let view = LinkView {
            rate: BitRate::from_mbps(10.0),
            delay_s: 0.02,
            buffer: BUFFER,
            packet_bytes: PACKET_BYTES,
        };
        let law = entry.build(params, &view).expect("parameters within their range");
        let (now, draw, info) = (Time::ZERO, Weyl(0.5), entry.info.clone());
        let queues = (0..info.needs.queues).map(|_| VecDeque::new()).collect();
        let marks_ecn = info.codec.is_read_as(Codec::Ecn) || entry.marks_ecn(params);
        let (tuned, answers) = (false, vec![]);
        Self { info, marks_ecn, law, now, idle_since: Some(now), queues, draw, tuned, answers }
    }

    /// A parameter changes.
    pub fn tune(&mut self, name: &str, value: &Value) {
        self.tuned = true;
        let name_of_law = &self.info.name;
        self.law.tune(name, value).unwrap_or_else(|error| panic!("{name_of_law}: {error:?}"));
        self.check_signal(&format!("{name} = {value}"));
    }

    /// All waiting packets.
    pub fn view(&self) -> QueueView {
        let all = self.queues.iter().map(waiting).fold(Waiting::default(), |sum, one| Waiting {
            packets: sum.packets + one.packets,
            bytes: sum.bytes + one.bytes,
        });
        QueueView { now: self.now, packets: all.packets, bytes: all.bytes }
    }

    fn each(&self) -> Vec<Waiting> {
        self.queues.iter().map(waiting).collect()
    }

    /// Lets time pass, ticks included.
    fn advance(&mut self, after: Span) {
        let now = self.now + after;
        while let Some(at) = self.law.tick_at().filter(|at| *at <= now) {
            // If an interval has just become shorter, its tick may be due at once.
            assert!(at >= self.now || self.tuned, "{}: a tick in the past", self.info.name);
            self.tuned = false;
            self.now = self.now.max(at);
            self.tick();
            let next = self.law.tick_at();
            assert!(next.is_none_or(|at| at > self.now), "{}: ticks stand still", self.info.name);
            self.answers.extend(next.map(Time::ps));
        }
        self.now = now;
    }

    fn tick(&mut self) {
        let view = self.view();
        if self.queues.len() == 1 {
            return self.law.on_tick(&view);
        }
        let wait = |queue: &VecDeque<Packet>| {
            queue.front().map_or(Span::ZERO, |head| self.now.since(head.arrived))
        };
        let waits: Vec<_> = self.queues.iter().map(wait).collect();
        self.law.on_tick_queues(&view, &waits);
    }

    /// Asserts that a law only writes its own codec: XCP lowers the feedback in a header, MLCP raises the pair, RCP lowers the
    /// rate and writes its interval.
    fn check(&mut self, packet: &Packet, marks: Marks, header: Header) {
        self.answers.push(marks.ecn().into());
        self.answers.extend(header.map(u64::from));
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

    fn arrive(&mut self, packet: Packet) {
        let (mut marks, mut header) = (packet.marks, packet.header);
        let Packet { flow, size, data, .. } = packet;
        let arrival = Arrival { queue: self.view(), idle_since: self.idle_since, flow, size, data };
        let mut wire = Wire { marks: &mut marks, header: &mut header };
        let verdict = self.law.on_arrival(&arrival, &mut wire, &mut self.draw);
        self.answers.push(verdict as u64);
        self.check(&packet, marks, header);
        if verdict == Verdict::Mark {
            let wire = Wire { marks: &mut marks, header: &mut header };
            let own = self.marks_ecn || self.info.codec.is_read_as(wire.marks.codec());
            assert!(own && ecn::is_capable(&wire));
        }
        if verdict != Verdict::Drop && self.admit(&Packet { marks, header, ..packet }, &arrival) {
            self.idle_since.take().is_some().then(|| self.transmit());
        }
    }

    /// Queues a packet that the law has accepted, if there is room or the law evicts others.
    fn admit(&mut self, packet: &Packet, arrival: &Arrival) -> bool {
        while self.view().bytes + u64::from(packet.size) > BUFFER.count() {
            let Some(victims) = self.law.evict(&self.each()) else {
                let Packet { mut marks, mut header, .. } = *packet;
                let wire = Wire { marks: &mut marks, header: &mut header };
                self.law.on_overflow(arrival, &wire);
                return false;
            };
            let queue = &mut self.queues[victims.queue];
            assert!(!queue.is_empty() && victims.packets > 0, "{} evicts nothing", self.info.name);
            queue.drain(..queue.len().min(victims.packets as usize));
        }
        let Packet { mut marks, mut header, .. } = *packet;
        let wire = Wire { marks: &mut marks, header: &mut header };
        let several = self.queues.len() > 1;
        let place = if several { self.law.classify(arrival, &wire) } else { 0 };
        self.answers.push(place as u64);
        self.queues[place].push_back(*packet);
        true
    }

    /// The head of a queue, if any, enters service.
    fn transmit(&mut self) {
        let from = match self.queues.len() {
            1 => Some(0).filter(|_| !self.queues[0].is_empty()),
            _ => self.law.select(&self.each()),
        };
        let Some(from) = from else {
            assert_eq!(self.view().packets, 0, "{} serves nobody", self.info.name);
            self.idle_since = self.idle_since.or(Some(self.now));
            return;
        };
        let packet = self.queues[from].pop_front().expect("a queue that is not empty");
        let Packet { mut marks, mut header, size, data, arrived, .. } = packet;
        let Waiting { packets, bytes } = waiting(&self.queues[from]);
        let queue = QueueView { now: self.now, packets, bytes };
        let mut verdict = Verdict::Accept;
        if self.info.needs.departures {
            let departure = Departure { queue, from, waited: self.now.since(arrived), size, data };
            let mut wire = Wire { marks: &mut marks, header: &mut header };
            verdict = self.law.on_departure(&departure, &mut wire);
            self.answers.extend([from as u64, verdict as u64]);
        }
        self.check(&packet, marks, header);
        if verdict == Verdict::Drop {
            self.transmit();
        }
    }

    pub fn run(&mut self, steps: &[Step]) {
        steps.iter().for_each(|step| self.step(step));
    }

    pub fn step(&mut self, step: &Step) {
        match *step {
            Step::Arrive { after, size, data, codec, header } => {
                self.advance(after);
                let header = header.map(f32::to_bits);
                let marks = codec.initial();
                let marks = if size % 2 == 0 { marks.in_profile() } else { marks };
                let (flow, arrived) = (size % 7, self.now);
                self.arrive(Packet { size, flow, data, marks, header, arrived });
            }
            Step::Finish { after } => {
                self.advance(after);
                self.transmit();
            }
            Step::Rate(bps) => self.law.on_rate(BitRate::from_bps(bps)),
        }
        self.check_signal(&format!("{step:?}"));
    }

    fn check_signal(&mut self, after: &str) {
        let signal = self.law.signal();
        assert!(signal.is_finite(), "{}: signal {signal} after {after}", self.info.name);
        self.answers.push(signal.to_bits());
    }
}
