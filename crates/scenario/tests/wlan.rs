//! Wireless LANs as scenarios, against Bianchi's model and against what is known of them.
#![allow(clippy::disallowed_methods)]

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use knee_fluid::dcf::{Times, Windows, fixed_point, throughput};
use knee_scenario::{Control, Format, Results, Scenario, Source, run};
use knee_sim::config::Phy;

fn results(text: &str) -> Results {
    let source = Source { text, name: "test.toml", format: Format::Toml, overrides: &[] };
    let scenario = Scenario::parse(&source).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    run(&scenario, &Control { threads: Some(1), ..Control::default() }).unwrap()
}

fn floats(table: &RecordBatch, name: &str) -> Vec<f64> {
    let column = table.column_by_name(name).unwrap().as_primitive::<Float64Type>();
    (0..column.len()).map(|row| column.value(row)).collect()
}

fn counts(table: &RecordBatch, name: &str) -> Vec<u64> {
    table.column_by_name(name).unwrap().as_primitive::<UInt64Type>().values().to_vec()
}

fn words(table: &RecordBatch, name: &str) -> Vec<String> {
    let column = table.column_by_name(name).unwrap().as_string::<i32>();
    (0..column.len()).map(|row| column.value(row).to_owned()).collect()
}

/// Stations that always have something to send; ACKs come back by wire.
fn saturated(stations: usize, mbps: f64, bytes: u32, more: &str) -> String {
    let names: Vec<String> = (1..=stations).map(|number| format!("c{number}")).collect();
    let members: String =
        names.iter().map(|name| format!("[[wlan.station]]\nname = \"{name}\"\n")).collect();
    let wires: String = names
        .iter()
        .map(|name| {
            format!(
                "[[link]]\nname = \"wire-{name}\"\nfrom = \"ap\"\nto = \"{name}\"\nrate = \"1 Gbps\"\n\
                 delay = \"0 s\"\nmeasured = false\n"
            )
        })
        .collect();
    format!(
        "duration = \"62 s\"\nwarmup = \"2 s\"\nprobes = \"none\"\n\
         sender = {{ law = \"cbr\", rate = \"20 Mbps\" }}\nrouter = \"droptail\"\n\
         [transport]\ndata_size = \"{bytes} B\"\nmax_window = 50\n\
         [[flows]]\nname = \"up\"\ncount = {stations}\nfrom = {names:?}\nto = \"ap\"\nstart = \"0 s\"\n\
         {wires}\
         [[wlan]]\nname = \"lan\"\nbase = \"ap\"\nrate = \"{mbps} Mbps\"\n{more}\n{members}"
    )
}

/// Mbps that all stations deliver, and the part of transmissions that collide.
fn figures(results: &Results, bytes: u32) -> (f64, f64) {
    let sum = |name: &str| counts(&results.stations, name).iter().sum::<u64>() as f64;
    let mbps = sum("delivered") * f64::from(bytes) * 8e-6 / 60.0;
    (mbps, sum("collisions") / sum("attempts"))
}

/// Bianchi's model with EIFS after a collision and seven transmissions a packet.
fn model(stations: usize, mbps: f64, bytes: u32) -> (f64, f64) {
    let phy = Phy::b();
    let rate = knee_laws::quantities::BitRate::from_mbps(mbps);
    let windows = Windows { cw_min: 31.0, cw_max: 1023.0, retry_limit: Some(7) };
    let data = phy.data(&[bytes], rate);
    let times = Times {
        slot: phy.slot.seconds(),
        success: (data + phy.answer(1, rate) + phy.difs()).seconds(),
        collision: (data + phy.eifs()).seconds(),
        error: (data + phy.eifs()).seconds(),
    };
    let point = fixed_point(stations as u32, &windows, 0.0).unwrap();
    let bits = f64::from(bytes) * 8.0;
    (throughput(stations as u32, bits, 0.0, (&point, &times)) * 1e-6, point.p)
}

/// One to 50 stations, four rates, four sizes: throughput within 2 %, collisions within 5 % or four standard errors.
#[test]
fn saturated_stations_share_what_bianchi_says() {
    let cases = [1, 2, 3, 5, 10, 20, 50].map(|stations| (stations, 11.0, 1500));
    let rates = [1.0, 2.0, 5.5].map(|mbps| (10, mbps, 1500));
    let sizes = [100, 500, 1000].map(|bytes| (10, 11.0, bytes));
    for (stations, mbps, bytes) in cases.into_iter().chain(rates).chain(sizes) {
        let results = results(&saturated(stations, mbps, bytes, ""));
        let (seen, collided) = figures(&results, bytes);
        let (expected, p) = model(stations, mbps, bytes);
        let case = format!("{stations} stations, {mbps} Mbps, {bytes} B");
        if std::env::var_os("KNEE_SHOW").is_some() {
            println!("{case}: {seen:.4} / {expected:.4} Mbps, {collided:.5} / {p:.5}");
        }
        assert!((seen / expected - 1.0).abs() < 0.02, "{case}: {seen} Mbps, not {expected}");
        let attempts: u64 = counts(&results.stations, "attempts").iter().sum();
        let error = 4.0 * (p * (1.0 - p) / attempts as f64).sqrt();
        assert!((collided - p).abs() <= error.max(0.05 * p), "{case}: {collided}, not {p}");
    }
}

#[test]
fn parts_of_a_channel_add_up_and_transmissions_are_accounted_for() {
    let results = results(&saturated(5, 11.0, 1500, "errors = 0.2"));
    let table = &results.stations;
    assert_eq!(
        words(table, "station"),
        ["lan/ap", "lan/c1", "lan/c2", "lan/c3", "lan/c4", "lan/c5"]
    );
    let [attempts, retries, collisions, errors, delivered, retry_drops] =
        ["attempts", "retries", "collisions", "errors", "delivered", "retry_drops"]
            .map(|name| counts(table, name));
    for station in 1..=5 {
        assert_eq!(
            attempts[station],
            collisions[station] + errors[station] + delivered[station],
            "station {station}"
        );
        // First transmissions are those of packets that were delivered or given up; one may be under way.
        let first = attempts[station] - retries[station];
        assert!(
            first.abs_diff(delivered[station] + retry_drops[station]) <= 1,
            "station {station}"
        );
        let share = errors[station] as f64 / (attempts[station] - collisions[station]) as f64;
        assert!((share - 0.2).abs() < 0.02, "station {station}: {share}");
    }
    let [airtime, busy, collided, idle] =
        ["airtime", "channel_busy", "channel_collided", "channel_idle"]
            .map(|name| floats(table, name));
    assert!((busy[0] + idle[0] - 1.0).abs() < 1e-9);
    let sum: f64 = airtime.iter().sum();
    assert!(sum >= busy[0] - 1e-9 && sum <= busy[0] + 1.5 * collided[0], "{sum} of {}", busy[0]);
}

/// What all flows of a group got, Mbps.
fn goodput(results: &Results, group: &str) -> Vec<f64> {
    let flows =
        words(&results.flows, "group").into_iter().zip(floats(&results.flows, "goodput_mbps"));
    flows.filter(|(of, _)| of == group).map(|(_, mbps)| mbps).collect()
}

/// S. Pilosof et al., "Understanding TCP fairness over wireless LAN", INFOCOM 2003: beside uploads, whose ACKs fill the base
/// station's queue, downloads starve; a large queue, of more packets than all windows, cures it.
#[test]
fn downloads_starve_beside_uploads_over_one_short_queue() {
    let text = |buffer: u32| {
        format!(
            "duration = \"60 s\"\nwarmup = \"20 s\"\nprobes = \"none\"\nprotocol = \"sack\"\n\
             [transport]\ndata_size = \"1500 B\"\nmax_window = 42\n\
             [wlan]\ndownload = 3\nupload = 3\nbuffer = \"{buffer} packets\"\n"
        )
    };
    let ratio = |results: &Results| {
        let sum = |group| goodput(results, group).iter().sum::<f64>();
        sum("upload") / sum("download")
    };
    let (short, long) = (ratio(&results(&text(20))), ratio(&results(&text(500))));
    assert!(short > 5.0, "uploads have {short} times what downloads have");
    assert!((0.7..1.4).contains(&long), "uploads have {long} times what downloads have");
}

/// A station that sends nothing, of a name before or after all others, changes nobody.
#[test]
fn an_idle_station_changes_nobody() {
    let whole = results(&saturated(4, 11.0, 1500, ""));
    for name in ["a", "z"] {
        let more = format!("{}[[wlan.station]]\nname = \"{name}\"\n", saturated(4, 11.0, 1500, ""));
        let more = results(&more);
        assert_eq!(counts(&whole.stations, "attempts"), counts(&more.stations, "attempts")[..5]);
        assert_eq!(whole.flows, more.flows);
    }
}

/// A queue a station, served in turn: all of them get the same, though one has a rate of 1 Mbps; they get it in each of two
/// directions.
#[test]
fn a_queue_a_station_serves_all_in_turn() {
    for queues in ["shared", "per_station"] {
        let text = format!(
            "duration = \"60 s\"\nwarmup = \"10 s\"\nprobes = \"none\"\nprotocol = \"cubic/fq-codel\"\n\
             [transport]\ndata_size = \"1500 B\"\n\
             [wlan]\ndownload = 3\nrates = [\"1 Mbps\", \"11 Mbps\", \"11 Mbps\"]\nqueues = \"{queues}\"\n"
        );
        let shares = goodput(&results(&text), "download");
        let mean = shares.iter().sum::<f64>() / 3.0;
        assert!(
            shares.iter().all(|share| (share / mean - 1.0).abs() < 0.1),
            "{queues}: {shares:?}"
        );
        assert!((0.3..0.9).contains(&mean), "{queues}: {shares:?}");
    }
}

/// 6.3.1: three stations that send all they can, the second from 20 s and the third from 40 s on. Each knows what it can
/// send: the estimate is within 5 % of the capacity that there was, over each of the three phases.
#[test]
fn estimates_follow_the_available_capacity() {
    let text = saturated(3, 11.0, 1500, "capacity = \"estimated\"")
        .replace("start = \"0 s\"", "start = { step = { from = \"0 s\", by = \"20 s\" } }")
        .replace(
            "probes = \"none\"",
            "probe = [{ quantity = \"capacity\", interval = \"200 ms\" }, \
             { quantity = \"available_capacity\", interval = \"200 ms\" }]",
        );
    let series = results(&text).series;
    let word = |name: &str| {
        let column =
            series.column_by_name(name).unwrap().as_dictionary::<arrow_array::types::Int32Type>();
        let values = column.values().as_string::<i32>().clone();
        (0..column.len())
            .map(|row| values.value(column.keys().value(row) as usize).to_owned())
            .collect::<Vec<_>>()
    };
    let (quantity, entity) = (word("quantity"), word("entity"));
    let (time, value) = (floats(&series, "time_s"), floats(&series, "value"));
    let mean = |of: &str, station: &str, phase: f64| {
        let rows = (0..time.len()).filter(|row| {
            quantity[*row] == of
                && entity[*row] == station
                && (phase + 8.0..phase + 20.0).contains(&time[*row])
        });
        let (sum, count) =
            rows.fold((0.0, 0.0), |(sum, count), row| (sum + value[row], count + 1.0));
        sum / count
    };
    for (phase, active) in [(0.0, 1), (20.0, 2), (40.0, 3)] {
        for station in 1..=active {
            let name = format!("lan/c{station}");
            let (told, there) =
                (mean("capacity", &name, phase), mean("available_capacity", &name, phase));
            assert!(
                (told / there - 1.0).abs() < 0.05,
                "{name} from {phase} s: {told}, not {there}"
            );
            // The slot-level reference's throughput of so many stations, shared.
            let all = [6.07, 6.31, 6.25][active - 1];
            assert!((there / (all / active as f64) - 1.0).abs() < 0.04, "{name}: {there}");
        }
    }
}
