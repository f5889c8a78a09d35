//! Templates: topologies in a few keys, expanded into links and groups.

pub(crate) mod dumbbell;
pub(crate) mod parking_lot;

use crate::document::choice::Spread;
use crate::document::link::Bottleneck;
use crate::network::core::{CoreAccess, CoreGroup, CoreLink, CoreWay, Network, REVERSE};
use knee_input::problem::{Fault, KeyPath};
use knee_input::quantity::FlowSize;
use knee_laws::quantities::{BitRate, Span};

/// A group of a template's own flows.
struct Flows<'a> {
    name: String,
    count: u64,
    forward: Vec<usize>,
    access: CoreAccess,
    start: &'a Spread,
    at: KeyPath,
}

impl Flows<'_> {
    /// Adds the group unless it is empty.
    fn add(self, network: &mut Network) -> Result<(), Fault> {
        if self.count == 0 {
            return Ok(());
        }
        self.start.check(self.count, &KeyPath(self.at.0[..1].to_vec()).key("start"))?;
        let way = both_ways(self.forward, network);
        network.groups.push(CoreGroup {
            name: self.name,
            count: self.count,
            ways: vec![way],
            access: Some(self.access),
            start: self.start.clone(),
            stop: None,
            size: FlowSize::Endless,
            arrivals: None,
            sender: None,
            mismatch: None,
            transport: Default::default(),
            at: self.at,
        });
        Ok(())
    }
}

/// A way with the reverse links of its links for the way back.
fn both_ways(forward: Vec<usize>, network: &Network) -> CoreWay {
    let backward = forward.iter().rev().filter_map(|link| network.reverse_of(*link)).collect();
    CoreWay { forward, backward }
}

/// A link with the bottleneck's options in one direction; `ends` are those of the forward one.
fn link(
    bottleneck: &Bottleneck,
    (name, direction): (&str, Direction),
    ends: (&str, &str),
    of: (BitRate, Span),
) -> Result<CoreLink, Fault> {
    let (name, ends) = match direction {
        Direction::Forward => (name.to_owned(), ends),
        Direction::Reverse => (format!("{name}{REVERSE}"), (ends.1, ends.0)),
    };
    let at = KeyPath::root().key("bottleneck");
    Ok(CoreLink {
        options: bottleneck.options(&at)?,
        measured: true,
        ..CoreLink::new(name, ends, of, at)
    })
}

/// One of a template's two directions.
#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Forward,
    Reverse,
}

/// Delay of each of four access links, where the core holds `core` of a one-way delay of `one_way`.
fn access_delay(one_way: Span, core: Span) -> Span {
    (one_way - core) / 2
}

/// The access links' rate.
fn access_rate(fastest: BitRate, factor: f64) -> BitRate {
    BitRate::from_bps(fastest.bps() * factor)
}
