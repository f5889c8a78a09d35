//! A document with its defaults written out.

use crate::document::defaults::{PROBED_FLOWS, WARMUP};
use crate::document::format::{Document, ProbeSpec, QuantityName};
use crate::document::transport;
use knee_input::quantity::{Delay, Period};
use knee_laws::quantities::Span;
use knee_sim::config::Quantity;

/// What is sampled when a scenario names no probes, for so many flows.
pub(crate) fn probes(flows: u64) -> Vec<ProbeSpec> {
    let probe = |quantity, ms| ProbeSpec {
        quantity: QuantityName(quantity),
        interval: Period(Span::from_millis(ms)),
    };
    let mut probes = vec![probe(Quantity::Queue, 50), probe(Quantity::Utilisation, 500)];
    if flows <= PROBED_FLOWS {
        probes.push(probe(Quantity::Throughput, 500));
        probes.push(probe(Quantity::Window, 100));
    }
    probes
}

/// Writes out the defaults that do not depend on the topology.
pub(crate) fn fill(document: &mut Document) {
    let duration = document.duration.0;
    document.warmup.get_or_insert(Delay(duration.scale(WARMUP)));
    document.transport.expand();
    document.transport = document.transport.or(&transport::defaults());
    document.variant.iter_mut().for_each(|variant| variant.transport.expand());
    document.flows.iter_mut().for_each(|group| group.transport.expand());
    document.seeds = document.seeds.listed();
}
