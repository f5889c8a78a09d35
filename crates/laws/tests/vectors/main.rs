//! The laws and codecs against `vectors/`, whose expectations come from the papers' equations.

mod senders;

use knee_laws::codecs::xcp::CongestionHeader;
use knee_laws::codecs::{Codec, Load, Reader, Wire, adpm, load2, mlcp, price, rate, xcp};
use knee_laws::quantities::{BitRate, Bytes, Span};
use knee_laws::routers::{
    bmcc, mlcp as mlcp_router, pi, pie, price as price_router, red, rem, vcp, xcp as xcp_router,
};
use knee_laws::routers::{piqi_rcp, qi_rcp, rate_router::Measurement, rcp};
use knee_laws::senders::{cubic, hstcp, htcp, rcp as rcp_sender};

/// A row of a table, read from left to right.
struct Row(Vec<String>, usize);

impl Row {
    fn text(&mut self) -> &str {
        self.1 += 1;
        &self.0[self.1 - 1]
    }
    fn number(&mut self) -> f64 {
        self.text().parse().expect("a number")
    }
    fn bits(&mut self) -> u8 {
        u8::from_str_radix(self.text(), 2).expect("bits")
    }
    fn word(&mut self) -> u32 {
        u32::from_str_radix(self.text(), 16).expect("a hexadecimal word")
    }
    /// Compares the next number.
    #[track_caller]
    fn expect(&mut self, value: f64) {
        let expected = self.number();
        let close = (value - expected).abs() <= 1e-9 * expected.abs().max(1e-6);
        assert!(close, "{value}, not {expected}: column {} of {:?}", self.1, self.0);
    }
}

/// The rows of a table after checking its header; every column must be read.
fn each(table: &str, columns: usize, mut check: impl FnMut(&mut Row)) {
    let path = format!("{}/../../vectors/{table}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let rows: Vec<&str> = text.lines().skip(1).collect();
    assert!(rows.len() > 8, "{path} is short");
    for row in rows {
        let mut row = Row(row.split(',').map(str::to_owned).collect(), 0);
        check(&mut row);
        assert_eq!((row.1, row.0.len()), (columns, columns), "columns of {path}");
    }
}

#[test]
fn vcp_router() {
    let params = vcp::Params::default();
    each("vcp_router", 5, |row| {
        let rate = BitRate::from_bps(row.number());
        let (traffic, queue) = (row.number(), row.number());
        let load_factor = vcp::load_factor(traffic, queue, &params, rate);
        row.expect(load_factor);
        assert_eq!(Load::encode(load_factor, params.transition), Load::from_bits(row.bits()));
    });
}

#[test]
fn vcp_router_authors() {
    each("vcp_router_authors", 9, |row| {
        let rate = BitRate::from_bps(row.number());
        let params = vcp::Params { gamma: row.number(), ..vcp::Params::default() };
        let (traffic, queue) = (row.number(), row.number() / 16.0);
        let exact = vcp::load_factor(traffic, queue, &params, rate);
        row.expect(vcp::rounded(exact));
        let load = Load::encode(vcp::rounded(exact), params.transition);
        assert_eq!(load, Load::from_bits(row.bits()));
        let (target, step) = vcp::target::nominal(rate);
        row.expect(target);
        row.expect(step);
        row.expect(vcp::target::adjusted(params.gamma, (target, step), exact * params.gamma));
    });
}

#[test]
fn load2_hops() {
    each("load2_hops", 3, |row| {
        let (mut marks, mut header) = (Codec::Load2.initial(), [0; 4]);
        for _ in 0..2 {
            let load = Load::from_bits(row.bits());
            load2::mark(&mut Wire { marks: &mut marks, header: &mut header }, load);
        }
        assert_eq!(marks.ecn(), row.bits());
    });
}

#[test]
fn red_automatic() {
    let params = red::Params::default();
    assert_eq!(params.queue.mean_packet_size, Bytes(500));
    each("red_automatic", 5, |row| {
        let rate = BitRate::from_bps(row.number());
        let settings = red::Settings::new(&params, rate, row.number());
        row.expect(settings.min);
        row.expect(settings.max);
        row.expect(settings.weight);
    });
}

#[test]
fn red_curve() {
    each("red_curve", 6, |row| {
        let (min_threshold, max_threshold) = (row.number(), row.number());
        let params = red::Params {
            max_p: row.number(),
            thresholds: red::Thresholds { min_threshold, max_threshold },
            spread: red::Spread { gentle: row.number() == 1.0, ..red::Spread::default() },
            queue: red::Queue { byte_mode: false, ..red::Queue::default() },
            ..red::Params::default()
        };
        let settings = red::Settings::new(&params, BitRate::from_mbps(10.0), 0.01);
        let p_b = red::probability(row.number(), &settings, &params);
        row.expect(p_b);
    });
}

#[test]
fn red_uniform() {
    each("red_uniform", 4, |row| {
        let (p_b, count, wait) = (row.number(), row.number(), row.number() == 1.0);
        row.expect(red::uniformised(p_b, count, wait));
    });
}

#[test]
fn pie_probability() {
    let params = pie::Params::default();
    each("pie_probability", 4, |row| {
        let (p, delay, before) = (row.number(), row.number(), row.number());
        row.expect(pie::control_step(p, delay, before, &params));
    });
}

#[test]
fn pi_probability() {
    let params = pi::Params::default();
    each("pi_probability", 4, |row| {
        let (p, queue, before) = (row.number(), row.number(), row.number());
        row.expect(pi::control_step(p, queue, before, &params));
    });
}

#[test]
fn rem_price() {
    let params = rem::Params::default();
    each("rem_price", 6, |row| {
        let price = row.number();
        let (arrived, backlog, capacity) = (row.number(), row.number(), row.number());
        let measured = rem::Measured { arrived, backlog, capacity };
        let price = rem::control_step(price, &measured, &params);
        row.expect(price);
        row.expect(price::probability(price, params.phi));
    });
}

#[test]
fn price_router() {
    let params = price_router::Params::default();
    each("price_router", 5, |row| {
        let (price, arrived, capacity) = (row.number(), row.number(), row.number());
        let interval_s = params.interval.seconds();
        let load = arrived / (params.gamma * capacity * interval_s);
        let price = price_router::control_step(price, load, interval_s);
        row.expect(price);
        row.expect(price::probability(price, params.phi));
    });
}

#[test]
fn price_path() {
    each("price_path", 6, |row| {
        let hops = [row.number(), row.number(), row.number()];
        let phi = 1000.0;
        let unmarked: f64 = hops.map(|price| 1.0 - price::probability(price, phi)).iter().product();
        row.expect(1.0 - unmarked);
        let marked = row.number() as u32;
        row.expect(price::estimate(marked, 31, phi));
    });
}

#[test]
fn cubic_window() {
    each("cubic_window", 6, |row| {
        let (w_max, cwnd_epoch, c, t) = (row.number(), row.number(), row.number(), row.number());
        let k = cubic::inflection(w_max, cwnd_epoch, c);
        row.expect(k);
        row.expect(cubic::w_cubic(t, k, w_max, c));
    });
}

#[test]
fn hstcp_response() {
    let response = hstcp::Response::new(&hstcp::Params::default());
    each("hstcp_response", 5, |row| {
        let window = row.number();
        row.expect(response.loss_rate(window));
        row.expect(response.increase(window));
        row.expect(response.decrease(window));
        row.expect(window * (1.0 - response.decrease(window)));
    });
}

#[test]
fn htcp_growth() {
    let params = htcp::Params::default();
    each("htcp_growth", 6, |row| {
        let since = row.number();
        let [min_rtt, max_rtt] = [(); 2].map(|()| Span::from_millis(row.number() as u64));
        let f = htcp::growth(since, params.low_speed.seconds());
        row.expect(f);
        let beta = htcp::adaptive_beta(min_rtt, max_rtt, &params);
        row.expect(beta);
        row.expect(2.0 * (1.0 - beta) * f);
    });
}

#[test]
fn xcp_control() {
    let params = xcp_router::Params::default();
    each("xcp_control", 12, |row| {
        let capacity = row.number();
        let measured = xcp_router::Measured {
            interval_s: row.number(),
            traffic: row.number(),
            x: row.number(),
            rtt_x: row.number(),
            queue: row.number(),
        };
        let step = xcp_router::control_step(&measured, capacity, &params);
        row.expect(step.mean_rtt_s);
        row.expect(step.phi);
        row.expect(step.increase);
        row.expect(step.decrease);
        row.expect(step.per_x);
        row.expect(step.per_byte);
    });
}

#[test]
fn xcp_header() {
    each("xcp_header", 8, |row| {
        let mut header = CongestionHeader {
            window_bytes: row.number() as f32,
            rtt_s: row.number() as f32,
            delta_bytes: row.number() as f32,
        }
        .write();
        let allowed = row.number();
        assert_eq!(header, [row.word(), row.word(), row.word(), 0]);
        xcp::mark(&mut header, allowed);
        assert_eq!(header[2], row.word());
    });
}

#[test]
fn rate_header() {
    each("rate_header", 15, |row| {
        let (desired, rtt_s, sending) = (row.number(), row.number(), row.number());
        let hops = match row.number() as u8 {
            0 => rate::Hops::All,
            place => rate::Hops::Only(place),
        };
        let mut header = rate::Request { desired, rtt_s, sending, hops }.write();
        let rates = [row.number(), row.number(), row.number()];
        let before = header;
        for rate in rates {
            rate::mark(&mut header, rate, row.number() as u64);
        }
        assert_eq!([before[0], before[1], before[3]], [row.word(), row.word(), row.word()]);
        let (rate, interval) = rate::read(rate::echo(&header)).expect("a rate");
        row.expect(rate);
        row.expect(f64::from(interval));
    });
}

#[test]
fn rcp_router() {
    let params = rcp::Params::default();
    each("rcp_router", 10, |row| {
        let (capacity, rate) = (row.number(), row.number());
        let measured = Measurement { capacity, rate, input: row.number(), queue: row.number() };
        let d = row.number();
        row.expect(rcp::control_step(&measured, d, &params));
        let after = rcp::authors_mean((d, row.number()), rate / capacity, 0.01);
        row.expect(after);
        row.expect(qi_rcp::error(measured.input, capacity, 0.95));
        row.expect(qi_rcp::kappa_star(d, 0.01));
    });
}

#[test]
fn piqi_rcp_router() {
    each("piqi_rcp_router", 7, |row| {
        let longest = row.number();
        row.expect(piqi_rcp::kappa_star(longest, 0.01, piqi_rcp::Bound::Sine));
        let simple = piqi_rcp::kappa_star(longest, 0.01, piqi_rcp::Bound::Simple);
        row.expect(simple);
        let (rate, errors) = (row.number(), (row.number(), row.number()));
        row.expect(piqi_rcp::control_step(rate, errors, 0.95 * simple));
    });
}

#[test]
fn rates_of_rcp_senders() {
    let gains = rcp_sender::Gains { tau1: 0.005, tau2: 0.5 };
    assert_eq!(rcp_sender::response(100.0, (200.0, 300.0), gains), 151.0);
}

#[test]
fn mlcp_code() {
    each("mlcp_code", 7, |row| {
        let (mi, md) = (row.number() as u16, row.number() as u8);
        let levels = mlcp::Levels { mi, md, ii: row.bits() == 1 };
        let code = levels.encode(row.number());
        row.expect(f64::from(code));
        let (mut xi, mut beta) = (None, None);
        match levels.decode(code).expect("a code") {
            mlcp::Region::Low(sigma) => xi = Some(0.35 * (1.0 - sigma) / sigma),
            mlcp::Region::Over(place) => beta = Some(0.875 - 0.2 * place),
            mlcp::Region::High | mlcp::Region::Close => {}
        }
        for value in [xi, beta] {
            match value {
                Some(value) => row.expect(value),
                None => assert_eq!(row.text(), ""),
            }
        }
    });
}

#[test]
fn mlcp_router() {
    let params = mlcp_router::Params::default();
    each("mlcp_router", 9, |row| {
        let rate = BitRate::from_bps(row.number());
        let (traffic, queue) = (row.number(), row.number());
        let t_p = Span::from_millis(row.number() as u64);
        row.expect(mlcp_router::load_factor(traffic, queue, t_p, (&params, rate)));
        let after = mlcp_router::mean_rtt(row.number(), row.number(), &params);
        row.expect(after);
        row.expect(mlcp::INTERVALS_MS[mlcp_router::interval(after)] as f64);
    });
}

#[test]
fn adpm_map() {
    let map = adpm::Map::default();
    each("adpm_map", 2, |row| {
        let load = row.number();
        let height = map.at(load);
        row.expect(height);
        assert!((map.load(height) - load.clamp(adpm::LEAST, adpm::MOST)).abs() < 1e-12);
    });
}

#[test]
fn adpm_packets() {
    let (mut run, mut reader) = (String::new(), Reader::default());
    let mut estimate = 0.0;
    each("adpm_packets", 7, |row| {
        if row.text() != run {
            (run, reader) = (row.0[0].clone(), Reader::default());
        }
        let mut marks = Codec::Adpm.initial();
        let identifier = row.number() as u16;
        let map = adpm::Map::default();
        let mut header = adpm::write(identifier, map, adpm::Overload::Estimated);
        for _ in 0..2 {
            let mut hop = adpm::Marker::default();
            hop.measure(row.number());
            hop.mark_overload(&mut Wire { marks: &mut marks, header: &mut header });
        }
        assert_eq!(marks.ecn(), row.bits());
        reader.take(marks, &header, false);
        let echo = reader.echo(marks, &header);
        let said = adpm::read(echo.words);
        estimate = said.unwrap_or(estimate); // an estimate that is not echoed has not changed
        row.expect(estimate);
        let option_bytes = row.number() as u16 * adpm::OPTION_BYTES;
        assert_eq!((echo.option_bytes, said.is_some()), (option_bytes, option_bytes > 0));
    });
}

#[test]
fn bmcc_router() {
    let params = bmcc::Params::default();
    each("bmcc_router", 6, |row| {
        let rate = BitRate::from_bps(row.number());
        let (traffic, before, sample) = (row.number(), row.number(), row.number());
        let queue = params.queue_weight * before + (1.0 - params.queue_weight) * sample;
        row.expect(queue);
        row.expect(bmcc::load_factor(traffic, queue, &params, rate));
    });
}
