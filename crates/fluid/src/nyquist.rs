//! The generalised Nyquist criterion for loops that integrate.
//!
//! Take a return ratio `L(s) = F(s) / s`, where F(s) has no pole in the right half plane, and F(0) positive
//! eigenvalues. From w = 0 to infinity, `det(s I + F(s))` turns by a quarter of a turn for each integrator if all its
//! roots are stable, and by half a turn less for each root that is not. So the turn of `det(I + L(j w))` gives the
//! number of unstable poles of the closed loop.

use crate::effort::{Effort, Unsolved};
use crate::polar::{angle, size};
use crate::roots::try_bisect;
use num_complex::Complex64;
use std::f64::consts::PI;

/// A loop whose return ratio is `L(j w)`.
pub trait Loop {
    /// The eigenvalues of `L(j w)`; NaN if they cannot be found.
    fn loci(&self, w: f64) -> Vec<Complex64>;
    /// An upper bound of their sizes, which falls with w.
    fn bound(&self, w: f64) -> f64;
    /// A frequency below all of its poles and zeros.
    fn lowest(&self) -> f64;
    /// Its longest delay, seconds.
    fn longest(&self) -> f64;
    /// The work of its eigenvalues at a frequency, as [`Effort`] counts it.
    fn work(&self) -> usize {
        10
    }
}

/// A loop whose work is counted.
struct Counted<'a, L> {
    system: &'a L,
    effort: &'a Effort<'a>,
}

impl<L: Loop> Counted<'_, L> {
    fn loci(&self, w: f64) -> Result<Vec<Complex64>, Unsolved> {
        self.effort.spend(self.system.work())?;
        Ok(self.system.loci(w))
    }
}

/// Stability margins, from the eigenloci around -1; NaN if an eigenvalue is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margins {
    /// The least factor on L that puts an eigenvalue on -1; infinite if none below 100 does.
    pub factor: f64,
    /// The least distance of an eigenvalue from -1, at most 1.
    pub distance: f64,
    /// Unstable poles of the closed loop, which are encirclements of -1; NaN if F(0) is singular.
    pub unstable: f64,
}

/// Steps of frequency: a share of the frequency, and no more than a share of a turn of the longest delay.
const STEPS: (f64, f64) = (0.02, 0.1);

/// Follows the eigenloci from low frequencies to where they stay near 0.
///
/// # Errors
/// If that takes too much work.
pub fn margins(system: &impl Loop, effort: &Effort) -> Result<Margins, Unsolved> {
    let counted = Counted { system, effort };
    let (mut w, singular) = start(&counted)?;
    let mut here = counted.loci(w)?;
    let count = here.len() as f64;
    let mut found = Margins { factor: f64::INFINITY, distance: 1.0, unstable: 0.0 };
    let mut turned = 0.0;
    while !here.is_empty() {
        let next = w + (STEPS.0 * w).min(STEPS.1 / system.longest());
        let there = matched(&here, counted.loci(next)?);
        turned += turn(&counted, (w, product(&here)), (next, product(&there)), 30)?;
        if turned.is_nan() {
            return Ok(Margins { factor: f64::NAN, distance: f64::NAN, unstable: f64::NAN });
        }
        for (from, to) in here.iter().zip(&there) {
            found.distance = found.distance.min(size(*to + 1.0));
            if (from.im > 0.0) != (to.im > 0.0) && from.re.min(to.re) < 0.0 {
                let re = crossing(&counted, (w, *from), (next, *to))?;
                if re < 0.0 {
                    found.factor = found.factor.min(-1.0 / re);
                    found.distance = found.distance.min((1.0 + re).abs());
                }
            }
        }
        (w, here) = (next, there);
        if system.bound(w) * found.factor.min(100.0).max(2.0 * count) < 1.0 {
            let left = turned - angle(product(&here));
            found.unstable = (count / 2.0 - left / PI).round().max(0.0);
            break;
        }
    }
    if singular {
        found.unstable = f64::NAN;
    }
    Ok(found)
}

/// A frequency at which every eigenvalue is large; if there is none, F(0) is singular.
fn start(counted: &Counted<impl Loop>) -> Result<(f64, bool), Unsolved> {
    let mut w = counted.system.lowest();
    for _ in 0..8 {
        if counted.loci(w)?.iter().all(|each| size(*each) > 100.0) {
            return Ok((w, false));
        }
        w /= 10.0;
    }
    Ok((counted.system.lowest(), true))
}

/// `det(I + L)`.
fn product(loci: &[Complex64]) -> Complex64 {
    loci.iter().map(|each| each + 1.0).product()
}

/// The turn of the determinant between two frequencies.
fn turn(
    counted: &Counted<impl Loop>,
    from: (f64, Complex64),
    to: (f64, Complex64),
    depth: u32,
) -> Result<f64, Unsolved> {
    let turned = angle(to.1 / from.1);
    if turned.abs() < 0.5 || turned.is_nan() || depth == 0 {
        return Ok(turned);
    }
    let middle = (from.0 + to.0) / 2.0;
    let value = (middle, product(&counted.loci(middle)?));
    Ok(turn(counted, from, value, depth - 1)? + turn(counted, value, to, depth - 1)?)
}

/// Where an eigenvalue is real between two frequencies, at which it is `from.1` and `to.1`.
fn crossing(
    counted: &Counted<impl Loop>,
    from: (f64, Complex64),
    to: (f64, Complex64),
) -> Result<f64, Unsolved> {
    let near = |w: f64| {
        let share = (w - from.0) / (to.0 - from.0);
        let guess = from.1 + (to.1 - from.1) * share;
        let far = |each: &Complex64| size(each - guess);
        let all = counted.loci(w)?.into_iter().filter(|each| !each.is_nan());
        Ok(all.min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(guess))
    };
    let root = try_bisect(from.0, to.0, |w| near(w).map(|each| each.im))?;
    near(root).map(|each| each.re)
}

/// The eigenvalues in the order of those at the frequency before: for each the nearest that is left.
fn matched(before: &[Complex64], mut now: Vec<Complex64>) -> Vec<Complex64> {
    for (i, old) in before.iter().enumerate() {
        let far = |k: &usize| size(now[*k] - old);
        let nearest = (i..now.len()).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(i);
        now.swap(i, nearest);
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polar::polar;
    use std::f64::consts::FRAC_PI_2;

    /// `gain e^{-s} / s`, and beside it half of it.
    struct Pair(f64);

    impl Loop for Pair {
        fn loci(&self, w: f64) -> Vec<Complex64> {
            let all = polar(self.0 / w, -w - FRAC_PI_2);
            vec![all, all * 0.5]
        }
        fn bound(&self, w: f64) -> f64 {
            self.0 / w
        }
        fn lowest(&self) -> f64 {
            1e-3
        }
        fn longest(&self) -> f64 {
            1.0
        }
    }

    /// Roots of `s + gain e^{-s}` cross to the right at gains of pi/2, 5 pi/2, ..., a pair each time.
    #[test]
    fn integrators_with_delay() {
        for (gain, unstable) in [
            (0.5, 0.0),
            (1.57, 0.0),
            (1.5709, 2.0),
            (3.13, 2.0),
            (3.15, 4.0),
            (7.8, 4.0),
            (7.9, 6.0),
        ] {
            let found = margins(&Pair(gain), &Effort::free()).unwrap();
            assert_eq!(found.unstable, unstable, "{gain} {found:?}");
            assert!((found.factor * gain / FRAC_PI_2 - 1.0).abs() < 1e-9, "{gain} {found:?}");
        }
        // Nearest to -1 is where it crosses the axis, if that is near.
        assert!(
            (margins(&Pair(1.57), &Effort::free()).unwrap().distance - (1.0 - 1.57 / FRAC_PI_2))
                .abs()
                < 1e-9
        );
    }

    /// A loop without eigenvalues from a frequency on.
    struct Lost(f64);

    impl Loop for Lost {
        fn loci(&self, w: f64) -> Vec<Complex64> {
            vec![if w < self.0 { polar(1.0 / w, -w - FRAC_PI_2) } else { f64::NAN.into() }]
        }
        fn bound(&self, w: f64) -> f64 {
            1.0 / w
        }
        fn lowest(&self) -> f64 {
            1e-3
        }
        fn longest(&self) -> f64 {
            1.0
        }
    }

    #[test]
    fn no_eigenvalues_no_margins() {
        for w in [0.0, 0.7, 2.0] {
            let found = margins(&Lost(w), &Effort::free()).unwrap();
            assert!(found.factor.is_nan() && found.distance.is_nan() && found.unstable.is_nan());
        }
    }
}
