//! Runs every variant with every seed.

use crate::plan::plans::Plan;
use crate::run::build;
use crate::run::memory::{self, MemoryLimit};
use crate::run::results::{Results, Run, collect};
use crate::scenario::Scenario;
use crate::warning::Warning;
use knee_input::interrupt::{Interrupt, Stopped};
use knee_input::problem::Problem;
use knee_sim::Simulation;
use knee_sim::config::GroupId;
use knee_sim::failure::Failure;
use knee_sim::report::Report;
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

/// How a run is watched and stopped.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Told now and then how much is done, 0 to 1, over all runs; called from any thread.
    pub progress: &'a (dyn Fn(f64) + Sync),
    /// Told once what is done otherwise than asked, before the runs begin.
    pub warn: &'a (dyn Fn(&Warning) + Sync),
    /// Stops it at once.
    pub interrupt: Interrupt<'a>,
    /// Runs at a time, 1 to 1024; `None`: one a core. Fewer go where there is no memory for so many.
    pub threads: Option<usize>,
    /// Memory that the runs may take together.
    pub memory: MemoryLimit,
}

impl Default for Control<'_> {
    fn default() -> Self {
        Self {
            progress: &|_| (),
            warn: &|_| (),
            interrupt: Interrupt::NEVER,
            threads: None,
            memory: MemoryLimit::Available,
        }
    }
}

/// What a run does between two looks at the order to stop: some milliseconds' work.
const WORK: u64 = 1 << 14;
/// Parts of a run that progress is counted in.
const PARTS: u64 = 1_000_000;

/// Runs every variant with every seed, in parallel; rows are in order of variant, then seed.
pub fn run(scenario: &Scenario, control: &Control) -> Result<Results, Stopped> {
    let seeds = scenario.seeds();
    let runs: Vec<(&Plan, u64)> = scenario
        .plans
        .iter()
        .flat_map(|plan| seeds.iter().map(move |seed| (plan, *seed)))
        .collect();
    let threads = threads(control.threads)?.min(runs.len());
    let admission = memory::admit(scenario, threads, control.memory, control.interrupt)?;
    if let Some(warning) = &admission.warning {
        (control.warn)(warning);
    }
    let watch = Watch { control, done: AtomicU64::new(0), runs: runs.len() as u64 };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(admission.threads)
        .build()
        .map_err(|error| Stopped::Failed(error.to_string()))?;
    let one = |run: &(&Plan, u64)| {
        catch_unwind(AssertUnwindSafe(|| one(scenario, *run, &watch)))
            .unwrap_or_else(|panic| Err(Stopped::Failed(words(panic.as_ref()))))
    };
    let reports: Vec<(f64, Report)> =
        pool.install(|| runs.par_iter().map(one).collect::<Result<_, _>>())?;
    let runs = runs
        .into_iter()
        .zip(reports)
        .map(|((plan, seed), (cpu_seconds, report))| Run { plan, seed, report, cpu_seconds })
        .collect();
    collect(scenario, runs, control.interrupt)
}

/// Most runs at a time.
const MOST_THREADS: usize = 1024;

/// Runs at a time: those wanted, or one a core.
fn threads(wanted: Option<usize>) -> Result<usize, Problem> {
    match wanted {
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
        Some(threads) if (1..=MOST_THREADS).contains(&threads) => Ok(threads),
        Some(threads) => Err(Problem::new(format!(
            "threads: there can be 1 to {MOST_THREADS} runs at a time, not {threads}"
        ))),
    }
}

/// Progress over all runs.
struct Watch<'a> {
    control: &'a Control<'a>,
    /// Parts of all runs.
    done: AtomicU64,
    runs: u64,
}

impl Watch<'_> {
    /// So many more parts of a run are done.
    fn add(&self, parts: u64) {
        let done = self.done.fetch_add(parts, Ordering::Relaxed) + parts;
        (self.control.progress)(done as f64 / (self.runs * PARTS).max(1) as f64);
    }
}

/// One variant with one seed: CPU seconds, and what came of it.
fn one(
    scenario: &Scenario,
    (plan, seed): (&Plan, u64),
    watch: &Watch,
) -> Result<(f64, Report), Stopped> {
    let interrupt = watch.control.interrupt;
    interrupt.check()?;
    let begun = thread_seconds();
    let network = build::network(scenario, (plan, seed), interrupt)?;
    let end = network.end;
    let built = Simulation::build(network, &|| interrupt.is_wanted());
    let mut simulation = built.ok_or(Stopped::Interrupted)?;
    let mut told = 0;
    loop {
        let step = simulation.run_some(end, WORK);
        let is_over = step.map_err(|failure| ended(scenario, plan, &failure))?;
        interrupt.check()?;
        let part = simulation.now().ps() as f64 / end.ps().max(1) as f64;
        let parts = if is_over { PARTS } else { (part * PARTS as f64) as u64 };
        watch.add(parts.saturating_sub(told));
        told = told.max(parts);
        if is_over {
            break;
        }
    }
    let report = simulation.finish();
    Ok((thread_seconds() - begun, report))
}

/// A failure in words: law, flow or link, and simulated time.
pub(crate) fn ended(scenario: &Scenario, plan: &Plan, failure: &Failure) -> Stopped {
    let network = scenario.network_of(plan);
    let group = |group: GroupId| &network.groups[group.0 as usize].name;
    Stopped::Ended(match failure {
        Failure::Sender { flow, group: of, at, message } => {
            let law = &plan.groups[of.0 as usize].sender.name;
            let (of, at) = (group(*of), at.seconds());
            format!("law `{law}` of flow {flow} (`{of}`) failed at {at} s: {message}")
        }
        Failure::Router { link, at, message } => {
            let law = &plan.links[link.0 as usize].router.name;
            let (link, at) = (&network.links[link.0 as usize].name, at.seconds());
            format!("law `{law}` of link `{link}` failed at {at} s: {message}")
        }
        Failure::Exhausted { flow, at } => {
            let at = at.seconds();
            format!("flow {flow} has used up its 4294967294 sequence numbers at {at} s")
        }
    })
}

/// What a panic said.
fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panic").to_owned()
}

/// CPU time of this thread, seconds.
pub(crate) fn thread_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec of our own.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    if failed != 0 {
        return f64::NAN;
    }
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
