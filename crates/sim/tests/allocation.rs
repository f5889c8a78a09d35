//! No allocation a packet after warm-up: counted.

mod support;

use knee_laws::quantities::{Span, Time};
use knee_sim::Simulation;
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
    for (sender, router) in
        [("sack", "droptail"), ("sack", "red"), ("vcp", "vcp"), ("bbr", "droptail")]
    {
        let mut simulation =
            Simulation::new(Dumbbell { sender, router, ..Dumbbell::default() }.config(1));
        simulation.run_until(Time::ZERO + Span::from_secs(30));
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        simulation.run_until(Time::ZERO + Span::from_secs(60));
        let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
        let packets = simulation.report().links[0].data_packets / 2;
        // Rings still grow to a new longest now and then: a handful in some 400,000 packets.
        assert!(allocations < 100, "{sender}: {allocations} allocations in {packets} packets");
    }
}
