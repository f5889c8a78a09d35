//! The estimate of memory against what runs take: of scenarios of many kinds, the peak of a process of its own each.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods)]

use knee_scenario::{Control, Format, MemoryLimit, Scenario, Source, Stopped, Warning, run};
use std::process::Command;
use std::sync::Mutex;

fn scenario(text: &str) -> Scenario {
    let source = Source { text, name: "mine.toml", format: Format::Toml, overrides: &[] };
    Scenario::parse(&source).unwrap_or_else(|problem| panic!("{problem}"))
}

/// A dumbbell whose flows start at once.
fn dumbbell(protocol: &str, (flows, rate, rtt): (u64, &str, &str), more: &str) -> String {
    format!(
        "duration = \"3 s\"\nprobes = \"none\"\n{more}\n[[variant]]\n{protocol}\n\
         [dumbbell]\nrtt = \"{rtt}\"\nflows = {flows}\nstart = \"0 s\"\n\
         [bottleneck]\nrate = \"{rate}\"\n"
    )
}

fn row(links: usize, protocol: &str) -> String {
    let link = |i| {
        format!(
            "[[link]]\nname = \"l{i}\"\nfrom = \"n{i}\"\nto = \"n{}\"\nrate = \"10 Mbps\"\n\
             delay = \"10 us\"\nduplex = true\n",
            i + 1
        )
    };
    let links_text: String = (0..links).map(link).collect();
    format!(
        "duration = \"100 ms\"\nprobes = \"none\"\nprotocol = \"{protocol}\"\n{links_text}\
         [[flows]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n{links}\"\ncount = 10\nstart = \"0 s\"\n"
    )
}

fn arrivals(rate: &str, (per_second, seconds): (u64, u64)) -> String {
    format!(
        "duration = \"{seconds} s\"\nprobes = \"none\"\nprotocol = \"sack\"\n\
         [[link]]\nname = \"l\"\nfrom = \"a\"\nto = \"b\"\nrate = \"{rate}\"\ndelay = \"10 ms\"\n\
         duplex = true\n[[flows]]\nname = \"web\"\nfrom = \"a\"\nto = \"b\"\ncount = 10\n\
         rtt = \"40 ms\"\n\
         arrivals = {{ per_second = {per_second}, size = {{ exponential = \"10 packets\" }} }}\n"
    )
}

fn probe(quantity: &str) -> String {
    format!("{}[[probe]]\nquantity = \"{quantity}\"\ninterval = \"1 ms\"\n", {
        let plain = dumbbell("protocol = \"bbr\"", (200, "10 Mbps", "80 ms"), "");
        plain.replace("probes = \"none\"\n", "")
    })
}

/// Scenarios by name.
fn kinds() -> Vec<(&'static str, String)> {
    let sack = |network, more: &str| dumbbell("protocol = \"sack\"", network, more);
    let window = |packets: u64| format!("transport = {{ initial_window = {packets} }}");
    let buffer = |text: String, buffer: &str| text + &format!("buffer = \"{buffer}\"\n");
    let silent = |sender| {
        let text = format!("sender = \"{sender}\"\nrouter = \"droptail\"\nmismatch = \"allow\"");
        let most = "transport = { max_window = 50000 }";
        dumbbell(&text, (10, "1 Gbps", "20 ms"), most)
    };
    vec![
        ("many flows", sack((30_000, "1 Gbps", "80 ms"), "")),
        ("many flows of BBR", dumbbell("protocol = \"bbr\"", (30_000, "1 Gbps", "80 ms"), "")),
        ("initial windows", sack((10, "150 Mbps", "80 ms"), &window(100_000))),
        ("RCP that nobody answers", silent("rcp")),
        ("XCP that nobody answers", silent("xcp")),
        ("a large BDP", dumbbell("protocol = \"cubic\"", (10, "10 Gbps", "200 ms"), "")),
        ("a large BDP of XCP", dumbbell("protocol = \"xcp\"", (10, "10 Gbps", "200 ms"), "")),
        ("a buffer without end", buffer(sack((3, "1 Gbps", "80 ms"), ""), "unlimited")),
        ("a large buffer", buffer(sack((10, "1 Gbps", "80 ms"), ""), "150 MB")),
        ("samples of windows", probe("window")),
        ("samples of laws", probe("law")),
        ("arrivals", arrivals("1 Gbps", (5000, 10))),
        ("more arrivals than there is room for", arrivals("10 Mbps", (2000, 10))),
        ("links in a row", row(5000, "sack/droptail")),
        ("links of many queues", row(300, "sack/fq-codel")),
        ("seeds", sack((500, "10 Mbps", "80 ms"), "seeds = 100").replace("3 s", "500 ms")),
    ]
}

/// What `/proc/self/status` says, bytes.
fn status(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    let kilobytes: u64 =
        line.trim_start_matches(':').trim().strip_suffix(" kB").unwrap().parse().unwrap();
    kilobytes * 1024
}

/// Gives back what reading the scenario has left, and has the peak count from here; what there is now.
fn forget_the_past() -> u64 {
    #[cfg(target_env = "gnu")]
    // SAFETY: the call takes no pointer.
    unsafe {
        libc::malloc_trim(0);
    }
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    status("VmRSS")
}

const CHILD: &str = "KNEE_MEMORY_OF";

/// In a process of its own, which the test below starts: runs a scenario and prints what it took.
#[test]
fn child() {
    let Ok(wanted) = std::env::var(CHILD) else { return };
    let kinds = kinds();
    let (_, text) = kinds.iter().find(|(name, _)| *name == wanted).unwrap();
    let scenario = scenario(text);
    let before = forget_the_past();
    run(&scenario, &Control { threads: Some(1), ..Control::default() }).unwrap();
    println!("took {}", status("VmHWM") - before);
}

fn peak(name: &str) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "child", "--nocapture"]).env(CHILD, name);
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let took = said.lines().find_map(|line| line.split_once("took ")).unwrap_or_else(|| {
        panic!("{said}{}", String::from_utf8_lossy(&output.stderr));
    });
    took.1.trim().parse().unwrap()
}

/// How far the estimate may be off: what runs take is at most a tenth above it, and at least a third of it.
const LEAST: f64 = 0.9;
const MOST: f64 = 3.0;

#[test]
fn the_estimate_is_near_what_runs_take() {
    let mut wrong = Vec::new();
    for (name, text) in kinds() {
        let (took, estimate) = (peak(name) as f64, scenario(&text).memory(1) as f64);
        let said = format!(
            "{name}: took {:.1} MB, estimated {:.1} MB, {:.2} times",
            took / 1e6,
            estimate / 1e6,
            estimate / took
        );
        println!("{said}");
        if !(LEAST..=MOST).contains(&(estimate / took)) {
            wrong.push(said);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn refusal(text: &str, memory: &str) -> String {
    let memory = MemoryLimit::read(memory).unwrap();
    match run(&scenario(text), &Control { memory, ..Control::default() }) {
        Err(Stopped::Refused(problem)) => problem.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_does_not_fit_is_refused_before_it_begins_with_what_to_change() {
    for (text, key, what) in [
        (
            dumbbell("protocol = \"sack\"", (3_000_000, "1 Gbps", "80 ms"), ""),
            "dumbbell.flows",
            "3000000 flows",
        ),
        (
            dumbbell(
                "protocol = \"sack\"",
                (10, "1 Gbps", "80 ms"),
                "transport = { initial_window = 1e8 }",
            ),
            "transport.initial_window",
            "initial windows of 10 flows",
        ),
        (
            dumbbell(
                "sender = \"rcp\"\nrouter = \"droptail\"\nmismatch = \"allow\"",
                (1000, "1 Gbps", "80 ms"),
                "",
            ),
            "transport.max_window",
            "no router holds back",
        ),
        (
            dumbbell("protocol = \"sack\"", (10, "100 Gbps", "80 ms"), "") + "buffer = \"1 TB\"\n",
            "bottleneck.buffer",
            "packets that wait",
        ),
        (
            dumbbell("protocol = \"sack\"", (10, "1 Gbps", "80 ms"), "seeds = 1000")
                .replace("probes = \"none\"\n", "")
                + "[[probe]]\nquantity = \"window\"\ninterval = \"1 ms\"\n",
            "probe",
            "samples of probes in all runs",
        ),
    ] {
        let said = refusal(&text, "400 MB");
        assert!(said.starts_with(&format!("mine.toml: {key}: it would take about ")), "{said}");
        assert!(said.contains(what) && said.contains("; take "), "{said}");
        assert!(said.ends_with("or raise the memory limit") && !said.contains('\n'), "{said}");
    }
}

#[test]
fn fewer_runs_go_side_by_side_where_not_all_fit_and_the_results_are_the_same() {
    let text = dumbbell("protocol = \"sack\"", (1000, "10 Mbps", "80 ms"), "seeds = 6");
    let text = text.replace("3 s", "500 ms");
    let heard = Mutex::new(Vec::new());
    let warn = |warning: &Warning| heard.lock().unwrap().push(warning.to_string());
    let control = Control { threads: Some(6), warn: &warn, ..Control::default() };
    let all = run(&scenario(&text), &control).unwrap();
    assert!(heard.lock().unwrap().is_empty());
    let memory = MemoryLimit::Bytes(scenario(&text).memory(2));
    let some = run(&scenario(&text), &Control { memory, ..control }).unwrap();
    let heard = heard.into_inner().unwrap();
    assert_eq!(heard.len(), 1);
    assert!(heard[0].starts_with("2 of 6 runs go side by side"), "{heard:?}");
    assert_eq!(all.flows, some.flows);
}
