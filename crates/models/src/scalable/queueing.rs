//! Queueing delays as prices over one link.

use super::source::{Course, ETA, Rest, gain, seconds, utility, zero};
use crate::model::{Columns, Model, NoColumns, numbers, packets, unsolved, wholes};
use knee_fluid::effort::Effort;
use knee_fluid::scalable::queueing::{Exponent, Flow, Queueing};
use knee_input::problem::{Fault, KeyPath};
use knee_input::quantity::{Delay, Period, Rate, Size};
use serde::Deserialize;

/// One link, and flows over it.
#[derive(Deserialize)]
pub(crate) struct Queue {
    capacity: Rate,
    rtts: Vec<Period>,
    errors: Option<Vec<Delay>>,
    exponent: Option<String>,
    alpha: Option<f64>,
    bottlenecks: Option<f64>,
    eta: Option<f64>,
    rtt_bound: Option<Period>,
    weight: Option<f64>,
    fairness: Option<f64>,
    pivot: Option<Period>,
    packet: Option<Size>,
}

impl Queue {
    /// The link, and the number of Mbps of a packet a second.
    fn link(&self) -> Result<(Queueing, f64), Fault> {
        let packet = self.packet.unwrap_or(Size(1000));
        let rtts = seconds(&self.rtts)?;
        let bottlenecks = self.bottlenecks.unwrap_or(1.0);
        crate::model::within("bottlenecks", bottlenecks, 1.0, 1e3)?;
        let errors = match &self.errors {
            None => vec![0.0; rtts.len()],
            Some(errors) => errors.iter().map(|error| error.0.seconds()).collect(),
        };
        if errors.len() != rtts.len() {
            let said = format!("has {} errors for {} flows", errors.len(), rtts.len());
            return Err(KeyPath::root().key("errors").fault(said));
        }
        let flow = |(&base, &error)| Flow { base, error };
        Ok((
            Queueing {
                capacity: packets(self.capacity, packet),
                flows: rtts.iter().zip(&errors).map(flow).collect(),
                alpha: gain(self.alpha)? / bottlenecks,
                zero: zero(self.eta.unwrap_or(ETA), &rtts, self.rtt_bound)?,
                utility: utility(self.weight, self.fairness, self.pivot)?,
                exponent: exponent(self.exponent.as_deref())?,
            },
            8e-6 * packet.0 as f64,
        ))
    }
}

/// The exponent, by the words and with the default of `scalable-delay`.
fn exponent(word: Option<&str>) -> Result<Exponent, Fault> {
    const WORDS: [&str; 2] = ["window", "rate"];
    match word {
        None | Some("window") => Ok(Exponent::Window),
        Some("rate") => Ok(Exponent::Rate),
        Some(other) => {
            let fault = KeyPath::root().key("exponent").fault("there is no such exponent");
            Err(fault.among("there are", other, WORDS.into_iter()))
        }
    }
}

impl Model for (Queue, Course) {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        let (link, mbps) = self.0.link()?;
        let flows = link.flows.len();
        let shortest = link.flows.iter().map(|flow| flow.base).fold(f64::INFINITY, f64::min);
        // Each flow finds the queueing delay that it measures, by some fifty steps.
        let work = (10 * flows, shortest);
        let (start, duration, samples) = self.1.length(work)?;
        let rows = link.run(start, (duration, samples), effort).map_err(|error| {
            let remedy =
                "a start nearer to 1, or less alpha, weight, fairness or eta, may have one";
            unsolved(error, || remedy.to_owned())
        })?;
        let each = || rows.iter().flat_map(|row| row.rates.iter().map(move |rate| (row, rate)));
        Ok(vec![
            ("time_s", numbers(each().map(|(row, _)| row.time))),
            ("flow", wholes(rows.iter().flat_map(|_| (0..flows as u64).map(Some)))),
            ("rate_mbps", numbers(each().map(|(_, rate)| rate * mbps))),
            ("queue_s", numbers(each().map(|(row, _)| row.queue))),
        ])
    }
}

impl Model for (Queue, Rest) {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        let (link, mbps) = self.0.link()?;
        let (queue, rates) = link.rest(effort)?;
        let fair = link.capacity / rates.len() as f64;
        Ok(vec![
            ("flow", wholes((0..rates.len() as u64).map(Some))),
            ("rate_mbps", numbers(rates.iter().map(|rate| rate * mbps))),
            ("share", numbers(rates.iter().map(|rate| rate / fair))),
            ("queue_s", numbers(rates.iter().map(|_| queue))),
        ])
    }
}
