//! Filters that several laws share.

/// Exponentially weighted moving average: `x <- weight x + (1 - weight) sample`.
#[derive(Clone, Copy, Debug)]
pub struct Ewma {
    weight: f64,
    value: f64,
}

impl Ewma {
    /// Starts at 0 with the given weight of the past, in [0, 1].
    pub fn new(weight: f64) -> Self {
        Self { weight, value: 0.0 }
    }
    /// Takes a sample and returns the new average.
    pub fn update(&mut self, sample: f64) -> f64 {
        self.value = self.weight * self.value + (1.0 - self.weight) * sample;
        self.value
    }
    /// The average.
    pub fn value(&self) -> f64 {
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_followed_geometrically() {
        let mut ewma = Ewma::new(0.875);
        let after: Vec<f64> = (0..3).map(|_| ewma.update(64.0)).collect();
        assert_eq!(after, [8.0, 15.0, 21.125]);
    }
}
