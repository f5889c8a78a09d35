//! Prints speed and figures of the reference workloads: `speed [name] [repeats]`.
#![allow(clippy::disallowed_methods)]
#[path = "../tests/support/mod.rs"]
mod support;
use knee_sim::config::Buffer;
use support::Dumbbell;

fn main() {
    let w1 = Dumbbell::default();
    let all: Vec<(&str, Dumbbell)> = vec![
        ("W1", w1),
        ("W1short", Dumbbell { seconds: 6, warmup: 1, ..w1 }),
        (
            "W1vcpshort",
            Dumbbell {
                sender: "vcp",
                router: "vcp",
                initial_window: 2.0,
                seconds: 8,
                warmup: 1,
                ..w1
            },
        ),
        ("W1vcp", Dumbbell { sender: "vcp", router: "vcp", initial_window: 2.0, ..w1 }),
        ("W1oneway", Dumbbell { reverse: 0, ..w1 }),
        (
            "W2",
            Dumbbell { mbps: 1000.0, buffer: Buffer::Packets(10000), seconds: 10, warmup: 5, ..w1 },
        ),
        ("W3", Dumbbell { forward: 1000, reverse: 0, seconds: 20, warmup: 5, ..w1 }),
        ("W1newreno", Dumbbell { sender: "newreno", ..w1 }),
        ("W1oneway-newreno", Dumbbell { sender: "newreno", reverse: 0, ..w1 }),
        (
            "W3-newreno",
            Dumbbell { sender: "newreno", forward: 1000, reverse: 0, seconds: 20, warmup: 5, ..w1 },
        ),
        (
            "base-vcp",
            Dumbbell {
                sender: "vcp",
                router: "vcp",
                initial_window: 2.0,
                seconds: 120,
                warmup: 24,
                ..w1
            },
        ),
    ];
    let args: Vec<String> = std::env::args().collect();
    let repeats = args.get(2).map_or(1, |n| n.parse().unwrap());
    for (name, dumbbell) in all {
        if args.get(1).is_some_and(|wanted| wanted != name) {
            continue;
        }
        for _ in 0..repeats {
            let start = std::time::Instant::now();
            let report = dumbbell.run(1);
            let seconds = start.elapsed().as_secs_f64();
            let link = &report.links[0];
            let goodputs: Vec<f64> = report
                .flows
                .iter()
                .take(dumbbell.forward as usize)
                .map(|f| f.goodput_mbps)
                .collect();
            let (s, q) = goodputs.iter().fold((0.0, 0.0), |(s, q), g| (s + g, q + g * g));
            println!(
                "{name:16} {:6.3} s {:6.2} Mpkt/s {:5.1} ns/event {:9} events util {:.4} queue {:8.2} p90 {:6} max {:6} drop {:.6} jain {:.4} data {}",
                seconds,
                link.data_packets as f64 / seconds / 1e6,
                seconds * 1e9 / report.events as f64,
                report.events,
                link.utilisation,
                link.queue_mean_packets,
                link.queue_p90_packets,
                link.queue_max_packets,
                link.dropped as f64 / link.offered as f64,
                s * s / (q * goodputs.len() as f64),
                link.data_packets
            );
        }
    }
}
