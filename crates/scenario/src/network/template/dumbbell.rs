//! The dumbbell: one bottleneck each way, every flow with access links of its own.

use super::{Direction, Flows, access_delay, access_rate, both_ways, link};
use crate::document::choice::{Shape, Spread, Step};
use crate::document::format::Dumbbell;
use crate::document::link::Bottleneck;
use crate::network::core::{AccessDelay, CoreAccess, Network, Template};
use knee_input::problem::{Fault, KeyPath};
use knee_input::quantity::Delay;

/// Links `bottleneck` and `bottleneck-reverse`, groups `forward` and `reverse`.
pub(crate) fn expand(
    dumbbell: &Dumbbell,
    bottleneck: &Bottleneck,
) -> Result<(Network, Template), Fault> {
    let at = KeyPath::root().key("dumbbell");
    let Some(rate) = bottleneck.rate else {
        return Err(KeyPath::root().key("bottleneck").fault("missing key `rate`"));
    };
    let one_way = dumbbell.rtt.0 / 2;
    let delay = one_way.scale(dumbbell.bottleneck_share.0);
    let mut network = Network::default();
    for direction in [Direction::Forward, Direction::Reverse] {
        let named = ("bottleneck", direction);
        network.links.push(link(bottleneck, named, ("left", "right"), (rate.0, delay))?);
    }
    network.index_links();
    let rate = access_rate(network.fastest(&[0]), dumbbell.access_factor.0);
    let start = &dumbbell.start;
    let base = Spread::Fixed(Delay(dumbbell.rtt.0));
    let stepped =
        Spread::Shape(Shape::Step(Step { from: Delay(dumbbell.rtt.0), by: dumbbell.rtt_step }));
    stepped.check(dumbbell.flows.0, &at.key("rtt_step"))?;
    let directions = [
        (Direction::Forward, dumbbell.flows, stepped, "flows"),
        (Direction::Reverse, dumbbell.reverse, base, "reverse"),
    ];
    for (direction, count, rtt, key) in directions {
        let (name, link) =
            if direction == Direction::Forward { ("forward", 0) } else { ("reverse", 1) };
        let access = CoreAccess { rate, delay: AccessDelay::Rtt(rtt) };
        let flows = Flows {
            name: name.to_owned(),
            count: count.0,
            forward: vec![link],
            access,
            start,
            at: at.key(key),
        };
        flows.add(&mut network)?;
    }
    let access = CoreAccess {
        rate,
        delay: AccessDelay::Each(Spread::Fixed(Delay(access_delay(one_way, delay)))),
    };
    let ways = [("forward", 0), ("reverse", 1)];
    let ways = ways.map(|(name, link)| (name, vec![both_ways(vec![link], &network)])).into();
    let template = Template { ways, access: Some(access), start: start.clone() };
    Ok((network, template))
}
