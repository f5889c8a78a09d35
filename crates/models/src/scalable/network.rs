//! Networks of the scalable laws: through time, at rest, and linearised there.

use super::source::{
    Course, ETA, Frequencies, Margins, Rest, gain, margins, seconds, solution, utility, zero,
};
use crate::model::{
    Columns, Links, Model, NoColumns, gaps, numbers, packets, wholes, within, words,
};
use knee_fluid::effort::Effort;
use knee_fluid::nyquist::Loop;
use knee_fluid::polar::size;
use knee_fluid::roots::log_grid;
use knee_fluid::scalable::linear::Linear;
use knee_fluid::scalable::network::{Flow, Hop, Network, Sources};
use knee_input::problem::{Fault, KeyPath};
use knee_input::quantity::{Delay, Period, Rate, Size};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The most links and flows.
const MOST: usize = 200;

/// Links, and flows over them.
#[derive(Deserialize)]
pub(crate) struct Routes {
    links: BTreeMap<String, Rate>,
    routes: Vec<Vec<String>>,
    rtts: Vec<Period>,
    forward: Option<Vec<Vec<Delay>>>,
    bottlenecks: Option<f64>,
    alpha: Option<f64>,
    max_rates: Option<Vec<Rate>>,
    eta: Option<f64>,
    rtt_bound: Option<Period>,
    weight: Option<f64>,
    fairness: Option<f64>,
    pivot: Option<Period>,
    packet: Option<Size>,
}

impl Routes {
    /// The links' names, the network, and the number of Mbps of a packet a second.
    fn network(&self) -> Result<(Vec<String>, Network, f64), Fault> {
        let packet = self.packet.unwrap_or(Size(1000));
        let links = Links::new(&self.links, &self.routes, packet)?;
        let root = KeyPath::root;
        if links.names.len() > MOST || self.routes.len() > MOST {
            return Err(root().fault(format!("at most {MOST} links and {MOST} flows")));
        }
        let rtts = seconds(&self.rtts)?;
        if rtts.len() != self.routes.len() {
            let said = format!("has {} RTTs for {} flows", rtts.len(), self.routes.len());
            return Err(root().key("rtts").fault(said));
        }
        let forward = delays(self.forward.as_deref(), &links.topology.routes, &rtts)?;
        if let Some(bound) = self.bottlenecks {
            within("bottlenecks", bound, 1.0, 1e3)?;
        }
        let flows = rtts.iter().zip(&links.topology.routes).zip(forward);
        let flows = flows.map(|((&rtt, route), delays)| {
            let hop = |(&link, forward)| Hop { link, forward };
            let hops = route.iter().zip(delays).map(hop).collect();
            Flow { hops, rtt, bottlenecks: self.bottlenecks.unwrap_or(route.len() as f64) }
        });
        let flows = flows.collect();
        let sources = match &self.max_rates {
            None => Sources::Dynamic {
                utility: utility(self.weight, self.fairness, self.pivot)?,
                zero: zero(self.eta.unwrap_or(ETA), &rtts, self.rtt_bound)?,
            },
            Some(rates) => {
                let key = root().key("max_rates");
                if rates.len() != rtts.len() {
                    let said = format!("has {} rates for {} flows", rates.len(), rtts.len());
                    return Err(key.fault(said));
                }
                let dynamic = [self.eta, self.weight, self.fairness].iter().any(Option::is_some);
                if dynamic || self.rtt_bound.is_some() || self.pivot.is_some() {
                    return Err(key.fault(
                        "is of the static law (6), which has no eta, rtt_bound, weight, fairness or pivot",
                    ));
                }
                let max_rates = rates.iter().map(|&rate| packets(rate, packet)).collect();
                Sources::Static { max_rates }
            }
        };
        let capacities = links.topology.capacities;
        let network = Network { capacities, flows, alpha: gain(self.alpha)?, sources };
        Ok((links.names, network, 8e-6 * packet.0 as f64))
    }
}

/// The forward delays of each flow's hops; by default they are spread evenly over the first half of its RTT.
fn delays(
    given: Option<&[Vec<Delay>]>,
    routes: &[Vec<usize>],
    rtts: &[f64],
) -> Result<Vec<Vec<f64>>, Fault> {
    let Some(given) = given else {
        let even = |(route, rtt): (&Vec<usize>, &f64)| {
            (0..route.len()).map(|k| rtt / 2.0 * k as f64 / route.len() as f64).collect()
        };
        return Ok(routes.iter().zip(rtts).map(even).collect());
    };
    let key = KeyPath::root().key("forward");
    if given.len() != routes.len() {
        return Err(key.fault(format!("has {} lists for {} flows", given.len(), routes.len())));
    }
    let mut all = Vec::new();
    for (i, (list, route)) in given.iter().zip(routes).enumerate() {
        let delays: Vec<f64> = list.iter().map(|delay| delay.0.seconds()).collect();
        if delays.len() != route.len() {
            let said = format!("has {} delays for {} links", delays.len(), route.len());
            return Err(key.index(i).fault(said));
        }
        if delays.iter().any(|&delay| delay >= rtts[i]) {
            return Err(key.index(i).fault("each must be below the flow's RTT"));
        }
        all.push(delays);
    }
    Ok(all)
}

/// Rows of links and then of flows, for each of some instants.
fn rows(
    names: &[String],
    flows: usize,
    instants: usize,
    columns: [(&'static str, Vec<f64>); 3],
) -> Columns {
    let links = || names.iter().map(|name| Some(name.as_str()));
    let each = |_| links().chain(std::iter::repeat_n(None, flows));
    let number = |_| {
        let of_links = std::iter::repeat_n(None, names.len());
        of_links.chain((0..flows as u64).map(Some))
    };
    let [a, b, c] = columns.map(|(name, values)| (name, gaps(values)));
    vec![
        ("link", words((0..instants).flat_map(each))),
        ("flow", wholes((0..instants).flat_map(number))),
        a,
        b,
        c,
    ]
}

impl Model for (Routes, Course) {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        let (names, network, mbps) = self.0.network()?;
        let hops = network.flows.iter().flat_map(|flow| {
            let delay = |a: &Hop, b: &Hop| flow.rtt + a.forward - b.forward;
            flow.hops.iter().flat_map(move |a| flow.hops.iter().map(move |b| delay(a, b)))
        });
        let work = hops.fold((0, f64::INFINITY), |(n, least), delay| (n + 1, delay.min(least)));
        let (start, duration, samples) = self.1.length(work)?;
        let flows = network.flows.len();
        if (names.len() + flows) * samples > 10_000_000 {
            let key = KeyPath::root().key("samples");
            return Err(key.fault("times links and flows must be at most 1e7").into());
        }
        let found = solution(&network, start, (duration, samples), effort)?;
        let (mut times, mut rates, mut prices, mut loads) = (vec![], vec![], vec![], vec![]);
        for sample in &found {
            times.resize(times.len() + names.len() + flows, sample.time);
            let arrivals = sample.loads.iter().zip(&network.capacities).map(|(load, c)| load * c);
            rates.extend(arrivals.chain(sample.rates.iter().copied()).map(|rate| rate * mbps));
            let heard = network
                .flows
                .iter()
                .map(|flow| flow.hops.iter().map(|hop| sample.prices[hop.link]).sum());
            prices.extend(sample.prices.iter().copied().chain(heard));
            loads.extend(sample.loads.iter().copied().chain(std::iter::repeat_n(f64::NAN, flows)));
        }
        let parts = [("rate_mbps", rates), ("price_s", prices), ("load", loads)];
        let mut columns = rows(&names, flows, samples, parts);
        columns.insert(0, ("time_s", numbers(times)));
        Ok(columns)
    }
}

impl Model for (Routes, Rest) {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        let (names, network, mbps) = self.0.network()?;
        let rest = network.rest(effort)?;
        let arrivals = rest.loads.iter().zip(&network.capacities).map(|(load, c)| load * c);
        let rates = arrivals.chain(rest.rates.iter().copied()).map(|rate| rate * mbps).collect();
        let flows = rest.rates.len();
        let prices = rest.prices.iter().chain(&rest.heard).copied().collect();
        let loads =
            rest.loads.iter().copied().chain(std::iter::repeat_n(f64::NAN, flows)).collect();
        Ok(rows(&names, flows, 1, [("rate_mbps", rates), ("price_s", prices), ("load", loads)]))
    }
}

impl Model for (Routes, Margins) {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        let (_, network, _) = self.0.network()?;
        let linear = Linear::new(&network, &network.rest(effort)?);
        let mut columns = margins(linear.margins(effort)?);
        columns.push(("bottlenecks", wholes([Some(linear.bottlenecks() as u64)])));
        Ok(columns)
    }
}

impl Model for (Routes, Frequencies) {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        let (_, network, _) = self.0.network()?;
        let linear = Linear::new(&network, &network.rest(effort)?);
        let rtts = || network.flows.iter().map(|flow| flow.rtt);
        let (least, most) = (rtts().fold(f64::INFINITY, f64::min), rtts().fold(0.0, f64::max));
        let usual = || log_grid(1e-2 / most, 20.0 / least, 2001);
        let frequencies = self.1.or(usual, 100_000)?;
        let (mut at, mut locus, mut re, mut im) = (vec![], vec![], vec![], vec![]);
        for w in frequencies {
            effort.spend(linear.work())?;
            let mut loci = linear.loci(w);
            loci.sort_by(|a, b| size(*b).total_cmp(&size(*a)));
            for (i, each) in loci.into_iter().enumerate() {
                at.push(w);
                locus.push(Some(i as u64));
                re.push(each.re);
                im.push(each.im);
            }
        }
        Ok(vec![
            ("frequency_rad_s", numbers(at)),
            ("locus", wholes(locus)),
            ("re", gaps(re)),
            ("im", gaps(im)),
        ])
    }
}
