//! Max-min fair rates by progressive filling.
//!
//! D. Bertsekas, R. Gallager, "Data Networks", 2nd ed., 1992, section 6.5.2: all rates grow together; the
//! flows of a link that fills keep theirs, the others go on.

/// Links with capacities, and flows that each cross some of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Capacity of each link, in any unit of rate.
    pub capacities: Vec<f64>,
    /// For each flow the links that it crosses, by index; at least one.
    pub routes: Vec<Vec<usize>>,
}

/// What a flow is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// In the unit of the capacities.
    pub rate: f64,
    /// The link that holds it back.
    pub bottleneck: usize,
}

impl Topology {
    /// Fixes flows link by link: `level` says at which level a link with a count of open flows and a sum of
    /// fixed rates fills; the link of the lowest level is next, and its open flows get that level.
    pub(crate) fn fill(&self, level: impl Fn(usize, f64, f64) -> f64) -> Vec<Share> {
        let mut shares: Vec<Option<Share>> = vec![None; self.routes.len()];
        while shares.contains(&None) {
            let open = |link: usize| {
                let crosses = |flow: &usize| self.routes[*flow].contains(&link);
                let flows = (0..shares.len()).filter(crosses);
                let (open, fixed): (Vec<_>, Vec<_>) =
                    flows.partition(|flow| shares[*flow].is_none());
                let taken =
                    fixed.iter().filter_map(|flow| shares[*flow]).map(|share| share.rate).sum();
                (!open.is_empty()).then(|| (level(link, open.len() as f64, taken), link))
            };
            let lowest =
                (0..self.capacities.len()).filter_map(open).min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((rate, bottleneck)) = lowest else { break };
            for (share, route) in shares.iter_mut().zip(&self.routes) {
                if share.is_none() && route.contains(&bottleneck) {
                    *share = Some(Share { rate, bottleneck });
                }
            }
        }
        shares.into_iter().map(|share| share.expect("every flow crosses a link")).collect()
    }

    /// The max-min fair rates.
    pub fn max_min(&self) -> Vec<Share> {
        self.fill(|link, open, taken| ((self.capacities[link] - taken) / open).max(0.0))
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
        let rates: Vec<f64> = lot.max_min().iter().map(|share| share.rate).collect();
        assert_eq!(rates, [2.0, 8.0, 2.0, 4.0, 4.0]);
        assert_eq!(lot.max_min()[0].bottleneck, 1);
    }

    #[test]
    fn jain_2007_topology_t2() {
        // Section V-D: 970 and 800 Mbps; x1 over both, x2 over the first, x3 over the second.
        let t2 =
            Topology { capacities: vec![970.0, 800.0], routes: vec![vec![0, 1], vec![0], vec![1]] };
        let rates: Vec<f64> = t2.max_min().iter().map(|share| share.rate).collect();
        assert_eq!(rates, [400.0, 570.0, 400.0]);
    }
}
