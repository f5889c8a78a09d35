//! Closed forms and draws, seen from inside.

use crate::network::flows::{start_times, stop_times};
use crate::plan::plans::Plan;
use crate::run::build::network;
use crate::scenario::Scenario;
use knee_input::interrupt::Interrupt;
use knee_input::quantity::{BufferSize, Delay, FlowSize, Period, Rate, Size, Written};
use knee_input::source::{Format, Source};
use knee_laws::codecs::Codec;
use knee_laws::params::Value;
use knee_laws::quantities::{Span, Time};
use knee_laws::slow_start::Rule;
use knee_sim::config::{Buffer, LinkId, NetworkConfig, RandomLoss, Reorder};

fn scenario(text: &str) -> Scenario {
    let source = Source { text, name: "test.toml", format: Format::Toml, overrides: &[] };
    Scenario::parse(&source).unwrap_or_else(|problem| panic!("{problem}"))
}

fn dumbbell(protocol: &str, rate: &str, more: &str) -> Scenario {
    scenario(&format!(
        "duration = \"10 s\"\nprotocol = \"{protocol}\"\n[dumbbell]\nrtt = \"80 ms\"\nflows = 30\n\
         reverse = 30\n{more}\n[bottleneck]\nrate = \"{rate}\"\n"
    ))
}

fn built(scenario: &Scenario, seed: u64) -> NetworkConfig {
    network(scenario, (&scenario.plans[0], seed), Interrupt::NEVER).unwrap()
}

fn delay(network: &NetworkConfig, links: &[LinkId]) -> Span {
    links.iter().fold(Span::ZERO, |sum, link| sum + network.links[link.0 as usize].delay)
}

fn buffers(plan: &Plan) -> Vec<Buffer> {
    plan.links.iter().map(|link| link.buffer).collect()
}

#[test]
fn the_base_case_is_that_of_the_reference() {
    let scenario = dumbbell("vcp", "150 Mbps", "");
    let network = built(&scenario, 1);
    assert_eq!(network.links[0].name, "bottleneck");
    assert_eq!(network.links[0].delay, Span::from_millis(32));
    assert_eq!((network.flows.len(), network.links.len()), (60, 2 + 4 * 60));
    assert!(network.links[0].measured && network.links[1].measured && !network.links[2].measured);
    let first = &network.flows[0].route;
    let access = &network.links[first.forward[0].0 as usize];
    assert_eq!(access.delay, Span::from_millis(4));
    assert_eq!(access.rate.bps(), 300e6);
    assert_eq!(network.warmup, Time::from_ps(2_000_000_000_000));
    for flow in &network.flows {
        assert_eq!(delay(&network, &flow.route.forward), Span::from_millis(40));
        assert_eq!(delay(&network, &flow.route.backward), Span::from_millis(40));
        assert!(flow.start <= Time::ZERO + Span::from_secs(1));
        assert_eq!(flow.packets, None);
    }
}

#[test]
fn a_preset_stands_where_a_law_may() {
    let of = |scenario: &Scenario| {
        let plan = &scenario.plans[0];
        let (sender, router) = (&plan.groups[0].sender, &plan.links[0].router);
        let last = |params: &[(String, Value)], name: &str| {
            params.iter().rfind(|(set, _)| set == name).map(|(_, value)| value.clone())
        };
        let cut = last(&sender.params, "after_cut");
        (plan.name.clone(), sender.info().name.clone(), cut, last(&router.params, "rounding"))
    };
    let (conditional, percent) =
        (|| Some(Value::word("conditional")), || Some(Value::word("percent")));
    let expected = |name: &str, cut, rounding| (name.to_owned(), "vcp".to_owned(), cut, rounding);
    let both = dumbbell("vcp-authors", "150 Mbps", "");
    assert_eq!(of(&both), expected("vcp-authors", conditional(), percent()));
    let sender = dumbbell("vcp-authors/vcp", "150 Mbps", "");
    assert_eq!(of(&sender), expected("vcp-authors/vcp", conditional(), None));
    let router = dumbbell("vcp/vcp-authors", "150 Mbps", "");
    assert_eq!(of(&router), expected("vcp/vcp-authors", None, percent()));
    let text = "duration = \"10 s\"\n[dumbbell]\nrtt = \"80 ms\"\nflows = 1\n[bottleneck]\nrate = \"1 Mbps\"\n\
        [[variant]]\nprotocol = \"vcp-authors\"\nsender = { after_cut = \"prescribed\" }\n\
        router = { kappa_q = 0.25 }\n";
    let prescribed = Some(Value::word("prescribed"));
    assert_eq!(of(&scenario(text)), expected("vcp-authors", prescribed, percent()));
}

#[test]
fn default_buffers_are_a_bdp_or_two_packets_a_flow() {
    let fast = dumbbell("vcp", "150 Mbps", "");
    assert_eq!(buffers(&fast.plans[0]), [Buffer::Packets(1500); 2]);
    let slow = dumbbell("vcp", "0.5 Mbps", "");
    assert_eq!(buffers(&slow.plans[0]), [Buffer::Packets(120); 2]);
    let red = dumbbell("sack/red", "150 Mbps", "");
    assert_eq!(buffers(&red.plans[0]), [Buffer::Bytes(1_500_000); 2]);
    // Mean RTT of 80 to 138 ms is 109 ms forward; the reverse flows keep 80 ms.
    let stepped = dumbbell("vcp", "150 Mbps", "rtt_step = \"2 ms\"");
    assert_eq!(buffers(&stepped.plans[0]), [Buffer::Packets(2044), Buffer::Packets(1500)]);
}

#[test]
fn rtt_steps_lie_on_the_access_links() {
    let scenario = dumbbell("vcp", "150 Mbps", "rtt_step = \"2 ms\"");
    let network = built(&scenario, 1);
    for (index, flow) in network.flows.iter().enumerate() {
        let rtt = delay(&network, &flow.route.forward) + delay(&network, &flow.route.backward);
        let step = if index < 30 { index as u64 } else { 0 };
        assert_eq!(rtt, Span::from_millis(80 + 2 * step), "flow {index}");
        assert_eq!(network.links[flow.route.forward[1].0 as usize].delay, Span::from_millis(32));
    }
}

#[test]
fn the_parking_lot_is_the_papers() {
    let text = include_str!("../../../scenarios/parking-lot.toml");
    let scenario = scenario(text);
    let network = built(&scenario, 1);
    assert_eq!(network.links.iter().filter(|link| link.measured).count(), 14);
    assert_eq!(network.links[3].delay, Span::from_millis(5));
    assert_eq!(network.flows.len(), 30 + 30 + 7 * 5);
    for flow in &network.flows[..60] {
        let rtt = delay(&network, &flow.route.forward) + delay(&network, &flow.route.backward);
        assert_eq!((rtt, flow.route.forward.len()), (Span::from_millis(80), 9));
    }
    let cross = &network.flows[60].route;
    assert_eq!((cross.forward[1], cross.backward[1]), (LinkId(0), LinkId(7)));
    assert_eq!(delay(&network, &cross.forward), Span::from_millis(10));
}

#[test]
fn aggregates_are_links_to_others_and_can_be_left_out() {
    let scenario = scenario(include_str!("../../../scenarios/vcp-island.toml"));
    let [island, plain] = [0, 1]
        .map(|plan| network(&scenario, (&scenario.plans[plan], 1), Interrupt::NEVER).unwrap());
    let (few, many, native) = (0, 5, 25);
    let inside = |network: &NetworkConfig, flow: usize| {
        let route = &network.flows[flow].route;
        let names = |links: &[LinkId]| -> Vec<String> {
            let core = links.iter().map(|link| network.links[link.0 as usize].name.clone());
            core.filter(|name| !name.is_empty()).collect()
        };
        (names(&route.forward).join(" "), names(&route.backward).join(" "))
    };
    let pair = |there: &str, back: &str| (there.to_owned(), back.to_owned());
    assert_eq!(inside(&island, few), pair("north", "north-reverse"));
    assert_eq!(inside(&island, many), pair("south", "south-reverse"));
    let west_to_east = pair("west1 core east1", "east1-reverse core-reverse west1-reverse");
    assert_eq!(inside(&plain, few), west_to_east);
    for network in [&island, &plain] {
        assert_eq!(inside(network, native), pair("core", "core-reverse"));
        assert_eq!(network.flows.len(), 27);
    }
    let rtt = |network: &NetworkConfig, flow: usize| {
        let route = &network.flows[flow].route;
        delay(network, &route.forward) + delay(network, &route.backward)
    };
    assert!((0..27).all(|flow| rtt(&island, flow) == rtt(&plain, flow)));
    assert_eq!((island.aggregates.len(), plain.aggregates.len()), (4, 0));
    let [north, back] = [&island.aggregates[0], &island.aggregates[1]];
    assert_eq!((&north.flow.route.forward, north.overhead), (&back.flow.route.backward, 0));
    let ingress = &island.links[north.link.0 as usize];
    assert_eq!((ingress.delay, ingress.rate.bps()), (Span::from_millis(24), 100e6));
    assert_eq!(plain.groups.len(), island.groups.len()); // rows of both have the same names
}

#[test]
fn starts_are_uniform_repeat_and_belong_to_their_group_alone() {
    let alone = dumbbell("vcp", "150 Mbps", "");
    let crowded = scenario(
        "duration = \"10 s\"\nprotocol = \"vcp\"\n[[flows]]\nname = \"more\"\npath = \"forward\"\n\
         [dumbbell]\nrtt = \"80 ms\"\nflows = 3000\nreverse = 3\n[bottleneck]\nrate = \"1 Gbps\"\n",
    );
    let forward = |scenario: &Scenario, seed| start_times(&scenario.network.groups[0], seed);
    assert_eq!(forward(&alone, 1), forward(&alone, 1));
    assert_ne!(forward(&alone, 1), forward(&alone, 2));
    let many = forward(&crowded, 1);
    assert_eq!(forward(&alone, 1), many[..30]);
    assert!(many.iter().all(|start| start.seconds() <= 1.0));
    // The mean of N uniforms has standard error 1 / sqrt(12 N).
    let mean = many.iter().map(|start| start.seconds()).sum::<f64>() / many.len() as f64;
    assert!((mean - 0.5).abs() < 4.0 / (12.0 * many.len() as f64).sqrt(), "{mean}");
}

#[test]
fn each_flow_may_stop_at_its_own_time() {
    let staggered = scenario(
        "duration = \"10 s\"\nprotocol = \"vcp\"\n[dumbbell]\nrtt = \"80 ms\"\n\
         flows = 1\nreverse = 1\n[bottleneck]\nrate = \"1 Gbps\"\n[[flows]]\nname = \"more\"\npath = \"forward\"\n\
         count = 3\nstart = \"0 s\"\nstop = { step = { from = \"2 s\", by = \"3 s\" } }\n",
    );
    let group = staggered.network.groups.last().expect("more");
    let seconds: Vec<_> = stop_times(group, 1).iter().flatten().map(|at| at.seconds()).collect();
    assert_eq!(seconds, [2.0, 5.0, 8.0]);
}

#[test]
fn ecn_is_negotiated_where_a_router_marks() {
    let codec = |protocol: &str, more: &str| {
        let text = format!(
            "duration = \"10 s\"\nprotocol = \"{protocol}\"\n[dumbbell]\nrtt = \"80 ms\"\n\
             flows = 1\n[bottleneck]\nrate = \"1 Mbps\"\n{more}"
        );
        scenario(&text).plans[0].groups[0].transport.codec
    };
    assert_eq!(codec("sack/red", ""), Codec::Ecn);
    assert_eq!(codec("sack/droptail", ""), Codec::None);
    assert_eq!(codec("sack/red", "[transport]\necn = false\n"), Codec::None);
    assert_eq!(codec("sack/vcp", ""), Codec::None);
    assert_eq!(codec("vcp", ""), Codec::Load2);
    assert_eq!(codec("xcp", "[transport]\necn = true\n"), Codec::Xcp);
}

#[test]
fn a_mismatch_runs_when_allowed() {
    let scenario = scenario(
        "duration = \"10 s\"\n[dumbbell]\nrtt = \"80 ms\"\nflows = 1\n[bottleneck]\nrate = \"1 Mbps\"\n\
         [[variant]]\nprotocol = \"vcp/droptail\"\nmismatch = \"allow\"\n",
    );
    assert_eq!(scenario.variants(), ["vcp/droptail"]);
}

#[test]
fn links_lose_and_reorder_both_ways() {
    let with = |loss: &str| {
        let text = format!(
            "duration = \"10 s\"\nprotocol = \"sack\"\n[dumbbell]\nrtt = \"80 ms\"\nflows = 1\n\
             [bottleneck]\nrate = \"1 Mbps\"\nloss = {loss}\n\
             reorder = {{ probability = 0.1, delay = \"5 ms\" }}\n"
        );
        let written = scenario(&text).to_toml();
        let network = built(&scenario(&written), 1);
        let reorder = Reorder { probability: 0.1, delay: Span::from_millis(5) };
        assert_eq!((network.links[0].reorder, network.links[2].reorder), (Some(reorder), None));
        assert_eq!((network.links[1].loss, network.links[2].loss), (network.links[0].loss, None));
        network.links[0].loss
    };
    let each = |probability| Some(RandomLoss::Bernoulli { probability });
    assert_eq!(with("0.01"), each(0.01));
    assert_eq!(with("0"), each(0.0));
    assert_eq!(with("{ probability = 0.02 }"), each(0.02));
    assert_eq!(
        with("{ gilbert_elliott = { enter = 0.01, leave = 0.2 } }"),
        Some(RandomLoss::GilbertElliott { enter: 0.01, leave: 0.2, good: 0.0, bad: 1.0 })
    );
    assert_eq!(
        with("{ gilbert_elliott = { enter = 0.01, leave = 0.2, good = 0.1, bad = 0.5 } }"),
        Some(RandomLoss::GilbertElliott { enter: 0.01, leave: 0.2, good: 0.1, bad: 0.5 })
    );
}

/// Initial window, pacing gains, packets an ACK and slow start of every group, variant after variant.
type Options = (f64, Option<(f64, f64)>, u32, &'static str);

fn transports(scenario: &Scenario) -> Vec<Options> {
    let groups = scenario.plans.iter().flat_map(|plan| &plan.groups);
    let options = groups.map(|group| {
        let pacing = group.transport.pacing.map(|gains| (gains.slow_start, gains.avoidance));
        let slow_start = match group.slow_start {
            Rule::Standard => "standard",
            Rule::Limited(_) => "limited",
            Rule::HyStart(_) => "hystart++",
        };
        (group.transport.initial_window, pacing, group.transport.packets_per_ack, slow_start)
    });
    options.collect()
}

#[test]
fn a_profile_stands_for_its_keys_where_it_is_written() {
    let with = |more: &str| {
        let text = format!(
            "duration = \"10 s\"\n[dumbbell]\nrtt = \"80 ms\"\nflows = 1\n\
             [bottleneck]\nrate = \"1 Mbps\"\n{more}"
        );
        let first = scenario(&text);
        let again = scenario(&first.to_toml());
        assert_eq!(transports(&first), transports(&again), "{}", first.to_toml());
        transports(&first)
    };
    let papers: Options = (2.0, None, 1, "standard");
    let modern: Options = (10.0, Some((2.0, 1.2)), 2, "hystart++");
    let two = "[[variant]]\nprotocol = \"sack\"\n[[variant]]\nprotocol = \"cubic\"\n";
    assert_eq!(with(two), [papers, papers]);
    assert_eq!(with(&format!("[transport]\nprofile = \"modern\"\n{two}")), [modern, modern]);
    let variant = |keys: &str| with(&format!("{two}[variant.transport]\n{keys}\n"));
    assert_eq!(variant("profile = \"modern\""), [papers, modern]);
    // Keys beside it win; it wins over less specific keys.
    assert_eq!(
        variant(
            "profile = \"modern\"\ninitial_window = 4\npacing = false\nslow_start = \"limited\""
        ),
        [papers, (4.0, None, 2, "limited")]
    );
    assert_eq!(
        with(&format!(
            "[transport]\nprofile = \"modern\"\ninitial_window = 4\n{two}\
             [variant.transport]\nprofile = \"papers\"\npacing = {{}}\n"
        )),
        [(4.0, modern.1, 2, modern.3), (2.0, Some((2.0, 1.2)), 1, "standard")]
    );
}

#[test]
fn every_key_of_the_modern_profile_has_a_source() {
    let keys = serde_json::json!(crate::document::transport::profile(
        crate::document::transport::Profile::Modern
    ));
    let keys = keys.as_object().expect("a table");
    let sources = crate::document::transport::MODERN_SOURCES;
    assert_eq!(keys.len(), sources.len());
    assert!(sources.iter().all(|(key, _)| keys.contains_key(*key)));
}

/// Reads and writes a quantity.
type Reader = fn(&str) -> String;

#[test]
fn quantities_are_read_and_written() {
    fn read<T: Written>(text: &str) -> String {
        T::read(text).map_or_else(|error| format!("! {error}"), |value| value.write())
    }
    let fine: [(&str, Reader, &str); 24] = [
        ("150 Mbps", read::<Rate>, "150 Mbps"),
        ("150Mbps", read::<Rate>, "150 Mbps"),
        (" 1e3 kbps ", read::<Rate>, "1 Mbps"),
        ("0.5 Gbps", read::<Rate>, "500 Mbps"),
        ("1_000 bps", read::<Rate>, "1 kbps"),
        ("100 Tbps", read::<Rate>, "100 Tbps"),
        ("80 ms", read::<Delay>, "80 ms"),
        ("0 s", read::<Delay>, "0 s"),
        ("0ms", read::<Delay>, "0 s"),
        ("38.3 ms", read::<Delay>, "38.3 ms"),
        ("10 µs", read::<Delay>, "10 us"),
        ("2 min", read::<Period>, "120 s"),
        ("1.5 h", read::<Period>, "5400 s"),
        ("1 ns", read::<Period>, "1 ns"),
        ("+5e-1 s", read::<Period>, "500 ms"),
        ("1000 B", read::<Size>, "1 kB"),
        ("1.5 kB", read::<Size>, "1.5 kB"),
        ("1 BDP", read::<BufferSize>, "1 BDP"),
        ("0.25 BDP", read::<BufferSize>, "0.25 BDP"),
        ("1500 packets", read::<BufferSize>, "1500 packets"),
        ("1 MB", read::<BufferSize>, "1 MB"),
        ("unlimited", read::<BufferSize>, "unlimited"),
        ("endless", read::<FlowSize>, "endless"),
        ("300 kB", read::<FlowSize>, "300 kB"),
    ];
    for (text, read, written) in fine {
        assert_eq!(read(text), written, "{text}");
        assert_eq!(read(&read(text)), written, "{text}, written and read again");
    }
    let refused: [(&str, Reader); 22] = [
        ("", read::<Rate>),
        ("Mbps", read::<Rate>),
        ("150", read::<Rate>),
        ("150 MBps", read::<Rate>),
        ("150 Mbps 3", read::<Rate>),
        ("1e999 bps", read::<Rate>),
        ("inf bps", read::<Rate>),
        ("NaN bps", read::<Rate>),
        ("-1 Mbps", read::<Rate>),
        ("1..2 Mbps", read::<Rate>),
        ("0.1 bps", read::<Rate>),
        ("101 Tbps", read::<Rate>),
        ("-80 ms", read::<Delay>),
        ("25 h", read::<Delay>),
        ("0 s", read::<Period>),
        ("1e-4 ns", read::<Period>),
        ("0 B", read::<Size>),
        ("1.5 B", read::<Size>),
        ("-1 BDP", read::<BufferSize>),
        ("0 packets", read::<BufferSize>),
        ("2 TB", read::<BufferSize>),
        ("Endless", read::<FlowSize>),
    ];
    for (text, read) in refused {
        assert!(read(text).starts_with("! "), "{text}: {}", read(text));
    }
}

#[test]
fn ways_tell_who_shares_what() {
    let scenario = scenario(
        r#"
        duration = "10 s"
        [parking_lot]
        links = 2
        rtt = "80 ms"
        flows = 3
        cross = 1
        [bottleneck]
        rate = "10 Mbps"
        rate_changes = [{ at = "5 s", rate = "20 Mbps" }, { at = "10 s", rate = "1 Mbps" }]
        [[flows]]
        name = "web"
        path = ["link2"]
        arrivals = { per_second = 5, size = { exponential = "30 kB" } }
        [[flows]]
        name = "early"
        path = "forward"
        stop = "9 s"
        [[variant]]
        protocol = "vcp"
        transport = { packets_per_ack = 2 }
        "#,
    );
    let ways = scenario.ways();
    assert_eq!(ways[0]["variant"], "vcp");
    assert_eq!(ways[0]["links"][0], serde_json::json!({ "name": "link1", "bps": 20e6 }));
    let groups = ways[0]["groups"].as_array().unwrap();
    let named = |name: &str| groups.iter().find(|group| group["name"] == name).unwrap();
    assert_eq!(named("forward")["data"], serde_json::json!(["link1", "link2"]));
    assert_eq!(named("forward")["acks"], serde_json::json!(["link2-reverse", "link1-reverse"]));
    assert_eq!(named("forward")["count"], 3);
    assert_eq!(named("forward")["access_bps"], 40e6);
    assert_eq!(named("forward")["packets_per_ack"], 2);
    assert_eq!(named("cross2")["data"], serde_json::json!(["link2"]));
    let lasting = ["forward", "cross1", "web", "early"].map(|name| named(name)["lasting"].clone());
    assert_eq!(lasting, [true, true, false, false]);
    assert_eq!(named("web")["offered_bps"], 1.2e6);
    assert!(named("early")["offered_bps"].is_null());
}

#[test]
fn ways_lead_over_the_links_of_an_aggregate() {
    let text = r#"
        duration = "10 s"
        protocol = "sack"
        aggregate = [{ name = "core", from = "b", to = "c" }]
        [[link]]
        name = "l1"
        from = "a"
        to = "b"
        rate = "10 Mbps"
        delay = "5 ms"
        duplex = true
        [[link]]
        name = "l2"
        from = "b"
        to = "c"
        rate = "5 Mbps"
        delay = "5 ms"
        duplex = true
        [[flows]]
        name = "f"
        from = "a"
        to = "c"
    "#;
    let ways = scenario(text).ways();
    let names = |key: &str, list: &str| -> Vec<String> {
        let list = ways[0][list].as_array().unwrap().iter();
        list.map(|each| each[key].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("name", "links"), ["l1", "l1-reverse", "l2", "l2-reverse"]);
    assert_eq!(names("name", "groups"), ["f"]);
    assert_eq!(ways[0]["groups"][0]["data"], serde_json::json!(["l1", "l2"]));
}
