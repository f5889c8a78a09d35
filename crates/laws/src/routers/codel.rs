//! CoDel: drops or marks packets at the head of the queue if waits have been above a target for an interval.
//!
//! K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, "Controlled Delay Active Queue Management", RFC 8289,
//! 2018, section 5: the sojourn time of a packet is checked when it leaves. Once it has been above `target`
//! for an `interval`, packets are dropped at intervals of `interval / sqrt(count)` until it falls below.
//! A queue of at most one packet's bytes is never too long. Time in seconds, queue in bytes.

use super::verdicts::congested;
use crate::codecs::Wire;
use crate::quantities::{Span, Time};
use crate::router::{Arrival, Departure, Draw, LinkView, Needs, RouterLaw, RouterSpec, Verdict};
use crate::{params, tunes};

params! {
    /// CoDel's parameters, section 4.
    pub struct Params {
        /// The sojourn time that is accepted.
        pub target: Span = Span::from_millis(5), in 1e-6, 10.0;
        /// How long it may be exceeded: an RTT of most flows.
        pub interval: Span = Span::from_millis(100), in 1e-5, 100.0;
        /// Mark capable packets instead of dropping them.
        pub ecn: bool = true, in 0, 1;
    }
}

/// The control law: when the next drop is due, after `count` drops of a dropping period.
pub fn control_law(from: Time, interval: Span, count: u64) -> Time {
    from + interval.scale(1.0 / (count.max(1) as f64).sqrt())
}

/// The state of CoDel at one queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Control {
    /// When the sojourn time will have been above the target for an interval.
    interval_end: Option<Time>,
    dropping: bool,
    drop_next: Time,
    count: u64,
    /// `count` when the last dropping period began.
    last_count: u64,
}

impl Control {
    /// Has the sojourn time been above the target for an interval?
    fn is_late(&mut self, departure: &Departure, params: &Params, packet_bytes: u64) -> bool {
        let now = departure.queue.now;
        let short = departure.queue.bytes + u64::from(departure.size) <= packet_bytes;
        if departure.waited < params.target || short {
            self.interval_end = None;
            return false;
        }
        let end = *self.interval_end.get_or_insert(now + params.interval);
        now >= end
    }

    /// Is a drop due? Begins and ends dropping periods.
    fn is_due(&mut self, departure: &Departure, params: &Params, packet_bytes: u64) -> bool {
        let now = departure.queue.now;
        let late = self.is_late(departure, params, packet_bytes);
        if self.dropping {
            self.dropping = late;
            if !late || now < self.drop_next {
                return false;
            }
            self.count += 1;
            self.drop_next = control_law(self.drop_next, params.interval, self.count);
            return true;
        }
        if !late {
            return false;
        }
        // A period that begins soon after the last one resumes near its rate of dropping.
        let recent = now.since(self.drop_next) < params.interval * 16;
        let grown = self.count - self.last_count.min(self.count);
        self.count = if recent && grown > 1 { grown } else { 1 };
        self.last_count = self.count;
        self.dropping = true;
        self.drop_next = control_law(now, params.interval, self.count);
        true
    }

    /// Decides on a packet that leaves the queue. Full packets have `packet_bytes` bytes.
    pub fn verdict(
        &mut self,
        departure: &Departure,
        wire: &Wire<'_>,
        params: &Params,
        packet_bytes: u64,
    ) -> Verdict {
        match self.is_due(departure, params, packet_bytes) {
            true => congested(params.ecn, wire),
            false => Verdict::Accept,
        }
    }
}

/// CoDel at one link.
#[derive(Clone, Debug)]
pub struct CoDel {
    params: Params,
    packet_bytes: u64,
    control: Control,
}

impl RouterLaw for CoDel {
    tunes! {}

    fn on_arrival(&mut self, _: &Arrival, _: &mut Wire<'_>, _: &mut dyn Draw) -> Verdict {
        Verdict::Accept
    }

    fn on_departure(&mut self, departure: &Departure, wire: &mut Wire<'_>) -> Verdict {
        self.control.verdict(departure, wire, &self.params, self.packet_bytes)
    }

    fn signal(&self) -> f64 {
        if self.control.dropping { self.control.count as f64 } else { 0.0 }
    }
}

impl RouterSpec for CoDel {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "codel";
    const TITLE: &'static str = "CoDel: drops at the head while waits stay above a target";
    const SOURCE: &'static str = "RFC 8289";
    const NEEDS: Needs = Needs::DEPARTURES;
    fn new(params: Params, link: &LinkView) -> Self {
        let packet_bytes = u64::from(link.packet_bytes);
        Self { params, packet_bytes, control: Control::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codecs::Codec;
    use crate::quantities::{BitRate, Bytes};
    use crate::router::QueueView;

    /// Instants of drops in ms. A packet leaves each millisecond; `waits` has their waits in ms.
    fn drops(waits: impl Iterator<Item = u64>) -> Vec<u64> {
        let link = LinkView {
            rate: BitRate::from_mbps(8.0),
            delay_s: 0.04,
            buffer: Bytes(1_000_000),
            packet_bytes: 1000,
        };
        let mut codel = <CoDel as RouterSpec>::new(Params::default(), &link);
        let (mut marks, mut header) = (Codec::None.initial(), [0; 4]);
        let mut drops = vec![];
        for (ms, waited) in waits.enumerate() {
            let now = Time::ZERO + Span::from_millis(ms as u64);
            let queue = QueueView { now, packets: 50, bytes: 50_000 };
            let waited = Span::from_millis(waited);
            let departure = Departure { queue, from: 0, waited, size: 1000, data: true };
            let mut wire = Wire { marks: &mut marks, header: &mut header };
            if codel.on_departure(&departure, &mut wire) == Verdict::Drop {
                drops.push(ms as u64);
            }
        }
        drops
    }

    #[test]
    fn drops_come_at_the_control_laws_instants() {
        // Late from 0 on: first at 100 ms, then after 100/sqrt(1), 100/sqrt(2), 100/sqrt(3) ms.
        let seen = drops(std::iter::repeat_n(20, 400));
        assert_eq!(seen[..4], [100, 200, 271, 329]);
    }

    #[test]
    fn a_wait_below_target_starts_the_interval_over() {
        let once = (0..150).map(|ms| if ms == 99 { 4 } else { 6 });
        assert!(drops(once).is_empty());
        assert!(drops(std::iter::repeat_n(4, 1000)).is_empty());
        assert_eq!(drops(std::iter::repeat_n(5, 101)), [100]); // at the target counts as late
    }
}
