//! Roots of functions of one number.

use std::convert::Infallible;

/// Where `function` changes its sign between `low` and `high`, by bisection to the last bit.
///
/// The signs at the ends must differ; if they do not, an end is the answer.
pub fn bisect(low: f64, high: f64, function: impl Fn(f64) -> f64) -> f64 {
    let found = try_bisect(low, high, |x| Ok::<f64, Infallible>(function(x)));
    match found {
        Ok(root) => root,
        Err(never) => match never {},
    }
}

/// The same for a function that may fail.
///
/// # Errors
/// Those of the function.
pub fn try_bisect<E>(
    low: f64,
    high: f64,
    function: impl Fn(f64) -> Result<f64, E>,
) -> Result<f64, E> {
    let (mut low, mut high) = (low, high);
    let rising = function(high)? > 0.0;
    loop {
        let middle = low + (high - low) / 2.0;
        if middle.is_nan() || middle <= low || middle >= high {
            return Ok(middle);
        }
        if (function(middle)? > 0.0) == rising {
            high = middle;
        } else {
            low = middle;
        }
    }
}

/// `count` numbers from `low` to `high`, with a constant factor from each to the next.
pub fn log_grid(low: f64, high: f64, count: usize) -> Vec<f64> {
    let step = libm::log(high / low) / (count.max(2) - 1) as f64;
    (0..count).map(|i| low * libm::exp(step * i as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_a_cubic() {
        assert!((bisect(0.0, 3.0, |x| x * x * x - 8.0) - 2.0).abs() < 1e-15);
        assert!((bisect(0.0, 3.0, |x| 8.0 - x * x * x) - 2.0).abs() < 1e-15);
    }

    #[test]
    fn a_grid_of_decades() {
        let grid = log_grid(0.1, 100.0, 4);
        for (value, decade) in grid.iter().zip([0.1, 1.0, 10.0, 100.0]) {
            assert!((value / decade - 1.0).abs() < 1e-12, "{value}");
        }
    }
}
