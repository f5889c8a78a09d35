//! A run that is stepped, sampled and changed from outside.
//!
//! The same changes at the same instants give the same bytes, whether they come from here or are `rate_changes` of the
//! scenario: [`Session::run_until`] stops before an instant, and a change happens there, before the instant's events.

use crate::document::choice::{LossSpec, ParamValue};
use crate::network::core::Network;
use crate::plan::law;
use crate::plan::plans::Plan;
use crate::run::build;
use crate::run::results::{Results, Run, collect, sample_table};
use crate::run::runs::ended;
use crate::scenario::Scenario;
use arrow_array::RecordBatch;
use knee_input::interrupt::{Interrupt, Stopped};
use knee_input::problem::{Fault, KeyPath, Problem};
use knee_input::quantity::{Delay, Rate, Written};
use knee_laws::params::Value;
use knee_laws::quantities::Time;
use knee_sim::Simulation;
use knee_sim::config::{Change, LinkChange, LinkId};
use knee_sim::failure::{Failure, Unchanged};
use knee_sim::report::Series;
use serde::Deserialize;

/// Work between two looks at the order to stop: some milliseconds.
const WORK: u64 = 1 << 14;

/// One variant with one seed, in motion.
pub struct Session {
    scenario: Scenario,
    seed: u64,
    end: Time,
    simulation: Simulation,
    /// Samples that were taken already.
    taken: Series,
    cpu_seconds: f64,
}

/// What a change is of.
enum Target {
    /// Links, by their place.
    Links(Vec<usize>),
    /// Flows of the group in this place.
    Group(usize),
}

impl Session {
    /// The scenario's only run, at its beginning.
    pub fn open(scenario: Scenario, interrupt: Interrupt) -> Result<Self, Stopped> {
        let (variants, seeds) = (scenario.plans.len(), scenario.seeds());
        let [seed] = seeds[..] else {
            let said = format!("a session is one run; this scenario has {} seeds", seeds.len());
            return Err(Problem::new(format!("{}: seeds: {said}", scenario.source)).into());
        };
        if variants != 1 {
            let said = format!("a session is one run; this scenario has {variants} variants");
            return Err(Problem::new(format!("{}: variant: {said}", scenario.source)).into());
        }
        let plan = &scenario.plans[0];
        let mut config = build::network(&scenario, (plan, seed), interrupt)?;
        let network = scenario.network_of(plan);
        for (place, link) in config.links.iter_mut().take(network.links.len()).enumerate() {
            link.changeable = network.index.aggregate(place).is_none();
        }
        let end = config.end;
        let built = Simulation::build(config, &|| interrupt.is_wanted());
        let simulation = built.ok_or(Stopped::Interrupted)?;
        let taken = Series::default();
        Ok(Self { scenario, seed, end, simulation, taken, cpu_seconds: 0.0 })
    }

    /// Simulated time, seconds.
    pub fn now(&self) -> f64 {
        self.simulation.now().seconds()
    }

    /// Runs all that happens before an instant, such as `10 s`, which is not behind the session's and not after its end.
    pub fn run_until(&mut self, instant: &str, interrupt: Interrupt) -> Result<(), Stopped> {
        let refuse = |said: String| Problem::new(format!("run until {instant}: {said}"));
        let until = Time::ZERO + Delay::read(instant).map_err(refuse)?.0;
        if until < self.simulation.now() {
            let said = format!("the session is at {} s already", self.now());
            return Err(refuse(said).into());
        }
        if until > self.end {
            let said = format!("the run ends at {} s", self.end.seconds());
            return Err(refuse(said).into());
        }
        self.step(interrupt, |simulation| simulation.run_before(until, WORK))
    }

    /// Repeats a step until it says that nothing is left.
    fn step(
        &mut self,
        interrupt: Interrupt,
        step: impl Fn(&mut Simulation) -> Result<bool, Failure>,
    ) -> Result<(), Stopped> {
        let begun = crate::run::runs::thread_seconds();
        let (scenario, simulation) = (&self.scenario, &mut self.simulation);
        loop {
            let is_over = step(simulation)
                .map_err(|failure| ended(scenario, &scenario.plans[0], &failure))?;
            interrupt.check()?;
            if is_over {
                self.cpu_seconds += crate::run::runs::thread_seconds() - begun;
                return Ok(());
            }
        }
    }

    /// Changes something now: `bottleneck.rate`, `LINK.delay`, `LINK.loss`, `LINK.router.PARAMETER` or
    /// `GROUP.sender.PARAMETER`. The value is as in a scenario. If it is refused, nothing has changed.
    pub fn change(&mut self, key: &str, value: &str) -> Result<(), Problem> {
        let told = |fault: Fault| Problem {
            path: Some(key.to_owned()),
            given: Some(value.to_owned()),
            sentence: format!("change {key} = {value}: {}", fault.message),
            ..Problem::from(fault)
        };
        let changes = self.changes(key, value).map_err(told)?;
        for change in changes {
            self.simulation.apply(change).map_err(|unchanged| {
                let said = match unchanged {
                    Unchanged::Unknown => "it is not there any more".to_owned(),
                    Unchanged::Fixed => "an aggregate's link is as its way is".to_owned(),
                    Unchanged::Refused(error) => match error {
                        knee_laws::params::ParamError::Fixed => {
                            "it counts only at the start of a run".to_owned()
                        }
                        other => format!("the law refuses it: {other:?}"),
                    },
                };
                told(KeyPath::root().fault(said))
            })?;
        }
        Ok(())
    }

    /// What a change comes to, of each link or flow that it is of.
    fn changes(&self, key: &str, value: &str) -> Result<Vec<Change>, Fault> {
        let plan = &self.scenario.plans[0];
        let network = self.scenario.network_of(plan);
        let (target, field) = self.target(key, network)?;
        match target {
            Target::Links(links) => links
                .into_iter()
                .map(|link| {
                    let change = link_change(plan, link, field, value)?;
                    Ok(Change::Link(LinkId(link as u32), change))
                })
                .collect(),
            Target::Group(place) => {
                let law = &plan.groups[place].sender;
                let Some(name) = field.strip_prefix("sender.") else {
                    let fault =
                        KeyPath::root().fault("of flows, parameters of their sender change");
                    return Err(fault.among("such as", field, ["sender.PARAMETER"].into_iter()));
                };
                let value = parameter((&law.name, &law.info().params), name, value)?;
                let before: u64 = network.groups[..place].iter().map(lasting).sum();
                let numbers = before..before + lasting(&network.groups[place]);
                Ok(numbers
                    .map(|flow| Change::Parameter(flow as u32, name.to_owned(), value.clone()))
                    .collect())
            }
        }
    }

    /// What a key is of, and the rest of it.
    fn target<'k>(&self, key: &'k str, network: &Network) -> Result<(Target, &'k str), Fault> {
        if let Some(field) = key.strip_prefix("bottleneck.") {
            let at = KeyPath::root().key("bottleneck");
            let of_template = |place: &usize| network.links[*place].at == at;
            let links: Vec<usize> = (0..network.links.len()).filter(of_template).collect();
            if !links.is_empty() {
                return Ok((Target::Links(links), field));
            }
        }
        let below = |name: &str| key.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
        let link = (network.links.iter().enumerate())
            .filter_map(|(place, link)| Some((place, below(&link.name)?)))
            .min_by_key(|(_, field)| field.len());
        if let Some((place, field)) = link {
            return Ok((Target::Links(vec![place]), field));
        }
        let group = (network.groups.iter().enumerate())
            .filter_map(|(place, group)| Some((place, below(&group.name)?)))
            .min_by_key(|(_, field)| field.len());
        if let Some((place, field)) = group {
            return Ok((Target::Group(place), field));
        }
        let links = network.links.iter().map(|link| link.name.as_str());
        let names = links.chain(network.groups.iter().map(|group| group.name.as_str()));
        let given = key.split('.').next().unwrap_or(key);
        let fault = KeyPath::root().fault("there is no such link or group of flows");
        Err(fault.among("there are", given, names))
    }

    /// Samples since they were last taken, in the columns of `series`.
    pub fn samples(&mut self) -> Result<RecordBatch, Stopped> {
        let new = self.simulation.take_samples();
        self.taken.shown.clone_from(&new.shown);
        self.taken.samples.extend_from_slice(&new.samples);
        sample_table(&self.scenario, self.seed, new)
    }

    /// Runs to the end; the results are those of a run without steps.
    pub fn finish(mut self, interrupt: Interrupt) -> Result<Results, Stopped> {
        let end = self.end;
        self.step(interrupt, |simulation| simulation.run_some(end, WORK))?;
        let mut report = self.simulation.finish();
        self.taken.samples.append(&mut report.series.samples);
        report.series.samples = self.taken.samples;
        let (seed, cpu_seconds) = (self.seed, self.cpu_seconds);
        let run = Run { plan: &self.scenario.plans[0], seed, report, cpu_seconds };
        collect(&self.scenario, vec![run], interrupt)
    }
}

/// Flows of a group that are there from the start, which have numbers.
fn lasting(group: &crate::network::core::CoreGroup) -> u64 {
    if group.arrivals.is_none() { group.count } else { 0 }
}

fn link_change(plan: &Plan, link: usize, field: &str, value: &str) -> Result<LinkChange, Fault> {
    let root = KeyPath::root();
    let fault = |message: String| root.fault(message);
    match field {
        "rate" => Ok(LinkChange::Rate(Rate::read(value).map_err(fault)?.0)),
        "delay" => Ok(LinkChange::Delay(Delay::read(value).map_err(fault)?.0)),
        "loss" | "errors" => {
            let loss: LossSpec = typed(value)?;
            Ok(LinkChange::Loss(Some(loss.model())))
        }
        _ => {
            let law = &plan.links[link].router;
            let Some(name) = field.strip_prefix("router.") else {
                let fields = ["rate", "delay", "loss", "router.PARAMETER"];
                let fault = root.fault("a link has nothing of that name that may change");
                return Err(fault.among("there are", field, fields.into_iter()));
            };
            let value = parameter((&law.name, &law.info().params), name, value)?;
            Ok(LinkChange::Parameter(name.to_owned(), value))
        }
    }
}

/// A law's parameter from its text.
fn parameter(
    law: (&str, &[knee_laws::params::ParamInfo]),
    name: &str,
    text: &str,
) -> Result<Value, Fault> {
    let given: ParamValue = typed(text)?;
    law::parameter(law, name, &given, &KeyPath::root())
}

/// A value in TOML syntax, or a bare string.
fn typed<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, Fault> {
    let value = toml::from_str::<toml::Table>(&format!("value = {text}"))
        .ok()
        .filter(|table| table.len() == 1)
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| toml::Value::String(text.to_owned()));
    let error = |error: toml::de::Error| KeyPath::root().fault(error.message().trim().to_owned());
    T::deserialize(value).map_err(error)
}
