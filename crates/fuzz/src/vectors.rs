//! Tables of numbers with the columns of `vectors/`: control steps and senders, at any numbers.

use knee_laws::codecs::{Codec, Feedback, Load, adpm, price};
use knee_laws::laws::Laws;
use knee_laws::quantities::{BitRate, Span, Time};
use knee_laws::routers::rate_router::Measurement;
use knee_laws::routers::{
    bmcc, mlcp, pi, pie, piqi_rcp, price as price_router, rcp, red, rem, vcp, xcp as xcp_router,
};
use knee_laws::sender::{Ack, Congestion, Loss, Opening, SenderLaw};
use knee_laws::senders::{cubic, hstcp, htcp};

/// A row, by the columns that the table's first line names. A missing column is 0.
struct Row<'a> {
    names: &'a [&'a str],
    values: Vec<f64>,
}

impl Row<'_> {
    fn at(&self, name: &str) -> f64 {
        let place = self.names.iter().position(|each| *each == name);
        place.and_then(|place| self.values.get(place)).copied().unwrap_or(0.0)
    }
    /// A quantity of at least 0.
    fn amount(&self, name: &str) -> f64 {
        self.at(name).abs().min(1e15)
    }
    /// A quantity above 0.
    fn some(&self, name: &str) -> f64 {
        self.amount(name).max(1e-6)
    }
    fn share(&self, name: &str) -> f64 {
        self.at(name).clamp(0.0, 1.0)
    }
    fn span(&self, name: &str) -> Span {
        Span::from_micros(self.amount(name).clamp(1e-3, 1e6) as u64 * 1000 + 1)
    }
    fn micros(&self, name: &str) -> Span {
        Span::from_micros(self.amount(name).min(1e9) as u64 + 1)
    }
    fn count(&self, name: &str) -> u32 {
        self.amount(name).min(1e9) as u32
    }
    fn flag(&self, name: &str) -> bool {
        self.at(name) == 1.0
    }
}

/// Asserts that it is a probability.
#[track_caller]
fn probable(p: f64) {
    assert!((0.0..=1.0).contains(&p), "a probability of {p}");
}

/// Asserts that it is finite and at least 0.
#[track_caller]
fn positive(value: f64) {
    assert!(value.is_finite() && value >= 0.0, "{value}");
}

/// Reads a table. Each row goes to all control steps, and to all senders as the next event.
pub fn vectors(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let number = |cell: &str| match EVENTS.iter().position(|event| *event == cell) {
        Some(event) => Some(event as f64),
        None => cell.parse().ok().filter(|value: &f64| value.is_finite()),
    };
    let rows = lines.take(100).map(|line| Row {
        names: &names,
        values: line.split(',').map(|cell| number(cell).unwrap_or_default()).collect(),
    });
    let rows: Vec<Row> = rows.collect();
    rows.iter().for_each(loads);
    rows.iter().for_each(probabilities);
    rows.iter().for_each(rates);
    rows.iter().for_each(growth);
    senders(&rows);
}

fn loads(row: &Row) {
    let rate = BitRate::from_bps(row.some("rate_bps"));
    let (traffic, queue) = (row.amount("traffic_bytes"), row.amount("queue_bytes"));
    positive(vcp::load_factor(traffic, queue, &vcp::Params::default(), rate));
    positive(bmcc::load_factor(traffic, queue, &bmcc::Params::default(), rate));
    let params = mlcp::Params::default();
    positive(mlcp::load_factor(traffic, queue, row.span("t_p_ms"), (&params, rate)));
    positive(mlcp::mean_rtt(row.amount("control_rtt_s"), row.amount("data_rtt_s"), &params));
    let map = adpm::Map::default();
    let load = row.amount("load_factor");
    probable(map.at(load));
    assert!((adpm::LEAST..=adpm::MOST).contains(&map.load(map.at(load))), "{load}");
}

fn probabilities(row: &Row) {
    let (p, delay, before) = (row.share("p"), row.amount("delay_s"), row.amount("delay_before_s"));
    probable(pie::control_step(p, delay, before, &pie::Params::default()));
    let (queue, before) = (row.amount("queue_packets"), row.amount("queue_before_packets"));
    probable(pi::control_step(p, queue, before, &pi::Params::default()));
    probable(red::uniformised(row.share("p_b"), row.amount("count"), row.at("wait") == 1.0));
    let params = rem::Params::default();
    let measured = rem::Measured {
        arrived: row.amount("arrived_packets"),
        backlog: row.amount("backlog_packets"),
        capacity: row.some("capacity_packets"),
    };
    let told = rem::control_step(row.amount("price"), &measured, &params);
    positive(told);
    probable(price::probability(told, params.phi));
    let told =
        price_router::control_step(row.amount("price_s"), row.amount("arrived_packets"), 0.01);
    positive(told);
    probable(price::probability(told, 1000.0));
    positive(price::estimate(row.amount("marked_of_31").min(31.0) as u32, 31, 1000.0));
    let (min_threshold, max_threshold) = (row.some("min_packets"), row.some("max_packets"));
    if max_threshold > min_threshold {
        let params = red::Params {
            max_p: row.share("max_p"),
            thresholds: red::Thresholds { min_threshold, max_threshold },
            ..red::Params::default()
        };
        let settings = red::Settings::new(&params, BitRate::from_mbps(10.0), 0.01);
        probable(red::probability(row.amount("average_packets"), &settings, &params));
    }
}

fn rates(row: &Row) {
    let (capacity, rate) = (row.some("capacity_bytes_s"), row.some("rate_bytes_s"));
    let (input, queue) = (row.amount("input_bytes_s"), row.amount("queue_bytes"));
    let measured = Measurement { capacity, rate, input, queue };
    assert!(rcp::control_step(&measured, row.some("d_s"), &rcp::Params::default()).is_finite());
    let errors = (row.amount("error"), row.amount("error_before"));
    for bound in [piqi_rcp::Bound::Sine, piqi_rcp::Bound::Simple] {
        let kappa = piqi_rcp::kappa_star(row.some("longest_s"), 0.01, bound);
        assert!(kappa > 0.0 && kappa <= 1.0, "kappa* = {kappa}");
        positive(piqi_rcp::control_step(rate, errors, kappa));
    }
    let x = row.amount("x_s");
    let measured = xcp_router::Measured {
        interval_s: row.some("interval_s"),
        traffic: row.amount("traffic_bytes"),
        x,
        rtt_x: x * row.some("mean_rtt_s"),
        queue,
    };
    let step = xcp_router::control_step(&measured, capacity, &xcp_router::Params::default());
    [step.increase, step.decrease, step.per_x, step.per_byte].into_iter().for_each(positive);
    // (1): what is given and what is taken differ by phi, and shuffling takes no more than it gives.
    let off = step.increase - step.decrease - step.phi;
    assert!(off.abs() <= 1e-9 * (step.increase + step.decrease), "{step:?}");
}

fn growth(row: &Row) {
    let response = hstcp::Response::new(&hstcp::Params::default());
    let window = row.amount("window_packets").clamp(1.0, 1e9);
    positive(response.loss_rate(window));
    positive(response.increase(window));
    probable(response.decrease(window));
    positive(htcp::growth(row.amount("since_backoff_s"), 1.0));
    let (least, most) = (row.span("min_rtt_ms"), row.span("max_rtt_ms"));
    let beta = htcp::adaptive_beta(least.min(most), most, &htcp::Params::default());
    assert!((0.5..=0.8).contains(&beta), "beta = {beta}");
    let w_max = row.amount("w_max_packets");
    let from = row.amount("cwnd_epoch_packets").min(w_max);
    let c = row.some("c");
    let k = cubic::inflection(w_max, from, c);
    positive(k);
    let there = cubic::w_cubic(k, k, w_max, c);
    assert!((there - w_max).abs() <= 1e-9 * w_max.max(1.0), "{there} at {k} s, not {w_max}");
}

/// Events of senders, as the tables name them; in a table's numbers each is its index.
const EVENTS: [&str; 4] = ["ack", "loss", "mark", "timeout"];

/// Each law takes the table for a run of events, in the columns of senders' vectors.
fn senders(rows: &[Row]) {
    for entry in &Laws::shipped().senders {
        let mut law = entry.build(&[], &Opening::new(2.0, 1000)).expect("its defaults");
        let mut now = Time::ZERO;
        for row in rows {
            now = now.max(Time::ZERO + row.micros("time_us"));
            let in_flight = row.count("in_flight");
            let congestion = |by| Loss { now, in_flight, by };
            match row.at("event") as usize {
                1 => law.on_loss(&congestion(Congestion::Loss)),
                2 => law.on_loss(&congestion(Congestion::Mark)),
                3 => law.on_timeout(&congestion(Congestion::Timeout)),
                _ => law.on_ack(&ack(row, now, entry.info.codec)),
            }
            let window = law.window();
            let name = &entry.info.name;
            assert!(window.is_finite() && window >= 1.0, "{name}: {window} after {:?}", row.values);
        }
    }
}

/// The ACK of a row, with feedback of this codec.
fn ack(row: &Row, now: Time, codec: Codec) -> Ack {
    let value = row.at("feedback_value");
    let feedback = match codec {
        Codec::Load2 => Feedback::Load(Load::from_bits(value as u8)),
        Codec::Mlcp => {
            let interval = row.micros("feedback_detail");
            Feedback::Mlcp { code: value.clamp(0.0, 15.0) as u32, interval }
        }
        Codec::Adpm => {
            let congested = row.flag("feedback_detail");
            Feedback::Adpm { estimate: Some(row.share("feedback_value")), congested }
        }
        Codec::Rate => {
            let interval = row.count("feedback_detail");
            Feedback::Rate { rate: row.some("feedback_value"), interval }
        }
        Codec::Xcp => Feedback::Xcp { delta_bytes: value },
        Codec::None => Feedback::None,
        _ => Feedback::Ecn { congested: row.flag("feedback_value") },
    };
    Ack {
        feedback,
        recovering: row.flag("recovering"),
        app_limited: row.flag("app_limited"),
        ..Ack::new(now, row.count("newly_acked"), row.count("in_flight"), row.micros("rtt_us"))
    }
}
