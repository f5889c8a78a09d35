//! The scalable laws (paganini2003).

use super::{Columns, Model, diverged, numbers, packets, within};
use crate::problem::{Fault, KeyPath};
use crate::quantity::{Period, Rate, Size};
use knee_fluid::scalable::{Scalable, gain_margin};
use serde::Deserialize;

/// A link and its flows through time.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Prices {
    capacity: Rate,
    rtts: Vec<Period>,
    alpha: Option<f64>,
    bottlenecks: Option<f64>,
    utility: Option<f64>,
    eta: Option<f64>,
    packet: Option<Size>,
    start: Option<f64>,
    duration: Option<Period>,
    samples: Option<usize>,
}

/// One source's loop gain.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Margin {
    rtt: Period,
    alpha: Option<f64>,
    zero: Option<f64>,
    ratio: Option<f64>,
}

impl Model for Prices {
    fn solve(self) -> Result<Columns, Fault> {
        if self.rtts.is_empty() || self.rtts.len() > 1000 {
            return Err(KeyPath::root().key("rtts").fault("needs 1 to 1000 RTTs"));
        }
        let eta = self.eta.unwrap_or(0.64);
        let law = Scalable {
            capacity: packets(self.capacity, self.packet.unwrap_or(Size(1000))),
            rtts: self.rtts.iter().map(|rtt| rtt.0.seconds()).collect(),
            alpha: self.alpha.unwrap_or(0.37),
            bottlenecks: self.bottlenecks.unwrap_or(1.0),
            utility: self.utility.unwrap_or(50.0),
            eta: (eta > 0.0).then_some(eta),
        };
        let start = self.start.unwrap_or(0.5);
        let samples = self.samples.unwrap_or(1201);
        let duration = self.duration.map_or(60.0, |duration| duration.0.seconds());
        within("alpha", law.alpha, 1e-3, 100.0)?;
        within("bottlenecks", law.bottlenecks, 1.0, 1e3)?;
        within("utility", law.utility, 1e-6, 1e12)?;
        within("eta", eta, 0.0, 100.0)?;
        within("start", start, 1e-3, 1e3)?;
        within("samples", samples as f64, 2.0, 1e6)?;
        let shortest = law.rtts.iter().copied().fold(f64::INFINITY, f64::min);
        if duration * law.rtts.len() as f64 > 1e7 * shortest {
            let key = KeyPath::root().key("duration");
            return Err(key.fault("times flows must be at most 1e7 of the shortest RTT"));
        }
        let rows = law.run(start, duration, samples).map_err(diverged)?;
        let (_, rest) = law.equilibrium();
        let column = |i: usize| numbers(rows.iter().map(move |row| row[i]));
        Ok(vec![
            ("time_s", column(0)),
            ("price_s", column(1)),
            ("load", column(2)),
            ("price_at_rest_s", numbers(rows.iter().map(|_| rest))),
        ])
    }
}

impl Model for Margin {
    fn solve(self) -> Result<Columns, Fault> {
        let (alpha, zero) = (self.alpha.unwrap_or(1.0), self.zero.unwrap_or(0.2));
        let ratio = self.ratio.unwrap_or(1.0);
        within("alpha", alpha, 1e-6, 1e3)?;
        within("zero", zero, 1e-6, 1e6)?;
        within("ratio", ratio, 1e-6, 1e9)?;
        Ok(vec![("margin", numbers([gain_margin(self.rtt.0.seconds(), alpha, zero, ratio)]))])
    }
}
