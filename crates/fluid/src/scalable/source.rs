//! The loop gain of one source, `lambda(s) = alpha e^{-tau s} / (tau s) (s + z) / (s + z kappa / nu)`, (14).

use crate::effort::{Effort, Unsolved};
use crate::nyquist::{self, Loop, Margins};
use crate::polar::{polar, size};
use num_complex::Complex64;
use std::f64::consts::FRAC_PI_2;

/// The loop of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    /// tau, seconds.
    pub rtt: f64,
    /// alpha.
    pub alpha: f64,
    /// z, 1/s.
    pub zero: f64,
    /// nu / kappa: at 1 there is neither lead nor lag, the static law.
    pub ratio: f64,
}

impl Source {
    /// `V(j w)`, the lead or lag of the slow loop.
    pub fn lead(&self, w: f64) -> Complex64 {
        Complex64::new(self.zero, w) / Complex64::new(self.zero / self.ratio, w)
    }

    /// `lambda(j w)`.
    pub fn gain(&self, w: f64) -> Complex64 {
        let angle = -w * self.rtt - FRAC_PI_2;
        polar(self.alpha / (w * self.rtt), angle) * self.lead(w)
    }

    /// The margins of its own loop.
    ///
    /// # Errors
    /// If following it takes too much work.
    pub fn margins(&self, effort: &Effort) -> Result<Margins, Unsolved> {
        nyquist::margins(self, effort)
    }

    /// A frequency below delay, zero and pole.
    pub(super) fn lowest(&self) -> f64 {
        1e-3 * (1.0 / self.rtt).min(self.zero).min(self.zero / self.ratio)
    }
}

impl Loop for Source {
    fn loci(&self, w: f64) -> Vec<Complex64> {
        vec![self.gain(w)]
    }
    fn bound(&self, w: f64) -> f64 {
        size(self.gain(w))
    }
    fn lowest(&self) -> f64 {
        Self::lowest(self)
    }
    fn longest(&self) -> f64 {
        self.rtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    const RATIOS: [f64; 5] = [0.1, 1.0, 10.0, 100.0, 1000.0];

    /// The static law is alpha e^{-s tau} / (s tau): stable up to pi/2.
    #[test]
    fn theorem_2_for_one_source() {
        for rtt in [0.001, 0.08, 1.0] {
            let of = |alpha| {
                Source { rtt, alpha, zero: 1.0, ratio: 1.0 }.margins(&Effort::free()).unwrap()
            };
            assert!((of(1.0).factor / FRAC_PI_2 - 1.0).abs() < 1e-9, "{rtt}");
            assert_eq!(of(0.999 * FRAC_PI_2).unstable, 0.0, "{rtt}");
            assert_eq!(of(1.001 * FRAC_PI_2).unstable, 2.0, "{rtt}");
        }
    }

    #[test]
    fn proposition_3_keeps_the_low_frequencies_clear() {
        // For w < 1 / tau_max and eta < 1 / tan(1) the phase stays above -pi, whatever nu / kappa.
        let zero = 0.99 / libm::tan(1.0);
        for ratio in RATIOS.into_iter().chain([1e6]) {
            let source = Source { rtt: 1.0, alpha: 1.0, zero, ratio };
            for step in 1..1000 {
                let w = f64::from(step) / 1000.0;
                assert!(source.gain(w).im < 0.0, "{ratio} {w}");
            }
        }
    }

    #[test]
    fn figure_1_leaves_out_minus_one() {
        for ratio in RATIOS {
            for rtt in [0.001, 0.01, 0.1, 1.0] {
                let found =
                    Source { rtt, alpha: 1.0, zero: 0.2, ratio }.margins(&Effort::free()).unwrap();
                assert_eq!(found.unstable, 0.0, "{rtt} {ratio}");
                assert!(found.factor > 1.2 && found.factor < PI, "{rtt} {ratio} {found:?}");
            }
        }
    }

    /// With eta = 1 / tan(1) and a pole near 0, the phase passes -pi at w tau = 1, where |lambda| is
    /// alpha sqrt(1 + eta^2): the proof's second part asks for a smaller eta at alpha = 1.
    #[test]
    fn eta_of_0_64_needs_an_alpha_below_0_84() {
        let eta = 1.0 / libm::tan(1.0);
        let of = |alpha| {
            Source { rtt: 1.0, alpha, zero: eta, ratio: 1e7 }.margins(&Effort::free()).unwrap()
        };
        let most = 1.0 / (1.0 + eta * eta).sqrt();
        assert!((most - libm::sin(1.0)).abs() < 1e-12 && (most - 0.8415).abs() < 1e-4);
        assert!((of(0.37).factor * 0.37 / most - 1.0).abs() < 1e-4, "{:?}", of(0.37));
        assert_eq!((of(0.83).unstable, of(0.85).unstable), (0.0, 2.0));
    }
}
