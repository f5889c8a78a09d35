//! When a group's flows start and stop, and how many packets they have.

use crate::document::choice::Spread;
use crate::document::format::ArrivalSize;
use crate::network::core::CoreGroup;
use knee_input::quantity::FlowSize;
use knee_laws::quantities::Time;
use knee_laws::router::Draw;
use knee_sim::Stream;
use knee_sim::config::SizeDistribution;

/// When a group's flows start: drawn from the group's own stream, so that no other group matters.
pub(crate) fn start_times(group: &CoreGroup, seed: u64) -> Vec<Time> {
    times(&group.start, group.count, Stream::new(seed, &format!("start of {}", group.name)))
}

/// When they stop, if ever: drawn from another stream of the group.
pub(crate) fn stop_times(group: &CoreGroup, seed: u64) -> Vec<Option<Time>> {
    let Some(stop) = &group.stop else { return vec![None; group.count as usize] };
    let stream = Stream::new(seed, &format!("stop of {}", group.name));
    times(stop, group.count, stream).into_iter().map(Some).collect()
}

fn times(spread: &Spread, count: u64, mut stream: Stream) -> Vec<Time> {
    (0..count).map(|index| Time::ZERO + spread.value(index, &mut || stream.uniform())).collect()
}

/// A size in packets; `None`: endless.
pub(crate) fn packets(size: FlowSize, packet_bytes: f64) -> Option<f64> {
    match size {
        FlowSize::Endless => None,
        FlowSize::Packets(packets) => Some(libm::ceil(packets)),
        FlowSize::Bytes(bytes) => Some(libm::ceil(bytes / packet_bytes)),
    }
}

pub(crate) fn distribution(size: &ArrivalSize, packet_bytes: f64) -> SizeDistribution {
    let mean = |size: &FlowSize| match size {
        FlowSize::Endless => 1.0,
        FlowSize::Packets(packets) => *packets,
        FlowSize::Bytes(bytes) => bytes / packet_bytes,
    };
    match size {
        ArrivalSize::Fixed(size) => SizeDistribution::Fixed(mean(size)),
        ArrivalSize::Exponential(size) => SizeDistribution::Exponential { mean: mean(size) },
        ArrivalSize::Pareto(pareto) => {
            SizeDistribution::Pareto { mean: mean(&pareto.mean), shape: pareto.shape.0 }
        }
    }
}

/// Mean size of an arriving flow in packets.
pub(crate) fn mean_packets(size: &ArrivalSize, packet_bytes: f64) -> f64 {
    match distribution(size, packet_bytes) {
        SizeDistribution::Fixed(mean)
        | SizeDistribution::Exponential { mean }
        | SizeDistribution::Pareto { mean, .. } => mean,
    }
}
