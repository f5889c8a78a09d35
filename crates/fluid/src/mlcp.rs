//! RTTs to a target utilisation with a load factor of few levels.
//!
//! I. A. Qazi, "Explicit feedback congestion control", PhD thesis, University of Pittsburgh, 2010, section 3.2.1,
//! equations (3.1)-(3.4). A scheme of n bits divides `[0, target]` into `2^n - 3` equal intervals. In interval
//! i the window grows by the factor `1 + kappa (1 - l_i) / l_i` each RTT, with `l_i` the interval's upper end.

use crate::effort::{Effort, Unsolved};
use knee_laws::senders::mlcp::xi;

/// A flow alone on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Climb {
    /// C x RTT, packets.
    pub bdp: f64,
    /// The window at the start, packets.
    pub initial_window: f64,
    /// U_t, the utilisation to reach.
    pub target: f64,
    /// kappa.
    pub kappa: f64,
}

impl Climb {
    /// r(l) of (3.4) for `2^bits - 3` levels; an interval below the initial window takes no time.
    ///
    /// # Errors
    /// If it takes too much work.
    pub fn rtts(&self, bits: u32, effort: &Effort) -> Result<f64, Unsolved> {
        let levels = (1_u64 << bits) - 3;
        let mut window = self.initial_window;
        let mut rtts = 0.0;
        for i in 1..=levels {
            effort.spend(5)?;
            let load = self.target * i as f64 / levels as f64;
            let end = self.bdp * load;
            if end > window {
                rtts += libm::log(end / window) / libm::log1p(xi(load, self.kappa));
                window = end;
            }
        }
        Ok(rtts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_section_3_2_1() {
        // 1 Gbps, 200 ms, 1 KB: 25000 packets. "Roughly" 118, then 15, 11 and about 8.
        let climb = Climb { bdp: 25000.0, initial_window: 1.0, target: 0.8, kappa: 0.35 };
        for (bits, rtts) in [(2, 118.0), (3, 15.0), (4, 11.0), (15, 8.0)] {
            let found = climb.rtts(bits, &Effort::free()).unwrap();
            println!("{bits} bits: {found:.3} RTTs, the thesis says {rtts}");
            assert!((found - rtts).abs() < 1.0, "{bits} {found}");
        }
        // By hand: ln(20000) / ln(1.0875).
        assert!((climb.rtts(2, &Effort::free()).unwrap() - 118.07).abs() < 0.05);
    }
}
