//! Speed of the simulator on its reference workloads: forward bottleneck data packets a CPU second.
//!
//! `cargo bench -p knee-sim --bench workloads -- [--only NAME] [--repeats N] [--scaling] [--json FILE]`
//!
//! Every workload has its access links: 1 ms, ten times faster, with serialisation and queue. A workload
//! is run several times on one core; the best run counts, since everything else is the machine's noise.
#![allow(missing_docs)]

#[path = "../tests/support/mod.rs"]
mod support;

use knee_laws::quantities::{Span, Time};
use knee_sim::Simulation;
use knee_sim::config::{Buffer, Phy};
use serde_json::json;
use support::Dumbbell;
use support::wlan::Uploads;

/// CPU time of this process in seconds.
fn cpu_seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the struct that it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// Resident memory of this process in MB.
fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: f64 = status.split(' ').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0.0);
    pages * 4096e-6
}

/// A workload, and the million packets a CPU second that it must reach; 0: no requirement.
struct Workload {
    name: String,
    target: f64,
    dumbbell: Dumbbell,
}

fn workloads() -> Vec<Workload> {
    let w1 = Dumbbell::default();
    let vcp = Dumbbell { sender: "vcp", router: "vcp", initial_window: 2.0, ..w1 };
    let list = [
        ("W1", 2.0, w1),
        ("W1 vcp", 1.5, vcp),
        ("W1 xcp", 0.0, Dumbbell { sender: "xcp", router: "xcp", initial_window: 2.0, ..w1 }),
        ("W1 sack/red", 0.0, Dumbbell { router: "red", ecn: true, ..w1 }),
        ("W1 cubic", 0.0, Dumbbell { sender: "cubic", ..w1 }),
        ("W1oneway", 4.0, Dumbbell { reverse: 0, ..w1 }),
        (
            "W2",
            1.0,
            Dumbbell {
                mbps: 1000.0,
                buffer: Buffer::Packets(10_000),
                seconds: 10,
                warmup: 5,
                ..w1
            },
        ),
        ("W3", 1.0, Dumbbell { forward: 1000, reverse: 0, seconds: 20, warmup: 5, ..w1 }),
    ];
    list.map(|(name, target, dumbbell)| Workload { name: name.to_owned(), target, dumbbell }).into()
}

/// The first seconds of two workloads, for counting instructions (instructions.py).
fn short() -> Vec<Workload> {
    let w1 = Dumbbell::default();
    let vcp = Dumbbell { sender: "vcp", router: "vcp", initial_window: 2.0, ..w1 };
    let list = [
        ("W1, 6 s", Dumbbell { seconds: 6, warmup: 1, ..w1 }),
        ("W1 vcp, 12 s", Dumbbell { seconds: 12, warmup: 1, ..vcp }),
    ];
    list.map(|(name, dumbbell)| Workload { name: name.to_owned(), target: 0.0, dumbbell }).into()
}

/// W1 with other numbers of flows and capacities, each with about a million packets.
fn scaling() -> Vec<Workload> {
    let one = |name: String, mbps: f64, flows: u32| {
        let seconds = (8e9 / (mbps * 1e6)).clamp(2.0, 2000.0) as u64;
        let bdp = (mbps * 1e6 * 0.08 / 8e3) as u64;
        let dumbbell = Dumbbell {
            mbps,
            forward: flows,
            reverse: 0,
            seconds,
            warmup: 1,
            buffer: Buffer::Packets(bdp.max(2 * u64::from(flows))),
            ..Dumbbell::default()
        };
        Workload { name, target: 0.0, dumbbell }
    };
    let flows = [10, 30, 100, 300, 1000, 3000, 10_000];
    let rates = [1.0, 10.0, 100.0, 1000.0, 10_000.0];
    let flows = flows.map(|flows| one(format!("{flows} flows, 150 Mbps"), 150.0, flows));
    let rates = rates.map(|mbps| one(format!("{mbps} Mbps, 30 flows"), mbps, 30));
    flows.into_iter().chain(rates).collect()
}

fn measure(workload: &Workload, repeats: usize) -> serde_json::Value {
    let before = resident_mb();
    let mut best = f64::INFINITY;
    let mut seen = None;
    let mut resident = 0.0;
    for seed_run in 0..repeats {
        let mut simulation = Simulation::new(workload.dumbbell.config(1));
        let start = cpu_seconds();
        simulation
            .run_until(Time::ZERO + Span::from_secs(workload.dumbbell.seconds))
            .expect("no law fails");
        best = f64::min(best, cpu_seconds() - start);
        if seed_run == 0 {
            resident = resident_mb() - before;
        }
        seen = Some(simulation.report());
    }
    let report = seen.expect("at least one run");
    let link = &report.links[0];
    let speed = link.data_packets as f64 / best / 1e6;
    println!(
        "{:24} {speed:8.2} {:>7} {:8.1} {:10.0} {best:9.3} {resident:8.1}",
        workload.name,
        if workload.target > 0.0 { format!("{:.1}", workload.target) } else { "-".to_owned() },
        best * 1e9 / report.events as f64,
        1e9 * best / report.packets as f64,
    );
    json!({
        "workload": workload.name,
        "data_packets": link.data_packets,
        "packets": report.packets,
        "events": report.events,
        "cpu_seconds": best,
        "million_data_packets_per_cpu_second": speed,
        "target": workload.target,
        "nanoseconds_per_event": best * 1e9 / report.events as f64,
        "nanoseconds_per_packet_and_link": best * 1e9 / report.packets as f64,
        "resident_mb": resident,
        "utilisation": link.utilisation,
        "queue_mean_packets": link.queue_mean_packets,
    })
}

/// Twenty saturated stations of 802.11b: transmissions a CPU second.
fn channel(repeats: usize) -> serde_json::Value {
    let uploads = Uploads {
        phy: Phy::b(),
        stations: 20,
        mbps: 11.0,
        bytes: 1500,
        errors: 0.0,
        seconds: 600,
        seed: 1,
    };
    let mut best = f64::INFINITY;
    let mut frames = 0;
    for _ in 0..repeats {
        let start = cpu_seconds();
        let report = uploads.run();
        best = f64::min(best, cpu_seconds() - start);
        frames = report.stations.iter().map(|station| station.attempts).sum::<u64>();
    }
    let speed = frames as f64 / best / 1e6;
    println!("{WLAN:24} {speed:8.2} {:>7} million frames a CPU second, {best:.3} s", "0.3");
    json!({ "workload": WLAN, "million_frames_per_cpu_second": speed, "target": 0.3, "cpu_seconds": best })
}

const WLAN: &str = "WLAN, 20 stations";

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let after = |flag: &str| {
        words.iter().position(|word| word == flag).and_then(|place| words.get(place + 1)).cloned()
    };
    let repeats = after("--repeats").and_then(|n| n.parse().ok()).unwrap_or(5).max(1);
    let only = after("--only");
    let mut list = workloads();
    if only.is_some() {
        list.extend(short());
    }
    if words.iter().any(|word| word == "--scaling") {
        list.extend(scaling());
    }
    println!(
        "{:24} {:>8} {:>7} {:>8} {:>10} {:>9} {:>8}\n{:24} {:>8} {:>7} {:>8} {:>10} {:>9} {:>8}",
        "workload",
        "M data",
        "asked",
        "ns per",
        "ns per",
        "CPU",
        "memory",
        "",
        "pkt/s",
        "",
        "event",
        "pkt, link",
        "s",
        "MB"
    );
    let is_asked = |name: &str| only.as_ref().is_none_or(|asked| asked == name);
    let mut rows: Vec<_> = list
        .iter()
        .filter(|workload| is_asked(&workload.name))
        .map(|workload| measure(workload, repeats))
        .collect();
    if is_asked(WLAN) {
        rows.push(channel(repeats));
    }
    if let Some(file) = after("--json") {
        let text = serde_json::to_string_pretty(&rows).expect("numbers");
        if let Err(error) = std::fs::write(&file, text) {
            eprintln!("{file}: {error}");
            std::process::exit(2);
        }
    }
}
