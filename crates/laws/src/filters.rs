//! Filters that several laws share.

/// Exponentially weighted moving average, which starts at 0: `x <- weight x + (1 - weight) sample`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ewma {
    value: f64,
}

impl Ewma {
    /// Takes a sample and returns the new average; the weight of the past is in [0, 1].
    pub fn update(&mut self, sample: f64, weight: f64) -> f64 {
        self.value = weight * self.value + (1.0 - weight) * sample;
        self.value
    }
    /// The average.
    pub fn value(&self) -> f64 {
        self.value
    }
}

/// The largest sample of the last `N` ticks of a counter, the current one included.
#[derive(Clone, Copy, Debug)]
pub struct WindowedMax<const N: usize> {
    /// The largest of each tick, at `tick mod N`.
    maxima: [f64; N],
    tick: u64,
    max: f64,
}

impl<const N: usize> Default for WindowedMax<N> {
    fn default() -> Self {
        Self { maxima: [0.0; N], tick: 0, max: 0.0 }
    }
}

impl<const N: usize> WindowedMax<N> {
    /// Takes a sample of at least 0. Ticks never decrease. Samples of `N` ticks ago and earlier are forgotten.
    pub fn update(&mut self, tick: u64, sample: f64) {
        let passed = tick.saturating_sub(self.tick).min(N as u64);
        for later in 1..=passed {
            self.maxima[((self.tick + later) % N as u64) as usize] = 0.0;
        }
        self.tick = self.tick.max(tick);
        let slot = &mut self.maxima[(self.tick % N as u64) as usize];
        *slot = slot.max(sample);
        if passed > 0 || sample > self.max {
            self.max = self.maxima.iter().fold(0.0, |max, one| one.max(max));
        }
    }
    /// The largest, 0 without samples.
    pub fn max(&self) -> f64 {
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Of a falling line the sample N - 1 ticks ago is the largest, of a rising one the newest.
    #[test]
    fn the_maximum_of_a_line_is_at_an_end_of_the_window() {
        let (mut falling, mut rising) =
            (WindowedMax::<10>::default(), WindowedMax::<10>::default());
        for tick in 0..100_u32 {
            falling.update(u64::from(tick), f64::from(100 - tick));
            rising.update(u64::from(tick), f64::from(tick));
            assert_eq!(falling.max(), f64::from(100 - tick.saturating_sub(9)));
            assert_eq!(rising.max(), f64::from(tick));
        }
    }

    proptest! {
        #[test]
        fn it_is_the_maximum_of_the_samples_in_the_window(
            samples in prop::collection::vec((0u64..7, 0u32..1000), 1..100)
        ) {
            let mut filter = WindowedMax::<5>::default();
            let (mut tick, mut seen) = (0, vec![]);
            for (later, sample) in samples {
                tick += later;
                filter.update(tick, f64::from(sample));
                seen.push((tick, sample));
                let expected = seen.iter().filter(|(at, _)| at + 5 > tick).map(|(_, s)| *s).max();
                prop_assert_eq!(Some(filter.max()), expected.map(f64::from));
            }
        }
    }

    #[test]
    fn a_step_is_followed_geometrically() {
        let mut ewma = Ewma::default();
        let after: Vec<f64> = (0..3).map(|_| ewma.update(64.0, 0.875)).collect();
        assert_eq!(after, [8.0, 15.0, 21.125]);
    }
}
