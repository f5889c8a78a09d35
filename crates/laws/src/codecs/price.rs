//! Prices in one bit: random exponential marking, read from the share of marks.
//!
//! S. Athuraliya, V. Li, S. Low, Q. Yin, "REM: Active Queue Management", IEEE Network 15(3), 2001;
//! F. Paganini, Z. Wang, S. Low, J. Doyle, "A New TCP/AQM for Stable Operation in Fast Networks",
//! IEEE INFOCOM 2003, IV-A. A link of price p marks with probability 1 - phi^-p, so that a path marks
//! with 1 - phi^-q, q the sum of its prices. The sender keeps the last N marks in a shift register:
//!   q^ = -ln(1 - P^) / ln phi,   P^ the share of ones
//! The paper does not say what a register full of ones means, where 1 - P^ is 0. Here it counts as one with half
//! a packet less. Until N marks have come, P^ is the share of those that have.

/// The probability 1 - phi^-price.
pub fn probability(price: f64, phi: f64) -> f64 {
    -libm::expm1(-price * libm::log(phi))
}

/// The price for which `marked` of `of` packets are marked.
pub fn estimate(marked: u32, of: u32, phi: f64) -> f64 {
    let of = f64::from(of.max(1));
    let share = f64::from(marked).min(of - 0.5) / of;
    -libm::log1p(-share) / libm::log(phi)
}

/// The most marks that a register holds.
pub const LONGEST: u32 = u128::BITS;

/// The sender's shift register.
#[derive(Clone, Copy, Debug)]
pub struct Register {
    /// The newest mark is the lowest bit.
    marks: u128,
    /// N.
    length: u32,
    /// Marks so far.
    seen: u32,
}

impl Register {
    /// An empty register of N marks, from 1 to [`LONGEST`].
    pub fn new(length: u32) -> Self {
        Self { marks: 0, length: length.clamp(1, LONGEST), seen: 0 }
    }

    /// Changes N. Keeps the last N marks, or as many as there are.
    pub fn resize(&mut self, length: u32) {
        self.length = length.clamp(1, LONGEST);
    }

    /// Takes the mark that an ACK brings for this many packets.
    #[inline]
    pub fn push(&mut self, marked: bool, packets: u32) {
        let packets = packets.min(LONGEST);
        let new = if packets == 0 { 0 } else { u128::MAX >> (LONGEST - packets) };
        let old = self.marks.checked_shl(packets).unwrap_or(0);
        self.marks = if marked { old | new } else { old };
        self.seen = (self.seen + packets).min(LONGEST);
    }

    /// How many of the last N marks are ones.
    #[inline]
    pub fn marked(&self) -> u32 {
        (self.marks & (u128::MAX >> (LONGEST - self.length))).count_ones()
    }

    /// q^, 0 before the first mark.
    #[inline]
    pub fn price(&self, phi: f64) -> f64 {
        estimate(self.marked(), self.seen.min(self.length), phi)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Codec, Wire, ecn};
    use super::*;
    use crate::router::Draw;
    use crate::script::Random;
    use proptest::prelude::*;

    /// IV-A: with phi = 1000, prices of 0.007 to 0.43 s are 5 to 95 per cent of marks.
    #[test]
    fn the_papers_range_of_prices() {
        assert!((probability(0.007, 1000.0) - 0.05).abs() < 0.005);
        assert!((probability(0.43, 1000.0) - 0.95).abs() < 0.005);
        assert_eq!([probability(0.0, 1.001), probability(1.0, 2.0)], [0.0, 0.5]);
    }

    #[test]
    fn the_estimate_by_hand() {
        assert_eq!(estimate(0, 31, 1000.0), 0.0);
        assert_eq!(estimate(0, 0, 1000.0), 0.0);
        assert!((estimate(15, 30, 2.0) - 1.0).abs() < 1e-12);
        assert!((estimate(3, 4, 2.0) - 2.0).abs() < 1e-12);
        assert!((estimate(4, 4, 2.0) - 3.0).abs() < 1e-12); // an eighth is left: half a packet
    }

    #[test]
    fn the_register_forgets_the_oldest_mark() {
        let mut register = Register::new(4);
        register.push(true, 1);
        assert_eq!((register.marked(), register.seen), (1, 1));
        register.push(false, 3);
        assert_eq!((register.marked(), register.seen), (1, 4));
        register.push(false, 1);
        assert_eq!(register.marked(), 0);
        register.push(true, 1000);
        assert_eq!((register.marked(), register.seen), (4, LONGEST));
        let mut longest = Register::new(LONGEST);
        longest.push(true, LONGEST);
        longest.push(false, 1);
        assert_eq!(longest.marked(), LONGEST - 1);
    }

    /// As if the register had had this length from the start.
    #[test]
    fn a_register_of_another_length_knows_the_marks_before() {
        for length in [1, 3, 8, 20, LONGEST] {
            let (mut resized, mut other) = (Register::new(5), Register::new(length));
            for (at, packets) in [1, 0, 2, 1, 3, 1, 1, 4].into_iter().enumerate() {
                resized.push(at % 3 == 0, packets);
                other.push(at % 3 == 0, packets);
            }
            resized.resize(length);
            assert_eq!((resized.marked(), resized.price(2.0)), (other.marked(), other.price(2.0)));
        }
    }

    /// (19): a step of the share of marks is seen late by N / 2 packets in the mean, counting each
    /// packet at its middle.
    #[test]
    fn the_estimate_is_late_by_half_of_the_register() {
        let mut register = Register::new(31);
        register.push(false, 31);
        let missing = |register: &mut Register| {
            let before = register.marked();
            register.push(true, 1);
            1.0 - f64::from(before + register.marked()) / 62.0
        };
        let late: f64 = (0..40).map(|_| missing(&mut register)).sum();
        assert!((late - 15.5).abs() < 1e-9, "{late}");
    }

    proptest! {
        #[test]
        fn prices_add_up_along_a_path(prices in prop::collection::vec(0.0..0.5f64, 1..8)) {
            let unmarked: f64 = prices.iter().map(|price| 1.0 - probability(*price, 1000.0)).product();
            let of_sum = probability(prices.iter().sum(), 1000.0);
            prop_assert!((of_sum - (1.0 - unmarked)).abs() < 1e-12);
        }

        #[test]
        fn the_estimate_inverts_the_probability(marked in 0..31u32, phi in 1.001..1e6f64) {
            let share = probability(estimate(marked, 31, phi), phi);
            prop_assert!((share - f64::from(marked) / 31.0).abs() < 1e-9);
        }
    }

    /// A packet past hops of these prices; was it marked?
    fn cross(prices: &[f64], random: &mut Random) -> bool {
        let (mut marks, mut header) = (Codec::Price.initial(), [0; 4]);
        for price in prices {
            if random.uniform() < probability(*price, 1000.0) {
                ecn::mark(&mut Wire { marks: &mut marks, header: &mut header });
            }
        }
        marks.ecn() == ecn::CONGESTED
    }

    /// The share of marked packets is that of the sum, within four standard errors of 20,000 packets.
    #[test]
    fn hops_mark_with_the_probability_of_the_sum_of_their_prices() {
        const N: u32 = 20_000;
        let mut random = Random(3);
        for prices in [&[0.1][..], &[0.05, 0.05], &[0.007, 0.02, 0.1], &[0.0, 0.43, 0.0]] {
            let p = 1.0 - libm::pow(1000.0, -prices.iter().sum::<f64>());
            let share = (0..N).filter(|_| cross(prices, &mut random)).count() as f64 / f64::from(N);
            let error = libm::sqrt(p * (1.0 - p) / f64::from(N));
            assert!((share - p).abs() < 4.0 * error, "{share}, not {p}");
        }
    }

    /// Moments of the estimate about 0 and its mean, from the binomial distribution: mean, variance and
    /// fourth central moment.
    fn moments(p: f64, n: u32) -> [f64; 3] {
        let mut weights = vec![libm::pow(1.0 - p, f64::from(n))];
        for k in 1..=n {
            let odds = p / (1.0 - p) * f64::from(n - k + 1) / f64::from(k);
            weights.push(weights[k as usize - 1] * odds);
        }
        // Full registers count half a packet less, in the words of the header.
        let price = |k: u32| {
            let unmarked = if k == n { 0.5 } else { f64::from(n - k) };
            libm::log(f64::from(n) / unmarked) / libm::log(1000.0)
        };
        let about = |centre: f64, power: f64| -> f64 {
            (0..=n).map(|k| weights[k as usize] * libm::pow(price(k) - centre, power)).sum()
        };
        let mean = about(0.0, 1.0);
        [mean, about(mean, 2.0), about(mean, 4.0)]
    }

    /// Mean and variance of the estimate over two hops are the binomial distribution's, within four
    /// standard errors of 10,000 registers; where about half
    /// are marked, they are near P / (2 N (1 - P) ln phi) above the price and P / (N (1 - P) ln^2 phi).
    #[test]
    fn the_estimate_has_the_moments_of_the_binomial_distribution() {
        const TRIALS: u32 = 10_000;
        let mut random = Random(5);
        for prices in [[0.003, 0.004], [0.05, 0.05], [0.1, 0.2], [0.2, 0.23]] {
            let q: f64 = prices.iter().sum();
            let [mean, variance, fourth] = moments(1.0 - libm::pow(1000.0, -q), 31);
            let odds = libm::pow(1000.0, q) - 1.0; // P / (1 - P)
            let ln_phi = libm::log(1000.0);
            if (0.05..0.2).contains(&q) {
                assert!((mean - q - odds / (62.0 * ln_phi)).abs() < 0.0005, "{mean} of {q}");
                let spread = variance * 31.0 * ln_phi * ln_phi / odds;
                assert!((0.95..1.15).contains(&spread), "{spread} at {q}");
            }
            let mut estimates = vec![];
            for _ in 0..TRIALS {
                let mut register = Register::new(31);
                (0..31).for_each(|_| register.push(cross(&prices, &mut random), 1));
                estimates.push(register.price(1000.0));
            }
            let n = f64::from(TRIALS);
            let average = estimates.iter().sum::<f64>() / n;
            let spread = estimates.iter().map(|q| libm::pow(q - mean, 2.0)).sum::<f64>() / n;
            assert!((average - mean).abs() < 4.0 * libm::sqrt(variance / n), "{average}, {mean}");
            let error = libm::sqrt((fourth - variance * variance) / n);
            assert!((spread - variance).abs() < 4.0 * error, "{spread}, {variance}");
        }
    }
}
