//! The results of a run: plain numbers, in the order of the configuration.

use crate::config::{GroupId, LinkId, Quantity};
use knee_laws::quantities::Time;

/// A whole run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Every measured link.
    pub links: Vec<LinkReport>,
    /// Every flow: configured ones first, then arrivals in order of arrival.
    pub flows: Vec<FlowReport>,
    /// Every aggregate.
    pub aggregates: Vec<AggregateReport>,
    /// Every shared channel, in the order of the configuration.
    pub media: Vec<MediumReport>,
    /// Every station, in the order of the configuration.
    pub stations: Vec<StationReport>,
    /// Samples of the probes.
    pub series: Series,
    /// Packets, data and ACKs, that all links transmitted in the whole run.
    pub packets: u64,
    /// Events that the agenda dispatched.
    pub events: u64,
}

/// A measured link, over [warm-up, end] unless noted.
#[derive(Clone, Debug)]
pub struct LinkReport {
    /// Which link.
    pub link: LinkId,
    /// Bytes transmitted over (rate x time).
    pub utilisation: f64,
    /// Time-weighted mean of the queue, packets.
    pub queue_mean_packets: f64,
    /// Time-weighted mean of the queue, bytes.
    pub queue_mean_bytes: f64,
    /// Time-weighted 90th percentile of the queue, packets.
    pub queue_p90_packets: f64,
    /// Longest queue, packets.
    pub queue_max_packets: f64,
    /// Time-weighted 90th percentile of the queue in bytes, rounded up to a thousandth of the buffer, if that is in
    /// bytes.
    pub queue_p90_bytes: Option<f64>,
    /// Longest queue in bytes, if the buffer is in bytes.
    pub queue_max_bytes: Option<f64>,
    /// Packets offered.
    pub offered: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets lost at random after their transmission; for an aggregate, packets lost under way. `dropped` does
    /// not count them.
    pub lost: u64,
    /// Packets marked (ECN).
    pub marked: u64,
    /// Data packets whose transmission began in the whole run, warm-up included.
    pub data_packets: u64,
}

/// A flow, over the part of [warm-up, end] between its start and its stop, unless noted.
#[derive(Clone, Debug)]
pub struct FlowReport {
    /// Its number: index in the configuration, then in order of arrival.
    pub flow: u32,
    /// Its group.
    pub group: GroupId,
    /// When it started, seconds.
    pub start_s: f64,
    /// When it completed, or was to stop; NaN if it did neither.
    pub stop_s: f64,
    /// Bytes received in order, as on the wire, per second, in Mbps.
    pub goodput_mbps: f64,
    /// Data packets sent in the whole run, retransmissions included.
    pub data_packets: u64,
    /// Retransmissions in the whole run.
    pub retransmissions: u64,
    /// Retransmission timeouts in the whole run.
    pub timeouts: u64,
    /// Mean of the RTT samples, ms; NaN without samples.
    pub rtt_mean_ms: f64,
    /// Number of those RTT samples.
    pub rtt_samples: u64,
    /// From arrival to the last ACK at the sender; NaN if it did not complete.
    pub completion_s: f64,
}

/// What happened to the packets that an aggregate has accepted, in the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AggregateReport {
    /// The link by which other flows see it.
    pub link: LinkId,
    /// The number of the flow that carries it.
    pub flow: u32,
    /// Packets that wait at the ingress.
    pub waiting: u64,
    /// Packets under way.
    pub inside: u64,
    /// Packets that the egress has handed on.
    pub delivered: u64,
    /// Packets dropped or lost under way.
    pub lost: u64,
}

/// Samples, in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The samples.
    pub samples: Vec<Sample>,
    /// Names of the values that laws show, by [`Sample::shown`].
    pub shown: Vec<String>,
}

/// A channel that several links share, over [warm-up, end]: shares of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MediumReport {
    /// Exchanges that delivered something: data and its answer, RTS and CTS.
    pub success: f64,
    /// Collisions.
    pub collision: f64,
    /// Data of which no packet could be read.
    pub error: f64,
    /// The rest: silence, interframe spaces and backoffs included.
    pub idle: f64,
}

/// A station of a shared channel, over [warm-up, end].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StationReport {
    /// Its first link.
    pub link: LinkId,
    /// The share of the time that its transmissions and their answers took.
    pub airtime: f64,
    /// Transmissions.
    pub attempts: u64,
    /// Transmissions that collided.
    pub collisions: u64,
    /// Transmissions of which no packet could be read for errors.
    pub errors: u64,
    /// Those that repeat an earlier one.
    pub retries: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets given up at the retry limit.
    pub retry_drops: u64,
}

/// One sample of a probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When, seconds.
    pub time_s: f64,
    /// The value.
    pub value: f64,
    /// Number of the link or flow, depending on the quantity.
    pub entity: u32,
    /// The quantity.
    pub quantity: Quantity,
    /// Index into [`Series::shown`], for values that laws show.
    pub shown: u16,
}

const _: () = assert!(size_of::<Sample>() == 24, "there are many samples");

impl Sample {
    pub(crate) fn new(at: Time, quantity: Quantity, entity: usize, value: f64) -> Self {
        Self { time_s: at.seconds(), value, entity: entity as u32, quantity, shown: 0 }
    }
}

impl Series {
    /// Appends a sample; if a law shows it, with its name.
    pub(crate) fn push(&mut self, sample: Sample, shown: Option<&str>) {
        let place = shown.map(|name| {
            let known = self.shown.iter().position(|other| *other == name);
            known.unwrap_or_else(|| {
                self.shown.push(name.to_owned());
                self.shown.len() - 1
            })
        });
        self.samples.push(Sample { shown: place.unwrap_or(0) as u16, ..sample });
    }
}
