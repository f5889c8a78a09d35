//! A network of scalable laws at its equilibrium, linearised: the return ratio (12) and its eigenloci.
//!
//! `L(s) = R_f(s) K(s) R_b(s)^T C / s` over the links whose price is not 0, with `K = diag(kappa_i V_i(s))`. Its
//! eigenvalues are convex combinations of the `lambda_i` of (14) and 0 if no flow crosses more than M_i of these
//! links. This gives an upper bound of their sizes.

use super::network::{Network, Rest, Sources};
use super::source::Source;
use crate::effort::{Effort, Unsolved};
use crate::nyquist::{self, Loop, Margins};
use crate::polar::{polar, size};
use nalgebra::DMatrix;
use nalgebra::linalg::Schur;
use num_complex::Complex64;

/// The most turns of the QR iteration for an eigenvalue. It usually needs two or three.
const MOST_TURNS: usize = 300;

/// The eigenvalues of a matrix, in any order; NaN if the QR iteration does not end. It can stall on a permutation, for
/// example of 8 numbers, but the diagonals of return ratios are not 0.
fn eigenvalues(matrix: DMatrix<Complex64>) -> Vec<Complex64> {
    let size = matrix.nrows();
    Schur::try_new(matrix, f64::EPSILON, MOST_TURNS * size).map_or_else(
        || vec![Complex64::new(f64::NAN, f64::NAN); size],
        |schur| schur.unpack().1.diagonal().iter().copied().collect(),
    )
}

/// A flow around its rate at rest.
#[derive(Clone, Debug)]
struct Flow {
    source: Source,
    /// x_i0 / M_i; kappa_i is alpha / tau times this.
    weight: f64,
    /// The rows of its bottlenecks, and the delays to them.
    hops: Vec<(usize, f64)>,
    /// The number of its bottlenecks over M_i.
    excess: f64,
}

/// A network around its equilibrium.
#[derive(Clone, Debug)]
pub struct Linear {
    /// c_0l of the bottlenecks.
    capacities: Vec<f64>,
    flows: Vec<Flow>,
}

impl Linear {
    /// The linearisation of a network at rest.
    pub fn new(network: &Network, rest: &Rest) -> Self {
        let bottlenecks: Vec<usize> =
            (0..rest.prices.len()).filter(|&link| rest.prices[link] > 0.0).collect();
        let flows = network.flows.iter().enumerate().filter_map(|(i, flow)| {
            let row = |link| bottlenecks.iter().position(|&each| each == link);
            let hops: Vec<_> = (flow.hops.iter())
                .filter_map(|hop| row(hop.link).map(|row| (row, hop.forward)))
                .collect();
            // nu over kappa; nu = -f' is x / (a q) for the utility's fairness a.
            let (zero, ratio) = match &network.sources {
                Sources::Static { .. } => (1.0 / flow.rtt, 1.0),
                Sources::Dynamic { utility, zero } => {
                    let kappa = network.steepness(flow);
                    (*zero, 1.0 / (utility.fairness * rest.heard[i] * kappa))
                }
            };
            let source = Source { rtt: flow.rtt, alpha: network.alpha, zero, ratio };
            let excess = hops.len() as f64 / flow.bottlenecks;
            let weight = rest.rates[i] / flow.bottlenecks;
            (!hops.is_empty()).then_some(Flow { source, weight, hops, excess })
        });
        let flows = flows.collect();
        let capacities = bottlenecks.iter().map(|&link| network.capacities[link]).collect();
        Self { capacities, flows }
    }

    /// Links with a price.
    pub fn bottlenecks(&self) -> usize {
        self.capacities.len()
    }

    /// `L(j w)`.
    pub fn return_ratio(&self, w: f64) -> DMatrix<Complex64> {
        let mut ratio = DMatrix::zeros(self.capacities.len(), self.capacities.len());
        for flow in &self.flows {
            // kappa V e^{-j w tau} / (j w) is x_0 / M of lambda.
            let gain = flow.source.gain(w) * flow.weight;
            for &(row, to) in &flow.hops {
                for &(column, from) in &flow.hops {
                    let delay = polar(1.0 / self.capacities[column], w * (from - to));
                    ratio[(row, column)] += gain * delay;
                }
            }
        }
        ratio
    }

    /// The margins of its eigenloci.
    ///
    /// # Errors
    /// If following them takes too much work.
    pub fn margins(&self, effort: &Effort) -> Result<Margins, Unsolved> {
        nyquist::margins(self, effort)
    }
}

impl Loop for Linear {
    fn loci(&self, w: f64) -> Vec<Complex64> {
        eigenvalues(self.return_ratio(w))
    }

    fn bound(&self, w: f64) -> f64 {
        let of = |flow: &Flow| flow.excess.max(1.0) * size(flow.source.gain(w));
        self.flows.iter().map(of).fold(0.0, f64::max)
    }

    fn lowest(&self) -> f64 {
        self.flows.iter().map(|flow| flow.source.lowest()).fold(f64::INFINITY, f64::min)
    }

    fn longest(&self) -> f64 {
        self.flows.iter().map(|flow| flow.source.rtt).fold(0.0, f64::max)
    }

    fn work(&self) -> usize {
        let hops = self.flows.iter().map(|flow| 10 + 3 * flow.hops.len() * flow.hops.len());
        100 + hops.sum::<usize>() + 20 * self.capacities.len().pow(3)
    }
}

#[cfg(test)]
mod tests {
    use super::super::network::tests::{LOG, flow, line};
    use super::*;
    use std::f64::consts::{FRAC_PI_2, TAU};

    fn linear(network: &Network) -> Linear {
        Linear::new(network, &network.rest(&Effort::free()).unwrap())
    }

    /// A permutation of n in one cycle has the n-th roots of 1.
    #[test]
    fn eigenvalues_of_cycles_and_of_nothing() {
        for size in [1, 2, 3, 5] {
            let one = |row, column| f64::from((column + 1) % size == row).into();
            let found = eigenvalues(DMatrix::from_fn(size, size, one));
            for k in 0..size {
                let root = polar(1.0, TAU * k as f64 / size as f64);
                assert!(found.iter().any(|each| (each - root).l1_norm() < 1e-9), "{size} {k}");
            }
        }
        assert!(eigenvalues(DMatrix::from_element(0, 0, f64::NAN.into())).is_empty());
        assert!(
            eigenvalues(DMatrix::from_element(3, 3, f64::NAN.into())).iter().all(|x| x.is_nan())
        );
    }

    /// One link, one source: L is lambda.
    #[test]
    fn a_source_alone_is_stable_up_to_half_pi_and_no_further() {
        let of = |alpha| {
            let sources = Sources::Static { max_rates: vec![5000.0] };
            let flows = vec![flow(&[0], 0.1)];
            linear(&Network { capacities: vec![1000.0], flows, alpha, sources })
                .margins(&Effort::free())
                .unwrap()
        };
        assert!((of(1.0).factor / FRAC_PI_2 - 1.0).abs() < 1e-9);
        assert_eq!((of(0.999 * FRAC_PI_2).unstable, of(1.001 * FRAC_PI_2).unstable), (0.0, 2.0));
    }

    /// One flow over n links of one capacity but the last's: the last alone counts, M = n times too careful.
    #[test]
    fn links_without_a_price_do_not_count() {
        let sources = Sources::Static { max_rates: vec![5000.0] };
        let flows = vec![flow(&[0, 1, 2], 0.1)];
        let network =
            Network { capacities: vec![3000.0, 2000.0, 1000.0], flows, alpha: 1.0, sources };
        let linear = linear(&network);
        assert_eq!(linear.bottlenecks(), 1);
        assert!(
            (linear.margins(&Effort::free()).unwrap().factor / (3.0 * FRAC_PI_2) - 1.0).abs()
                < 1e-9
        );
    }

    /// Equal RTTs and all delay on the way back: eigenvalues of L are those of a matrix of numbers times lambda.
    #[test]
    fn equal_rtts_by_hand() {
        let sources = Sources::Static { max_rates: vec![2000.0; 3] };
        let mut flows = vec![flow(&[0, 1], 0.1), flow(&[0], 0.1), flow(&[1], 0.1)];
        for flow in &mut flows {
            (flow.hops.iter_mut()).for_each(|hop| hop.forward = 0.0);
            flow.bottlenecks = 2.0;
        }
        let network = Network { capacities: vec![1000.0; 2], flows, alpha: 1.0, sources };
        let rates = network.rest(&Effort::free()).unwrap().rates;
        // Each row is (x0 + x1, x0) / (2 c) or (x0, x0 + x2) / (2 c), so that (1, 1) has the eigenvalue
        // (2 x0 + x1) / (2 c) = (1 + x0 / c) / 2.
        let most = (1.0 + rates[0] / 1000.0) / 2.0;
        let factor = linear(&network).margins(&Effort::free()).unwrap().factor;
        assert!((factor * most / FRAC_PI_2 - 1.0).abs() < 1e-9, "{factor} {most}");
    }

    #[test]
    fn a_margin_below_1_swings_and_one_above_rests() {
        let growth = |network: &Network| {
            let samples = network.run(1.001, (40.0, 4001), &Effort::free()).unwrap();
            let off = |sample: &super::super::network::Sample| (sample.loads[0] - 1.0).abs();
            let peak =
                |part: &[super::super::network::Sample]| part.iter().map(off).fold(0.0, f64::max);
            peak(&samples[3000..]) / peak(&samples[500..1500])
        };
        let mut network = line(Sources::Dynamic { utility: LOG, zero: 1.0 });
        let margins = linear(&network).margins(&Effort::free()).unwrap();
        assert!(margins.unstable == 0.0 && margins.factor > FRAC_PI_2 / 0.37, "{margins:?}");
        // The slow loop changes with alpha: search for the alpha whose factor is 1.
        let (mut low, mut high) = (0.37, 20.0);
        while high - low > 1e-3 {
            network.alpha = (low + high) / 2.0;
            let stable = linear(&network).margins(&Effort::free()).unwrap().unstable == 0.0;
            (low, high) = if stable { (network.alpha, high) } else { (low, network.alpha) };
        }
        network.alpha = 0.96 * low;
        assert!(growth(&network) < 0.7, "{low} {}", growth(&network));
        network.alpha = 1.04 * low;
        assert!(growth(&network) > 1.4, "{low} {}", growth(&network));
    }
}
