//! RCP, QI-RCP and PIQI-RCP (jain2007).

use crate::model::{Columns, Model, NoColumns, gaps, numbers, packets, unsolved, within};
use knee_fluid::effort::{Effort, Unsolved};
use knee_fluid::rcp::{Law, Link, piqi_bound, piqi_exact, piqi_simple_bound, qi_bound, qi_exact};
use knee_input::problem::{Fault, KeyPath};
use knee_input::quantity::{Period, Rate, Size};
use serde::Deserialize;

/// tau_1 and tau_2 of the paper's figures.
const TAU: (f64, f64) = (0.005, 0.5);

/// The bounds on kappa for some flows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bounds {
    rtts: Vec<Period>,
    interval: Option<Period>,
    tau1: Option<f64>,
    tau2: Option<f64>,
}

/// A link through time.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rates {
    law: String,
    capacity: Rate,
    rtts: Vec<Period>,
    interval: Option<Period>,
    packet: Option<Size>,
    gamma: Option<f64>,
    eta: Option<f64>,
    kappa: Option<f64>,
    tau1: Option<f64>,
    tau2: Option<f64>,
    alpha: Option<f64>,
    beta: Option<f64>,
    mean_rtt: Option<Period>,
    start: Option<f64>,
    duration: Option<Period>,
}

/// T in seconds.
fn interval(given: Option<Period>) -> f64 {
    given.map_or(0.01, |interval| interval.0.seconds())
}

/// RTTs in whole steps of T, rounded up as in Theorem 1.
fn steps(rtts: &[Period], interval: f64) -> Result<(Vec<u32>, u32), Fault> {
    let key = KeyPath::root().key("rtts");
    // Slightly less than the quotient, so that 120 ms are 12 steps of 10 ms.
    let count = |rtt: &Period| (rtt.0.seconds() / interval * (1.0 - 1e-12)).ceil().max(1.0);
    if rtts.is_empty() || rtts.iter().any(|rtt| count(rtt) > 1e4) {
        return Err(key.fault("needs an RTT at least, each of at most 10000 intervals"));
    }
    let delays: Vec<u32> = rtts.iter().map(|rtt| count(rtt) as u32).collect();
    let longest = delays.iter().copied().max().unwrap_or(1);
    Ok((delays, longest))
}

fn taus(tau1: Option<f64>, tau2: Option<f64>) -> Result<(f64, f64), Fault> {
    let (tau1, tau2) = (tau1.unwrap_or(TAU.0), tau2.unwrap_or(TAU.1));
    within("tau1", tau1, 1e-6, 1.0)?;
    within("tau2", tau2, 0.0, 1.0)?;
    Ok((tau1, tau2))
}

/// A bound; NaN if it is infinite.
fn finite(bound: f64) -> f64 {
    if bound.is_finite() { bound } else { f64::NAN }
}

impl Model for Bounds {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        let interval = interval(self.interval);
        let (delays, longest) = steps(&self.rtts, interval)?;
        let (tau1, tau2) = taus(self.tau1, self.tau2)?;
        let seconds = self.rtts.iter().map(|rtt| rtt.0.seconds()).fold(0.0, f64::max);
        Ok(vec![
            ("qi_rcp", numbers([qi_bound(longest)])),
            ("qi_rcp_exact", gaps([finite(qi_exact(&delays, effort)?)])),
            ("piqi_rcp", numbers([piqi_bound(longest)])),
            ("piqi_rcp_simple", numbers([piqi_simple_bound(interval, seconds)])),
            ("piqi_rcp_exact", gaps([finite(piqi_exact(&delays, (tau1, tau2), effort)?)])),
        ])
    }
}

impl Rates {
    fn law(&self, delays: &[u32], longest: u32, interval: f64) -> Result<Law, Fault> {
        const LAWS: [&str; 3] = ["rcp", "qi-rcp", "piqi-rcp"];
        let key = KeyPath::root().key("law");
        let (tau1, tau2) = taus(self.tau1, self.tau2)?;
        if self.kappa.is_some() && self.eta.is_some() {
            return Err(KeyPath::root().fault("kappa and eta exclude each other"));
        }
        let kappa = |bound: f64| {
            let kappa = self.kappa.unwrap_or(self.eta.unwrap_or(0.5) * bound);
            within("kappa", kappa, 0.0, 10.0).map(|()| kappa)
        };
        match self.law.as_str() {
            "rcp" => {
                let mean = delays.iter().map(|&delay| f64::from(delay)).sum::<f64>();
                let delay = self
                    .mean_rtt
                    .map_or(mean / delays.len() as f64, |rtt| rtt.0.seconds() / interval);
                let (alpha, beta) = (self.alpha.unwrap_or(0.4), self.beta.unwrap_or(1.0));
                within("alpha", alpha, 0.0, 100.0)?;
                within("beta", beta, 0.0, 100.0)?;
                Ok(Law::Rcp { alpha, beta, delay })
            }
            "qi-rcp" => Ok(Law::QiRcp { kappa: kappa(qi_bound(longest))? }),
            "piqi-rcp" => Ok(Law::PiqiRcp { kappa: kappa(piqi_bound(longest))?, tau1, tau2 }),
            other => {
                let fault = key.fault("there is no such law");
                Err(fault.among("there are", other, LAWS.into_iter()))
            }
        }
    }
}

impl Model for Rates {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        let interval = interval(self.interval);
        let (delays, longest) = steps(&self.rtts, interval)?;
        let law = self.law(&delays, longest, interval)?;
        let usual = if self.law == "rcp" { 1.0 } else { 0.95 };
        let (gamma, start) = (self.gamma.unwrap_or(usual), self.start.unwrap_or(0.1));
        within("gamma", gamma, 0.01, 1.0)?;
        within("start", start, 1e-6, 1e6)?;
        let count = self.duration.map_or(60.0, |duration| duration.0.seconds()) / interval;
        if count * delays.len() as f64 > 1e7 {
            let key = KeyPath::root().key("duration");
            return Err(key.fault("times flows must be at most 1e7 intervals").into());
        }
        let flows = delays.len() as f64;
        let rows =
            Link { law, delays, gamma, start }.run(count as usize, effort).map_err(|error| {
                let error = match error {
                    Unsolved::Diverged { time } => Unsolved::Diverged { time: interval * time },
                    other => other,
                };
                unsolved(error, || "`rcp_bounds` tells which gains are stable".to_owned())
            })?;
        let share = gamma * self.capacity.0.bps() * 1e-6 / flows;
        let step = packets(self.capacity, self.packet.unwrap_or(Size(1000))) * interval;
        Ok(vec![
            ("time_s", numbers((0..rows.len()).map(|i| interval * i as f64))),
            ("rate_mbps", numbers(rows.iter().map(|row| row.rate * share))),
            ("load", numbers(rows.iter().map(|row| row.load))),
            ("queue_packets", numbers(rows.iter().map(|row| row.queue * step))),
        ])
    }
}
