//! BMCC's closed forms: convergence to fairness, start on an idle link, detection of overload.
//!
//! I. A. Qazi, "Explicit feedback congestion control", PhD thesis, University of Pittsburgh, 2010, sections
//! 4.3 and 4.4, equations (4.6)-(4.13).
//!
//! Differs from the thesis: data sent are integrals of the windows (the printed H(t) lacks C, and A(t) is not the
//! integral of the third phase). `E[R]` of (4.13) is infinite, since its terms fall as 1 / d; here it is `E[min(R, d + 1)]`.

use crate::effort::{Effort, Unsolved};
use knee_laws::senders::bmcc::beta;

/// beta(f) of (4.6), linear from `beta_max` at f = 1 to `beta_min` at f = u.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    /// beta at f = 1.
    pub beta_max: f64,
    /// beta for f >= u.
    pub beta_min: f64,
    /// u, the largest load factor that ADPM can signal.
    pub limit: f64,
}

/// Convergence of flows to equal shares on a loaded link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convergence {
    /// E\[m\] of (4.8).
    pub epochs: f64,
    /// E\[d_e\], RTTs.
    pub epoch_rtts: f64,
    /// r of (4.9), RTTs.
    pub rtts: f64,
}

impl Backoff {
    /// Means of beta and of ln(1/beta) for f uniform in `[1, 1 + spread]`, as in (4.10).
    fn means(&self, spread: f64) -> (f64, f64) {
        let range = self.limit - 1.0;
        let linear = spread.min(range);
        let last = beta(1.0 + linear, (self.beta_max, self.beta_min), self.limit);
        // The integral of -ln b is b - b ln b.
        let area = |b: f64| b - b * libm::log(b);
        let log = if self.beta_max - last < 1e-9 {
            -libm::log(self.beta_max)
        } else {
            (area(self.beta_max) - area(last)) / (self.beta_max - last)
        };
        let beyond = 1.0 - linear / spread;
        let mean = (1.0 - beyond) * (self.beta_max + last) / 2.0 + beyond * self.beta_min;
        (mean, (1.0 - beyond) * log - beyond * libm::log(self.beta_min))
    }

    /// (4.7)-(4.10): `flows` on a BDP of `bdp` packets, until a new flow is within `rest` of a share of the others.
    pub fn convergence(&self, bdp: f64, flows: f64, alpha: f64, rest: f64) -> Convergence {
        let (mean, log) = self.means(2.0 * flows / bdp);
        let epochs = -libm::log(rest) / log;
        let epoch_rtts = bdp * (1.0 - mean) / (flows * alpha);
        Convergence { epochs, epoch_rtts, rtts: epochs * epoch_rtts }
    }
}

/// A flow alone on an idle link, in the limit of large BDPs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Startup {
    /// C T, packets.
    pub bdp: f64,
    /// Growth factor of the first phase for each RTT; the thesis rounds `1 + kappa_2 (1 - eta_0) / eta_0` = 2.98 to 3.
    pub growth: f64,
    /// kappa_2.
    pub kappa: f64,
    /// eta_0, where the second phase begins.
    pub first: f64,
    /// eta, where the third begins; 1 for new flows, which stay in MI until f first reaches 1.
    pub second: f64,
    /// alpha, packets an RTT.
    pub alpha: f64,
}

impl Startup {
    /// t_1 and t_2, RTTs.
    pub fn phases(&self) -> (f64, f64) {
        let first = libm::log(self.first * self.bdp) / libm::log(self.growth);
        let second = libm::log((1.0 - self.first) / (1.0 - self.second)) / self.kappa;
        (first, first + second)
    }

    /// Window in packets after `rtts` RTTs, (4.11) and (4.12).
    pub fn window(&self, rtts: f64) -> f64 {
        let (first, second) = self.phases();
        if rtts <= first {
            libm::pow(self.growth, rtts)
        } else if rtts <= second {
            self.bdp * (1.0 - (1.0 - self.first) * libm::exp(-self.kappa * (rtts - first)))
        } else {
            self.second * self.bdp + self.alpha * (rtts - second)
        }
    }

    /// Packets sent until then.
    pub fn sent(&self, rtts: f64) -> f64 {
        let (first, second) = self.phases();
        let climb = (libm::pow(self.growth, rtts.min(first)) - 1.0) / libm::log(self.growth);
        let concave = (rtts.min(second) - first).max(0.0);
        let missing = (1.0 - self.first) * (1.0 - libm::exp(-self.kappa * concave)) / self.kappa;
        let linear = (rtts - second).max(0.0);
        let last = if linear > 0.0 {
            self.second * self.bdp * linear + self.alpha * linear * linear / 2.0
        } else {
            0.0
        };
        climb + self.bdp * (concave - missing) + last
    }
}

/// SACK's window in the same setting: it doubles up to `limit` packets.
pub fn sack_window(rtts: f64, limit: f64) -> f64 {
    libm::exp2(rtts).min(limit)
}

/// VCP's window in the same setting: `1.0625^t` up to 0.8 of the BDP, then a packet an RTT more.
pub fn vcp_window(rtts: f64, bdp: f64) -> f64 {
    let turn = libm::log(0.8 * bdp) / libm::log(1.0625);
    if rtts <= turn { libm::pow(1.0625, rtts) } else { 0.8 * bdp + (rtts - turn) }
}

/// Detection of overload within one t_p, (4.13).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detection {
    /// P(R > d): it remains undetected after the `d = k / N + 1` packets of a t_p.
    pub missed: f64,
    /// E\[min(R, d + 1)\], packets.
    pub packets: f64,
}

/// (4.13) for a per-flow BDP of `share` packets (k / N) and ADPM up to `limit` (u).
///
/// # Errors
/// If it takes too much work.
pub fn detection(share: f64, limit: f64, effort: &Effort) -> Result<Detection, Unsolved> {
    // p_f is uniform in (0, D), D = F / (2 (u - 1)) with F = 2 N / k; ADPM marks at most half of the packets.
    let greatest = (1.0 / (share * (limit - 1.0))).min(0.5);
    let missed = |packets: f64| {
        (1.0 - libm::pow(1.0 - greatest, packets + 1.0)) / (greatest * (packets + 1.0))
    };
    let most = share + 1.0;
    let mut packets = 0.0;
    for sent in 0..=most as u64 {
        effort.spend(5)?;
        packets += missed(sent as f64);
    }
    Ok(Detection { missed: missed(most), packets })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BMCC: Backoff = Backoff { beta_max: 0.875, beta_min: 0.65, limit: 1.2 };
    const IDLE: Startup =
        Startup { bdp: 50000.0, growth: 3.0, kappa: 0.35, first: 0.15, second: 0.75, alpha: 1.0 };

    #[test]
    fn nine_rounds_for_70_per_cent() {
        let fixed = Backoff { beta_min: 0.875, ..BMCC };
        let found = fixed.convergence(5000.0, 2.0, 1.0, 0.3);
        assert!((found.epochs - 9.0).abs() < 0.05, "{found:?}");
        // An epoch is k (1 - beta) / (N alpha).
        assert!((found.epoch_rtts - 312.5).abs() < 1e-9);
    }

    #[test]
    fn means_of_beta_are_the_thesis_s() {
        // beta_max - N Delta_beta / (k (u - 1)) and k (1 - beta_max) / (N alpha) + Delta_beta / (alpha (u - 1)).
        let found = BMCC.convergence(1000.0, 50.0, 1.0, 0.2);
        assert!((found.epoch_rtts - (20.0 * 0.125 + 0.225 / 0.2)).abs() < 1e-9, "{found:?}");
        // E[ln(1/beta)] by the trapezium rule.
        let steps = 100_000;
        let sum: f64 = (0..steps)
            .map(|i| 0.875 - 0.225 * 0.1 * (f64::from(i) + 0.5) / f64::from(steps) / 0.2)
            .map(|beta| -libm::log(beta))
            .sum();
        let epochs = libm::log(5.0) / (sum / f64::from(steps));
        assert!((found.epochs / epochs - 1.0).abs() < 1e-6, "{found:?} {epochs}");
    }

    #[test]
    fn more_flows_converge_faster_and_larger_bdps_slower() {
        for bdp in [1000.0, 5000.0, 10000.0] {
            let rtts = |flows: f64| BMCC.convergence(bdp, flows, 1.0, 0.2).rtts;
            assert!(rtts(120.0) < rtts(30.0) && rtts(30.0) < rtts(2.0));
            assert!(BMCC.convergence(2.0 * bdp, 30.0, 1.0, 0.2).rtts > rtts(30.0));
        }
    }

    #[test]
    fn a_new_flow_fills_2_gbps_before_6_5_s() {
        let new = Startup { second: 1.0 - 1e-6, ..IDLE };
        let window = new.window(6.5 / 0.2);
        assert!((49500.0..=50000.0).contains(&window), "{window}");
        // With the third phase from eta = 0.75 on, as (4.11)-(4.12) print it, it does not.
        assert!((37500.0..37530.0).contains(&IDLE.window(6.5 / 0.2)));
        // In the first 2 s its window exceeds SACK's.
        assert!(
            (1..=10).all(|rtts| IDLE.window(f64::from(rtts)) > sack_window(f64::from(rtts), 1e5))
        );
    }

    #[test]
    fn the_model_of_vcp_gives_21_packets_where_the_thesis_has_475() {
        let window = vcp_window(50.0, 50000.0);
        assert!((20.0..22.0).contains(&window), "{window}");
    }

    #[test]
    fn data_sent_are_the_integral_of_the_window() {
        for rtts in [3.0, 8.0, 10.0, 11.0, 40.0] {
            let steps = 200_000;
            let step = rtts / f64::from(steps);
            let sum: f64 =
                (0..steps).map(|i| IDLE.window((f64::from(i) + 0.5) * step) * step).sum();
            assert!((IDLE.sent(rtts) / sum - 1.0).abs() < 1e-4, "{rtts} {} {sum}", IDLE.sent(rtts));
        }
    }

    #[test]
    fn overload_is_rarely_missed_and_found_in_time_linear_in_the_bdp() {
        for share in [25.0, 100.0, 300.0, 1000.0] {
            let found = detection(share, 1.2, &Effort::free()).unwrap();
            assert!((0.15..0.2).contains(&found.missed), "{share} {found:?}");
        }
        let packets = |share| detection(share, 1.2, &Effort::free()).unwrap().packets;
        let slope = packets(1000.0) / packets(500.0);
        assert!((1.9..2.1).contains(&slope), "{slope}");
    }
}
