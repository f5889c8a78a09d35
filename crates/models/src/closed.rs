//! Closed forms of MLCP and BMCC (qazi2010).

use crate::model::{Columns, Model, NoColumns, numbers, packets, wholes, within};
use knee_fluid::bmcc::{Backoff, Startup, detection, sack_window, vcp_window};
use knee_fluid::effort::Effort;
use knee_fluid::mlcp::Climb;
use knee_input::problem::KeyPath;
use knee_input::quantity::{Period, Rate, Size};
use serde::Deserialize;

/// MLCP's climb to a target utilisation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MlcpRtts {
    capacity: Rate,
    rtt: Period,
    packet: Option<Size>,
    bits: Option<Vec<u32>>,
    initial_window: Option<f64>,
    target: Option<f64>,
    kappa: Option<f64>,
}

/// BMCC's convergence to equal shares.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BmccEpochs {
    bdp: f64,
    flows: f64,
    convergence: Option<f64>,
    beta_max: Option<f64>,
    beta_min: Option<f64>,
    limit: Option<f64>,
    alpha: Option<f64>,
}

/// BMCC's start on an idle link.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BmccStartup {
    capacity: Rate,
    rtt: Period,
    packet: Option<Size>,
    growth: Option<f64>,
    kappa: Option<f64>,
    eta0: Option<f64>,
    eta: Option<f64>,
    alpha: Option<f64>,
    duration: Option<Period>,
    samples: Option<usize>,
}

/// BMCC's detection of overload.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BmccDetection {
    flow_bdp: f64,
    limit: Option<f64>,
}

impl Model for MlcpRtts {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        let bits = self.bits.unwrap_or_else(|| vec![2, 3, 4, 15]);
        if !bits.iter().all(|bits| (2..=20).contains(bits)) {
            return Err(KeyPath::root().key("bits").fault("must be from 2 to 20 each").into());
        }
        let climb = Climb {
            bdp: packets(self.capacity, self.packet.unwrap_or(Size(1000))) * self.rtt.0.seconds(),
            initial_window: self.initial_window.unwrap_or(1.0),
            target: self.target.unwrap_or(0.8),
            kappa: self.kappa.unwrap_or(0.35),
        };
        within("initial_window", climb.initial_window, 1e-3, 1e9)?;
        within("target", climb.target, 0.01, 0.99)?;
        within("kappa", climb.kappa, 1e-4, 100.0)?;
        let rtts =
            bits.iter().map(|&bits| climb.rtts(bits, effort)).collect::<Result<Vec<_>, _>>()?;
        Ok(vec![
            ("bits", wholes(bits.iter().map(|&bits| u64::from(bits)))),
            ("levels", wholes(bits.iter().map(|&bits| (1 << bits) - 3))),
            ("rtts", numbers(rtts)),
        ])
    }
}

impl Model for BmccEpochs {
    fn solve(self, _: &Effort) -> Result<Columns, NoColumns> {
        let backoff = Backoff {
            beta_max: self.beta_max.unwrap_or(0.875),
            beta_min: self.beta_min.unwrap_or(0.65),
            limit: self.limit.unwrap_or(1.2),
        };
        let (convergence, alpha) = (self.convergence.unwrap_or(0.7), self.alpha.unwrap_or(1.0));
        within("bdp", self.bdp, 1.0, 1e12)?;
        within("flows", self.flows, 1.0, 1e9)?;
        within("convergence", convergence, 0.01, 0.9999)?;
        within("beta_max", backoff.beta_max, 0.01, 0.9999)?;
        within("beta_min", backoff.beta_min, 0.01, backoff.beta_max)?;
        within("limit", backoff.limit, 1.001, 100.0)?;
        within("alpha", alpha, 1e-6, 1e6)?;
        let found = backoff.convergence(self.bdp, self.flows, alpha, 1.0 - convergence);
        Ok(vec![
            ("epochs", numbers([found.epochs])),
            ("epoch_rtts", numbers([found.epoch_rtts])),
            ("convergence_rtts", numbers([found.rtts])),
        ])
    }
}

impl Model for BmccStartup {
    fn solve(self, _: &Effort) -> Result<Columns, NoColumns> {
        let rtt = self.rtt.0.seconds();
        let start = Startup {
            bdp: packets(self.capacity, self.packet.unwrap_or(Size(1000))) * rtt,
            growth: self.growth.unwrap_or(3.0),
            kappa: self.kappa.unwrap_or(0.35),
            first: self.eta0.unwrap_or(0.15),
            second: self.eta.unwrap_or(0.75),
            alpha: self.alpha.unwrap_or(1.0),
        };
        within("growth", start.growth, 1.001, 100.0)?;
        within("kappa", start.kappa, 1e-4, 100.0)?;
        within("eta0", start.first, 0.01, 0.99)?;
        within("eta", start.second, start.first, 1.0)?;
        within("alpha", start.alpha, 1e-6, 1e6)?;
        if start.first * start.bdp < 1.0 {
            let fault = "the BDP must be at least 1 / eta0 packets: the model is of large windows";
            return Err(KeyPath::root().fault(fault).into());
        }
        let samples = self.samples.unwrap_or(1001);
        within("samples", samples as f64, 2.0, 1e6)?;
        let rtts = self.duration.map_or(10.0, |duration| duration.0.seconds()) / rtt;
        let times = || (0..samples).map(|i| rtts * i as f64 / (samples - 1) as f64);
        Ok(vec![
            ("time_s", numbers(times().map(|time| time * rtt))),
            ("bmcc_packets", numbers(times().map(|time| start.window(time)))),
            ("bmcc_sent_packets", numbers(times().map(|time| start.sent(time)))),
            ("vcp_packets", numbers(times().map(|time| vcp_window(time, start.bdp)))),
            ("sack_packets", numbers(times().map(|time| sack_window(time, 2.0 * start.bdp)))),
        ])
    }
}

impl Model for BmccDetection {
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns> {
        let limit = self.limit.unwrap_or(1.2);
        within("flow_bdp", self.flow_bdp, 1.0, 1e7)?;
        within("limit", limit, 1.001, 100.0)?;
        let found = detection(self.flow_bdp, limit, effort)?;
        Ok(vec![("missed", numbers([found.missed])), ("packets", numbers([found.packets]))])
    }
}
