//! Counts allocations: after warm-up, there is none for a packet.

mod support;

use knee_laws::quantities::{Span, Time};
use knee_sim::Simulation;
use knee_sim::config::Buffer;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use support::Dumbbell;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn a_warm_network_hardly_allocates() {
    let dumbbell = |sender, router| Dumbbell { sender, router, ..Dumbbell::default() };
    let plain = |sender, router| (sender, dumbbell(sender, router).config(1));
    // Windows that fit into the ingress: no packet is lost, since lists of missing packets would grow.
    let mut island = dumbbell("sack", "vcp").island(1, "vcp", Buffer::Unlimited);
    island.groups[0].transport.max_window = 100.0;
    for (sender, config) in [
        plain("sack", "droptail"),
        plain("sack", "red"),
        plain("vcp", "vcp"),
        plain("bbr", "droptail"),
        ("sack over an aggregate", island),
    ] {
        let mut simulation = Simulation::new(config);
        simulation.run_until(Time::ZERO + Span::from_secs(30)).expect("no law fails");
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        simulation.run_until(Time::ZERO + Span::from_secs(60)).expect("no law fails");
        let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
        let packets = simulation.report().links[0].data_packets / 2;
        // Rings still grow now and then: a few times in some 400,000 packets.
        assert!(allocations < 100, "{sender}: {allocations} allocations in {packets} packets");
    }
}
