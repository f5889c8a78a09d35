//! A handshake costs its round trip and its bytes, and carries no data.
#![allow(clippy::disallowed_methods)]

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use knee_scenario::{Control, Format, Scenario, Source, run};

/// Completion time in seconds, and the data that came, in bits, of one flow of ten packets on 1 Mbps and 100 ms.
fn ten_packets(protocol: &str, transport: &str) -> (f64, f64) {
    let text = format!(
        "duration = \"10 s\"\nwarmup = \"0 s\"\nprotocol = \"{protocol}\"\n\
         [[link]]\nname = \"l\"\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbps\"\ndelay = \"50 ms\"\n\
         buffer = \"unlimited\"\nduplex = true\n\
         [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nstart = \"0 s\"\nsize = \"10 packets\"\n\
         [transport]\ninitial_window = 10\n{transport}\n"
    );
    let source = Source { text: &text, name: "test.toml", format: Format::Toml, overrides: &[] };
    let control = Control { threads: Some(1), ..Control::default() };
    let results = run(&Scenario::parse(&source).unwrap(), &control).unwrap();
    let column = |name: &str| {
        results.flows.column_by_name(name).unwrap().as_primitive::<Float64Type>().value(0)
    };
    (column("completion_s"), 1e6 * column("goodput_mbps") * column("completion_s"))
}

#[test]
fn a_handshake_costs_its_round_trip_and_no_more() {
    // 40 B there and 40 B back at 1 Mbps, and the propagation both ways; delayed ACKs make no difference.
    let round = 0.1 + 2.0 * 40.0 * 8.0 / 1e6;
    for more in ["", "packets_per_ack = 2\n"] {
        let (without, bits) = ten_packets("sack", more);
        let (with, same) = ten_packets("sack", &format!("{more}handshake = true"));
        assert!((with - without - round).abs() < 1e-5, "{with} {without}");
        assert!((bits - 80_000.0).abs() < 1.0 && (same - bits).abs() < 1.0, "{bits} {same}");
    }
}

/// Two hundred thousand packets in 20 s over 100 Mbps: the answer to the handshake tells the rate, so that nothing is sent
/// without one, and nothing is lost.
#[test]
fn a_handshake_asks_routers_as_data_do() {
    for law in ["rcp", "qi-rcp", "piqi-rcp", "xcp", "mlcp"] {
        let text = format!(
            "duration = \"20 s\"\nwarmup = \"10 s\"\nprotocol = \"{law}\"\nprobes = \"none\"\n\
             [transport]\nhandshake = true\n[dumbbell]\nrtt = \"40 ms\"\nflows = 2\n\
             [bottleneck]\nrate = \"100 Mbps\"\n"
        );
        let source = Source { text: &text, name: "x", format: Format::Toml, overrides: &[] };
        let control = Control { threads: Some(1), ..Control::default() };
        let results = run(&Scenario::parse(&source).unwrap(), &control).unwrap();
        let column = |name: &str| {
            results.summary.column_by_name(name).unwrap().as_primitive::<Float64Type>().value(0)
        };
        assert_eq!(column("drop_rate"), 0.0, "{law}");
        assert!((0.85..=1.0).contains(&column("utilisation")), "{law}: {}", column("utilisation"));
    }
}

#[test]
fn laws_of_rcps_kind_open_with_one() {
    for law in ["rcp", "qi-rcp", "piqi-rcp"] {
        assert_eq!(ten_packets(law, ""), ten_packets(law, "handshake = true"), "{law}");
        assert_ne!(ten_packets(law, ""), ten_packets(law, "handshake = false"), "{law}");
    }
    assert_eq!(ten_packets("xcp", ""), ten_packets("xcp", "handshake = false"));
}
