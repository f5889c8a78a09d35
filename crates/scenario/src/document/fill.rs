//! A document with its defaults written out: transport options, profiles, probes.

use crate::document::choice::{AutoWord, Ecn, LawSpec, Pacing, PacingGains, SlowStartSpec};
use crate::document::defaults::{PROBED_FLOWS, WARMUP, pacing_avoidance, pacing_slow_start};
use crate::document::format::{Document, ProbeSpec, Profile, QuantityName, Transport};
use knee_input::number::{PacketsPerAck, Window};
use knee_input::quantity::{Delay, Period, Size};
use knee_laws::quantities::Span;
use knee_sim::config::Quantity;

/// The transport of a scenario that says nothing; `recovery` and `handshake` are the law's.
pub(crate) fn transport() -> Transport {
    Transport {
        data_size: Some(Size(1000)),
        ack_size: Some(Size(40)),
        min_rto: Some(Period(Span::from_millis(200))),
        max_window: Some(Window(1e6)),
        ecn: Some(Ecn::Auto(AutoWord::Auto)),
        committed_rate: None,
        committed_burst: Some(Size(10_000)),
        ..profile(Profile::Papers)
    }
}

/// Where the keys of `modern` come from.
pub(crate) const MODERN_SOURCES: [(&str, &str); 5] = [
    ("initial_window", "packets: RFC 6928; Linux's TCP_INIT_CWND"),
    ("slow_start", "RFC 9406; Linux's CUBIC has HyStart, which came before it"),
    ("pacing", "multiples of window / RTT: Linux's tcp_pacing_ss_ratio and tcp_pacing_ca_ratio"),
    ("packets_per_ack", "RFC 9293, 3.8.6.3: an ACK for every second packet"),
    ("ack_delay", "a lone packet waits no longer: Linux's TCP_DELACK_MIN"),
];

/// The keys that a profile sets. `recovery` is the law's in both: SACK but for `reno` and `newreno`.
pub(crate) fn profile(profile: Profile) -> Transport {
    let slow_start = |name: &str| Some(SlowStartSpec(LawSpec::Name(name.to_owned())));
    match profile {
        Profile::Papers => Transport {
            initial_window: Some(Window(2.0)),
            slow_start: slow_start("standard"),
            pacing: Some(Pacing::Set(false)),
            packets_per_ack: Some(PacketsPerAck(1)),
            ack_delay: Some(Period(Span::from_millis(100))),
            ..Transport::default()
        },
        Profile::Modern => Transport {
            initial_window: Some(Window(10.0)),
            slow_start: slow_start("hystart++"),
            pacing: Some(Pacing::Gains(PacingGains {
                slow_start: pacing_slow_start(),
                avoidance: pacing_avoidance(),
            })),
            packets_per_ack: Some(PacketsPerAck(2)),
            ack_delay: Some(Period(Span::from_millis(40))),
            ..Transport::default()
        },
    }
}

impl Transport {
    /// These options, and those of `other` where these are silent.
    pub fn or(&self, other: &Self) -> Self {
        Self {
            profile: self.profile.or(other.profile),
            data_size: self.data_size.or(other.data_size),
            ack_size: self.ack_size.or(other.ack_size),
            initial_window: self.initial_window.or(other.initial_window),
            slow_start: self.slow_start.as_ref().or(other.slow_start.as_ref()).cloned(),
            recovery: self.recovery.or(other.recovery),
            handshake: self.handshake.or(other.handshake),
            packets_per_ack: self.packets_per_ack.or(other.packets_per_ack),
            ack_delay: self.ack_delay.or(other.ack_delay),
            pacing: self.pacing.or(other.pacing),
            min_rto: self.min_rto.or(other.min_rto),
            max_window: self.max_window.or(other.max_window),
            ecn: self.ecn.or(other.ecn),
            committed_rate: self.committed_rate.or(other.committed_rate),
            committed_burst: self.committed_burst.or(other.committed_burst),
        }
    }

    /// Writes out its profile; keys beside it win.
    fn expand(&mut self) {
        if let Some(name) = self.profile {
            *self = self.or(&profile(name));
        }
    }
}

/// What is sampled when a scenario names no probes, for so many flows.
pub(crate) fn probes(flows: u64) -> Vec<ProbeSpec> {
    let probe = |quantity, ms| ProbeSpec {
        quantity: QuantityName(quantity),
        interval: Period(Span::from_millis(ms)),
    };
    let mut probes = vec![probe(Quantity::Queue, 50), probe(Quantity::Utilisation, 500)];
    if flows <= PROBED_FLOWS {
        probes.push(probe(Quantity::Throughput, 500));
        probes.push(probe(Quantity::Window, 100));
    }
    probes
}

/// Writes out the defaults that do not depend on the topology.
pub(crate) fn fill(document: &mut Document) {
    let duration = document.duration.0;
    document.warmup.get_or_insert(Delay(duration.scale(WARMUP)));
    document.transport.expand();
    document.transport = document.transport.or(&transport());
    document.variant.iter_mut().for_each(|variant| variant.transport.expand());
    document.flows.iter_mut().for_each(|group| group.transport.expand());
    document.seeds = document.seeds.listed();
}
