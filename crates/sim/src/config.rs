//! The description of a network, as `knee-scenario` gives it to the simulator.

pub use crate::quantity::Quantity;
use knee_laws::capacity;
use knee_laws::codecs::Codec;
use knee_laws::params::Value;
use knee_laws::quantities::{BitRate, Span, Time};
use knee_laws::registry::{Router, Sender};
use knee_laws::router::Needs;
use knee_laws::routers::droptail::DropTail;
use knee_laws::sender::Recovery;
pub use knee_path::{Buffer, Phy, STANDARDS, Standard, Symbol};

/// A link, by its index in [`NetworkConfig::links`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub u32);

/// A group of flows, by its index in [`NetworkConfig::groups`]. Flows of a group share their transport's options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupId(pub u32);

/// How a link loses packets at random. It loses them after their transmission, so they use capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RandomLoss {
    /// Each with this probability.
    Bernoulli {
        /// Probability of a loss.
        probability: f64,
    },
    /// In bursts: a Markov chain of two states, which takes a step for each packet.
    GilbertElliott {
        /// Probability of going from the good state to the bad one.
        enter: f64,
        /// Probability of going back.
        leave: f64,
        /// Probability of a loss in the good state.
        good: f64,
        /// Probability of a loss in the bad state.
        bad: f64,
    },
}

/// How a link delays packets at random, so that others overtake them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// Probability that a packet is delayed.
    pub probability: f64,
    /// The delay is uniform between 0 and this.
    pub delay: Span,
}

/// How a link's capacity is estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Interval and averages.
    pub params: capacity::Params,
    /// Is it estimated from the station's view of its channel, rather than from the times of its packets?
    pub passive: bool,
}

/// What a link's law takes for the link's capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Capacity {
    /// The link's rate.
    Rate,
    /// This rate, whatever the link's is.
    Fixed(BitRate),
    /// An estimate; until there is one, the link's rate.
    Estimated(Estimate),
}

impl Capacity {
    /// How it is estimated, if it is.
    pub fn estimate(&self) -> Option<Estimate> {
        match self {
            Self::Estimated(estimate) => Some(*estimate),
            Self::Rate | Self::Fixed(_) => None,
        }
    }
}

/// A change of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkChange {
    /// Its rate. A packet in transmission finishes at the old one.
    Rate(BitRate),
    /// Its propagation delay, for packets that it transmits from now on. If it is shorter, they overtake those under
    /// way.
    Delay(Span),
    /// Its random loss.
    Loss(Option<RandomLoss>),
    /// A parameter of its router law.
    Parameter(String, Value),
}

/// A change of a running network.
pub enum Change {
    /// Of a link.
    Link(LinkId, LinkChange),
    /// A parameter of the law of the flow with this number.
    Parameter(u32, String, Value),
    /// A flow joins. It starts at once; the start in its configuration does not count.
    Join(Box<Newcomer>),
    /// The flow with this number sends no new data.
    Leave(u32),
}

/// One directed link.
pub struct LinkConfig {
    /// Its name, which seeds its random stream and gives its order among the links.
    pub name: String,
    /// Capacity.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Span,
    /// Size of its queue's buffer.
    pub buffer: Buffer,
    /// The law of its queue.
    pub router: Router,
    /// What the law needs of the link.
    pub needs: Needs,
    /// The capacity that the law is told.
    pub capacity: Capacity,
    /// What changes in the run, in order of time.
    pub changes: Vec<(Time, LinkChange)>,
    /// May it also change from outside ([`Simulation::apply`](crate::Simulation::apply))?
    pub changeable: bool,
    /// Random loss of packets that it has transmitted.
    pub loss: Option<RandomLoss>,
    /// Reordering.
    pub reorder: Option<Reorder>,
    /// Does it keep statistics, so that it is reported and probed?
    pub measured: bool,
}

impl LinkConfig {
    /// A link that only carries packets: without limit, law, impairments and statistics.
    pub fn plain(name: &str, rate: BitRate, delay: Span) -> Self {
        Self {
            name: name.to_owned(),
            rate,
            delay,
            buffer: Buffer::Unlimited,
            router: Router::DropTail(DropTail),
            needs: Needs::ARRIVALS,
            capacity: Capacity::Rate,
            changes: Vec::new(),
            changeable: false,
            loss: None,
            reorder: None,
            measured: false,
        }
    }
}

/// Options of the transport, the same for all flows of a group.
#[derive(Clone, Copy, Debug)]
pub struct Transport {
    /// Size of a data packet on the wire, bytes (40 to 65535).
    pub data_bytes: u16,
    /// Size of an ACK on the wire, bytes.
    pub ack_bytes: u16,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Initial window in packets.
    pub initial_window: f64,
    /// Does a flow open with a handshake? It then sends a packet of the size of an ACK, and nothing else until
    /// that is acknowledged.
    pub handshake: bool,
    /// The feedback that its packets carry: the law's codec, or `None` where a law that can read ECN
    /// marks has not negotiated them.
    pub codec: Codec,
    /// Data packets for each ACK: 1 acknowledges each at once, 2 is RFC 1122's delayed ACK.
    pub packets_per_ack: u32,
    /// A delayed ACK leaves after this time at the latest.
    pub ack_delay: Span,
    /// Spread packets over the RTT; `None` lets ACKs clock them.
    pub pacing: Option<Pacing>,
    /// The least time between smoothed RTT and retransmission timeout, as Linux's `tcp_rto_min`.
    pub min_rto: Span,
    /// The receiver's window in packets: a cap on what is in flight.
    pub max_window: f64,
    /// What the network has promised each flow. Further packets are out of profile, and so are ACKs.
    pub commitment: Option<Commitment>,
}

/// A group of flows.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its name, from which the identities of its flows follow.
    pub name: String,
    /// How its flows send and acknowledge.
    pub transport: Transport,
}

/// SACK without ECN, packets of 1000 bytes, an ACK for each. Tests use it; scenarios have defaults of their own.
impl Default for Transport {
    fn default() -> Self {
        Self {
            data_bytes: 1000,
            ack_bytes: 40,
            recovery: Recovery::Sack,
            initial_window: 10.0,
            codec: Codec::None,
            handshake: false,
            packets_per_ack: 1,
            ack_delay: Span::from_millis(100),
            pacing: None,
            min_rto: Span::from_millis(200),
            max_window: 1e9,
            commitment: None,
        }
    }
}

impl Transport {
    /// Is this the number of the handshake? It has the first number, as TCP's SYN does.
    #[inline(always)]
    pub fn is_handshake(&self, seq: u32) -> bool {
        seq == 0 && self.handshake
    }

    /// The number of a flow's first packet of data.
    pub fn first_data(&self) -> u32 {
        u32::from(self.handshake)
    }
}

/// A token bucket: the rate that a flow has been promised, and how much it may send at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Commitment {
    /// The rate, on the wire.
    pub rate: BitRate,
    /// Depth of the bucket in bytes.
    pub burst_bytes: f64,
}

/// Pacing gains: multiples of window / RTT at which packets leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pacing {
    /// In slow start, while the window is below half of the slow-start threshold.
    pub slow_start: f64,
    /// Otherwise.
    pub avoidance: f64,
}

/// A path through the network and back. Neither direction may be empty.
#[derive(Clone, Debug)]
pub struct Route {
    /// Links of the data packets, in order.
    pub forward: Vec<LinkId>,
    /// Links of the ACKs, in order.
    pub backward: Vec<LinkId>,
}

impl Route {
    /// All links, there and back.
    pub fn links(&self) -> impl Iterator<Item = LinkId> {
        self.forward.iter().chain(&self.backward).copied()
    }
}

/// A flow that is there from the beginning of the run.
pub struct FlowConfig {
    /// The group that it belongs to.
    pub group: GroupId,
    /// Its law, already built.
    pub law: Sender,
    /// Its path.
    pub route: Route,
    /// When it starts.
    pub start: Time,
    /// When it stops offering data, if ever.
    pub stop: Option<Time>,
    /// How many data packets it has to send; `None`: never out of data.
    pub packets: Option<u64>,
}

/// A flow that joins a running network.
pub struct Newcomer {
    /// Links that it adds. Their numbers follow those of the links that exist.
    pub links: Vec<LinkConfig>,
    /// The flow.
    pub flow: FlowConfig,
}

/// Flows that arrive at random during the run: Poisson arrivals, random sizes, routes taken in turn.
pub struct SourceConfig {
    /// The group that its flows belong to.
    pub group: GroupId,
    /// Its name, which seeds its random stream.
    pub name: String,
    /// Builds the law of the next flow.
    pub law: Box<dyn Fn() -> Sender + Send>,
    /// The routes that flows take in turn.
    pub routes: Vec<Route>,
    /// Mean arrivals a second.
    pub arrivals_per_second: f64,
    /// Sizes in packets.
    pub size: SizeDistribution,
    /// First possible arrival.
    pub start: Time,
    /// No arrival after this.
    pub stop: Time,
}

/// Sizes of arriving flows, in data packets (rounded up, at least 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SizeDistribution {
    /// All the same.
    Fixed(f64),
    /// Exponential with this mean.
    Exponential {
        /// Mean size.
        mean: f64,
    },
    /// Pareto with this mean and shape (above 1).
    Pareto {
        /// Mean size.
        mean: f64,
        /// Shape alpha.
        shape: f64,
    },
}

/// An aggregate: one flow that carries the packets of others from an ingress to an egress.
///
/// Other flows see it as a link. Its queue has the law and the buffer of the ingress. The carrying flow takes a
/// packet from the queue for each that it sends, when its window allows. The link's rate and delay are only told
/// to laws and statistics; they delay no packet. The network keeps state for each aggregate, not for each flow.
pub struct AggregateConfig {
    /// The link by which other flows see it.
    pub link: LinkId,
    /// The carrying flow. It has no data of its own. Its number follows those of the configured flows.
    pub flow: FlowConfig,
    /// Bytes on the wire that carrying adds to a packet.
    pub overhead: u16,
}

/// A sampled quantity: of every measured link, or of every configured flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Which quantity.
    pub quantity: Quantity,
    /// How often.
    pub interval: Span,
}

/// A channel that stations share (IEEE 802.11, DCF).
pub struct MediumConfig {
    /// Its name, by which channels are ordered.
    pub name: String,
    /// Frame times and constants.
    pub phy: Phy,
    /// The stations that transmit on it.
    pub stations: Vec<StationConfig>,
}

/// A station of a channel.
pub struct StationConfig {
    /// Its name, which seeds its backoffs and errors.
    pub name: String,
    /// The links that it transmits. Flows see them as other links, and each has a queue of its own. Rate and loss of such
    /// a link are only told to laws; frames have those of the station.
    pub queues: Vec<StationQueue>,
    /// Physical rate of its frames.
    pub rate: BitRate,
    /// Errors of its data frames, independent for each transmission.
    pub errors: Option<RandomLoss>,
    /// Interval at which it estimates its links' capacity from its view of the channel, if a link asks for that.
    pub survey: Option<Span>,
    /// The link that packets for this station take next. It tells a sender to several stations whom a packet is for.
    pub entry: Option<LinkId>,
}

/// A queue of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StationQueue {
    /// The link.
    pub link: LinkId,
    /// The station whose rate and errors its frames have.
    pub peer: StationPeer,
}

/// The station whose rate and errors frames have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StationPeer {
    /// The sending station's.
    Own,
    /// The station at this index of the channel's list.
    Station(u32),
    /// For each packet the station whose [entry](StationConfig::entry) is the packet's next link.
    ByPacket,
}

/// A whole network.
pub struct NetworkConfig {
    /// Seeds every random stream, each with its component's name.
    pub seed: u64,
    /// Links; [`LinkId`] is the index in this list.
    pub links: Vec<LinkConfig>,
    /// Groups; [`GroupId`] is the index in this list.
    pub groups: Vec<Group>,
    /// Flows that exist from the beginning; they may start later.
    pub flows: Vec<FlowConfig>,
    /// Flows that carry packets of others.
    pub aggregates: Vec<AggregateConfig>,
    /// Channels that several links share.
    pub media: Vec<MediumConfig>,
    /// Flows that arrive at random.
    pub sources: Vec<SourceConfig>,
    /// What is sampled.
    pub probes: Vec<Probe>,
    /// Statistics are taken from here...
    pub warmup: Time,
    /// ...to here, the end of the run.
    pub end: Time,
}
