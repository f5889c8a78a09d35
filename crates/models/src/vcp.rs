//! The MIAIMD model of VCP (xia2008, section V), and max-min fair rates.

use crate::model::{
    Columns, Links, Model, NoColumns, gaps, numbers, packets, unsolved, wholes, within, words,
};
use knee_fluid::effort::{Effort, Unsolved};
use knee_fluid::max_min::Share;
use knee_fluid::miaimd::{Adaptation, Miaimd};
use knee_fluid::miaimd_network::MiaimdNetwork;
use knee_input::problem::{Fault, KeyPath};
use knee_input::quantity::{Period, Rate, Size};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The longest solution, in RTTs.
const LONGEST_RTTS: f64 = 1e6;

/// kappa, alpha, gamma and the packet's size: VCP's.
#[derive(Clone, Copy)]
struct Law {
    kappa: f64,
    alpha: f64,
    gamma: f64,
    packet: Size,
}

impl Default for Law {
    fn default() -> Self {
        Self { kappa: 0.25, alpha: 1.0, gamma: 0.98, packet: Size(1000) }
    }
}

impl Law {
    fn check(&self) -> Result<(), Fault> {
        within("kappa", self.kappa, 1e-4, 100.0)?;
        within("alpha", self.alpha, 1e-6, 1e6)?;
        within("gamma", self.gamma, 0.01, 1.0)
    }
}

/// The settings of the law.
#[derive(Deserialize)]
pub(super) struct LawSettings {
    kappa: Option<f64>,
    alpha: Option<f64>,
    gamma: Option<f64>,
    packet: Option<Size>,
}

impl LawSettings {
    fn law(&self) -> Result<Law, Fault> {
        let usual = Law::default();
        let law = Law {
            kappa: self.kappa.unwrap_or(usual.kappa),
            alpha: self.alpha.unwrap_or(usual.alpha),
            gamma: self.gamma.unwrap_or(usual.gamma),
            packet: self.packet.unwrap_or(usual.packet),
        };
        law.check().map(|()| law)
    }
}

/// One link and its flows.
#[derive(Deserialize)]
pub(super) struct Rest {
    capacity: Rate,
    rtt: Period,
    flows: f64,
}

/// One link and its flows through time.
#[derive(Deserialize)]
pub(super) struct Aggregate {
    capacity: Rate,
    rtt: Period,
    flows: f64,
    duration: Option<Period>,
    samples: Option<usize>,
    initial_window: Option<f64>,
    /// The utilisation to which (14) adapts gamma; without it gamma does not change.
    target: Option<f64>,
    gamma_step: Option<f64>,
    gamma_period: Option<Period>,
    gamma_filter: Option<Period>,
}

/// Links and flows through time.
#[derive(Deserialize)]
pub(super) struct Network {
    links: BTreeMap<String, Rate>,
    routes: Vec<Vec<String>>,
    rtt: Period,
    duration: Option<Period>,
    samples: Option<usize>,
    /// One for each flow.
    initial_windows: Option<Vec<f64>>,
}

/// Links and flows at rest.
#[derive(Deserialize)]
pub(super) struct NetworkRest {
    links: BTreeMap<String, Rate>,
    routes: Vec<Vec<String>>,
    rtt: Period,
}

/// A model for every combination of the listed values.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sweep {
    capacities: Vec<Rate>,
    rtts: Vec<Period>,
    flows: Vec<f64>,
    kappas: Vec<f64>,
    alpha: Option<f64>,
    gamma: Option<f64>,
    packet: Option<Size>,
    /// The start of each, as a multiple of its equilibrium; by default a packet for each flow.
    start: Option<f64>,
}

/// Links and flows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MaxMin {
    links: BTreeMap<String, Rate>,
    routes: Vec<Vec<String>>,
}

/// The model of a link.
fn link(law: Law, capacity: Rate, rtt: Period, flows: f64) -> Result<Miaimd, Fault> {
    within("flows", flows, 1.0, 1e9)?;
    Ok(Miaimd {
        capacity: packets(capacity, law.packet),
        rtt: rtt.0.seconds(),
        flows,
        kappa: law.kappa,
        alpha: law.alpha,
        gamma: law.gamma,
        initial_window: 1.0,
    })
}

const NEARER_REST: &str =
    "windows that start nearer to rest, or a smaller kappa, may have a solution";

/// What may help a model without a solution.
fn remedy(model: &Miaimd) -> String {
    let (kappa, bound) = (model.kappa, model.kappa_bound());
    if kappa > bound {
        return format!("kappa = {kappa} is above {bound:.4}, up to which it is stable");
    }
    NEARER_REST.to_owned()
}

/// Seconds and samples of a solution, checked.
fn length(
    duration: Option<Period>,
    samples: Option<usize>,
    rtt: Period,
) -> Result<(f64, usize), Fault> {
    let seconds = duration.map_or(60.0, |duration| duration.0.seconds());
    let samples = samples.unwrap_or(1201);
    within("samples", samples as f64, 2.0, 1e6)?;
    if seconds > LONGEST_RTTS * rtt.0.seconds() {
        return Err(KeyPath::root()
            .key("duration")
            .fault(format!("is longer than {LONGEST_RTTS} RTTs; give less, or a longer rtt")));
    }
    Ok((seconds, samples))
}

impl Model for (LawSettings, Rest) {
    fn solve(self, _: &Effort) -> Result<Columns, NoColumns> {
        let (law, settings) = self;
        let law = law.law()?;
        let model = link(law, settings.capacity, settings.rtt, settings.flows)?;
        let rest = model.equilibrium();
        let mbps = rest.flow_rate * 8e-6 * law.packet.0 as f64;
        Ok(vec![
            ("window_packets", numbers([rest.window])),
            ("flow_rate_mbps", numbers([mbps])),
            ("utilisation", numbers([rest.utilisation])),
            ("load", numbers([rest.utilisation / law.gamma])),
            ("kappa_bound", numbers([model.kappa_bound()])),
        ])
    }
}

impl Model for (LawSettings, Aggregate) {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        let (law, settings) = self;
        let mut model = link(law.law()?, settings.capacity, settings.rtt, settings.flows)?;
        if let Some(window) = settings.initial_window {
            within("initial_window", window, 1e-3, 1e12)?;
            model.initial_window = window;
        }
        let (duration, samples) = length(settings.duration, settings.samples, settings.rtt)?;
        let adaptation = settings.adaptation()?;
        let rows = model
            .run((duration, samples), adaptation.as_ref(), effort)
            .map_err(|error| unsolved(error, || remedy(&model)))?;
        Ok(vec![
            ("time_s", numbers(rows.iter().map(|row| row.time))),
            ("window_packets", numbers(rows.iter().map(|row| row.window))),
            ("utilisation", numbers(rows.iter().map(|row| row.utilisation))),
            ("load", numbers(rows.iter().map(|row| row.load))),
            ("gamma", numbers(rows.iter().map(|row| row.gamma))),
        ])
    }
}

impl Aggregate {
    /// (14), if a target is given: every 20 RTTs, with a filter of 5.
    fn adaptation(&self) -> Result<Option<Adaptation>, Fault> {
        let rtt = self.rtt.0.seconds();
        let Some(target) = self.target else {
            let given = self.gamma_step.is_some()
                || self.gamma_period.is_some()
                || self.gamma_filter.is_some();
            let fault =
                || KeyPath::root().fault("gamma_step, gamma_period and gamma_filter need a target");
            return if given { Err(fault()) } else { Ok(None) };
        };
        let law = Adaptation {
            target,
            step: self.gamma_step.unwrap_or(0.01),
            period: self.gamma_period.map_or(20.0 * rtt, |period| period.0.seconds()),
            filter: self.gamma_filter.map_or(5.0 * rtt, |filter| filter.0.seconds()),
        };
        within("target", law.target, 0.01, 1.0)?;
        within("gamma_step", law.step, 1e-6, 0.5)?;
        within("gamma_period", law.period, rtt, f64::INFINITY)?;
        Ok(Some(law))
    }
}

/// The models of a network and the names of its links.
fn network(
    law: Law,
    links: Links,
    rtt: Period,
    windows: Option<Vec<f64>>,
) -> Result<(MiaimdNetwork, Vec<String>), Fault> {
    let flows = links.topology.routes.len();
    let initial_windows = windows.unwrap_or_else(|| vec![1.0; flows]);
    let key = KeyPath::root().key("initial_windows");
    if initial_windows.len() != flows {
        return Err(key.fault(format!("has {} windows for {flows} flows", initial_windows.len())));
    }
    if !initial_windows.iter().all(|window| (1e-3..=1e12).contains(window)) {
        return Err(key.fault("must be from 0.001 to 1e12 packets each"));
    }
    let (kappa, alpha, gamma) = (law.kappa, law.alpha, law.gamma);
    let rtt = rtt.0.seconds();
    let model =
        MiaimdNetwork { topology: links.topology, rtt, kappa, alpha, gamma, initial_windows };
    Ok((model, links.names))
}

impl Model for (LawSettings, Network) {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        let (law, settings) = self;
        let law = law.law()?;
        let (duration, samples) = length(settings.duration, settings.samples, settings.rtt)?;
        let links = Links::new(&settings.links, &settings.routes, law.packet)?;
        let (model, _) = network(law, links, settings.rtt, settings.initial_windows)?;
        let flows = model.initial_windows.len();
        if flows * samples > 10_000_000 {
            let key = KeyPath::root().key("samples");
            return Err(key.fault("flows x samples must be at most 1e7").into());
        }
        let rows = model
            .run(duration, samples, effort)
            .map_err(|error| unsolved(error, || NEARER_REST.to_owned()))?;
        let mbps = 8e-6 * law.packet.0 as f64 / model.rtt;
        let each = || rows.iter().flat_map(|(_, windows)| windows.iter().copied());
        let times = rows.iter().flat_map(|(time, _)| std::iter::repeat_n(*time, flows));
        Ok(vec![
            ("time_s", numbers(times)),
            ("flow", wholes(rows.iter().flat_map(|_| 0..flows as u64))),
            ("window_packets", numbers(each())),
            ("rate_mbps", numbers(each().map(|window| window * mbps))),
        ])
    }
}

impl Model for (LawSettings, NetworkRest) {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        let (law, settings) = self;
        let law = law.law()?;
        let links = Links::new(&settings.links, &settings.routes, law.packet)?;
        let (model, names) = network(law, links, settings.rtt, None)?;
        let shares = model.equilibrium(effort)?;
        let rates: Vec<f64> = shares.iter().map(|share| share.rate).collect();
        let loads = model.loads(&rates);
        let fair = |scale: &dyn Fn(usize) -> f64| {
            let mut topology = model.topology.clone();
            for (link, capacity) in topology.capacities.iter_mut().enumerate() {
                *capacity *= scale(link);
            }
            topology.max_min(effort)
        };
        let targets = fair(&|_| law.gamma)?;
        let carried = fair(&|link| law.gamma * loads[link])?;
        let mbps = 8e-6 * law.packet.0 as f64;
        let column = |shares: &[Share]| numbers(shares.iter().map(|share| share.rate * mbps));
        Ok(vec![
            ("flow", wholes(0..shares.len() as u64)),
            ("rate_mbps", column(&shares)),
            ("load", numbers(shares.iter().map(|share| loads[share.bottleneck]))),
            ("bottleneck", words(shares.iter().map(|share| names[share.bottleneck].as_str()))),
            ("max_min_mbps", column(&targets)),
            ("max_min_of_carried_mbps", column(&carried)),
        ])
    }
}

impl Model for MaxMin {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        // Packets of a byte: rates in bytes a second.
        let links = Links::new(&self.links, &self.routes, Size(1))?;
        let shares = links.topology.max_min(effort)?;
        let bottleneck = shares.iter().map(|share| links.names[share.bottleneck].as_str());
        Ok(vec![
            ("flow", wholes(0..shares.len() as u64)),
            ("rate_mbps", numbers(shares.iter().map(|share| share.rate * 8e-6))),
            ("bottleneck", words(bottleneck)),
        ])
    }
}

impl Model for Sweep {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        let usual = Law::default();
        let law = Law {
            kappa: usual.kappa,
            alpha: self.alpha.unwrap_or(usual.alpha),
            gamma: self.gamma.unwrap_or(usual.gamma),
            packet: self.packet.unwrap_or(usual.packet),
        };
        law.check()?;
        if let Some(start) = self.start {
            within("start", start, 1e-6, 1e6)?;
        }
        let mut models = Vec::new();
        for &capacity in &self.capacities {
            for &rtt in &self.rtts {
                for &flows in &self.flows {
                    for &kappa in &self.kappas {
                        let law = Law { kappa, ..law };
                        law.check()?;
                        let mut model = link(law, capacity, rtt, flows)?;
                        if let Some(start) = self.start {
                            model.initial_window = start * model.equilibrium().window / flows;
                        }
                        models.push(model);
                    }
                }
            }
        }
        let rtts: Vec<f64> = models.iter().map(Miaimd::settling_rtts).collect();
        if rtts.iter().sum::<f64>() > 2e7 {
            let said = "these models take more than 2e7 RTTs to settle; give fewer, smaller BDPs, or a start";
            return Err(KeyPath::root().fault(said).into());
        }
        let ends = models.iter().zip(&rtts).map(|(model, rtts)| {
            match model.final_deviation(*rtts, effort) {
                Err(Unsolved::Diverged { .. } | Unsolved::Crawling { .. }) => Ok(f64::NAN),
                found => found,
            }
        });
        let ends = ends.collect::<Result<Vec<_>, _>>()?;
        let mbps = 8e-6 * law.packet.0 as f64;
        let column = |of: &dyn Fn(&Miaimd) -> f64| numbers(models.iter().map(of));
        Ok(vec![
            ("capacity_mbps", column(&|model| model.capacity * mbps)),
            ("rtt_ms", column(&|model| model.rtt * 1e3)),
            ("flows", column(&|model| model.flows)),
            ("kappa", column(&|model| model.kappa)),
            ("kappa_bound", column(&Miaimd::kappa_bound)),
            ("rtts", numbers(rtts)),
            ("deviation", gaps(ends)),
        ])
    }
}
