//! Random calls of fluid models, seeded: each ends with finite columns or a clear message, and can be stopped.
#![allow(clippy::disallowed_methods)]

#[path = "../../input/tests/looks/mod.rs"]
mod looks;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use knee_input::interrupt::{Interrupt, Stopped};
use knee_laws::router::Draw;
use knee_models::fluid;
use knee_path::Stream;
use looks::Looks;
use serde_json::{Value, json};

/// Settings drawn at random, from all that a model allows and somewhat beyond.
struct Settings {
    stream: Stream,
}

impl Settings {
    /// A number from 10^low to 10^high, uniform in its logarithm.
    fn log(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(low + (high - low) * self.stream.uniform())
    }
    fn count(&mut self, low: u64, high: u64) -> usize {
        (low + (self.stream.uniform() * (high - low + 1) as f64) as u64).min(high) as usize
    }
    fn is_lucky(&mut self, probability: f64) -> bool {
        self.stream.uniform() < probability
    }
    fn time(&mut self) -> String {
        format!("{} s", self.log(-4.0, 1.0))
    }
    fn rate(&mut self) -> String {
        format!("{} bps", self.log(4.0, 11.0))
    }
    /// Sets some of the optional settings: a number in a range of powers of ten each.
    fn some(&mut self, settings: &mut Value, ranges: &[(&str, f64, f64)]) {
        for (key, low, high) in ranges {
            if self.is_lucky(0.4) {
                settings[*key] = json!(self.log(*low, *high));
            }
        }
    }
    fn times(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.time()).collect()
    }
    fn topology(&mut self, settings: &mut Value) -> usize {
        let names = ["a", "b", "c"];
        let links = self.count(1, 3);
        let flows = self.count(1, 4);
        let mut rates = serde_json::Map::new();
        for name in &names[..links] {
            rates.insert((*name).to_owned(), json!(self.rate()));
        }
        settings["links"] = Value::Object(rates);
        let routes: Vec<Vec<&str>> = (0..flows)
            .map(|_| {
                let first = self.count(0, links as u64 - 1);
                let last = self.count(first as u64, links as u64 - 1);
                names[first..=last].to_vec()
            })
            .collect();
        settings["routes"] = json!(routes);
        flows
    }

    fn draw(&mut self, model: &str) -> Value {
        let mut settings = json!({});
        let law: &[(&str, f64, f64)] =
            &[("kappa", -4.0, 2.0), ("alpha", -6.0, 6.0), ("gamma", -2.0, 0.0)];
        let source: &[(&str, f64, f64)] = &[
            ("alpha", -3.0, 2.0),
            ("bottlenecks", 0.0, 3.0),
            ("eta", -6.0, 2.0),
            ("weight", -6.0, 12.0),
            ("fairness", -1.0, 2.0),
        ];
        let solution: &[(&str, f64, f64)] = &[("start", -3.0, 3.0)];
        let short = |settings: &mut Value, this: &mut Self| {
            settings["samples"] = json!(this.count(2, 200));
            settings["duration"] = json!(format!("{} s", this.log(-3.0, 1.0)));
        };
        match model {
            "miaimd" | "miaimd_equilibrium" => {
                settings["capacity"] = json!(self.rate());
                settings["rtt"] = json!(self.time());
                settings["flows"] = json!(self.log(0.0, 6.0));
                self.some(&mut settings, law);
                if model == "miaimd" {
                    short(&mut settings, self);
                    self.some(
                        &mut settings,
                        &[("initial_window", -3.0, 12.0), ("target", -2.0, 0.0)],
                    );
                }
            }
            "miaimd_sweep" => {
                settings["capacities"] = json!([self.rate()]);
                settings["rtts"] = json!([self.time()]);
                settings["flows"] = json!([self.log(0.0, 5.0)]);
                settings["kappas"] = json!([self.log(-4.0, 2.0)]);
                self.some(
                    &mut settings,
                    &[("alpha", -6.0, 6.0), ("gamma", -2.0, 0.0), ("start", -6.0, 6.0)],
                );
            }
            "miaimd_network" | "miaimd_network_equilibrium" | "max_min" => {
                let flows = self.topology(&mut settings);
                if model != "max_min" {
                    settings["rtt"] = json!(self.time());
                    self.some(&mut settings, law);
                }
                if model == "miaimd_network" {
                    short(&mut settings, self);
                    if self.is_lucky(0.5) {
                        let windows: Vec<f64> = (0..flows).map(|_| self.log(-3.0, 12.0)).collect();
                        settings["initial_windows"] = json!(windows);
                    }
                }
            }
            "mlcp_rtts" => {
                settings["capacity"] = json!(self.rate());
                settings["rtt"] = json!(self.time());
                self.some(
                    &mut settings,
                    &[("initial_window", -3.0, 9.0), ("target", -2.0, 0.0), ("kappa", -4.0, 2.0)],
                );
            }
            "bmcc_epochs" => {
                settings["bdp"] = json!(self.log(0.0, 12.0));
                settings["flows"] = json!(self.log(0.0, 9.0));
                self.some(
                    &mut settings,
                    &[("convergence", -2.0, 0.0), ("limit", 0.001, 2.0), ("alpha", -6.0, 6.0)],
                );
            }
            "bmcc_startup" => {
                settings["capacity"] = json!(self.rate());
                settings["rtt"] = json!(self.time());
                short(&mut settings, self);
                self.some(
                    &mut settings,
                    &[
                        ("growth", 0.001, 2.0),
                        ("kappa", -4.0, 2.0),
                        ("eta0", -2.0, 0.0),
                        ("alpha", -6.0, 6.0),
                    ],
                );
                if self.is_lucky(0.3) {
                    settings["eta"] = json!(1.0);
                }
            }
            "bmcc_detection" => {
                settings["flow_bdp"] = json!(self.log(0.0, 7.0));
                self.some(&mut settings, &[("limit", 0.001, 2.0)]);
            }
            "rcp" | "rcp_bounds" => {
                let flows = self.count(1, 4);
                settings["rtts"] = json!(self.times(flows));
                if self.is_lucky(0.5) {
                    settings["interval"] = json!(format!("{} s", self.log(-3.0, 0.0)));
                }
                self.some(&mut settings, &[("tau1", -6.0, 0.0), ("tau2", -6.0, 0.0)]);
                if model == "rcp" {
                    settings["law"] = json!(["rcp", "qi-rcp", "piqi-rcp"][self.count(0, 2)]);
                    settings["capacity"] = json!(self.rate());
                    settings["duration"] = json!(format!("{} s", self.log(-2.0, 2.0)));
                    self.some(
                        &mut settings,
                        &[
                            ("gamma", -2.0, 0.0),
                            ("alpha", -3.0, 2.0),
                            ("beta", -3.0, 2.0),
                            ("start", -6.0, 6.0),
                        ],
                    );
                    let which = ["kappa", "eta"][self.count(0, 1)];
                    self.some(&mut settings, &[(which, -3.0, 1.0)]);
                }
            }
            "scalable" => {
                settings["capacity"] = json!(self.rate());
                let flows = self.count(1, 3);
                settings["rtts"] = json!(self.times(flows));
                self.some(&mut settings, source);
                self.some(&mut settings, solution);
                short(&mut settings, self);
            }
            "scalable_delay" | "scalable_delay_rest" => {
                settings["capacity"] = json!(self.rate());
                let flows = self.count(1, 3);
                settings["rtts"] = json!(self.times(flows));
                if self.is_lucky(0.3) {
                    settings["errors"] = json!(self.times(flows));
                }
                self.some(&mut settings, source);
                if self.is_lucky(0.5) {
                    settings["exponent"] = json!("rate");
                }
                if model == "scalable_delay" {
                    self.some(&mut settings, solution);
                    short(&mut settings, self);
                }
            }
            "scalable_margin" | "scalable_nyquist" => {
                settings["rtt"] = json!(self.time());
                self.some(
                    &mut settings,
                    &[("alpha", -6.0, 3.0), ("zero", -6.0, 6.0), ("ratio", -6.0, 9.0)],
                );
            }
            _ => {
                let flows = self.topology(&mut settings);
                settings["rtts"] = json!(self.times(flows));
                if self.is_lucky(0.3) {
                    let rates: Vec<String> = (0..flows).map(|_| self.rate()).collect();
                    settings["max_rates"] = json!(rates);
                    self.some(&mut settings, &source[..2]);
                } else {
                    self.some(&mut settings, source);
                }
                if model == "scalable_network" {
                    self.some(&mut settings, solution);
                    short(&mut settings, self);
                }
            }
        }
        if self.is_lucky(0.3)
            && !matches!(
                model,
                "max_min"
                    | "bmcc_epochs"
                    | "bmcc_detection"
                    | "rcp_bounds"
                    | "scalable_margin"
                    | "scalable_nyquist"
            )
        {
            settings["packet"] = json!(format!("{} B", self.count(40, 65_535)));
        }
        settings
    }
}

const MODELS: [&str; 21] = [
    "bmcc_detection",
    "bmcc_epochs",
    "bmcc_startup",
    "max_min",
    "miaimd",
    "miaimd_equilibrium",
    "miaimd_network",
    "miaimd_network_equilibrium",
    "miaimd_sweep",
    "mlcp_rtts",
    "rcp",
    "rcp_bounds",
    "scalable",
    "scalable_delay",
    "scalable_delay_rest",
    "scalable_margin",
    "scalable_network",
    "scalable_network_loci",
    "scalable_network_margin",
    "scalable_network_rest",
    "scalable_nyquist",
];
/// Columns that may have nulls.
const MAY_LACK: [&str; 7] =
    ["load", "margin", "distance", "encirclements", "deviation", "qi_rcp_exact", "piqi_rcp_exact"];

fn check(columns: &RecordBatch, said: &str) {
    for (index, field) in columns.schema().fields().iter().enumerate() {
        let Some(values) = columns.column(index).as_primitive_opt::<Float64Type>() else {
            continue;
        };
        let name = field.name().as_str();
        assert!(values.iter().flatten().all(f64::is_finite), "{said}: {name}");
        assert!(values.null_count() == 0 || MAY_LACK.contains(&name), "{said}: {name} is null");
    }
}

/// Settings of the whole range that is allowed, and beyond: many of these models are unstable or stiff.
#[test]
fn random_calls_end_finite_or_in_a_sentence() {
    for model in MODELS {
        for seed in 0..8 {
            let settings = Settings { stream: Stream::new(seed, model) }.draw(model).to_string();
            let said = format!("{model} {settings}");
            let looks = Looks::new(u64::MAX);
            let wanted = || looks.look();
            match fluid(model, &settings, Interrupt::new(&wanted)) {
                Ok(columns) => check(&columns, &said),
                Err(Stopped::Refused(problem)) => {
                    let problem = problem.to_string();
                    assert!(problem.starts_with(model) && !problem.contains('\n'), "{problem}");
                }
                Err(other) => panic!("{said}: {other}"),
            }
            looks.check(&said);
        }
    }
}

/// A model that once did not end: its slow loop is so fast that the solver needs steps of some 10^-9 s.
#[test]
fn what_is_too_quick_to_be_followed_is_refused_in_words() {
    let settings = json!({
        "links": {"a": "10 Mbps"}, "routes": [["a"]], "rtts": ["100 ms"], "weight": 1e9,
    });
    let problem = fluid("scalable_network", &settings.to_string(), Interrupt::NEVER).unwrap_err();
    let said = problem.to_string();
    assert!(said.starts_with("scalable_network: after ") && said.contains("too fast"), "{said}");
    assert!(said.contains("weight"), "{said}");
}

#[test]
fn an_unstable_model_names_the_bound_that_it_exceeds() {
    let settings = json!({"capacity": "5 Gbps", "rtt": "19 ms", "flows": 68, "kappa": 4.5});
    let problem = fluid("miaimd", &settings.to_string(), Interrupt::NEVER).unwrap_err();
    assert!(problem.to_string().contains("kappa = 4.5 is above 1.58"), "{problem}");
}

/// A solution of a million RTTs is long, and stops at once.
#[test]
fn a_long_solution_stops_when_it_is_told_to() {
    let settings = json!({"capacity": "1 Gbps", "rtt": "1 ms", "flows": 3, "duration": "900 s"});
    let looks = Looks::new(5000);
    let wanted = || looks.look();
    let stopped = fluid("miaimd", &settings.to_string(), Interrupt::new(&wanted)).unwrap_err();
    assert_eq!(stopped, Stopped::Interrupted);
    looks.check("miaimd");
}
