//! Random streams: one for each component, seeded from the run's seed and the component's name. Also identities of
//! flows and identifiers of packets, which look random but follow from names and numbers.

use knee_laws::router::Draw;
use rand::RngCore;
use rand_pcg::Pcg64;

/// A component's random numbers.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64);

impl Stream {
    /// The stream of the component with this name. Adding a component does not change those of others.
    pub fn new(seed: u64, name: &str) -> Self {
        // FNV-1a, 128 bits, over the name, gives the generator's start and its sequence.
        let hash =
            name.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |hash, byte| {
                (hash ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b)
            });
        let mut rng = Pcg64::new(hash ^ (u128::from(seed) << 64) ^ u128::from(seed), hash);
        rng.next_u64();
        Self(rng)
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log1p(-self.uniform())
    }

    /// Pareto with the given mean and shape above 1.
    pub fn pareto(&mut self, mean: f64, shape: f64) -> f64 {
        let scale = mean * (shape - 1.0) / shape;
        scale * libm::pow(1.0 - self.uniform(), -1.0 / shape)
    }
}

/// SplitMix64's finalizer: bits that look random.
#[inline]
fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The identity of the `n`th flow of a group. Adding a group does not change those of others.
pub fn identity(group: &str, n: u64) -> u64 {
    // FNV-1a, 64 bits, over the name.
    let hash = group.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    mix(hash.wrapping_add(n.wrapping_mul(GOLDEN)))
}

/// The identifier of a packet of the flow with this [`identity`]: uniform over packets and flows, the same in
/// every run.
#[inline]
pub fn identifier(flow: u64, packet: u64) -> u16 {
    (mix(flow.wrapping_add(packet.wrapping_mul(GOLDEN))) >> 48) as u16
}

impl Draw for Stream {
    #[inline]
    fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 100_000;

    #[test]
    fn streams_of_other_names_or_seeds_differ_and_repeat() {
        let first = |seed, name| Stream::new(seed, name).uniform();
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
    }

    #[test]
    fn means_are_within_four_standard_errors() {
        let mut stream = Stream::new(1, "test");
        let mean = |draw: &mut dyn FnMut() -> f64| (0..N).map(|_| draw()).sum::<f64>() / N as f64;
        let n = (N as f64).sqrt();
        let uniform = mean(&mut || stream.uniform());
        assert!((uniform - 0.5).abs() < 4.0 * (1.0 / 12f64.sqrt()) / n, "{uniform}");
        let exponential = mean(&mut || stream.exponential(3.0));
        assert!((exponential - 3.0).abs() < 4.0 * 3.0 / n, "{exponential}");
        // Shape 3, mean 30: standard deviation 30 sqrt(1 / (3 (3 - 2))) = 17.3.
        let pareto = mean(&mut || stream.pareto(30.0, 3.0));
        assert!((pareto - 30.0).abs() < 4.0 * 17.33 / n, "{pareto}");
    }
}
