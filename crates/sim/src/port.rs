//! What stands at a link's entrance where somebody asks for it: the queue with its law, impairments, statistics,
//! and the rate with its changes.

use crate::config::{LinkConfig, LinkId};
use crate::impairment::Impairment;
use crate::meter::Meter;
use crate::packet::Packet;
use crate::report::LinkReport;
use knee_laws::quantities::{BitRate, Time};
use knee_path::{Hop, Queue, Stream, Watch};
use std::collections::VecDeque;

/// How far a link has come, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    sent: f64,
    capacity: f64,
}

/// A link's entrance. The packet in service is not part of its queue.
pub struct Port {
    /// Does its law tell flows apart? Then what it is told of each, by slot.
    pub tells_flows: bool,
    pub flows: Vec<u32>,
    /// What waits.
    pub queue: Queue<Packet, Option<Meter>>,
    /// What befalls packets once they are transmitted.
    pub impairment: Option<Impairment>,
    rate: BitRate,
    rate_changes: VecDeque<(Time, BitRate)>,
    /// Capacity in bytes up to `capacity_at`.
    capacity: f64,
    capacity_at: Time,
    /// Packets offered when statistics began.
    offered_before: u64,
    /// Where the link was when statistics began, and when a probe last asked.
    base: Progress,
    probed: Progress,
}

impl Port {
    /// An empty one. Are packets `held` until they are served, also where the law would let them go at once?
    pub fn new(config: LinkConfig, seed: u64, held: bool) -> Self {
        let impairment = Impairment::new(&config, seed);
        let hop = Hop {
            law: config.router,
            needs: config.needs,
            buffer: config.buffer,
            draw: Stream::new(seed, &config.name),
        };
        let meter = config.measured.then(Meter::default);
        let held = held || !config.rate_changes.is_empty();
        Self {
            tells_flows: config.needs.flows,
            flows: Vec::new(),
            queue: if held { Queue::held(hop, meter) } else { Queue::new(hop, meter) },
            impairment,
            rate: config.rate,
            rate_changes: config.rate_changes.into(),
            capacity: 0.0,
            capacity_at: Time::ZERO,
            offered_before: 0,
            base: Progress::default(),
            probed: Progress::default(),
        }
    }

    /// What the law is told of the flow in a slot.
    pub fn name_flow(&mut self, slot: usize, name: u32) {
        if slot >= self.flows.len() {
            self.flows.resize(slot + 1, 0);
        }
        self.flows[slot] = name;
    }

    /// When the rate changes next.
    pub fn rate_change_at(&self) -> Option<Time> {
        self.rate_changes.front().map(|(at, _)| *at)
    }

    /// The new rate, of which the law is told.
    pub fn change_rate(&mut self, now: Time) -> Option<BitRate> {
        self.capacity_up_to(now);
        let (_, rate) = self.rate_changes.pop_front()?;
        self.rate = rate;
        self.queue.on_rate(rate);
        Some(rate)
    }

    fn capacity_up_to(&mut self, now: Time) -> f64 {
        self.capacity += self.rate.bytes_in(now.since(self.capacity_at));
        self.capacity_at = now;
        self.capacity
    }

    /// What was transmitted: what was accepted, less what waits and what is still in service.
    fn progress(&mut self, now: Time, busy_until: Time) -> Progress {
        self.queue.advance(now);
        let tally = self.queue.tally();
        let accepted = (tally.offered.bytes - tally.dropped.bytes) as f64;
        let promised = self.rate.bytes_in(busy_until.since(now));
        let sent = accepted - (promised + self.queue.held_bytes() as f64);
        Progress { sent, capacity: self.capacity_up_to(now) }
    }

    /// Does it keep statistics?
    pub fn is_measured(&self) -> bool {
        self.queue.watch.is_some()
    }

    /// Statistics begin.
    pub fn warm(&mut self, now: Time, busy_until: Time) {
        self.base = self.progress(now, busy_until);
        self.offered_before = self.queue.tally().offered.packets;
        let (packets, bytes) = (self.queue.packets(), self.queue.bytes());
        if let Some(meter) = &mut self.queue.watch {
            meter.hold(now, packets, bytes);
            meter.reset(now);
        }
        if let Some(impairment) = &mut self.impairment {
            impairment.lost = 0;
        }
    }

    /// Waiting packets now.
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

    /// Packets dropped since this was last asked.
    pub fn drops_since(&mut self) -> f64 {
        self.queue.watch.as_mut().map_or(0, Meter::drops_since) as f64
    }

    /// The numbers at the end.
    pub fn report(&mut self, link: LinkId, now: Time, busy_until: Time) -> Option<LinkReport> {
        let progress = self.progress(now, busy_until);
        let (packets, bytes) = (self.queue.packets(), self.queue.bytes());
        let offered = self.queue.tally().offered.packets - self.offered_before;
        let data_packets = self.queue.data_departed();
        let meter = self.queue.watch.as_mut()?;
        meter.hold(now, packets, bytes);
        Some(LinkReport {
            link,
            utilisation: utilisation(self.base, progress),
            queue_mean_packets: meter.mean_packets(),
            queue_mean_bytes: meter.mean_bytes(),
            queue_p90_packets: meter.quantile_packets(0.9),
            queue_max_packets: meter.max_packets(),
            offered,
            dropped: meter.dropped,
            lost: self.impairment.as_ref().map_or(0, |impairment| impairment.lost),
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
