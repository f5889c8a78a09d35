//! What all models of the scalable laws share; one link, and one source's loop gain.

use crate::model::{Columns, Model, NoColumns, gaps, numbers, packets, unsolved, within};
use knee_fluid::effort::{Effort, Unsolved};
use knee_fluid::nyquist;
use knee_fluid::roots::log_grid;
use knee_fluid::scalable::Utility;
use knee_fluid::scalable::linear::Linear;
use knee_fluid::scalable::network::{Flow, Hop, Network, Sample, Sources};
use knee_fluid::scalable::source::Source;
use knee_input::problem::{Fault, KeyPath};
use knee_input::quantity::{Period, Rate, Size};
use serde::Deserialize;

/// alpha, as in section V.
pub(super) const ALPHA: f64 = 0.37;
/// eta, as in section V.
pub(super) const ETA: f64 = 0.64;
/// The longest solution, in shortest delays times the work of each.
pub(super) const LONGEST: f64 = 1e7;

/// U, with the defaults of the packet law.
pub(super) fn utility(
    weight: Option<f64>,
    fairness: Option<f64>,
    pivot: Option<Period>,
) -> Result<Utility, Fault> {
    let (weight, fairness) = (weight.unwrap_or(50.0), fairness.unwrap_or(1.0));
    within("weight", weight, 1e-6, 1e12)?;
    within("fairness", fairness, 0.1, 100.0)?;
    Ok(Utility { weight, fairness, pivot: pivot.map_or(0.1, |pivot| pivot.0.seconds()) })
}

/// alpha, checked.
pub(super) fn gain(alpha: Option<f64>) -> Result<f64, Fault> {
    let alpha = alpha.unwrap_or(ALPHA);
    within("alpha", alpha, 1e-3, 100.0).map(|()| alpha)
}

/// z = eta / (bound of the RTTs), by default their longest.
pub(super) fn zero(eta: f64, rtts: &[f64], bound: Option<Period>) -> Result<f64, Fault> {
    within("eta", eta, 1e-6, 100.0)?;
    let longest = rtts.iter().copied().fold(0.0, f64::max);
    Ok(eta / bound.map_or(longest, |bound| bound.0.seconds()))
}

/// The RTTs in seconds; 1 to 1000 of them.
pub(super) fn seconds(rtts: &[Period]) -> Result<Vec<f64>, Fault> {
    if rtts.is_empty() || rtts.len() > 1000 {
        return Err(KeyPath::root().key("rtts").fault("needs 1 to 1000 RTTs"));
    }
    Ok(rtts.iter().map(|rtt| rtt.0.seconds()).collect())
}

/// A solution through time.
#[derive(Deserialize)]
pub(crate) struct Course {
    start: Option<f64>,
    duration: Option<Period>,
    samples: Option<usize>,
}

impl Course {
    /// Start, seconds and samples, checked. A step takes `work`, and is at most `shortest` long.
    pub fn length(&self, (work, shortest): (usize, f64)) -> Result<(f64, f64, usize), Fault> {
        let start = self.start.unwrap_or(0.5);
        let samples = self.samples.unwrap_or(1201);
        let seconds = self.duration.map_or(60.0, |duration| duration.0.seconds());
        within("start", start, 1e-3, 1e3)?;
        within("samples", samples as f64, 2.0, 1e6)?;
        if seconds * work as f64 > LONGEST * shortest {
            let key = KeyPath::root().key("duration");
            return Err(key.fault(format!(
                "is too long for so many flows and links: times their number it must be at most {LONGEST} of the \
                 shortest delay, {shortest} s"
            )));
        }
        Ok((start, seconds, samples))
    }
}

/// An equilibrium, which has no settings of its own.
#[derive(Deserialize)]
pub(crate) struct Rest {}

/// Stability margins, which have no settings of their own.
#[derive(Deserialize)]
pub(crate) struct Margins {}

/// Frequencies in rad/s.
#[derive(Deserialize)]
pub(crate) struct Frequencies {
    frequencies: Option<Vec<f64>>,
}

impl Frequencies {
    /// Those that are given, at most this many, or the usual ones.
    pub fn or(self, usual: impl FnOnce() -> Vec<f64>, most: usize) -> Result<Vec<f64>, Fault> {
        let frequencies = self.frequencies.unwrap_or_else(usual);
        if !frequencies.iter().all(|w| (1e-9..=1e9).contains(w)) || frequencies.len() > most {
            let key = KeyPath::root().key("frequencies");
            return Err(
                key.fault(format!("needs at most {most:e} frequencies from 1e-9 to 1e9 rad/s"))
            );
        }
        Ok(frequencies)
    }
}

/// A network through time, or why there is no solution.
pub(super) fn solution(
    network: &Network,
    start: f64,
    length: (f64, usize),
    effort: &Effort,
) -> Result<Vec<Sample>, NoColumns> {
    network.run(start, length, effort).map_err(|error| unsolved(error, || remedy(network)))
}

/// What may help a network without a solution.
pub(super) fn remedy(network: &Network) -> String {
    let effort = Effort::new(10_000_000, &|| false);
    let rest = network.rest(&effort);
    match rest.and_then(|rest| Linear::new(network, &rest).margins(&effort)) {
        Ok(nyquist::Margins { factor, .. }) if factor < 1.0 => {
            format!("at rest it is unstable: alpha is {:.3} times what is stable", 1.0 / factor)
        }
        Err(Unsolved::NoRest) => "less weight or fairness may have one".to_owned(),
        _ => "a start nearer to 1, or less weight, fairness or eta, may have a solution".to_owned(),
    }
}

/// The columns of margins; null where there is none.
pub(super) fn margins(found: nyquist::Margins) -> Columns {
    let factor = if found.factor.is_infinite() { f64::NAN } else { found.factor };
    vec![
        ("margin", gaps([factor])),
        ("distance", gaps([found.distance])),
        ("encirclements", gaps([found.unstable])),
    ]
}

/// A link and its flows.
#[derive(Deserialize)]
pub(crate) struct Prices {
    capacity: Rate,
    rtts: Vec<Period>,
    alpha: Option<f64>,
    bottlenecks: Option<f64>,
    weight: Option<f64>,
    fairness: Option<f64>,
    pivot: Option<Period>,
    eta: Option<f64>,
    packet: Option<Size>,
}

impl Model for (Prices, Course) {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        let (link, course) = self;
        let rtts = seconds(&link.rtts)?;
        let utility = utility(link.weight, link.fairness, link.pivot)?;
        let bottlenecks = link.bottlenecks.unwrap_or(1.0);
        within("bottlenecks", bottlenecks, 1.0, 1e3)?;
        let capacity = packets(link.capacity, link.packet.unwrap_or(Size(1000)));
        let share = capacity / rtts.len() as f64;
        let alpha = gain(link.alpha)?;
        let sources = match link.eta.unwrap_or(ETA) {
            // The static law with the same rates at the same price.
            0.0 => {
                let steepness = |rtt: &f64| alpha / (bottlenecks * rtt) * utility.marginal(share);
                let max_rates = rtts.iter().map(|rtt| share * libm::exp(steepness(rtt)));
                Sources::Static { max_rates: max_rates.collect() }
            }
            eta => Sources::Dynamic { utility, zero: zero(eta, &rtts, None)? },
        };
        let hops = vec![Hop { link: 0, forward: 0.0 }];
        let flow = |&rtt: &f64| Flow { hops: hops.clone(), rtt, bottlenecks };
        let flows = rtts.iter().map(flow).collect();
        let law = Network { capacities: vec![capacity], flows, alpha, sources };
        let shortest = rtts.iter().copied().fold(f64::INFINITY, f64::min);
        let work = (rtts.len(), shortest);
        let (start, duration, samples) = course.length(work)?;
        let rest = law.rest(effort)?.prices[0];
        let rows = solution(&law, start, (duration, samples), effort)?;
        Ok(vec![
            ("time_s", numbers(rows.iter().map(|row| row.time))),
            ("price_s", numbers(rows.iter().map(|row| row.prices[0]))),
            ("load", numbers(rows.iter().map(|row| row.loads[0]))),
            ("price_at_rest_s", numbers(rows.iter().map(|_| rest))),
        ])
    }
}

/// One source's loop gain.
#[derive(Deserialize)]
pub(crate) struct OneSource {
    rtt: Period,
    alpha: Option<f64>,
    zero: Option<f64>,
    ratio: Option<f64>,
}

impl OneSource {
    fn source(&self) -> Result<Source, Fault> {
        let rtt = self.rtt.0.seconds();
        let (alpha, zero) = (self.alpha.unwrap_or(1.0), self.zero.unwrap_or(0.2));
        let ratio = self.ratio.unwrap_or(1.0);
        within("alpha", alpha, 1e-6, 1e3)?;
        within("zero", zero, 1e-6, 1e6)?;
        within("ratio", ratio, 1e-6, 1e9)?;
        Ok(Source { rtt, alpha, zero, ratio })
    }
}

impl Model for (OneSource, Margins) {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        Ok(margins(self.0.source()?.margins(effort)?))
    }
}

impl Model for (OneSource, Frequencies) {
    fn solve(self, _: &Effort) -> Result<Columns, NoColumns> {
        let source = self.0.source()?;
        let usual = || log_grid(1e-2 / source.rtt, 20.0 / source.rtt, 2001);
        let frequencies = self.1.or(usual, 1_000_000)?;
        let gains: Vec<_> = frequencies.iter().map(|&w| source.gain(w)).collect();
        Ok(vec![
            ("frequency_rad_s", numbers(frequencies)),
            ("re", numbers(gains.iter().map(|gain| gain.re))),
            ("im", numbers(gains.iter().map(|gain| gain.im))),
        ])
    }
}
