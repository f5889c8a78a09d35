//! A station of a channel: its queues, its transmission, its counts.

use crate::config::{LinkId, RandomLoss, StationConfig, StationPeer};
use crate::impairment::{Losses, change};
use crate::packet::Packet;
use crate::report::StationReport;
use knee_laws::capacity::Channel;
use knee_laws::quantities::{BitRate, Span, Time};
use knee_laws::router::Draw;
use knee_path::{Phy, Stream};

/// The station whose rate and errors the frames of a queue have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The sending station itself.
    Own,
    /// This station, for which they are.
    Station(u32),
    /// For each packet, the station whose entry is the packet's next link.
    ByPacket,
}

/// The state of a station.
pub struct Station {
    /// Its channel.
    pub medium: u32,
    /// Its queues, served in turn, and the station whose rate and errors the frames of each have.
    pub links: Vec<(u32, Peer)>,
    turn: usize,
    /// Packets of the current or next transmission, each with the number of its transmissions so far.
    pub burst: Vec<(Packet, u32)>,
    /// The queue that they are from.
    pub from: usize,
    /// For each of them: does the current transmission deliver it?
    pub delivered: Vec<bool>,
    /// Failures in a row. They widen its contention window.
    pub failures: u32,
    /// The count of idle slots at which its backoff is over.
    pub backoff: u64,
    /// When the packets were passed to the MAC.
    pub released: Time,
    pub rate: BitRate,
    pub errors: Option<Losses>,
    draw: Stream,
    name: String,
    pub counts: Counts,
    base: Counts,
    /// Its view of the channel, if it estimates its capacity from that.
    pub survey: Option<Survey>,
}

/// What a station has done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Transmissions of data or of an RTS.
    pub attempts: u64,
    /// Transmissions that collided; below, transmissions whose packets all had errors.
    pub collisions: u64,
    pub errors: u64,
    /// Transmissions that repeat an earlier one.
    pub retries: u64,
    /// Packets delivered; below, packets given up at the retry limit.
    pub delivered: u64,
    pub retry_drops: u64,
    /// Time that its transmissions and their answers took.
    pub air: Span,
}

/// A station's view of its channel over an interval.
#[derive(Clone, Copy, Debug)]
pub struct Survey {
    interval: Span,
    ends: Time,
    begun: Time,
    /// At the beginning of the interval: how long the channel had been occupied, and what the station had done.
    occupied: Span,
    before: Counts,
    /// Slots of the backoffs drawn in the interval, and their number.
    slots: f64,
    backoffs: f64,
    /// Bits of the packets sent in the interval, and their number.
    bits: f64,
    packets: f64,
}

impl Survey {
    /// A survey before its first interval.
    pub fn new(interval: Span) -> Self {
        Self {
            interval,
            ends: Time::ZERO + interval,
            begun: Time::ZERO,
            occupied: Span::ZERO,
            before: Counts::default(),
            slots: 0.0,
            backoffs: 0.0,
            bits: 0.0,
            packets: 0.0,
        }
    }

    /// A transmission of this many bytes is over, and a backoff of this many slots is drawn for the next.
    pub fn see(&mut self, bytes: u32, slots: u64) {
        self.slots += slots as f64;
        self.backoffs += 1.0;
        self.bits += 8.0 * f64::from(bytes);
        self.packets += 1.0;
    }

    /// Ends the interval, if it is over. Returns what the station saw of the channel, for frames at this rate.
    pub fn end(
        &mut self,
        now: Time,
        (counts, occupied): (&Counts, Span),
        (phy, rate): (&Phy, BitRate),
    ) -> Option<Channel> {
        if now < self.ends || self.packets == 0.0 {
            return None;
        }
        let span = now.since(self.begun).seconds();
        let since = |now: Span, before: Span| now.seconds() - before.seconds();
        let others = since(occupied, self.occupied) - since(counts.air, self.before.air);
        let attempts = (counts.attempts - self.before.attempts) as f64;
        let failures = (counts.collisions + counts.errors) as f64
            - (self.before.collisions + self.before.errors) as f64;
        let backoff = phy.slot.scale(self.slots / self.backoffs);
        let channel = Channel {
            rate,
            loss: failures / attempts.max(1.0),
            others: (others / span).clamp(0.0, 0.99),
            body: Span::from_seconds(self.bits / self.packets / rate.bps()),
            overhead: phy.difs() + phy.preamble + backoff + phy.answer(1, rate),
        };
        let passed = now.since(self.ends).ps() / self.interval.ps() + 1;
        let ends = self.ends + self.interval * passed;
        *self = Self { ends, begun: now, occupied, before: *counts, ..Self::new(self.interval) };
        Some(channel)
    }
}

impl Station {
    /// A station with nothing to send. Its channel is `medium`, whose first station is `first`.
    pub fn new(config: &StationConfig, (medium, first): (u32, u32), seed: u64) -> Self {
        let stream = |of: &str| Stream::new(seed, &format!("{of} of {}", config.name));
        let peer = |peer| match peer {
            StationPeer::Own => Peer::Own,
            StationPeer::Station(place) => Peer::Station(first + place),
            StationPeer::ByPacket => Peer::ByPacket,
        };
        let queues = config.queues.iter();
        Self {
            medium,
            links: queues.map(|queue| (queue.link.0, peer(queue.peer))).collect(),
            turn: 0,
            burst: Vec::new(),
            from: 0,
            delivered: Vec::new(),
            failures: 0,
            backoff: 0,
            released: Time::ZERO,
            rate: config.rate,
            errors: config.errors.map(|loss| Losses::new(loss, stream("frame errors"))),
            draw: stream("backoff"),
            name: config.name.clone(),
            counts: Counts::default(),
            base: Counts::default(),
            survey: config.survey.map(Survey::new),
        }
    }

    /// Indices of its queues, beginning with the one whose turn it is.
    pub fn turns(&self) -> impl Iterator<Item = usize> + use<> {
        let (turn, count) = (self.turn, self.links.len());
        (0..count).map(move |later| (turn + later) % count)
    }

    /// A queue has had its turn.
    pub fn turn_after(&mut self, queue: usize) {
        self.turn = (queue + 1) % self.links.len();
    }

    /// A random number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.draw.uniform()
    }

    /// Changes the errors of its frames.
    pub fn change_errors(&mut self, errors: Option<RandomLoss>, seed: u64) {
        let draw = || Stream::new(seed, &format!("frame errors of {}", self.name));
        self.errors = change(self.errors.take(), errors, draw);
    }

    /// Statistics begin.
    pub fn warm(&mut self) {
        self.base = self.counts;
    }

    /// The numbers over this span.
    pub fn report(&self, link: LinkId, over: Span) -> StationReport {
        let Counts { attempts, collisions, errors, retries, delivered, retry_drops, air } =
            self.counts;
        StationReport {
            link,
            airtime: (air.seconds() - self.base.air.seconds()) / over.seconds().max(1e-12),
            attempts: attempts - self.base.attempts,
            collisions: collisions - self.base.collisions,
            errors: errors - self.base.errors,
            retries: retries - self.base.retries,
            delivered: delivered - self.base.delivered,
            retry_drops: retry_drops - self.base.retry_drops,
        }
    }
}
