//! A link's entrance, for links that need one: the queue with its law, impairments, statistics, and changes of the
//! rate.

use crate::config::{Capacity, LinkChange, LinkConfig, LinkId, RandomLoss};
use crate::impairment::Impairment;
use crate::late::Latecomers;
use crate::meter::{Bins, Gauge, Meter};
use crate::packet::Packet;
use crate::report::LinkReport;
use knee_laws::capacity::{Delivery, Estimator};
use knee_laws::quantities::{BitRate, Span, Time};
use knee_path::{Hop, Queue, Stream, Watch};
use std::collections::VecDeque;

/// What a link has transmitted and could have transmitted, in bytes; in seconds, if its capacity is unknown.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    sent: f64,
    capacity: f64,
    /// Bytes that left the queue.
    carried: f64,
}

/// How long a link has had a packet in service.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    time: Span,
    since: Option<Time>,
}

/// A link's entrance. The packet in service is not part of its queue.
pub struct Port {
    /// Does its law tell flows apart? Below, the name that it is told for each, by slot.
    pub tells_flows: bool,
    pub flows: Vec<u32>,
    /// The queue.
    pub queue: Queue<Packet, Gauge>,
    /// Loss and reordering of transmitted packets.
    pub impairment: Impairment,
    /// Packets that arrive out of the line's order.
    pub late: Latecomers,
    /// May it be changed from outside?
    pub is_changeable: bool,
    /// May its propagation delay become shorter?
    pub may_change_delay: bool,
    /// A packet that arrives before this overtakes what is on the line.
    pub line_until: Time,
    /// Estimates the capacity from the times of packets, if the law is told that estimate.
    estimator: Option<Estimator>,
    /// What the law was told of the capacity in place of the rate, and whether it is told the rate.
    told: Option<BitRate>,
    is_told_rate: bool,
    rate: BitRate,
    changes: VecDeque<(Time, LinkChange)>,
    /// Seed of its random numbers.
    seed: u64,
    name: String,
    /// Capacity in bytes up to `capacity_at`.
    capacity: f64,
    capacity_at: Time,
    /// Packets offered when statistics began.
    offered_before: u64,
    /// How long packets have been in service, where the capacity is unknown.
    busy: Option<Busy>,
    /// Its progress when statistics began, and when a probe last asked.
    base: Progress,
    probed: Progress,
    probed_capacity: (Progress, Time),
}

impl Port {
    /// An empty port. `held`: all packets wait until they are served.
    pub fn new(config: LinkConfig, seed: u64, held: bool) -> Self {
        let impairment = Impairment::new(&config, seed);
        let hop = Hop {
            law: config.router,
            needs: config.needs,
            buffer: config.buffer,
            draw: Stream::new(seed, &config.name),
        };
        let is_delay = |(_, change): &(Time, LinkChange)| matches!(change, LinkChange::Delay(_));
        let may_change_delay = config.changeable || config.changes.iter().any(is_delay);
        let estimate = config.capacity.estimate();
        let meter = Gauge::new(config.buffer, config.measured);
        let held = held || config.changeable || estimate.is_some() || !config.changes.is_empty();
        Self {
            tells_flows: config.needs.flows,
            flows: Vec::new(),
            queue: if held { Queue::held(hop, meter) } else { Queue::new(hop, meter) },
            impairment,
            late: Latecomers::default(),
            is_changeable: config.changeable,
            may_change_delay,
            line_until: Time::ZERO,
            estimator: estimate.filter(|by| !by.passive).map(|by| Estimator::new(by.params)),
            is_told_rate: config.capacity == Capacity::Rate,
            told: match config.capacity {
                Capacity::Fixed(rate) => Some(rate),
                Capacity::Rate | Capacity::Estimated(_) => None,
            },
            rate: config.rate,
            changes: config.changes.into(),
            seed,
            name: config.name,
            capacity: 0.0,
            capacity_at: Time::ZERO,
            offered_before: 0,
            busy: None,
            base: Progress::default(),
            probed: Progress::default(),
            probed_capacity: Default::default(),
        }
    }

    /// The port of a link that a station of a shared channel serves. Its capacity is not known ahead.
    pub fn of_station(config: LinkConfig, seed: u64) -> Self {
        let mut port = Self::new(config, seed, true);
        port.busy = Some(Busy::default());
        port
    }

    /// The station begins to serve a packet of this link, or has none any more.
    pub fn serve_by(&mut self, is_busy: bool, now: Time) {
        let Some(busy) = &mut self.busy else { return };
        match (is_busy, busy.since) {
            (true, None) => busy.since = Some(now),
            (false, Some(since)) => {
                busy.time += now.since(since);
                busy.since = None;
            }
            _ => {}
        }
    }

    /// Tells the law the name of the flow in a slot.
    pub fn name_flow(&mut self, slot: usize, name: u32) {
        if slot >= self.flows.len() {
            self.flows.resize(slot + 1, 0);
        }
        self.flows[slot] = name;
    }

    /// When it changes next.
    pub fn change_at(&self) -> Option<Time> {
        self.changes.front().map(|(at, _)| *at)
    }

    /// The change that is due.
    pub fn next_change(&mut self) -> Option<LinkChange> {
        self.changes.pop_front().map(|(_, change)| change)
    }

    /// Changes the rate. The law is told, unless it is told another capacity.
    pub fn change_rate(&mut self, rate: BitRate, now: Time) {
        self.capacity_up_to(now);
        self.rate = rate;
        if self.is_told_rate {
            self.queue.on_rate(rate);
        }
    }

    /// A packet has been delivered. If that changes the estimate of the capacity, the law is told.
    pub fn learn(&mut self, now: Time, delivery: Delivery) {
        if let Some(rate) = self.estimator.as_mut().and_then(|known| known.take(now, delivery)) {
            self.tell_capacity(rate);
        }
    }

    /// Sets the estimate of the capacity, and tells the law.
    pub fn tell_capacity(&mut self, rate: BitRate) {
        self.told = Some(rate);
        self.queue.on_rate(rate);
    }

    /// The capacity that the law was told, in Mbps.
    pub fn capacity_mbps(&self) -> f64 {
        self.told.unwrap_or(self.rate).bps() * 1e-6
    }

    /// Changes the random loss.
    pub fn change_loss(&mut self, loss: Option<RandomLoss>) {
        let draw = || Stream::new(self.seed, &format!("loss of {}", self.name));
        self.impairment.change_loss(loss, draw);
    }

    fn capacity_up_to(&mut self, now: Time) -> f64 {
        self.capacity += self.rate.bytes_in(now.since(self.capacity_at));
        self.capacity_at = now;
        self.capacity
    }

    /// What was transmitted: what was accepted, without what waits and what is in service.
    fn progress(&mut self, now: Time, busy_until: Time) -> Progress {
        self.queue.advance(now);
        let tally = self.queue.tally();
        let accepted = (tally.offered.bytes - tally.dropped.bytes) as f64;
        if let Some(Busy { time, since }) = self.busy {
            let under_way = since.map_or(Span::ZERO, |since| now.since(since));
            let (sent, capacity) = ((time + under_way).seconds(), now.seconds());
            return Progress { sent, capacity, carried: accepted - self.queue.bytes() as f64 };
        }
        let promised = self.rate.bytes_in(busy_until.since(now));
        let sent = accepted - (promised + self.queue.held_bytes() as f64);
        Progress { sent, capacity: self.capacity_up_to(now), carried: sent }
    }

    /// Does it keep statistics?
    pub fn is_measured(&self) -> bool {
        !matches!(self.queue.watch, Gauge::Off)
    }

    /// Statistics begin.
    pub fn warm(&mut self, now: Time, busy_until: Time) {
        self.base = self.progress(now, busy_until);
        self.offered_before = self.queue.tally().offered.packets;
        let (packets, bytes) = (self.queue.packets(), self.queue.bytes());
        self.queue.watch.hold(now, packets, bytes);
        self.queue.watch.reset(now);
        self.impairment.lost = 0;
    }

    /// Packets that wait now.
    pub fn length(&mut self, now: Time) -> f64 {
        self.queue.advance(now);
        self.queue.packets() as f64
    }

    /// Fraction of the capacity used since this was last asked.
    pub fn utilisation_since(&mut self, now: Time, busy_until: Time) -> f64 {
        let progress = self.progress(now, busy_until);
        let before = std::mem::replace(&mut self.probed, progress);
        utilisation(before, progress)
    }

    /// What the link could have carried since this was last asked, Mbps: its rate; that of a station, over the time in
    /// which it had a packet to transmit. NaN if there was no such time.
    pub fn available_since(&mut self, now: Time, busy_until: Time) -> f64 {
        let progress = self.progress(now, busy_until);
        let before = std::mem::replace(&mut self.probed_capacity, (progress, now));
        let bytes_and_seconds = match self.busy {
            Some(_) => (progress.carried - before.0.carried, progress.sent - before.0.sent),
            None => (progress.capacity - before.0.capacity, now.since(before.1).seconds()),
        };
        let (bytes, seconds) = bytes_and_seconds;
        if seconds > 0.0 { bytes * 8e-6 / seconds } else { f64::NAN }
    }

    /// Packets dropped since this was last asked.
    pub fn drops_since(&mut self) -> f64 {
        self.queue.watch.meter().map_or(0, Meter::drops_since) as f64
    }

    /// The numbers at the end.
    pub fn report(&mut self, link: LinkId, now: Time, busy_until: Time) -> Option<LinkReport> {
        let progress = self.progress(now, busy_until);
        let (packets, bytes) = (self.queue.packets(), self.queue.bytes());
        let offered = self.queue.tally().offered.packets - self.offered_before;
        let data_packets = self.queue.data_departed();
        let gauge = &mut self.queue.watch;
        gauge.hold(now, packets, bytes);
        let queue_p90_bytes = gauge.bins().map(|bins| bins.quantile(0.9));
        let queue_max_bytes = gauge.bins().map(Bins::longest);
        let meter = gauge.meter()?;
        Some(LinkReport {
            link,
            utilisation: utilisation(self.base, progress),
            queue_mean_packets: meter.mean_packets(),
            queue_mean_bytes: meter.mean_bytes(),
            queue_p90_packets: meter.quantile_packets(0.9),
            queue_max_packets: meter.max_packets(),
            queue_p90_bytes,
            queue_max_bytes,
            offered,
            dropped: meter.dropped,
            lost: self.impairment.lost,
            marked: meter.marked,
            data_packets,
        })
    }
}

/// The part of the capacity between two instants that was used.
fn utilisation(before: Progress, after: Progress) -> f64 {
    let capacity = after.capacity - before.capacity;
    if capacity <= 0.0 {
        return 0.0;
    }
    ((after.sent - before.sent) / capacity).clamp(0.0, 1.0)
}
