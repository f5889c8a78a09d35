//! The target utilisation gamma of VCP's router as a control variable.

use crate::choices;
use crate::quantities::BitRate;

choices! {
    /// How gamma changes.
    pub enum GammaRule {
        /// Not at all, as in the paper's simulations.
        Fixed = "fixed",
        /// (14): until the link's utilisation is `gamma_target`.
        Utilisation = "utilisation",
        /// R1: until the mean of (1)'s numerator over capacity is a target that depends on the capacity.
        Authors = "authors",
    }
}

/// R1: nominal targets and steps by capacity in bit/s, from the slowest link on.
const DECADES: [(f64, f64, f64); 6] = [
    (0.0, 0.92, 0.006),
    (660e3, 0.94, 0.005),
    (6.6e6, 0.96, 0.004),
    (66e6, 0.975, 0.003),
    (660e6, 0.985, 0.002),
    (6.6e9, 0.99, 0.001),
];
/// R1: gamma at the start; below, the intervals between its steps.
const AUTHORS_START: f64 = 0.95;
pub(super) const AUTHORS_INTERVALS: u32 = 10;
/// Bounds of gamma.
const LEAST: f64 = 0.1;
const MOST: f64 = 0.999;

/// R1: the nominal target and the step of a link of this capacity.
pub fn nominal(rate: BitRate) -> (f64, f64) {
    let above = DECADES.iter().rposition(|(least, _, _)| rate.bps() >= *least).unwrap_or(0);
    let (_, target, step) = DECADES[above];
    (target, step)
}

/// R1: gamma at the start.
pub(super) fn start(rule: GammaRule, gamma: f64) -> f64 {
    if rule == GammaRule::Authors { AUTHORS_START } else { gamma }
}

/// (14): gamma after a step towards the target, from what was measured.
pub fn adjusted(gamma: f64, (target, step): (f64, f64), measured: f64) -> f64 {
    let sign = if measured < target {
        1.0
    } else if measured > target {
        -1.0
    } else {
        0.0
    };
    (gamma + sign * step).clamp(LEAST, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_steps_go_by_decades_of_capacity() {
        for (mbps, target, step) in [
            (0.066, 0.92, 0.006),
            (0.659, 0.92, 0.006),
            (0.66, 0.94, 0.005),
            (5.0, 0.94, 0.005),
            (6.6, 0.96, 0.004),
            (65.9, 0.96, 0.004),
            (66.0, 0.975, 0.003),
            (150.0, 0.975, 0.003),
            (660.0, 0.985, 0.002),
            (6599.0, 0.985, 0.002),
            (6600.0, 0.99, 0.001),
        ] {
            assert_eq!(nominal(BitRate::from_mbps(mbps)), (target, step), "{mbps} Mbps");
        }
    }

    #[test]
    fn gamma_steps_towards_the_target_within_its_bounds() {
        let target = (0.975, 0.003);
        assert!((adjusted(0.95, target, 0.9) - 0.953).abs() < 1e-15);
        assert!((adjusted(0.95, target, 1.0) - 0.947).abs() < 1e-15);
        assert_eq!(adjusted(0.95, target, 0.975), 0.95);
        assert_eq!((adjusted(0.998, target, 0.0), adjusted(0.101, target, 2.0)), (0.999, 0.1));
        // From 0.95 it takes 17 steps, 34 s at ten intervals a step, to 0.999.
        let climbed = (0..17).fold(0.95, |gamma, _| adjusted(gamma, target, 0.9));
        assert_eq!(climbed, 0.999);
    }
}
