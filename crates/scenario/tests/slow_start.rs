//! What slow start drops, by the way in which it grows.
#![allow(clippy::disallowed_methods)]

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use knee_scenario::{Control, Format, Scenario, Source, run};

/// What one SACK flow resends on 100 Mbps and 100 ms, a BDP of 1250 packets, in ten seconds, and the utilisation.
fn one_flow(buffer: &str, transport: &str) -> (u64, f64) {
    let text = format!(
        "duration = \"10 s\"\nwarmup = \"0 s\"\nprotocol = \"sack\"\n\
         [dumbbell]\nrtt = \"100 ms\"\nflows = 1\nstart = \"0 s\"\n\
         [bottleneck]\nrate = \"100 Mbps\"\nbuffer = \"{buffer}\"\n[transport]\n{transport}\n"
    );
    let source = Source { text: &text, name: "test.toml", format: Format::Toml, overrides: &[] };
    let control = Control { threads: Some(1), ..Control::default() };
    let results = run(&Scenario::parse(&source).unwrap(), &control).unwrap();
    let resent = results.flows.column_by_name("retransmissions").unwrap();
    let utilisation = results.summary.column_by_name("utilisation").unwrap();
    (
        resent.as_primitive::<UInt64Type>().value(0),
        utilisation.as_primitive::<Float64Type>().value(0),
    )
}

/// The pipe with its queue holds 1875 packets: the round that overfills it sends at most so many too many, and
/// at least half of them, for it may begin anywhere between half and all of that. Limited slow start adds
/// max_ssthresh / 2 to 3/4 of it, 50 to 75 packets.
#[test]
fn limited_slow_start_drops_no_more_than_it_adds_in_a_round() {
    let (standard, _) = one_flow("0.5 BDP", "");
    assert!((937..=1875).contains(&standard), "{standard}");
    let (limited, _) = one_flow("0.5 BDP", "slow_start = \"limited\"");
    assert!((50..=75).contains(&limited), "{limited}");
}

/// HyStart++ sees a queue a round after it has grown, so that it needs a buffer of more than a BDP to act in time.
/// In five rounds at a quarter of the growth it still overfills this one, by less.
#[test]
fn hystart_drops_less_and_keeps_the_link_as_busy_where_the_buffer_lets_it_see() {
    let (standard, usual) = one_flow("1.5 BDP", "");
    let (hystart, busy) = one_flow("1.5 BDP", "slow_start = \"hystart++\"");
    assert!((1..standard / 2).contains(&hystart), "{hystart} against {standard}");
    assert!((0.9..=1.0).contains(&busy) && (busy - usual).abs() < 0.01, "{busy} against {usual}");
    assert_eq!(one_flow("0.5 BDP", "slow_start = \"hystart++\""), one_flow("0.5 BDP", ""));
}
