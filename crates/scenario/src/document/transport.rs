//! Options of the transport: keys, defaults, profiles, and what the simulator is given.

use crate::document::choice::{AutoWord, Ecn, LawSpec, Pacing, PacingGains, SlowStartSpec};
use crate::document::defaults::{pacing_avoidance, pacing_slow_start};
use knee_input::number::{PacketsPerAck, Window};
use knee_input::quantity::{Period, Rate, Size};
use knee_laws::codecs::Codec;
use knee_laws::quantities::Span;
use knee_laws::sender::{Recovery, SenderInfo};
use knee_sim::config::Commitment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Transport options; the most specific wins: flow group, variant, scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Transport {
    /// What keys beside it, and those of more specific tables, start from; by default `papers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Size of a data packet on the wire; by default 1000 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_size: Option<Size>,
    /// Size of an ACK on the wire; by default 40 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_size: Option<Size>,
    /// Initial window in packets; by default 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<Window>,
    /// How slow start grows, in laws that have the usual one; by default `standard`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start: Option<SlowStartSpec>,
    /// How losses are repaired; by default the law's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryName>,
    /// Does a flow open with a handshake, a packet of the size of an ACK; by default only those of RCP's kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake: Option<bool>,
    /// Data packets an ACK; by default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets_per_ack: Option<PacketsPerAck>,
    /// A delayed ACK leaves after this time at the latest; by default 100 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_delay: Option<Period>,
    /// Are packets spread over the RTT; by default not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing: Option<Pacing>,
    /// How far a retransmission timeout lies beyond the smoothed RTT at least; by default 200 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Period>,
    /// The receiver's window in packets; by default 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_window: Option<Window>,
    /// Is ECN negotiated; by default `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<Ecn>,
    /// Rate up to which a flow's data are in profile; by default none are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub committed_rate: Option<Rate>,
    /// How far data in profile may run ahead of that rate; by default 10 kB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub committed_burst: Option<Size>,
}

/// A set of transport options.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Profile {
    /// As in the simulations of papers: initial window 2, ACK-clocked, an ACK a packet.
    Papers,
    /// As hosts of today: initial window 10, HyStart++, paced, delayed ACKs.
    Modern,
}

/// How the transport repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RecoveryName {
    /// RFC 6675.
    Sack,
    /// RFC 6582.
    NewReno,
    /// RFC 5681.
    Reno,
}

/// The transport of a scenario that says nothing; `recovery` and `handshake` are the law's.
pub(crate) fn defaults() -> Transport {
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
    /// Does it leave everything at its default?
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

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
    pub fn expand(&mut self) {
        if let Some(name) = self.profile {
            *self = self.or(&profile(name));
        }
    }

    /// As the simulator takes it, for flows of this law; packets carry this codec.
    pub fn core(&self, law: &SenderInfo, codec: Codec) -> knee_sim::config::Transport {
        let options = self.or(&defaults());
        let window = |window: Option<Window>| window.map_or(1.0, |window| window.0);
        let span = |time: Option<Period>| time.map_or(Span::ZERO, |time| time.0);
        knee_sim::config::Transport {
            data_bytes: options.data_size.map_or(0, |size| size.0) as u16,
            ack_bytes: options.ack_size.map_or(0, |size| size.0) as u16,
            recovery: match options.recovery {
                None => law.recovery,
                Some(RecoveryName::Sack) => Recovery::Sack,
                Some(RecoveryName::NewReno) => Recovery::NewReno,
                Some(RecoveryName::Reno) => Recovery::Reno,
            },
            initial_window: window(options.initial_window),
            handshake: options.handshake.unwrap_or(law.handshake),
            codec,
            packets_per_ack: options.packets_per_ack.map_or(1, |packets| packets.0),
            ack_delay: span(options.ack_delay),
            pacing: options.pacing.and_then(Pacing::gains),
            min_rto: span(options.min_rto),
            max_window: window(options.max_window),
            commitment: options.committed_rate.map(|rate| Commitment {
                rate: rate.0,
                burst_bytes: options.committed_burst.map_or(0.0, |burst| burst.0 as f64),
            }),
        }
    }
}
