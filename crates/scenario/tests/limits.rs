//! The order to stop is heard within a second of CPU time, whatever goes on; and what no machine could hold is refused.
#![allow(clippy::disallowed_methods)]

#[path = "../../input/tests/looks/mod.rs"]
mod looks;

use knee_scenario::{Control, Format, Interrupt, Laws, Problem, Scenario, Source, Stopped, run};
use looks::{Looks, thread_seconds};
use std::fmt::Write;

fn parse(text: &str, interrupt: Interrupt) -> Result<Scenario, Stopped> {
    let source = Source { text, name: "mine.toml", format: Format::Toml, overrides: &[] };
    Scenario::parse_with(&source, Laws::shipped(), interrupt)
}

fn refusal(text: &str) -> Problem {
    match parse(text, Interrupt::NEVER) {
        Err(Stopped::Refused(problem)) => problem,
        other => panic!("{other:?}"),
    }
}

/// Links in a row there and back, and flows over all of them.
fn row(links: usize, measured: bool) -> String {
    let mut text = "duration = \"10 s\"\nprotocol = \"sack\"\nprobes = \"none\"\n".to_owned();
    for i in 0..links {
        write!(
            text,
            "[[link]]\nname = \"l{i}\"\nfrom = \"n{i}\"\nto = \"n{}\"\nrate = \"10 Mbps\"\n\
             delay = \"10 us\"\nduplex = true\nmeasured = {measured}\n",
            i + 1
        )
        .unwrap();
    }
    write!(text, "[[flows]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n{links}\"\ncount = 5\n").unwrap();
    text
}

/// Runs until it has looked so often whether to stop, and checks how long it took between two looks.
fn stops(what: &str, text: &str, most: u64) {
    let scenario = parse(text, Interrupt::NEVER).unwrap();
    let looks = Looks::new(most);
    let wanted = || looks.look();
    let interrupt = Interrupt::new(&wanted);
    let stopped = run(&scenario, &Control { interrupt, threads: Some(1), ..Control::default() });
    assert_eq!(stopped.unwrap_err(), Stopped::Interrupted, "{what}");
    assert!(looks.count() <= most + 10, "{what}: {} looks", looks.count());
    looks.check(what);
}

/// 20,000 links in a row were checked in a time that grew with their square: a quarter of an hour.
#[test]
fn a_long_row_is_checked_in_seconds_and_hears_the_order_to_stop() {
    let text = row(20_000, true);
    let looks = Looks::new(u64::MAX);
    let wanted = || looks.look();
    let begun = thread_seconds();
    parse(&text, Interrupt::new(&wanted)).unwrap();
    let seconds = thread_seconds() - begun;
    assert!(seconds < 20.0, "{seconds:.1} s");
    assert!(looks.count() > 40_000, "{} looks", looks.count());
    let stopping = Looks::new(1000);
    let wanted = || stopping.look();
    assert_eq!(parse(&text, Interrupt::new(&wanted)).unwrap_err(), Stopped::Interrupted);
}

#[test]
fn the_fastest_links_stop_at_once() {
    let text = "duration = \"24 h\"\nprotocol = \"sack\"\nprobes = \"none\"\n[dumbbell]\n\
                rtt = \"1 ns\"\nflows = 5\nstart = \"0 s\"\n[bottleneck]\nrate = \"100 Tbps\"\n";
    stops("100 Tbps, 1 ns, 24 h", text, 30);
}

#[test]
fn links_that_nobody_measures_stop_at_once() {
    stops("unmeasured", &row(50, false), 120);
    stops("unmeasured, long", &row(3000, false), 20_000);
}

/// Windows of a million packets in an event, and drops of most of them.
#[test]
fn bursts_stop_at_once() {
    for (protocol, more) in [
        ("sender = \"rcp\"\nrouter = \"droptail\"\nmismatch = \"allow\"", ""),
        ("protocol = \"sack\"", "transport = { initial_window = 1000000 }"),
    ] {
        let text = format!(
            "duration = \"24 h\"\nprobes = \"none\"\n{more}\n[[variant]]\n{protocol}\n[dumbbell]\n\
             rtt = \"80 ms\"\nflows = 2\nstart = \"0 s\"\n[bottleneck]\nrate = \"100 Mbps\"\n"
        );
        stops(protocol, &text, 100);
    }
}

/// A hundred thousand flows: while they are described, built, started, and reported.
#[test]
fn many_flows_stop_at_once_wherever_they_are() {
    let text = "duration = \"1 s\"\nprotocol = \"sack\"\nprobes = \"none\"\n[dumbbell]\n\
                rtt = \"80 ms\"\nflows = 100000\nstart = \"0 s\"\n[bottleneck]\nrate = \"10 Mbps\"\n";
    for looks in [1000, 150_000, 250_000, 650_000] {
        stops("flows", text, looks);
    }
}

#[test]
fn more_than_any_machine_could_hold_is_refused() {
    let mut text = row(3000, true);
    for i in 0..2000 {
        write!(text, "[[flows]]\nname = \"g{i}\"\nfrom = \"n0\"\nto = \"n3000\"\n").unwrap();
    }
    let said = refusal(&text).to_string();
    assert!(said.ends_with("all ways have 10002000 links together; at most 10000000"), "{said}");

    let mut text = row(2000, true).replace("protocol = \"sack\"\n", "");
    for i in 0..600 {
        write!(text, "[[variant]]\nname = \"v{i}\"\nprotocol = \"sack\"\n").unwrap();
    }
    let said = refusal(&text).to_string();
    assert!(said.contains("600 variants of 4000 links and 1 groups"), "{said}");

    let text = format!("{}# {}", row(1, true), "x".repeat(8_000_000));
    let said = refusal(&text).to_string();
    assert_eq!(said, "mine.toml: a scenario has at most 8 MB of text, this one 8.0 MB");
}

/// 10,000 parts took half a minute.
#[test]
fn a_key_of_many_parts_is_refused_at_once() {
    let text = row(1, true);
    let key = vec!["a"; 10_000].join(".");
    let overrides = [(key, "1".to_owned())];
    let source = Source { text: &text, name: "x", format: Format::Toml, overrides: &overrides };
    let begun = thread_seconds();
    let said = Scenario::parse(&source).unwrap_err().to_string();
    assert!(thread_seconds() - begun < 1.0);
    assert!(said.ends_with("…: a key is at most 16 names with dots between, not 10000"), "{said}");
    assert!(said.starts_with("--set a.a.a") && said.len() < 250, "{said}");
}

#[test]
fn threads_are_a_number_of_runs_that_there_can_be() {
    let scenario = parse(&row(1, true), Interrupt::NEVER).unwrap();
    for threads in [0, 5000] {
        let control = Control { threads: Some(threads), ..Control::default() };
        let said = run(&scenario, &control).unwrap_err().to_string();
        assert_eq!(said, format!("threads: there can be 1 to 1024 runs at a time, not {threads}"));
    }
}
