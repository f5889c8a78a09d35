//! Saturation throughput of 802.11's DCF in closed form.
//!
//! G. Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination Function", IEEE JSAC 18(3), 2000: n
//! stations always have something to send. Each transmits in a slot with probability tau and collides with probability p,
//! independent of earlier collisions:
//!   (7) tau = 2 (1 - 2p) / ((1 - 2p)(W + 1) + p W (1 - (2p)^m)),   W = CWmin + 1, window W 2^m at most
//!   (9) p = 1 - (1 - tau)^(n - 1)
//!   (10), (11) P_tr = 1 - (1 - tau)^n,   P_s = n tau (1 - tau)^(n - 1) / P_tr
//!   (13) S = P_s P_tr E[P] / ((1 - P_tr) sigma + P_tr P_s T_s + P_tr (1 - P_s) T_c)
//! With a retry limit of r transmissions for each packet (H. Wu et al., INFOCOM 2002, in the form of mean values):
//!   tau = sum_{i<r} p^i / sum_{i<r} p^i (1 + b_i),   b_i = W_i / 2, W_i the window after i failures
//! If the channel also loses frames with probability e, a transmission fails with probability 1 - (1 - p)(1 - e).
//!
//! The caller gives T_s and T_c: Bianchi's T_c ends DIFS after a collision, the standard's EIFS after it.

use crate::roots::bisect;

/// A contention window and its limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Windows {
    /// CWmin: a first backoff is uniform in 0 to this.
    pub cw_min: f64,
    /// CWmax.
    pub cw_max: f64,
    /// The most transmissions of a packet; `None`: no limit.
    pub retry_limit: Option<u32>,
}

/// The fixed point of saturated stations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedPoint {
    /// Probability that a station transmits in a slot.
    pub tau: f64,
    /// Probability that a transmission collides.
    pub p: f64,
    /// Probability that a transmission fails, by a collision or an error.
    pub failure: f64,
    /// Probability that a packet is given up.
    pub drop: f64,
}

/// Durations in s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// A slot, sigma.
    pub slot: f64,
    /// A success, with the silence after it.
    pub success: f64,
    /// A collision, with the silence after it.
    pub collision: f64,
    /// A frame with errors, with the silence after it.
    pub error: f64,
}

impl Windows {
    /// Mean backoff after this many failures, in slots.
    fn mean(&self, failures: u32) -> f64 {
        let mut window = self.cw_min + 1.0;
        for _ in 0..failures {
            window = (2.0 * window).min(self.cw_max + 1.0);
        }
        (window - 1.0) / 2.0
    }

    /// Probability to transmit in a slot, if each transmission fails with this probability.
    fn tau(&self, failure: f64) -> f64 {
        // From the largest window on all backoffs are equal, and the rest of the sum is a geometric series.
        let widest = (0..64).find(|n| self.mean(*n) >= self.cw_max / 2.0).unwrap_or(64);
        let limit = self.retry_limit.unwrap_or(u32::MAX);
        let (mut attempts, mut slots, mut weight) = (0.0, 0.0, 1.0);
        for failures in 0..widest.min(limit) {
            attempts += weight;
            slots += weight * (1.0 + self.mean(failures));
            weight *= failure;
        }
        let rest = match limit {
            u32::MAX => weight / (1.0 - failure),
            limit => {
                (widest.min(limit)..limit)
                    .fold((0.0, weight), |(sum, weight), _| (sum + weight, weight * failure))
                    .0
            }
        };
        attempts += rest;
        slots += rest * (1.0 + self.mean(widest));
        attempts / slots
    }
}

/// (7) and (9), for `stations` that always have something to send over a channel with frame errors of probability
/// `errors`. `None` without stations, or if all frames have errors and there is no retry limit.
pub fn fixed_point(stations: u32, windows: &Windows, errors: f64) -> Option<FixedPoint> {
    if stations == 0 || !(0.0..=1.0).contains(&errors) {
        return None;
    }
    if windows.retry_limit.is_none() && errors >= 1.0 {
        return None;
    }
    let others = f64::from(stations - 1);
    let failure_of = |p: f64| 1.0 - (1.0 - p) * (1.0 - errors);
    let collides = |tau: f64| 1.0 - libm::pow(1.0 - tau, others);
    // A station transmits less if it fails more, so the p that follows from tau(p) falls as p grows.
    let p = match stations {
        1 => 0.0,
        _ => bisect(0.0, 1.0 - 1e-12, |p| p - collides(windows.tau(failure_of(p)))),
    };
    let failure = failure_of(p);
    let drop = windows.retry_limit.map_or(0.0, |limit| libm::pow(failure, f64::from(limit)));
    Some(FixedPoint { tau: windows.tau(failure), p, failure, drop })
}

/// (13): bits a second of all stations together, for packets of `bits` bits.
pub fn throughput(
    stations: u32,
    bits: f64,
    errors: f64,
    (point, times): (&FixedPoint, &Times),
) -> f64 {
    let n = f64::from(stations);
    let FixedPoint { tau, .. } = *point;
    let silent = libm::pow(1.0 - tau, n);
    let alone = n * tau * libm::pow(1.0 - tau, n - 1.0);
    let collision = (1.0 - silent - alone).max(0.0);
    let slot = silent * times.slot
        + alone * ((1.0 - errors) * times.success + errors * times.error)
        + collision * times.collision;
    alone * (1.0 - errors) * bits / slot
}

#[cfg(test)]
mod tests {
    use super::*;

    const B: Windows = Windows { cw_min: 31.0, cw_max: 1023.0, retry_limit: None };

    /// The rows of a model in reference/wlan/bianchi.csv: n, packet bytes, tau, p, Mbps, drops, T_s and T_c in us.
    fn rows(model: &str) -> Vec<[f64; 8]> {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reference/wlan/bianchi.csv");
        let text = std::fs::read_to_string(file).expect("the reference is there");
        let rows = text.lines().filter(|line| line.split(',').next() == Some(model));
        rows.map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            [1, 3, 4, 5, 6, 8, 9, 10].map(|cell| cells[cell].parse().expect("a number"))
        })
        .collect()
    }

    #[test]
    fn models_computed_elsewhere_are_met() {
        let seven = Windows { retry_limit: Some(7), ..B };
        for (model, windows) in [
            ("bianchi_W32_m5", B),
            ("bianchi_W32_m5_eifs", B),
            ("retry7_W32", seven),
            ("retry7_W32_eifs", seven),
        ] {
            let rows = rows(model);
            assert_eq!(rows.len(), 16, "{model}");
            for [n, bytes, tau, p, mbps, drop, success, collision] in rows {
                let point = fixed_point(n as u32, &windows, 0.0).expect("there are stations");
                assert!((point.tau - tau).abs() < 1e-6 && (point.p - p).abs() < 1e-5, "{point:?}");
                assert!((point.drop - drop).abs() <= 1e-3 * drop + 1e-12, "{point:?}");
                let (success, collision) = (success * 1e-6, collision * 1e-6);
                let times = Times { slot: 20e-6, success, collision, error: 0.0 };
                let seen = throughput(n as u32, 8.0 * bytes, 0.0, (&point, &times)) * 1e-6;
                assert!((seen / mbps - 1.0).abs() < 1e-3, "{model}: {seen}, not {mbps}");
            }
        }
    }

    /// (7) as printed, against the sum of which it is the closed form.
    #[test]
    fn the_sum_is_bianchis_closed_form() {
        for p in [0.0, 0.1, 0.3, 0.45, 0.6] {
            let (w, m) = (32.0, 5.0);
            let x: f64 = 1.0 - 2.0 * p;
            let printed = 2.0 * x / (x * (w + 1.0) + p * w * (1.0 - libm::pow(2.0 * p, m)));
            assert!((B.tau(p) - printed).abs() < 1e-12, "{p}");
        }
    }

    /// One station that loses half of its frames: 2.22 Mbps in reference/wlan/slot_reference.csv.
    #[test]
    fn errors_widen_windows_as_collisions_do() {
        let seven = Windows { retry_limit: Some(7), ..B };
        let times = Times { slot: 20e-6, success: 1667.3e-6, collision: 0.0, error: 1667.3e-6 };
        for (errors, mbps) in [(0.1, 5.3559), (0.3, 3.8313), (0.5, 2.2203)] {
            let point = fixed_point(1, &seven, errors).expect("a station");
            let seen = throughput(1, 12_000.0, errors, (&point, &times)) * 1e-6;
            assert!((seen / mbps - 1.0).abs() < 0.01, "{seen}, not {mbps}");
        }
        assert_eq!(fixed_point(0, &B, 0.0), None);
        assert_eq!(fixed_point(3, &B, 1.0), None);
        assert!(fixed_point(3, &seven, 1.0).is_some_and(|point| point.drop == 1.0));
    }
}
