//! Samples of probes, and reports.

use super::Simulation;
use crate::agenda::{Event, Kind};
use crate::aggregate::Aggregate;
use crate::config::Probe;
use crate::link::Link;
use crate::medium::Medium;
use crate::medium::station::Station;
use crate::port::Port;
use crate::quantity::Quantity;
use crate::report::{FlowReport, MediumReport, Report, Sample, Series, StationReport};
use knee_laws::quantities::{Span, Time};
use knee_laws::sender::SenderLaw;

impl Simulation {
    /// Statistics begin.
    pub(super) fn warm(&mut self) {
        self.left -= (self.links.len() + self.flows.len()) as i64;
        for (port, busy_until) in self.links.iter_mut().filter_map(Link::measured) {
            port.warm(self.now, busy_until);
        }
        for (flow, receiver) in self.flows.iter_mut().zip(&mut self.receivers) {
            receiver.base = receiver.base.max(receiver.next);
            flow.rtt_sum = Span::ZERO;
            flow.rtt_samples = 0;
        }
        self.aggregates.iter_mut().for_each(Aggregate::warm);
        self.media.iter_mut().for_each(Medium::warm);
        self.stations.iter_mut().for_each(Station::warm);
    }

    pub(super) fn probe(&mut self, index: u32) {
        let Probe { quantity, interval } = self.probes[index as usize];
        let now = self.now;
        self.agenda.schedule(now + interval, Event::new(Kind::Probe, index));
        if quantity.is_of_links() {
            self.left -= self.links.len() as i64;
            for number in 0..self.links.len() {
                let place = self.numbering.links[number] as usize;
                if let Some((port, busy_until)) = self.links[place].measured() {
                    let value = sample_link(quantity, port, (now, busy_until));
                    self.series.push(Sample::new(now, quantity, number, value), None);
                }
            }
            return;
        }
        self.left -= (self.configured + self.joined.len()) as i64;
        for place in 0..self.configured + self.joined.len() {
            let (number, slot) = self.probed_flow(place);
            let flow = &self.flows[slot];
            if !flow.is_there(now) || flow.number as usize != number {
                continue;
            }
            if let Some(value) = self.sample_flow(quantity, slot, interval) {
                self.series.push(Sample::new(now, quantity, number, value), None);
                continue;
            }
            let Self { flows, series, .. } = self;
            flows[slot].law.observe(&mut |name, value| {
                series.push(Sample::new(now, quantity, number, value), Some(name));
            });
        }
    }

    /// A quantity of a flow; none of one that has several values, those that its law shows.
    fn sample_flow(&mut self, quantity: Quantity, slot: usize, interval: Span) -> Option<f64> {
        let flow = &self.flows[slot];
        Some(match quantity {
            Quantity::Window => flow.law.window(),
            Quantity::Rtt => flow.rtt.smoothed.millis(),
            Quantity::InFlight => f64::from(flow.board.in_flight()),
            Quantity::Throughput => self.goodput_since(slot, interval),
            _ => return None,
        })
    }

    /// The number and the slot of a probed flow, by index: configured flows first, then those that have joined.
    fn probed_flow(&self, place: usize) -> (usize, usize) {
        match self.numbering.flows.get(place) {
            Some(slot) => (place, *slot as usize),
            None => {
                let (number, slot) = self.joined[place - self.configured];
                (number as usize, slot as usize)
            }
        }
    }

    /// A flow's goodput in Mbps since this was last asked, an interval ago.
    fn goodput_since(&mut self, slot: usize, interval: Span) -> f64 {
        let options = &self.groups[self.flows[slot].group.0 as usize];
        let next = self.receivers[slot].next;
        if slot >= self.probed.len() {
            self.probed.resize(slot + 1, 0);
        }
        let before = self.probed[slot].max(options.first_data());
        self.probed[slot] = next.max(before);
        let carried = slot.wrapping_sub(self.carriers.start as usize);
        let bytes = match self.aggregates.get_mut(carried) {
            Some(aggregate) => aggregate.bytes_probed(),
            None => u64::from(next.saturating_sub(before)) * u64::from(options.data_bytes),
        };
        megabits(bytes) / interval.seconds()
    }

    fn medium_reports(&self) -> Vec<MediumReport> {
        let over = self.now.since(self.warmup);
        let places = self.numbering.media.iter();
        places.map(|place| self.media[*place as usize].report(over)).collect()
    }

    fn station_reports(&self) -> Vec<StationReport> {
        let over = self.now.since(self.warmup);
        let report = |place: &u32| {
            let station = &self.stations[*place as usize];
            let link = station.links.first().map_or(0, |(link, _)| *link);
            station.report(self.numbering.link(link), over)
        };
        self.numbering.stations.iter().map(report).collect()
    }

    pub(super) fn flow_report(&self, slot: u32) -> FlowReport {
        let (flow, receiver) = (&self.flows[slot as usize], &self.receivers[slot as usize]);
        let stop = flow.stop.min(flow.completed);
        let from = flow.start.max(self.warmup);
        let span = stop.min(self.now).min(self.end).since(from).seconds();
        let size = self.groups[flow.group.0 as usize].data_bytes;
        let bytes = match self.carried(slot) {
            Some(aggregate) => self.aggregates[aggregate].bytes_since(),
            None => u64::from(receiver.next.saturating_sub(receiver.base)) * u64::from(size),
        };
        let or_nan = |defined: bool, value: f64| if defined { value } else { f64::NAN };
        let completed = flow.completed != Time::NEVER && flow.stop == Time::NEVER;
        FlowReport {
            flow: flow.number,
            group: flow.group,
            start_s: flow.start.seconds(),
            stop_s: or_nan(stop < self.end, stop.seconds()),
            goodput_mbps: if span > 0.0 { megabits(bytes) / span } else { 0.0 },
            data_packets: flow.sent - u64::from(flow.handshakes),
            retransmissions: flow.retransmissions,
            timeouts: flow.timeouts,
            rtt_mean_ms: or_nan(
                flow.rtt_samples > 0,
                flow.rtt_sum.millis() / flow.rtt_samples.max(1) as f64,
            ),
            rtt_samples: flow.rtt_samples,
            completion_s: or_nan(completed, flow.completed.since(flow.start).seconds()),
        }
    }

    /// Samples since they were last taken.
    pub fn take_samples(&mut self) -> Series {
        let samples = std::mem::take(&mut self.series.samples);
        Series { samples, shown: self.series.shown.clone() }
    }

    /// The report so far.
    pub fn report(&mut self) -> Report {
        let (done, series) = (self.done.clone(), self.series.clone());
        self.tell(done, series)
    }

    /// The report at the end of the run. It takes the samples without copying them.
    pub fn finish(mut self) -> Report {
        let (done, series) = (std::mem::take(&mut self.done), std::mem::take(&mut self.series));
        self.tell(done, series)
    }

    fn tell(&mut self, mut flows: Vec<FlowReport>, series: Series) -> Report {
        let links = (0..self.links.len()).filter_map(|number| self.link_report(number)).collect();
        let there =
            |slot: &u32| (*slot as usize) < self.configured || self.flows[*slot as usize].started;
        flows.extend((0..self.flows.len() as u32).filter(there).map(|slot| self.flow_report(slot)));
        flows.sort_by_key(|flow| flow.flow);
        Report {
            links,
            flows,
            aggregates: self.aggregate_reports(),
            media: self.medium_reports(),
            stations: self.station_reports(),
            series,
            packets: self.packets,
            events: self.agenda.taken(),
        }
    }
}

fn megabits(bytes: u64) -> f64 {
    bytes as f64 * 8e-6
}

/// A quantity of a link at an instant, until which its transmitter is busy; NaN of one that is none.
fn sample_link(quantity: Quantity, port: &mut Port, (now, busy_until): (Time, Time)) -> f64 {
    match quantity {
        Quantity::Queue => port.length(now),
        Quantity::Utilisation => port.utilisation_since(now, busy_until),
        Quantity::Signal => port.queue.signal(),
        Quantity::Drops => port.drops_since(),
        Quantity::Capacity => port.capacity_mbps(),
        Quantity::AvailableCapacity => port.available_since(now, busy_until),
        _ => f64::NAN,
    }
}
