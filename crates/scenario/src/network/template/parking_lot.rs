//! The parking lot: links in a row each way, long flows over all, cross flows over each.

use super::{Direction, Flows, access_delay, access_rate, both_ways, link};
use crate::document::choice::Spread;
use crate::document::defaults::PARKING_LOT_SHARE;
use crate::document::format::ParkingLot;
use crate::document::link::Bottleneck;
use crate::network::core::{AccessDelay, CoreAccess, Network, Template};
use knee_input::problem::{Fault, KeyPath};
use knee_input::quantity::Delay;
use knee_laws::quantities::BitRate;

/// Links `link1`, .. and `link1-reverse`, ..; groups `forward`, `reverse`, `cross1`, ..
pub(crate) fn expand(
    lot: &ParkingLot,
    bottleneck: &Bottleneck,
) -> Result<(Network, Template), Fault> {
    let at = KeyPath::root().key("parking_lot");
    let count = lot.links.0 as usize;
    let rates = rates(lot, bottleneck)?;
    let one_way = lot.rtt.0 / 2;
    let delay =
        lot.link_delay.map_or_else(|| one_way.scale(PARKING_LOT_SHARE) / lot.links.0, |d| d.0);
    let core = delay * lot.links.0;
    if core > one_way {
        return Err(at.key("link_delay").fault(format!(
            "{count} links of {delay} make {core}, but rtt = {} leaves {one_way} one way",
            lot.rtt.0
        )));
    }
    let mut network = Network::default();
    for direction in [Direction::Forward, Direction::Reverse] {
        for (index, rate) in rates.iter().enumerate() {
            let (name, next) = (format!("link{}", index + 1), format!("node{}", index + 1));
            let ends = (&*format!("node{index}"), &*next);
            network.links.push(link(bottleneck, (&name, direction), ends, (*rate, delay))?);
        }
    }
    network.index_links();
    let forward: Vec<usize> = (0..count).collect();
    let reverse: Vec<usize> = (count..2 * count).rev().collect();
    let access = CoreAccess {
        rate: access_rate(network.fastest(&forward), lot.access_factor.0),
        delay: AccessDelay::Each(Spread::Fixed(Delay(access_delay(one_way, core)))),
    };
    let mut add = |name: String, count: u64, links: &[usize], key: &str| {
        let flows = Flows {
            name,
            count,
            forward: links.to_vec(),
            access: access.clone(),
            start: &lot.start,
            at: at.key(key),
        };
        flows.add(&mut network)
    };
    add("forward".to_owned(), lot.flows.0, &forward, "flows")?;
    add("reverse".to_owned(), lot.reverse.0, &reverse, "reverse")?;
    for link in &forward {
        add(format!("cross{}", link + 1), lot.cross.0, &[*link], "cross")?;
    }
    let ways = [("forward", forward), ("reverse", reverse)];
    let ways = ways.map(|(name, links)| (name, vec![both_ways(links, &network)])).into();
    Ok((network, Template { ways, access: Some(access), start: lot.start.clone() }))
}

/// The rate of each link.
fn rates(lot: &ParkingLot, bottleneck: &Bottleneck) -> Result<Vec<BitRate>, Fault> {
    let count = lot.links.0 as usize;
    match (&lot.rates, bottleneck.rate) {
        (Some(rates), _) if rates.len() != count => {
            let at = KeyPath::root().key("parking_lot").key("rates");
            Err(at.fault(format!("{} rates for {count} links", rates.len())))
        }
        (Some(rates), _) => Ok(rates.iter().map(|rate| rate.0).collect()),
        (None, Some(rate)) => Ok(vec![rate.0; count]),
        (None, None) => Err(KeyPath::root().key("bottleneck").fault("missing key `rate`")),
    }
}
