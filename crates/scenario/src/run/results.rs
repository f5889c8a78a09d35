//! The columns that a run yields.

use crate::network::core::Network;
use crate::plan::plans::Plan;
use crate::scenario::Scenario;
use arrow_array::builder::{Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use knee_input::interrupt::{Interrupt, Interrupted, Stopped};
use knee_sim::config::{Buffer, Quantity};
use knee_sim::report::{FlowReport, LinkReport, Report, Series};
use std::sync::Arc;

/// The columns that a run yields; names are stable, `docs/scenario-format.md` lists them.
#[derive(Clone, Debug)]
pub struct Results {
    /// A row a variant, seed and measured link.
    pub summary: RecordBatch,
    /// A row a flow.
    pub flows: RecordBatch,
    /// Samples of the probes, long form.
    pub series: RecordBatch,
    /// A row a variant, seed and station of a wireless LAN.
    pub stations: RecordBatch,
}

/// One variant with one seed, run.
pub(crate) struct Run<'a> {
    pub plan: &'a Plan,
    pub seed: u64,
    pub report: Report,
    pub cpu_seconds: f64,
}

/// Names and values of columns.
type Columns = Vec<(&'static str, ArrayRef)>;

/// Puts runs into columns, in their order.
pub(crate) fn collect(
    scenario: &Scenario,
    mut runs: Vec<Run>,
    interrupt: Interrupt,
) -> Result<Results, Stopped> {
    let table = |columns: Columns| {
        let batch = RecordBatch::try_from_iter_with_nullable(nullable(columns));
        batch.map_err(|error| Stopped::Failed(error.to_string()))
    };
    let summary = table(summary(scenario, &runs, interrupt)?)?;
    let stations = table(stations(scenario, &runs, interrupt)?)?;
    let flows = table(flows(scenario, &mut runs, interrupt)?)?;
    let series = table(series(scenario, runs, interrupt)?)?;
    Ok(Results { summary, flows, series, stations })
}

/// Only numbers may be null, where they have no meaning.
fn nullable(columns: Columns) -> impl Iterator<Item = (&'static str, ArrayRef, bool)> {
    columns.into_iter().map(|(name, values)| {
        let number = values.data_type() == &arrow_schema::DataType::Float64;
        (name, values, number)
    })
}

/// A column in the making: appended row by row.
#[derive(Default)]
struct Numbers(Float64Builder);

impl Numbers {
    /// NaN becomes null.
    fn push(&mut self, number: f64) {
        self.0.append_option((!number.is_nan()).then_some(number));
    }
}

macro_rules! columns {
    ($($column:expr),* $(,)?) => {
        vec![$((stringify!($column), Arc::new($column.finish()) as ArrayRef)),*]
    };
}

impl Numbers {
    fn finish(&mut self) -> arrow_array::Float64Array {
        self.0.finish()
    }
}

/// What some flows got, added up.
#[derive(Clone, Copy, Default)]
struct Got {
    flows: f64,
    goodput_mbps: f64,
    squares: f64,
    rtt_samples: f64,
    rtts_ms: f64,
}

impl Got {
    fn add(&mut self, flow: &FlowReport) {
        self.flows += 1.0;
        self.goodput_mbps += flow.goodput_mbps;
        self.squares += flow.goodput_mbps * flow.goodput_mbps;
        if flow.rtt_samples > 0 && !flow.rtt_mean_ms.is_nan() {
            self.rtt_samples += flow.rtt_samples as f64;
            self.rtts_ms += flow.rtt_mean_ms * flow.rtt_samples as f64;
        }
    }

    fn add_all(&mut self, other: &Self) {
        self.flows += other.flows;
        self.goodput_mbps += other.goodput_mbps;
        self.squares += other.squares;
        self.rtt_samples += other.rtt_samples;
        self.rtts_ms += other.rtts_ms;
    }

    fn jain(&self) -> f64 {
        let Self { flows, goodput_mbps: sum, squares, .. } = *self;
        if squares > 0.0 { sum * sum / (flows * squares) } else { f64::NAN }
    }

    fn goodput_mbps(&self) -> f64 {
        if self.flows > 0.0 { self.goodput_mbps } else { f64::NAN }
    }

    fn rtt_mean_ms(&self) -> f64 {
        if self.rtt_samples > 0.0 { self.rtts_ms / self.rtt_samples } else { f64::NAN }
    }
}

/// Of each link, what the endless flows got whose data crosses it, or all that cross it if none is endless.
fn shares(network: &Network, flows: &[FlowReport]) -> Vec<Got> {
    // Of each group, what the flows on each of its ways got; flows take ways in turn.
    let mut groups: Vec<Vec<Got>> =
        network.groups.iter().map(|group| vec![Got::default(); group.ways.len()]).collect();
    let mut next = vec![0; groups.len()];
    for flow in flows {
        let group = flow.group.0 as usize;
        let ways = groups[group].len();
        let turn = next[group] % network.groups[group].count.max(1) as usize;
        groups[group][turn % ways].add(flow);
        next[group] += 1;
    }
    let mut links = vec![[Got::default(); 2]; network.links.len()];
    for (number, group) in network.groups.iter().enumerate() {
        let kind = usize::from(group.is_endless());
        for (way, got) in group.ways.iter().zip(&groups[number]) {
            let mut crossed = way.forward.clone();
            crossed.sort_unstable();
            crossed.dedup();
            crossed.into_iter().for_each(|link| links[link][kind].add_all(got));
        }
    }
    links
        .into_iter()
        .map(|[some, endless]| if endless.flows > 0.0 { endless } else { some })
        .collect()
}

/// `part` of `whole`, 0 of nothing.
fn rate(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A queue in per cent of its buffer, in the buffer's own unit.
fn percent(buffer: Buffer, packets: f64, bytes: Option<f64>) -> f64 {
    match buffer {
        Buffer::Unlimited => f64::NAN,
        Buffer::Packets(room) => 100.0 * packets / room as f64,
        Buffer::Bytes(room) => bytes.map_or(f64::NAN, |bytes| 100.0 * bytes / room as f64),
    }
}

fn summary(
    scenario: &Scenario,
    runs: &[Run],
    interrupt: Interrupt,
) -> Result<Columns, Interrupted> {
    let (mut protocol, mut link) = (StringBuilder::new(), StringBuilder::new());
    let mut seed = UInt64Builder::new();
    let [mut lost, mut data_packets, mut packets, mut events] =
        [(); 4].map(|()| UInt64Builder::new());
    let [mut utilisation, mut queue_mean_packets, mut queue_mean_percent] = numbers();
    let [mut queue_p90_packets, mut queue_p90_percent] = numbers();
    let [mut queue_max_packets, mut queue_max_percent] = numbers();
    let [mut drop_rate, mut mark_rate, mut jain, mut goodput_mbps] = numbers();
    let [mut rtt_mean_ms, mut cpu_seconds] = numbers();
    for run in runs {
        interrupt.check()?;
        let shares = shares(scenario.network_of(run.plan), &run.report.flows);
        for report in &run.report.links {
            let LinkReport { queue_p90_packets: p90, queue_max_packets: max, .. } = *report;
            let index = report.link.0 as usize;
            let buffer = run.plan.links.get(index).map_or(Buffer::Unlimited, |link| link.buffer);
            let shares = &shares[index];
            protocol.append_value(&run.plan.name);
            seed.append_value(run.seed);
            link.append_value(scenario.network.links.get(index).map_or("", |link| &link.name));
            utilisation.push(report.utilisation);
            queue_mean_packets.push(report.queue_mean_packets);
            let mean = percent(buffer, report.queue_mean_packets, Some(report.queue_mean_bytes));
            queue_mean_percent.push(mean);
            queue_p90_packets.push(p90);
            queue_p90_percent.push(percent(buffer, p90, report.queue_p90_bytes));
            queue_max_packets.push(max);
            queue_max_percent.push(percent(buffer, max, report.queue_max_bytes));
            drop_rate.push(rate(report.dropped, report.offered));
            mark_rate.push(rate(report.marked, report.offered));
            lost.append_value(report.lost);
            jain.push(shares.jain());
            goodput_mbps.push(shares.goodput_mbps());
            rtt_mean_ms.push(shares.rtt_mean_ms());
            data_packets.append_value(report.data_packets);
            packets.append_value(run.report.packets);
            events.append_value(run.report.events);
            cpu_seconds.push(run.cpu_seconds);
        }
    }
    Ok(columns![
        protocol,
        seed,
        link,
        utilisation,
        queue_mean_packets,
        queue_mean_percent,
        queue_p90_packets,
        queue_p90_percent,
        queue_max_packets,
        queue_max_percent,
        drop_rate,
        mark_rate,
        lost,
        jain,
        goodput_mbps,
        rtt_mean_ms,
        data_packets,
        packets,
        events,
        cpu_seconds,
    ])
}

fn numbers<const N: usize>() -> [Numbers; N] {
    std::array::from_fn(|_| Numbers::default())
}

/// What each station did on its channel, and what the channel was occupied with.
fn stations(
    scenario: &Scenario,
    runs: &[Run],
    interrupt: Interrupt,
) -> Result<Columns, Interrupted> {
    let [mut protocol, mut wlan, mut station] = [(); 3].map(|()| StringBuilder::new());
    let mut seed = UInt64Builder::new();
    let [mut attempts, mut retries, mut collisions, mut errors] =
        [(); 4].map(|()| UInt64Builder::new());
    let [mut delivered, mut retry_drops] = [(); 2].map(|()| UInt64Builder::new());
    let [mut airtime, mut channel_busy, mut channel_collided, mut channel_idle] = numbers();
    for run in runs {
        interrupt.check()?;
        let wlans = scenario.network_of(run.plan).wlans.iter().zip(&run.report.media);
        let all = wlans.flat_map(|(core, medium)| {
            core.stations.iter().map(move |station| (core, medium, station))
        });
        for ((core, medium, named), report) in all.zip(&run.report.stations) {
            protocol.append_value(&run.plan.name);
            seed.append_value(run.seed);
            wlan.append_value(&core.name);
            station.append_value(&named.name);
            airtime.push(report.airtime);
            attempts.append_value(report.attempts);
            retries.append_value(report.retries);
            collisions.append_value(report.collisions);
            errors.append_value(report.errors);
            delivered.append_value(report.delivered);
            retry_drops.append_value(report.retry_drops);
            channel_busy.push(medium.success + medium.collision + medium.error);
            channel_collided.push(medium.collision);
            channel_idle.push(medium.idle);
        }
    }
    Ok(columns![
        protocol,
        seed,
        wlan,
        station,
        airtime,
        attempts,
        retries,
        collisions,
        errors,
        delivered,
        retry_drops,
        channel_busy,
        channel_collided,
        channel_idle,
    ])
}

/// What each flow did; runs give away their flows.
fn flows(
    scenario: &Scenario,
    runs: &mut [Run],
    interrupt: Interrupt,
) -> Result<Columns, Interrupted> {
    let [mut protocol, mut flow, mut group] = [(); 3].map(|()| StringBuilder::new());
    let [mut seed, mut data_packets, mut retransmissions, mut timeouts] =
        [(); 4].map(|()| UInt64Builder::new());
    let [mut start_s, mut stop_s, mut goodput_mbps] = numbers();
    let [mut rtt_mean_ms, mut completion_s] = numbers();
    for run in runs {
        let groups = &scenario.network.groups;
        // Flows are numbered within their group, configured ones first.
        let mut next = vec![0_u64; groups.len()];
        for report in std::mem::take(&mut run.report.flows) {
            interrupt.check()?;
            let place = report.group.0 as usize;
            let number = next[place];
            next[place] += 1;
            protocol.append_value(&run.plan.name);
            seed.append_value(run.seed);
            flow.append_value(format!("{}/{number}", groups[place].name));
            group.append_value(&groups[place].name);
            start_s.push(report.start_s);
            stop_s.push(report.stop_s);
            goodput_mbps.push(report.goodput_mbps);
            data_packets.append_value(report.data_packets);
            retransmissions.append_value(report.retransmissions);
            timeouts.append_value(report.timeouts);
            rtt_mean_ms.push(report.rtt_mean_ms);
            completion_s.push(report.completion_s);
        }
    }
    Ok(columns![
        protocol,
        seed,
        flow,
        group,
        start_s,
        stop_s,
        goodput_mbps,
        data_packets,
        retransmissions,
        timeouts,
        rtt_mean_ms,
        completion_s,
    ])
}

/// Names of quantities in the dictionary: [`Quantity::ALL`], then what laws show.
#[derive(Default)]
struct Names {
    shown: Vec<String>,
}

impl Names {
    /// The number of each quantity of a run's samples: of those of links and flows, and of those that laws show.
    fn number(&mut self, series: &Series) -> impl Fn(Quantity, u16) -> i32 + use<> {
        let mut place = |name: &String| {
            let known = self.shown.iter().position(|other| other == name);
            known.unwrap_or_else(|| {
                self.shown.push(name.clone());
                self.shown.len() - 1
            })
        };
        let shown: Vec<usize> = series.shown.iter().map(&mut place).collect();
        move |quantity, name| {
            let place = match quantity {
                Quantity::Law => Quantity::ALL.len() + shown[usize::from(name)],
                other => other as usize,
            };
            place as i32
        }
    }

    fn words(self) -> impl Iterator<Item = String> {
        let shown = self.shown.into_iter().map(|name| format!("law.{name}"));
        Quantity::NAMES.iter().map(|name| (*name).to_owned()).chain(shown)
    }
}

fn dictionary(
    keys: Vec<i32>,
    words: impl Iterator<Item = String>,
    interrupt: Interrupt,
) -> Result<DictionaryArray<Int32Type>, Stopped> {
    interrupt.check()?;
    let words: StringArray = words.map(Some).collect();
    let column = DictionaryArray::try_new(Int32Array::from(keys), Arc::new(words));
    column.map_err(|error| Stopped::Failed(error.to_string()))
}

/// Samples of the only run of a scenario, in the columns of `series`.
pub(crate) fn sample_table(
    scenario: &Scenario,
    seed: u64,
    series: Series,
) -> Result<RecordBatch, Stopped> {
    let columns = series_columns(scenario, vec![(0, seed, series)], Interrupt::NEVER)?;
    let batch = RecordBatch::try_from_iter_with_nullable(nullable(columns));
    batch.map_err(|error| Stopped::Failed(error.to_string()))
}

/// Samples of the probes; each run's are given back once they are in the columns.
fn series(scenario: &Scenario, runs: Vec<Run>, interrupt: Interrupt) -> Result<Columns, Stopped> {
    let place = |run: &Run| {
        scenario.plans.iter().position(|plan| std::ptr::eq(plan, run.plan)).unwrap_or(0)
    };
    let runs = runs.into_iter().map(|run| (place(&run), run.seed, run.report.series)).collect();
    series_columns(scenario, runs, interrupt)
}

/// The same of variants by their place, with their seeds.
fn series_columns(
    scenario: &Scenario,
    runs: Vec<(usize, u64, Series)>,
    interrupt: Interrupt,
) -> Result<Columns, Stopped> {
    let rows: usize = runs.iter().map(|(.., series)| series.samples.len()).sum();
    // Entities: links, then configured flows, which are the same in every run.
    let links = scenario.network.links.len();
    let mut entities: Vec<String> =
        scenario.network.links.iter().map(|link| link.name.clone()).collect();
    for group in scenario.network.groups.iter().filter(|group| group.arrivals.is_none()) {
        entities.extend((0..group.count).map(|flow| format!("{}/{flow}", group.name)));
    }
    let [mut protocols, mut quantities, mut named] = [(); 3].map(|()| Vec::with_capacity(rows));
    let mut seed = UInt64Builder::with_capacity(rows);
    let mut time_s = Float64Builder::with_capacity(rows);
    let mut value = Numbers(Float64Builder::with_capacity(rows));
    let mut names = Names::default();
    for (plan, of, run) in runs {
        let number = names.number(&run);
        for sample in run.samples {
            interrupt.check()?;
            let offset = if sample.quantity.is_of_links() { 0 } else { links };
            protocols.push(plan as i32);
            seed.append_value(of);
            time_s.append_value(sample.time_s);
            quantities.push(number(sample.quantity, sample.shown));
            named.push((sample.entity as usize + offset) as i32);
            value.push(sample.value);
        }
    }
    let plans = scenario.plans.iter().map(|plan| plan.name.clone());
    let protocol = dictionary(protocols, plans, interrupt)?;
    let quantity = dictionary(quantities, names.words(), interrupt)?;
    let entity = dictionary(named, entities.into_iter(), interrupt)?;
    Ok(vec![
        ("protocol", Arc::new(protocol) as ArrayRef),
        ("seed", Arc::new(seed.finish())),
        ("time_s", Arc::new(time_s.finish())),
        ("quantity", Arc::new(quantity)),
        ("entity", Arc::new(entity)),
        ("value", Arc::new(value.finish())),
    ])
}
