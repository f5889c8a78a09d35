//! A checked scenario.

use crate::document::fill;
use crate::document::format::{Document, ProbeSpec};
use crate::network::aggregate;
use crate::network::core::Network;
use crate::network::graph;
use crate::network::template::{dumbbell, parking_lot};
use crate::network::wlan;
use crate::plan::aggregates;
use crate::plan::check;
use crate::plan::doubts::doubts;
use crate::plan::plans::{Plan, plan};
use crate::plan::variant;
use crate::warning::Warning;
use knee_input::interrupt::{Halt, Interrupt, Stopped};
use knee_input::problem::Problem;
use knee_input::source::Source;
use knee_input::text::Text;
use knee_laws::laws::Laws;

/// A checked scenario: it can be run.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) document: Document,
    pub(crate) network: Network,
    /// The network without its aggregates, for variants that leave them out.
    plain: Network,
    pub(crate) plans: Vec<Plan>,
    pub(crate) probes: Vec<ProbeSpec>,
    /// What messages call it: its file's name, or the builder's.
    pub(crate) source: String,
    warnings: Vec<Warning>,
}

impl Scenario {
    /// Parses and checks, with the shipped laws.
    pub fn parse(source: &Source) -> Result<Self, Problem> {
        match Self::parse_with(source, Laws::shipped(), Interrupt::NEVER) {
            Ok(scenario) => Ok(scenario),
            Err(Stopped::Refused(problem)) => Err(problem),
            Err(other) => Err(Problem::new(other.to_string())),
        }
    }

    /// Parses and checks, unless it is interrupted; the scenario may name these laws.
    pub fn parse_with(source: &Source, laws: &Laws, interrupt: Interrupt) -> Result<Self, Stopped> {
        Self::from_text(&Text::read(source)?, (source.name, laws), interrupt)
    }

    /// Checks what has been read; `file` gives the name of a nameless scenario.
    pub(crate) fn from_text(
        text: &Text,
        (file, laws): (&str, &Laws),
        interrupt: Interrupt,
    ) -> Result<Self, Stopped> {
        let mut document: Document = text.document()?;
        document.name.get_or_insert_with(|| name_of(file));
        document.knee = Some(env!("CARGO_PKG_VERSION").to_owned());
        let mut scenario = Self::check(document, (file, laws), interrupt)
            .map_err(|halt| halt.told(|fault| text.problem(fault)))?;
        let doubts = doubts(&scenario.document, &scenario.network, &scenario.plans);
        let told = text.problems(&doubts).into_iter();
        scenario.warnings = told.map(|problem| Warning::new(problem.to_string())).collect();
        Ok(scenario)
    }

    fn check(
        mut document: Document,
        (file, laws): (&str, &Laws),
        interrupt: Interrupt,
    ) -> Result<Self, Halt> {
        check::document(&document)?;
        fill::fill(&mut document);
        let bottleneck = document.bottleneck.clone().unwrap_or_default();
        let (mut network, template) = match (&document.dumbbell, &document.parking_lot) {
            (Some(template), _) => {
                let (network, template) = dumbbell::expand(template, &bottleneck)?;
                (network, Some(template))
            }
            (None, Some(template)) => {
                let (network, template) = parking_lot::expand(template, &bottleneck)?;
                (network, Some(template))
            }
            (None, None) => match document.wlan.template() {
                Some(template) => {
                    let (network, template) = wlan::expand(template)?;
                    (network, Some(template))
                }
                None => (graph::links(&document)?, None),
            },
        };
        aggregate::links(&document, &mut network, template.as_ref(), interrupt)?;
        graph::groups(&document, &mut network, template.as_ref(), interrupt)?;
        aggregate::groups(&mut network)?;
        let mut plain = network.without_aggregates();
        network.survey();
        plain.survey();
        let variants = variant::resolve(&document, laws)?;
        check::amounts(&document, &network, variants.len())?;
        let plans = variants
            .iter()
            .map(|variant| {
                let network = if variant.aggregates { &network } else { &plain };
                let plan = plan(variant, (network, laws), interrupt)?;
                aggregates::check(&plan, network)?;
                Ok(plan)
            })
            .collect::<Result<Vec<_>, Halt>>()?;
        check::slow_start(&document, &network, &plans)?;
        let probes = check::chosen_probes(&document, &network);
        Ok(Self {
            document,
            network,
            plain,
            plans,
            probes,
            source: file.to_owned(),
            warnings: Vec::new(),
        })
    }

    /// The network as a variant has it.
    pub(crate) fn network_of(&self, plan: &Plan) -> &Network {
        if plan.aggregates { &self.network } else { &self.plain }
    }

    /// The scenario as run: defaults and seeds written out, with knee's version.
    pub fn to_toml(&self) -> String {
        toml::to_string(&self.document).unwrap_or_default()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.document.name.as_deref().unwrap_or_default()
    }

    /// What it says that may be meant, but likely is not.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Names of its variants, in order.
    pub fn variants(&self) -> Vec<String> {
        self.plans.iter().map(|plan| plan.name.clone()).collect()
    }

    /// The laws that each variant runs, in order of variant: `sender NAME HASH` and `router NAME HASH`, sorted. A hash
    /// changes when the law's source does.
    pub fn laws(&self) -> Vec<Vec<String>> {
        self.plans.iter().map(Plan::laws).collect()
    }

    /// Its seeds, in order.
    pub fn seeds(&self) -> Vec<u64> {
        self.document.seeds.list()
    }
}

/// A scenario's name from its file's.
fn name_of(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let fine: String = stem
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .take(100)
        .collect();
    let fine = fine.trim_start_matches('.');
    if fine.is_empty() { "scenario".to_owned() } else { fine.to_owned() }
}
