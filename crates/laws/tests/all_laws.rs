//! Tests of every law in the registry: random events, extreme parameters, a complete entry.

mod drive;

use drive::{Flow, Link, PACKET_BYTES, events, steps, value};
use knee_laws::codecs::{Codec, Wire, xcp};
use knee_laws::laws::{Laws, SenderEntry};
use knee_laws::params::{Kind, ParamInfo, Value};
use knee_laws::quantities::Span;
use knee_laws::router::{Departure, RouterLaw};
use proptest::prelude::*;

/// A parameter at either end of its range, or each word.
fn extremes(params: &[ParamInfo]) -> Vec<(String, Value)> {
    let ends = |info: &ParamInfo| match &info.kind {
        Kind::Choice(words) => words.iter().cloned().map(Value::Choice).collect::<Vec<_>>(),
        _ => vec![value(info, info.min), value(info, info.max)],
    };
    let named = |info: &ParamInfo, value| (info.name.to_string(), value);
    params.iter().flat_map(|info| ends(info).into_iter().map(|v| named(info, v))).collect()
}

#[test]
fn entries_are_tidy() {
    let laws = Laws::default();
    let senders = laws.senders.iter().map(|law| {
        (&law.info.name, &law.info.title, &law.info.source, &law.info.params, &law.fingerprint)
    });
    let routers = laws.routers.iter().map(|law| {
        (&law.info.name, &law.info.title, &law.info.source, &law.info.params, &law.fingerprint)
    });
    for entries in [senders.collect::<Vec<_>>(), routers.collect()] {
        for (at, (name, title, source, params, fingerprint)) in entries.iter().enumerate() {
            assert_eq!(fingerprint.len(), 16, "{name}");
            assert!(name.bytes().all(|c| matches!(c, b'a'..=b'z' | b'0'..=b'9' | b'-')), "{name}");
            assert!(entries[..at].iter().all(|other| other.0 != *name), "{name} twice");
            assert!(!title.is_empty() && !source.is_empty(), "{name}");
            for info in *params {
                assert!(info.allows(&info.default), "{name}: default of {}", info.name);
                assert!(info.help.len() > 10, "{name}: help of {}", info.name);
                assert!(params.iter().filter(|other| other.name == info.name).count() == 1);
            }
        }
    }
    for SenderEntry { info, .. } in &laws.senders {
        let emitted = laws.router(&info.router).expect("a law's own router exists").info.codec;
        assert!(emitted == Codec::None || emitted.is_read_as(info.codec), "{}", info.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn senders_stand_any_events(events in events()) {
        for law in &Laws::shipped().senders {
            Flow::new(law, &[]).run(&events);
        }
    }

    #[test]
    fn routers_stand_any_traffic(steps in steps()) {
        for law in &Laws::shipped().routers {
            Link::new(law, &[]).run(&steps);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn senders_stand_extreme_parameters(events in events()) {
        for law in &Laws::shipped().senders {
            for param in extremes(&law.info.params) {
                Flow::new(law, &[param]).run(&events);
            }
        }
    }

    #[test]
    fn routers_stand_extreme_parameters(steps in steps()) {
        for law in &Laws::shipped().routers {
            for param in extremes(&law.info.params) {
                Link::new(law, &[param]).run(&steps);
            }
        }
    }
}

#[test]
fn a_router_leaves_a_header_without_rtt_at_no_change() {
    let xcp = Laws::shipped().router("xcp").expect("XCP");
    let mut link = Link::new(xcp, &[]);
    let asks = xcp::CongestionHeader { window_bytes: 2e3, rtt_s: 0.0, delta_bytes: 1e6 };
    let (mut marks, mut header) = (Codec::Xcp.initial(), asks.write());
    let queue = link.view();
    let departure =
        Departure { queue, from: 0, waited: Span::ZERO, size: PACKET_BYTES, data: true };
    link.law.on_departure(&departure, &mut Wire { marks: &mut marks, header: &mut header });
    assert_eq!(xcp::read(xcp::echo(&header)), 0.0);
}
