//! Who shares what: capacities of links, and the ways of flows over them, for whoever computes fair shares.

use crate::network::core::{CoreGroup, CoreLink};
use crate::network::flows::mean_packets;
use crate::plan::plans::{GroupPlan, Plan};
use crate::scenario::Scenario;
use knee_laws::quantities::Time;
use serde_json::{Value, json};
use std::collections::BTreeSet;

impl Scenario {
    /// Capacities and ways as they are at the end, a network a variant.
    ///
    /// A list of objects: `variant`; `links`, each with `name` and `bps`; `groups`, each with `name`, `count`,
    /// `data` and `acks` (names of links, in order, those under an aggregate in its place), `access_bps` (of
    /// each flow's own links, or null), `data_bytes`, `ack_bytes`, `packets_per_ack`, `lasting` (endless and
    /// never stopped) and `offered_bps` (what arrivals bring on average, or null). An aggregate's own header
    /// and ACKs are left out.
    pub fn ways(&self) -> Value {
        self.plans.iter().map(|plan| self.ways_of(plan)).collect()
    }

    fn ways_of(&self, plan: &Plan) -> Value {
        let network = self.network_of(plan);
        let end = Time::ZERO + self.document.duration.0;
        let names = |way: &[usize]| -> Vec<&str> {
            let way = network.expanded(way);
            way.into_iter().map(|link| network.links[link].name.as_str()).collect()
        };
        let own = |link: &usize| network.index.aggregate(*link).is_none();
        let carriers: BTreeSet<usize> =
            network.aggregates.iter().map(|aggregate| aggregate.group).collect();
        let links: Vec<_> = (0..network.links.len())
            .filter(own)
            .map(|link| &network.links[link])
            .map(|link| json!({ "name": link.name, "bps": rate_at(link, end) }))
            .collect();
        let groups: Vec<_> = network
            .groups
            .iter()
            .zip(&plan.groups)
            .enumerate()
            .filter(|(index, (group, _))| !carriers.contains(index) && group.count > 0)
            .flat_map(|(_, (group, laws))| group.shares().map(move |share| (share, group, laws)))
            .filter(|((_, count), ..)| *count > 0)
            .map(|((way, count), group, laws)| {
                let transport = &laws.transport;
                let stops = group.stop.as_ref().map(|stop| Time::ZERO + stop.range(group.count).0);
                json!({
                    "name": group.name,
                    "count": count,
                    "data": names(&way.forward),
                    "acks": names(&way.backward),
                    "access_bps": group.access.as_ref().map(|access| access.rate.bps()),
                    "data_bytes": transport.data_bytes,
                    "ack_bytes": transport.ack_bytes,
                    "packets_per_ack": transport.packets_per_ack,
                    "lasting": group.is_endless() && stops.is_none_or(|stop| stop >= end),
                    "offered_bps": offered_bps(group, laws),
                })
            })
            .collect();
        json!({ "variant": plan.name, "links": links, "groups": groups })
    }
}

fn rate_at(link: &CoreLink, time: Time) -> f64 {
    let changed = link.options.rate_changes.iter().rev().find(|(at, _)| *at < time);
    changed.map_or(link.rate, |(_, rate)| *rate).bps()
}

fn offered_bps(group: &CoreGroup, laws: &GroupPlan) -> Option<f64> {
    let arrivals = group.arrivals.as_ref()?;
    let bytes = f64::from(laws.transport.data_bytes);
    Some(arrivals.per_second.0 * mean_packets(&arrivals.size, bytes) * bytes * 8.0)
}
