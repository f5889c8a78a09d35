//! Max-min fair rates by progressive filling.
//!
//! D. Bertsekas, R. Gallager, "Data Networks", 2nd ed., 1992, section 6.5.2: all rates grow together. When a link is
//! full, the rates of its flows stop growing; the others go on.

use crate::effort::{Effort, Unsolved};

/// Links with capacities, and flows that each cross some of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Capacity of each link, in any unit of rate.
    pub capacities: Vec<f64>,
    /// For each flow the links that it crosses, by index; at least one.
    pub routes: Vec<Vec<usize>>,
}

/// The links of a route, each once.
fn once_each(route: &[usize]) -> Vec<usize> {
    let mut links = route.to_vec();
    links.sort_unstable();
    links.dedup();
    links
}

/// The share of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Its rate, in the unit of the capacities.
    pub rate: f64,
    /// The link that limits it.
    pub bottleneck: usize,
}

impl Topology {
    /// Fixes the rates of flows, link by link. `level` gives the level at which a link is full, from the number of its open
    /// flows and the sum of its fixed rates. The link with the lowest level is next; its open flows get that level.
    pub(crate) fn fill(
        &self,
        effort: &Effort,
        level: impl Fn(usize, f64, f64) -> f64,
    ) -> Result<Vec<Share>, Unsolved> {
        let crossing = self.crossing();
        let mut shares: Vec<Option<Share>> = vec![None; self.routes.len()];
        let mut open: Vec<usize> = crossing.iter().map(Vec::len).collect();
        let mut taken = vec![0.0; self.capacities.len()];
        loop {
            effort.spend(self.capacities.len())?;
            let levels = (0..self.capacities.len())
                .filter(|link| open[*link] > 0)
                .map(|link| (level(link, open[link] as f64, taken[link]), link));
            let Some((rate, bottleneck)) = levels.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
            for &flow in &crossing[bottleneck] {
                if shares[flow].is_none() {
                    effort.spend(self.routes[flow].len())?;
                    shares[flow] = Some(Share { rate, bottleneck });
                    for &link in once_each(&self.routes[flow]).iter() {
                        open[link] -= 1;
                        taken[link] += rate;
                    }
                }
            }
        }
        Ok(shares.into_iter().map(|share| share.expect("every flow crosses a link")).collect())
    }

    /// Flows that cross each link, in order.
    pub(crate) fn crossing(&self) -> Vec<Vec<usize>> {
        let mut crossing = vec![Vec::new(); self.capacities.len()];
        for (flow, route) in self.routes.iter().enumerate() {
            once_each(route).iter().for_each(|&link| crossing[link].push(flow));
        }
        crossing
    }

    /// The max-min fair rates.
    ///
    /// # Errors
    /// If it takes too much work.
    pub fn max_min(&self, effort: &Effort) -> Result<Vec<Share>, Unsolved> {
        self.fill(effort, |link, open, taken| ((self.capacities[link] - taken) / open).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parking_lot() {
        let lot = Topology {
            capacities: vec![10.0, 4.0, 10.0],
            routes: vec![vec![0, 1, 2], vec![0], vec![1], vec![2], vec![2]],
        };
        let shares = lot.max_min(&Effort::free()).unwrap();
        let rates: Vec<f64> = shares.iter().map(|share| share.rate).collect();
        assert_eq!(rates, [2.0, 8.0, 2.0, 4.0, 4.0]);
        assert_eq!(shares[0].bottleneck, 1);
    }

    #[test]
    fn jain_2007_topology_t2() {
        // Section V-D: 970 and 800 Mbps; x1 over both, x2 over the first, x3 over the second.
        let t2 =
            Topology { capacities: vec![970.0, 800.0], routes: vec![vec![0, 1], vec![0], vec![1]] };
        let shares = t2.max_min(&Effort::free()).unwrap();
        let rates: Vec<f64> = shares.iter().map(|share| share.rate).collect();
        assert_eq!(rates, [400.0, 570.0, 400.0]);
    }
}
