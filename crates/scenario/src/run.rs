//! Runs every variant with every seed.

use crate::build;
use crate::plan::Plan;
use crate::results::{Results, Run, collect};
use crate::scenario::Scenario;
use knee_laws::quantities::Time;
use knee_sim::Simulation;
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How a run is watched and stopped.
pub struct Control<'a> {
    /// Told now and then how much is done, 0 to 1, over all runs; called from any thread.
    pub progress: &'a (dyn Fn(f64) + Sync),
    /// Set it to stop at once.
    pub cancelled: &'a AtomicBool,
    /// Threads to use; `None`: one a core.
    pub threads: Option<usize>,
}

/// Why a run yielded nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// [`Control::cancelled`] was set.
    #[error("cancelled")]
    Cancelled,
    /// Something broke that no scenario should be able to break.
    #[error("the run failed: {0}")]
    Failed(String),
}

/// Steps in which a run is advanced: at least, and at most.
const STEPS: std::ops::RangeInclusive<u64> = 100..=100_000;
/// About how many packets of measured links a step should carry, so that a run stops at once.
const PACKETS_A_STEP: f64 = 100_000.0;

/// Runs every variant with every seed, in parallel; rows are in order of variant, then seed.
pub fn run(scenario: &Scenario, control: &Control) -> Result<Results, Stopped> {
    let seeds = scenario.seeds();
    let runs: Vec<(&Plan, u64)> = scenario
        .plans
        .iter()
        .flat_map(|plan| seeds.iter().map(move |seed| (plan, *seed)))
        .collect();
    let steps = steps(scenario);
    let watch = Watch { control, done: AtomicU64::new(0), all: steps * runs.len() as u64 };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(control.threads.unwrap_or(0))
        .build()
        .map_err(|error| Stopped::Failed(error.to_string()))?;
    let one = |(plan, seed): (&'_ Plan, u64)| {
        catch_unwind(AssertUnwindSafe(|| one(scenario, (plan, seed), (&watch, steps))))
            .unwrap_or_else(|panic| Err(Stopped::Failed(words(panic.as_ref()))))
    };
    let plans: Vec<(f64, knee_sim::report::Report)> =
        pool.install(|| runs.par_iter().map(|run| one(*run)).collect::<Result<_, _>>())?;
    let runs: Vec<Run> = runs
        .into_iter()
        .zip(plans)
        .map(|((plan, seed), (cpu_seconds, report))| Run { plan, seed, report, cpu_seconds })
        .collect();
    collect(scenario, &runs).map_err(|error| Stopped::Failed(error.to_string()))
}

/// Progress over all runs.
struct Watch<'a> {
    control: &'a Control<'a>,
    done: AtomicU64,
    all: u64,
}

impl Watch<'_> {
    /// One more step is done.
    fn step(&self) -> Result<(), Stopped> {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.control.progress)(done as f64 / self.all.max(1) as f64);
        self.go_on()
    }
    /// Was the run cancelled?
    fn go_on(&self) -> Result<(), Stopped> {
        let cancelled = self.control.cancelled.load(Ordering::Relaxed);
        if cancelled { Err(Stopped::Cancelled) } else { Ok(()) }
    }
}

/// Steps a run, more for more packets.
fn steps(scenario: &Scenario) -> u64 {
    let measured = scenario.network.links.iter().filter(|link| link.measured);
    let bytes: f64 = measured.map(|link| link.rate.bytes_in(scenario.document.duration.0)).sum();
    let least = scenario.plans.iter().map(|plan| plan.data_bytes).min().unwrap_or(1);
    let packets = bytes / f64::from(least.max(1));
    ((packets / PACKETS_A_STEP) as u64).clamp(*STEPS.start(), *STEPS.end())
}

/// One variant with one seed: CPU seconds, and what came of it.
fn one(
    scenario: &Scenario,
    (plan, seed): (&Plan, u64),
    (watch, steps): (&Watch, u64),
) -> Result<(f64, knee_sim::report::Report), Stopped> {
    watch.go_on()?;
    let begun = thread_seconds();
    let network = build::network(scenario, plan, seed).map_err(Stopped::Failed)?;
    let end = network.end;
    let mut simulation = Simulation::new(network);
    for step in 1..=steps {
        let part = u128::from(end.ps()) * u128::from(step) / u128::from(steps);
        simulation.run_until(Time::from_ps(part as u64));
        watch.step()?;
    }
    let report = simulation.report();
    Ok((thread_seconds() - begun, report))
}

/// What a panic said.
fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panic").to_owned()
}

/// CPU time of this thread, seconds.
fn thread_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec of our own.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    if failed != 0 {
        return f64::NAN;
    }
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
