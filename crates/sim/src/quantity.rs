//! What probes sample. A new quantity is an entry of [`quantities!`] below, with name and
//! meaning, and an arm of `Simulation::sample_link` or `sample_flow`.

/// What a quantity is sampled of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// Every measured link.
    Link,
    /// Every configured flow.
    Flow,
}

macro_rules! quantities {
    ($( $(#[doc = $help:expr])+ $Quantity:ident = $name:literal, $of:ident; )*) => {
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

            fn of(self) -> Of {
                match self { $(Self::$Quantity => Of::$of,)* }
            }
        }
    };
}

quantities! {
    /// waiting packets at the instant
    Queue = "queue", Link;
    /// fraction of the capacity used since the last sample
    Utilisation = "utilisation", Link;
    /// the router law's signal: load factor, price or marking probability
    Signal = "signal", Link;
    /// packets dropped since the last sample
    Drops = "drops", Link;
    /// capacity that the router law is told, in Mbps: the rate, or an estimate
    Capacity = "capacity", Link;
    /// capacity that there was since the last sample, in Mbps: the rate, or what a station of a wireless LAN got while
    /// it had packets to send
    AvailableCapacity = "available_capacity", Link;
    /// congestion window in packets
    Window = "window", Flow;
    /// goodput in Mbps since the last sample
    Throughput = "throughput", Flow;
    /// smoothed RTT in ms
    Rtt = "rtt", Flow;
    /// packets in flight: sent, and neither acknowledged nor counted as lost
    InFlight = "in_flight", Flow;
    /// all values that a law shows of its inner state, each as law.NAME
    Law = "law", Flow;
}

impl Quantity {
    /// The quantity of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|quantity| quantity.name() == name)
    }

    /// Is it sampled of links, rather than of flows?
    pub fn is_of_links(self) -> bool {
        self.of() == Of::Link
    }
}
