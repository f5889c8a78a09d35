//! Delay-differential equations by the method of steps.
//!
//! Dormand and Prince's pair of orders 5 and 4 with Shampine's dense output as history (Hairer, Norsett and
//! Wanner, "Solving Ordinary Differential Equations I", II.5, II.6 and II.17). A step is never longer than the
//! shortest delay, so that the past that a stage needs is always known. Delays may depend on time and state if
//! none is shorter than that. Equations may switch: error control makes the steps around a switch short. The start
//! at time 0 causes discontinuities of derivatives after each delay; a step ends at each of these.

use crate::effort::{Effort, Unsolved};
use std::collections::VecDeque;

/// A system of delay-differential equations.
pub trait Delayed {
    /// The state at time 0 and before it: constant.
    fn start(&self) -> Vec<f64>;
    /// Its delays in seconds; for delays that vary, the shortest and the longest that occur.
    fn delays(&self) -> Vec<f64>;
    /// Writes the derivative of `state` at `time`; `past` gives the delayed state.
    fn slope(&self, time: f64, state: &[f64], past: &Past, slope: &mut [f64]);
    /// Moves a state that a step left outside of the allowed region back onto its border.
    fn confine(&self, _state: &mut [f64]) {}
    /// The work of a slope, as [`Effort`] counts it.
    fn work(&self) -> usize {
        self.start().len()
    }
}

/// The tolerance of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Error allowed in a step, absolute.
    pub absolute: f64,
    /// Error allowed in a step, relative to the state.
    pub relative: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { absolute: 1e-9, relative: 1e-9 }
    }
}

/// The most steps of a solution: this many, and this many more for each shortest delay that has passed.
const STEPS: (f64, f64) = (100_000.0, 300.0);
/// The most numbers that are kept of the past: steps as far back as the longest delay, times the size of the state.
const LONGEST_PAST: usize = 10_000_000;

/// One step: a polynomial of degree 4 for each component, five coefficients each.
#[derive(Debug)]
struct Piece {
    from: f64,
    length: f64,
    coefficients: Vec<[f64; 5]>,
}

impl Piece {
    fn at(&self, time: f64, component: usize) -> f64 {
        let s = (time - self.from) / self.length;
        let r = 1.0 - s;
        let [a, b, c, d, e] = self.coefficients[component];
        a + s * (b + r * (c + s * (d + r * e)))
    }
}

/// The solution so far, as far back as the longest delay.
#[derive(Debug)]
pub struct Past {
    start: Vec<f64>,
    pieces: VecDeque<Piece>,
}

impl Past {
    /// A component of the state at `time`, which lies in the past.
    pub fn at(&self, time: f64, component: usize) -> f64 {
        if time <= 0.0 {
            return self.start[component];
        }
        let after = self.pieces.partition_point(|piece| piece.from < time);
        match self.pieces.get(after.saturating_sub(1)) {
            Some(piece) => piece.at(time, component),
            None => self.start[component],
        }
    }
}

const NODES: [f64; 7] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
const WEIGHTS: [&[f64]; 7] = [
    &[],
    &[1.0 / 5.0],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
    &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
/// Weights of the error: order 5 minus order 4.
const ERRORS: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];
/// Weights of the dense output's last coefficient.
const DENSE: [f64; 7] = [
    -12715105075.0 / 11282082432.0,
    0.0,
    87487479700.0 / 32700410799.0,
    -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0,
    -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0,
];

/// Samples a solution at evenly spaced instants from 0 to a duration, given with their number. `at` returns `None`
/// where the solution is not finite.
///
/// # Errors
/// Those of `at`, or that the solution diverged.
pub fn sampled<T>(
    (duration, samples): (f64, usize),
    mut at: impl FnMut(f64) -> Result<Option<T>, Unsolved>,
) -> Result<Vec<T>, Unsolved> {
    (0..samples)
        .map(|i| {
            let time = duration * i as f64 / (samples.max(2) - 1) as f64;
            at(time)?.ok_or(Unsolved::Diverged { time })
        })
        .collect()
}

/// A model and its solution so far.
#[derive(Debug)]
pub struct Solver<'a, M> {
    /// The model; its parameters may be changed between two calls of [`Solver::advance`].
    pub model: M,
    time: f64,
    state: Vec<f64>,
    past: Past,
    tolerance: Tolerance,
    shortest: f64,
    longest: f64,
    jumps: Vec<f64>,
    step: f64,
    stages: [Vec<f64>; 7],
    trial: Vec<f64>,
    /// Steps tried so far.
    steps: f64,
    work: usize,
    effort: &'a Effort<'a>,
}

impl<'a, M: Delayed> Solver<'a, M> {
    /// A solver at time 0.
    pub fn new(model: M, tolerance: Tolerance, effort: &'a Effort<'a>) -> Self {
        let state = model.start();
        let delays = model.delays();
        let shortest = delays.iter().copied().fold(f64::INFINITY, f64::min);
        let longest = delays.iter().copied().fold(0.0, f64::max);
        Self {
            time: 0.0,
            past: Past { start: state.clone(), pieces: VecDeque::new() },
            stages: std::array::from_fn(|_| vec![0.0; state.len()]),
            trial: state.clone(),
            jumps: jumps(&delays),
            step: shortest.min(1.0) * 1e-3,
            steps: 0.0,
            work: model.work(),
            effort,
            model,
            state,
            tolerance,
            shortest,
            longest,
        }
    }

    /// Seconds since the start.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The current state.
    pub fn state(&self) -> &[f64] {
        &self.state
    }

    /// The solution so far, as far back as the longest delay.
    pub fn past(&self) -> &Past {
        &self.past
    }

    /// Solves up to `until`.
    ///
    /// # Errors
    /// If the state is no longer finite, or the solution takes too much work.
    pub fn advance(&mut self, until: f64) -> Result<(), Unsolved> {
        self.model.slope(self.time, &self.state, &self.past, &mut self.stages[0]);
        while self.time < until {
            let jump = self.jumps.partition_point(|&jump| jump <= self.time);
            let bound = self.jumps.get(jump).copied().unwrap_or(f64::INFINITY).min(until);
            let wish = self.step.min(self.shortest);
            // What is left is divided in halves, to avoid a very short last step.
            let left = bound - self.time;
            let (length, end) = match left / wish {
                few if few <= 1.0 => (left, bound),
                few if few < 2.0 => (left / 2.0, self.time + left / 2.0),
                _ => (wish, self.time + wish),
            };
            self.try_step(length, end)?;
        }
        Ok(())
    }

    /// Takes a step, or shortens the next one.
    fn try_step(&mut self, length: f64, end: f64) -> Result<(), Unsolved> {
        self.steps += 1.0;
        let is_slow = self.steps > STEPS.0 + STEPS.1 * self.time / self.shortest;
        if is_slow || self.past.pieces.len() * self.state.len() > LONGEST_PAST {
            return Err(Unsolved::Crawling { time: self.time, step: length });
        }
        self.run_stages(length)?;
        let error = self.error(length);
        let floor = (self.shortest.min(1.0) * 1e-9).max(self.time * 4.0 * f64::EPSILON);
        if error > 1.0 || !error.is_finite() {
            if length > floor {
                let factor = if error.is_finite() { 0.9 * libm::pow(error, -0.2) } else { 0.1 };
                self.step = length * factor.clamp(0.1, 0.9);
                return Ok(());
            }
            if !self.trial.iter().all(|value| value.is_finite()) {
                return Err(Unsolved::Diverged { time: self.time });
            }
        }
        self.keep(length, end);
        let factor = 0.9 * libm::pow(error.max(1e-10), -0.2);
        self.step = length.max(floor) * factor.clamp(0.2, 5.0);
        Ok(())
    }

    /// The seven stages; the last one's state is left in `trial`.
    fn run_stages(&mut self, length: f64) -> Result<(), Unsolved> {
        for stage in 1..7 {
            self.effort.spend(self.work)?;
            let (known, open) = self.stages.split_at_mut(stage);
            for (i, value) in self.trial.iter_mut().enumerate() {
                let sum: f64 = WEIGHTS[stage].iter().zip(&*known).map(|(w, k)| w * k[i]).sum();
                *value = self.state[i] + length * sum;
            }
            let time = self.time + NODES[stage] * length;
            self.model.slope(time, &self.trial, &self.past, &mut open[0]);
        }
        Ok(())
    }

    /// Root mean square of the components' errors, each in units of what is allowed.
    fn error(&self, length: f64) -> f64 {
        let square = |i: usize| {
            let error: f64 = ERRORS.iter().zip(&self.stages).map(|(e, k)| e * k[i]).sum();
            let size = self.state[i].abs().max(self.trial[i].abs());
            let share = length * error / (self.tolerance.absolute + self.tolerance.relative * size);
            share * share
        };
        let total: f64 = (0..self.state.len()).map(square).sum();
        (total / self.state.len() as f64).sqrt()
    }

    /// Accepts the trial state, and appends the step to the past.
    fn keep(&mut self, length: f64, end: f64) {
        let piece = |i: usize| {
            let (first, last) = (self.stages[0][i], self.stages[6][i]);
            let rise = self.trial[i] - self.state[i];
            let bend = length * first - rise;
            let dense: f64 = DENSE.iter().zip(&self.stages).map(|(d, k)| d * k[i]).sum();
            [self.state[i], rise, bend, rise - length * last - bend, length * dense]
        };
        let coefficients = (0..self.state.len()).map(piece).collect();
        self.past.pieces.push_back(Piece {
            from: self.time,
            length: end - self.time,
            coefficients,
        });
        self.time = end;
        let known = |piece: &Piece| piece.from + piece.length < end - self.longest;
        while self.past.pieces.front().is_some_and(known) {
            self.past.pieces.pop_front();
        }
        self.state.copy_from_slice(&self.trial);
        self.model.confine(&mut self.state);
        if self.state == self.trial {
            self.stages.swap(0, 6);
        } else {
            self.model.slope(self.time, &self.state, &self.past, &mut self.stages[0]);
        }
    }
}

/// When the discontinuity at time 0 returns after one to four delays; empty if there are too many such instants.
fn jumps(delays: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    let mut all = Vec::new();
    for _ in 0..4 {
        sums = sums.iter().flat_map(|sum| delays.iter().map(move |delay| sum + delay)).collect();
        sums.sort_by(f64::total_cmp);
        sums.dedup_by(|a, b| *a - *b <= 1e-12 * *a);
        all.extend_from_slice(&sums);
        if all.len() > 200 {
            break;
        }
    }
    all.sort_by(f64::total_cmp);
    all.dedup_by(|a, b| *a - *b <= 1e-12 * *a);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `x' = -gain x(t - delay)`, 1 until time 0.
    struct Integrator {
        gain: f64,
        delay: f64,
    }

    impl Delayed for Integrator {
        fn start(&self) -> Vec<f64> {
            vec![1.0]
        }
        fn delays(&self) -> Vec<f64> {
            vec![self.delay]
        }
        fn slope(&self, time: f64, _: &[f64], past: &Past, slope: &mut [f64]) {
            slope[0] = -self.gain * past.at(time - self.delay, 0);
        }
    }

    /// The exact solution: a polynomial more on each interval.
    fn exact(gain: f64, delay: f64, time: f64) -> f64 {
        let (mut sum, mut factor, mut k) = (1.0, 1.0, 1.0);
        while time - (k - 1.0) * delay > 0.0 {
            factor *= -gain / k;
            sum += factor * libm::pow(time - (k - 1.0) * delay, k);
            k += 1.0;
        }
        sum
    }

    #[test]
    fn the_first_intervals_are_polynomials() {
        let effort = Effort::free();
        let mut solver =
            Solver::new(Integrator { gain: 1.5, delay: 0.8 }, Tolerance::default(), &effort);
        for tenth in 1..=80 {
            let time = f64::from(tenth) * 0.1;
            solver.advance(time).unwrap();
            let error = solver.state()[0] - exact(1.5, 0.8, time);
            assert!(error.abs() < 1e-8, "{time} {error:e}");
            let middle = solver.past().at(time - 0.05, 0) - exact(1.5, 0.8, time - 0.05);
            assert!(middle.abs() < 1e-8, "{time} {middle:e}");
        }
    }

    /// The greatest |x| over each half of 400 delays.
    fn halves(product: f64) -> (f64, f64) {
        let effort = Effort::free();
        let mut solver =
            Solver::new(Integrator { gain: product, delay: 1.0 }, Tolerance::default(), &effort);
        let mut peaks = [0.0_f64; 2];
        for tick in 0..4000 {
            solver.advance(f64::from(tick) * 0.1).unwrap();
            let half = &mut peaks[usize::from(tick >= 2000)];
            *half = half.max(solver.state()[0].abs());
        }
        (peaks[0], peaks[1])
    }

    #[test]
    fn stable_below_half_pi_and_only_there() {
        use std::f64::consts::FRAC_PI_2;
        let (first, second) = halves(0.99 * FRAC_PI_2);
        assert!(second < 0.5 * first, "{first} {second}");
        let (first, second) = halves(1.01 * FRAC_PI_2);
        assert!(second > 2.0 * first, "{first} {second}");
        let (first, second) = halves(FRAC_PI_2);
        assert!((second / first - 1.0).abs() < 0.1, "{first} {second}");
    }

    /// A delayed relay: a switching law.
    struct Relay;

    impl Delayed for Relay {
        fn start(&self) -> Vec<f64> {
            vec![0.5]
        }
        fn delays(&self) -> Vec<f64> {
            vec![1.0]
        }
        fn slope(&self, time: f64, _: &[f64], past: &Past, slope: &mut [f64]) {
            slope[0] = if past.at(time - 1.0, 0) > 0.0 { -1.0 } else { 1.0 };
        }
    }

    #[test]
    fn a_relay_with_delay_swings_between_its_delay_and_its_negative() {
        // Falls with slope 1, passes 0 at 0.5, turns a delay later at -1, and so on: a triangle of period 4.
        let effort = Effort::free();
        let mut solver = Solver::new(Relay, Tolerance::default(), &effort);
        let cases = [
            (0.5, 0.0),
            (1.5, -1.0),
            (2.5, 0.0),
            (3.5, 1.0),
            (4.5, 0.0),
            (21.5, -1.0),
            (23.5, 1.0),
        ];
        for (time, value) in cases {
            solver.advance(time).unwrap();
            assert!((solver.state()[0] - value).abs() < 1e-5, "{time} {}", solver.state()[0]);
        }
    }

    /// `x' = x^2`, which has no solution after 1.
    struct Explosion;

    impl Delayed for Explosion {
        fn start(&self) -> Vec<f64> {
            vec![1.0]
        }
        fn delays(&self) -> Vec<f64> {
            vec![1.0]
        }
        fn slope(&self, _: f64, state: &[f64], _: &Past, slope: &mut [f64]) {
            slope[0] = state[0] * state[0];
        }
    }

    #[test]
    fn no_solution_is_said_in_words() {
        let effort = Effort::free();
        let mut solver = Solver::new(Explosion, Tolerance::default(), &effort);
        let Unsolved::Diverged { time } = solver.advance(2.0).unwrap_err() else { panic!() };
        assert!((time - 1.0).abs() < 1e-3, "{time}");
    }

    /// `x' = -1e8 (x - x(t - 1) + 1)`: no step above some 3e-8 is stable.
    struct Stiff;

    impl Delayed for Stiff {
        fn start(&self) -> Vec<f64> {
            vec![1.0]
        }
        fn delays(&self) -> Vec<f64> {
            vec![1.0]
        }
        fn slope(&self, time: f64, state: &[f64], past: &Past, slope: &mut [f64]) {
            slope[0] = -1e8 * (state[0] - past.at(time - 1.0, 0) + 1.0);
        }
    }

    #[test]
    fn what_cannot_be_followed_ends_in_words() {
        let effort = Effort::free();
        let mut solver = Solver::new(Stiff, Tolerance::default(), &effort);
        let crawling = solver.advance(2.0).unwrap_err();
        assert!(matches!(crawling, Unsolved::Crawling { step, .. } if step < 1e-6), "{crawling}");
        let effort = Effort::new(700, &|| false);
        let mut solver = Solver::new(Stiff, Tolerance::default(), &effort);
        assert_eq!(solver.advance(2.0), Err(Unsolved::TooMuch));
    }

    #[test]
    fn a_solution_stops_within_a_step() {
        let asked = std::cell::Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > 1000
        };
        let effort = Effort::new(u64::MAX, &stop);
        let mut solver =
            Solver::new(Integrator { gain: 1.0, delay: 1.0 }, Tolerance::default(), &effort);
        assert_eq!(solver.advance(1e9), Err(Unsolved::Stopped));
        assert_eq!(asked.get(), 1001);
    }
}
