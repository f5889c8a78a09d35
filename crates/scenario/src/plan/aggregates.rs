//! What depends on the variant of aggregates: ingress laws, and sizes of packets.

use crate::network::aggregate::MOST_BYTES;
use crate::network::core::Network;
use crate::plan::plans::Plan;
use knee_input::problem::Fault;

/// Checks what depends on the variant: ingress laws, and sizes of packets.
pub(crate) fn check(plan: &Plan, network: &Network) -> Result<(), Fault> {
    for aggregate in &network.aggregates {
        let router = &plan.links[aggregate.link].router;
        if !router.info().codec.is_optional() {
            return Err(aggregate.at.key("router").fault(format!(
                "an ingress sends as its aggregate's window allows, and `{}` needs a link with a \
                 rate; take one that drops or marks, such as `droptail` or `red`",
                router.name
            )));
        }
    }
    if network.aggregates.is_empty() {
        return Ok(());
    }
    for (group, laws) in network.groups.iter().zip(&plan.groups) {
        let crossed = group.crossed().into_iter().filter_map(|link| network.index.aggregate(link));
        for aggregate in crossed.map(|place| &network.aggregates[place]) {
            let bytes = u64::from(laws.transport.data_bytes) + u64::from(aggregate.overhead);
            if bytes > MOST_BYTES {
                let name = &group.name;
                return Err(aggregate.at.key("overhead").fault(format!(
                    "packets of flows `{name}` would have {bytes} B; at most {MOST_BYTES} B"
                )));
            }
        }
    }
    Ok(())
}
