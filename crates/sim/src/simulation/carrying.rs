//! Aggregates: packets are encapsulated at the ingress into packets of the carrying flow, and decapsulated at the egress.
//!
//! The carrying flow never resends a carried packet. When its transport resends a number, that packet carries the one
//! that waits longest, or none. The carried packet that was lost is repaired by its own flow.

use super::Simulation;
use crate::aggregate::Aggregate;
use crate::config::{AggregateConfig, LinkId};
use crate::flow::Turn;
use crate::link::{Link, Outcome, Service};
use crate::packet::Packet;
use crate::report::{AggregateReport, LinkReport};

impl Simulation {
    /// The slot of an aggregate's carrying flow. Carrying flows have the slots after the other configured flows.
    pub(super) fn carrier(&self, aggregate: u32) -> u32 {
        self.carriers.start + aggregate
    }

    /// The aggregate of a carrying flow.
    pub(super) fn carried(&self, slot: u32) -> Option<usize> {
        let place = slot.wrapping_sub(self.carriers.start) as usize;
        (place < self.aggregates.len()).then_some(place)
    }

    /// Adds an aggregate's carrying flow.
    pub(super) fn add_aggregate(&mut self, config: AggregateConfig) {
        let options = &self.groups[config.flow.group.0 as usize];
        let empty = options.ack_bytes;
        self.aggregates.push(Aggregate::new(config.link.0, config.overhead, empty));
        let slot = self.flows.len() as u32;
        self.add_flow(slot, config.flow);
        self.flows[slot as usize].limit = 0;
    }

    /// Lets a carrying flow send what it may. It has one packet to send for each that waits at its ingress.
    #[cold]
    #[inline(never)]
    pub(super) fn send_carriers(&mut self, slot: u32) {
        let Some(aggregate) = self.carried(slot) else { return };
        let link = self.aggregates[aggregate].link as usize;
        loop {
            let flow = &mut self.flows[slot as usize];
            flow.limit = flow.board.next().saturating_add(self.links[link].waiting());
            match flow.turn(slot, &self.groups[flow.group.0 as usize], self.now) {
                Turn::Send(mut packet) => {
                    let hop = flow.first_hop;
                    self.encapsulate(aggregate, &mut packet);
                    self.offer(self.hops[hop as usize], &mut packet, hop);
                    self.left -= 1;
                }
                Turn::Pace(at) => {
                    self.pace(slot, at);
                    break;
                }
                Turn::Hold => break,
                Turn::Exhausted => {
                    self.exhaust(slot);
                    break;
                }
            }
        }
        self.keep_timers(slot);
    }

    /// A carrying flow sends a packet, which takes the next that waits.
    fn encapsulate(&mut self, aggregate: usize, carrier: &mut Packet) {
        let link = self.aggregates[aggregate].link;
        let mut next = self.links[link as usize].serve(self.now);
        while let Some((packet, Outcome::Dropped)) = next {
            self.drop(&packet);
            next = self.links[link as usize].serve(self.now);
        }
        let packet = next.map(|(packet, _)| packet);
        self.aggregates[aggregate].load(carrier, packet.as_ref());
    }

    /// A packet of a carrying flow reaches the egress, which acknowledges it and forwards the carried packet.
    #[cold]
    #[inline(never)]
    pub(super) fn decapsulate(&mut self, carrier: &Packet) {
        self.receive(carrier);
        let Some(aggregate) = self.carried(carrier.flow) else { return };
        if let Some(packet) = self.aggregates[aggregate].deliver(carrier) {
            self.reach(packet);
        }
    }

    /// A packet of a carrying flow is dropped, and the carried packet with it.
    #[cold]
    #[inline(never)]
    pub(super) fn drop_inner(&mut self, carrier: &Packet) {
        let Some(aggregate) = self.carried(carrier.flow) else { return };
        if let Some(packet) = self.aggregates[aggregate].lose(carrier) {
            self.drop(&packet);
        }
    }

    /// The report of a link. That of an ingress includes the losses inside the aggregate.
    pub(super) fn link_report(&mut self, number: usize) -> Option<LinkReport> {
        let place = self.numbering.links[number] as usize;
        let link: &mut Link = &mut self.links[place];
        let report = link.report(LinkId(number as u32), self.now)?;
        Some(match link.service {
            Service::Own | Service::Medium => report,
            Service::Aggregate => {
                let lost = self.aggregates[link.server as usize].lost_since();
                LinkReport { lost, ..report }
            }
        })
    }

    /// The reports of aggregates, over the whole run.
    pub(super) fn aggregate_reports(&self) -> Vec<AggregateReport> {
        let report = |(slot, aggregate): (u32, &Aggregate)| AggregateReport {
            link: self.numbering.link(aggregate.link),
            flow: self.flows[slot as usize].number,
            waiting: u64::from(self.links[aggregate.link as usize].waiting()),
            inside: aggregate.inside(),
            delivered: aggregate.delivered,
            lost: aggregate.lost,
        };
        let mut reports = Vec::from_iter(self.carriers.clone().zip(&self.aggregates).map(report));
        reports.sort_by_key(|report: &AggregateReport| report.flow);
        reports
    }
}
