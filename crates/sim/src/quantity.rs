//! What probes sample. A new quantity is an entry of [`quantities!`] below: name, meaning and sampling function.

use crate::flow::Flow;
use crate::port::Port;
use knee_laws::quantities::Time;
use knee_laws::sender::SenderLaw;

/// How a quantity is sampled.
pub(crate) enum Sampler {
    /// Of every measured link; from the instant, and the instant until which its transmitter is busy.
    Link(fn(&mut Port, (Time, Time)) -> f64),
    /// Of every configured flow.
    Flow(fn(&Flow) -> f64),
    /// Of every configured flow, its goodput since the last sample.
    Goodput,
    /// Of every configured flow, all values that its law shows.
    Shown,
}

macro_rules! quantities {
    ($( $(#[doc = $help:expr])+ $Quantity:ident = $name:literal, $sampler:expr; )*) => {
        /// What a probe samples.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Quantity { $( $(#[doc = $help])+ $Quantity, )* }

        impl Quantity {
            /// Every quantity, in the order of the enum.
            pub const ALL: &[Self] = &[$(Self::$Quantity),*];

            /// Their names.
            pub const NAMES: &[&str] = &[$($name),*];

            /// Its name in scenarios and results.
            pub fn name(self) -> &'static str {
                match self { $(Self::$Quantity => $name,)* }
            }

            /// What it is, with its unit.
            pub fn help(self) -> &'static str {
                match self { $(Self::$Quantity => concat!($($help),+).trim_ascii(),)* }
            }

            pub(crate) fn sampler(self) -> Sampler {
                match self { $(Self::$Quantity => $sampler,)* }
            }
        }
    };
}

quantities! {
    /// waiting packets at the instant
    Queue = "queue", Sampler::Link(|port, (now, _)| port.length(now));
    /// fraction of the capacity used since the last sample
    Utilisation = "utilisation",
        Sampler::Link(|port, (now, busy_until)| port.utilisation_since(now, busy_until));
    /// the router law's signal: load factor, price or marking probability
    Signal = "signal", Sampler::Link(|port, _| port.queue.signal());
    /// packets dropped since the last sample
    Drops = "drops", Sampler::Link(|port, _| port.drops_since());
    /// capacity that the router law is told, in Mbps: the rate, or an estimate
    Capacity = "capacity", Sampler::Link(|port, _| port.capacity_mbps());
    /// capacity that there was since the last sample, in Mbps: the rate, or what a station of a wireless LAN got while
    /// it had packets to send
    AvailableCapacity = "available_capacity",
        Sampler::Link(|port, (now, busy_until)| port.available_since(now, busy_until));
    /// congestion window in packets
    Window = "window", Sampler::Flow(|flow| flow.law.window());
    /// goodput in Mbps since the last sample
    Throughput = "throughput", Sampler::Goodput;
    /// smoothed RTT in ms
    Rtt = "rtt", Sampler::Flow(|flow| flow.rtt.smoothed.millis());
    /// packets in flight: sent, and neither acknowledged nor counted as lost
    InFlight = "in_flight", Sampler::Flow(|flow| f64::from(flow.board.in_flight()));
    /// all values that a law shows of its inner state, each as law.NAME
    Law = "law", Sampler::Shown;
}

impl Quantity {
    /// The quantity of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|quantity| quantity.name() == name)
    }

    /// Is it sampled of links, rather than of flows?
    pub fn is_of_links(self) -> bool {
        matches!(self.sampler(), Sampler::Link(_))
    }
}
