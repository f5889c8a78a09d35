//! Sessions: stepped, sampled and changed runs are those without steps.
#![allow(clippy::disallowed_methods)]

use arrow_array::RecordBatch;
use knee_scenario::{Control, Format, Interrupt, Results, Scenario, Session, Source, run};

fn scenario(text: &str) -> Scenario {
    let source = Source { text, name: "test.toml", format: Format::Toml, overrides: &[] };
    Scenario::parse(&source).unwrap_or_else(|problem| panic!("{problem}"))
}

fn open(text: &str) -> Session {
    Session::open(scenario(text), Interrupt::NEVER).unwrap()
}

fn dumbbell(protocol: &str, bottleneck: &str) -> String {
    format!(
        "duration = \"12 s\"\nwarmup = \"1 s\"\nprotocol = \"{protocol}\"\n\
         probe = [{{ quantity = \"queue\", interval = \"50 ms\" }}, {{ quantity = \"window\", interval = \"100 ms\" }}]\n\
         [dumbbell]\nrtt = \"40 ms\"\nflows = 3\nreverse = 1\n[bottleneck]\nrate = \"10 Mbps\"\n{bottleneck}\n"
    )
}

/// All columns but the CPU time, and what counts the simulator's own work.
fn same(one: &Results, other: &Results) {
    let summary = |results: &Results| {
        let kept: Vec<usize> = (results.summary.schema().fields().iter().enumerate())
            .filter(|(_, field)| {
                !["cpu_seconds", "events", "packets"].contains(&field.name().as_str())
            })
            .map(|(place, _)| place)
            .collect();
        results.summary.project(&kept).unwrap()
    };
    let (one_summary, other_summary) = (summary(one), summary(other));
    for (place, field) in one_summary.schema().fields().iter().enumerate() {
        assert_eq!(one_summary.column(place), other_summary.column(place), "{}", field.name());
    }
    assert_eq!(one.flows, other.flows);
    assert_eq!(one.series, other.series);
    assert_eq!(one.stations, other.stations);
}

#[test]
fn the_same_changes_at_the_same_instants_are_the_same_run() {
    let changes =
        "rate_changes = [{ at = \"4 s\", rate = \"4 Mbps\" }, { at = \"8 s\", rate = \"8 Mbps\" }]";
    for protocol in ["sack", "vcp", "rcp", "cubic/fq-codel"] {
        let inside = run(&scenario(&dumbbell(protocol, changes)), &Control::default()).unwrap();
        let mut session = open(&dumbbell(protocol, ""));
        // No rate is above the first, from which the access links follow.
        for (instant, rate) in [("4 s", "4 Mbps"), ("8 s", "8 Mbps")] {
            session.run_until(instant, Interrupt::NEVER).unwrap();
            session.change("bottleneck.rate", rate).unwrap();
        }
        same(&session.finish(Interrupt::NEVER).unwrap(), &inside);
    }
}

#[test]
fn steps_and_samples_change_nothing() {
    let text = dumbbell("bmcc", "");
    let whole = run(&scenario(&text), &Control::default()).unwrap();
    let mut session = open(&text);
    let mut taken: Vec<RecordBatch> = Vec::new();
    for step in 1..=12 {
        session.run_until(&format!("{step} s"), Interrupt::NEVER).unwrap();
        assert!((session.now() - f64::from(step)).abs() < 1e-9);
        taken.push(session.samples().unwrap());
    }
    let rows: usize = taken.iter().map(RecordBatch::num_rows).sum();
    // What is sampled at the end itself comes with the end.
    assert!(whole.series.num_rows() - rows <= 6, "{rows} of {}", whole.series.num_rows());
    same(&session.finish(Interrupt::NEVER).unwrap(), &whole);
}

#[test]
fn a_station_of_a_wireless_lan_changes_its_rate() {
    let text = |changes: &str| {
        format!(
            "duration = \"10 s\"\nprotocol = \"sack\"\nprobes = \"none\"\n\
             [[wlan]]\nname = \"lan\"\nbase = \"ap\"\n[[wlan.station]]\nname = \"c\"\n{changes}\n\
             [[flows]]\nname = \"up\"\nfrom = \"c\"\nto = \"ap\"\nstart = \"0 s\"\n"
        )
    };
    let changes = "rate_changes = [{ at = \"5 s\", rate = \"1 Mbps\" }]";
    let inside = run(&scenario(&text(changes)), &Control::default()).unwrap();
    let mut session = open(&text(""));
    session.run_until("5 s", Interrupt::NEVER).unwrap();
    session.change("lan/c.rate", "1 Mbps").unwrap();
    same(&session.finish(Interrupt::NEVER).unwrap(), &inside);
}

#[test]
fn parameters_of_laws_change() {
    let mut session = open(&dumbbell("sack/red", ""));
    session.run_until("3 s", Interrupt::NEVER).unwrap();
    session.change("bottleneck.router.max_p", "0.5").unwrap();
    session.change("bottleneck-reverse.loss", "0.01").unwrap();
    session.change("bottleneck.delay", "30 ms").unwrap();
    let results = session.finish(Interrupt::NEVER).unwrap();
    let without = run(&scenario(&dumbbell("sack/red", "")), &Control::default()).unwrap();
    assert_ne!(results.flows, without.flows);
}

#[test]
fn what_cannot_be_is_refused_in_one_sentence() {
    let mut session = open(&dumbbell("vcp", ""));
    session.run_until("3 s", Interrupt::NEVER).unwrap();
    for (key, value, part) in [
        ("botleneck.rate", "1 Mbps", "did you mean `bottleneck`?"),
        ("bottleneck.rat", "1 Mbps", "did you mean `rate`?"),
        ("bottleneck.rate", "1", "a rate needs a unit"),
        ("bottleneck.loss", "2", "probability"),
        ("bottleneck.router.gama", "0.9", "`vcp` has no such parameter"),
        ("forward.sender.xii", "0.9", "`vcp` has no such parameter"),
        ("forward.rate", "1 Mbps", "sender.PARAMETER"),
    ] {
        let said = session.change(key, value).unwrap_err().to_string();
        assert!(said.starts_with(&format!("change {key} = {value}: ")), "{said}");
        assert!(said.contains(part) && !said.contains('\n'), "{said}");
    }
    for (instant, part) in [("2 s", "at 3 s already"), ("20 s", "ends at 12 s"), ("x", "a time")] {
        let said = session.run_until(instant, Interrupt::NEVER).unwrap_err().to_string();
        assert!(said.contains(part), "{said}");
    }
    let several = dumbbell("vcp", "").replace("protocol", "seeds = 2\nprotocol");
    let said = Session::open(scenario(&several), Interrupt::NEVER).err().unwrap().to_string();
    assert_eq!(said, "test.toml: seeds: a session is one run; this scenario has 2 seeds");
}
