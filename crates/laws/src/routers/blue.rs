//! BLUE: raises its marking probability when the buffer overflows, lowers it when the link is idle.
//!
//! W. Feng, K. Shin, D. Kandlur, D. Saha, "The BLUE Active Queue Management Algorithms", IEEE/ACM
//! Transactions on Networking 10(4), 2002. Queue in bytes, freeze the least time between two updates:
//!   (1) a packet is lost, or does not fit below `limit`   p = min(p + d1, 1), if freeze has passed
//!   (2) the link has become idle                          p = max(p - d2, 0), if freeze has passed
//!   (3) each arrival is marked, or dropped if it cannot be, with probability p
//! An idle time lowers p again after each freeze that it lasts; the paper only has its beginning. The limit and idle
//! times take effect when the next packet arrives, before (3). By default the limit is the buffer.

use super::verdicts::{congested, happens, room};
use crate::codecs::Wire;
use crate::quantities::{Bytes, Span, Time};
use crate::router::{Arrival, Draw, LinkView, RouterLaw, RouterSpec, Verdict};
use crate::{params, tunes};

params! {
    /// BLUE's parameters, with the defaults of the authors' simulations, as in ns-3's port.
    pub struct Params {
        /// Step d1 up.
        pub increment: f64 = 0.0025, in 0.0, 1.0;
        /// Step d2 down.
        pub decrement: f64 = 0.00025, in 0.0, 1.0;
        /// Least time between two updates.
        pub freeze: Span = Span::from_millis(100), in 1e-4, 100.0;
        /// Queue above which the probability is raised; 0: the buffer, or a hundred packets if that is unlimited.
        pub limit: Bytes = Bytes(0), in 0.0, 1e12;
        /// Mark packets that can carry a mark, instead of dropping them?
        pub ecn: bool = true, in 0.0, 1.0;
    }
}

/// (2): how often p is lowered in an idle time, and when last. `last` is the update before.
pub fn idle_updates(last: Time, idle: (Time, Time), freeze: Span) -> (u64, Time) {
    let (since, until) = idle;
    let first = since.max(last + freeze);
    if since >= until || first > until {
        return (0, last);
    }
    let more = until.since(first).ps() / freeze.ps();
    (1 + more, first + freeze * more)
}

/// The state of a BLUE router at one link.
#[derive(Clone, Debug)]
pub struct Blue {
    params: Params,
    /// The link's buffer in bytes.
    room: u64,
    p: f64,
    updated: Time,
}

impl Blue {
    fn limit(&self) -> u64 {
        let given = self.params.limit.count();
        if given == 0 { self.room } else { given }
    }

    fn update(&mut self, arrival: &Arrival) {
        let now = arrival.queue.now;
        if let Some(since) = arrival.idle_since {
            let (times, updated) = idle_updates(self.updated, (since, now), self.params.freeze);
            self.p = (self.p - times as f64 * self.params.decrement).max(0.0);
            self.updated = updated;
        } else if arrival.queue.bytes + u64::from(arrival.size) > self.limit() {
            self.raise(now);
        }
    }

    /// (1).
    fn raise(&mut self, now: Time) {
        if now >= self.updated + self.params.freeze {
            self.p = (self.p + self.params.increment).min(1.0);
            self.updated = now;
        }
    }
}

impl RouterLaw for Blue {
    tunes! {}

    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        wire: &mut Wire<'_>,
        draw: &mut dyn Draw,
    ) -> Verdict {
        self.update(arrival);
        if happens(self.p, draw) { congested(self.params.ecn, wire) } else { Verdict::Accept }
    }

    fn on_overflow(&mut self, arrival: &Arrival, _: &Wire<'_>) {
        self.raise(arrival.queue.now);
    }

    /// p.
    fn signal(&self) -> f64 {
        self.p
    }
}

impl RouterSpec for Blue {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "blue";
    const TITLE: &'static str = "BLUE: marks or drops more after overflows, less after idle times";
    const SOURCE: &'static str = "Feng, Shin, Kandlur, Saha, IEEE/ACM ToN 10(4), 2002";
    fn new(params: Params, link: &LinkView) -> Self {
        Self { params, room: room(link), p: 0.0, updated: Time::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{NoDraw, expect_marked, link, offer, queue};
    use super::*;
    use crate::codecs::Codec;
    use crate::script::Random;

    fn ms(n: u64) -> Time {
        queue(n, 0).now
    }

    #[test]
    fn idle_times_count_once_a_freeze() {
        let updates =
            |since, until| idle_updates(ms(1000), (ms(since), ms(until)), Span::from_millis(100));
        assert_eq!(updates(1050, 1099), (0, ms(1000))); // still frozen
        assert_eq!(updates(1050, 1100), (1, ms(1100)));
        assert_eq!(updates(1150, 1151), (1, ms(1150))); // on becoming idle
        assert_eq!(updates(1150, 1449), (3, ms(1350)));
        assert_eq!(updates(1150, 1150), (0, ms(1000))); // not idle at all
    }

    #[test]
    fn the_limit_is_the_buffer_unless_given() {
        let limit = |limit, buffer| {
            let params = Params { limit: Bytes(limit), ..Params::default() };
            <Blue as RouterSpec>::new(params, &LinkView { buffer: Bytes(buffer), ..link() }).limit()
        };
        assert_eq!([limit(0, 7000), limit(500, 7000), limit(0, u64::MAX)], [7000, 500, 100_000]);
    }

    #[test]
    fn overflows_raise_and_idle_times_lower() {
        let mut law = <Blue as RouterSpec>::new(Params::default(), &link());
        let mut random = Random(1);
        let mut at = |law: &mut Blue, now, packets| {
            offer(law, queue(now, packets), Codec::Ecn, &mut random);
            law.signal()
        };
        assert_eq!(at(&mut law, 200, 99), 0.0); // just fits
        assert_eq!(at(&mut law, 200, 100), 0.0025);
        assert_eq!(at(&mut law, 299, 100), 0.0025); // frozen
        assert_eq!(at(&mut law, 300, 100), 0.005);
        let queue = queue(620, 0);
        let idle = Arrival { queue, idle_since: Some(ms(310)), flow: 0, size: 1000, data: true };
        law.update(&idle); // at 400, 500 and 600 ms
        assert!((law.signal() - 0.00425).abs() < 1e-12);

        // A buffer counted in packets may be full below the limit.
        let (mut marks, mut header) = (Codec::Ecn.initial(), [0; 4]);
        let wire = Wire { marks: &mut marks, header: &mut header };
        for (now, p) in [(699, 0.00425), (700, 0.00675), (799, 0.00675)] {
            law.on_overflow(&Arrival { queue: super::super::trial::queue(now, 1), ..idle }, &wire);
            assert!((law.signal() - p).abs() < 1e-12);
        }
    }

    #[test]
    fn marks_come_with_probability_p() {
        let mut law = <Blue as RouterSpec>::new(Params::default(), &link());
        law.p = 0.03;
        expect_marked(&mut law, queue(0, 20), 0.03);
        law.p = 1.0;
        assert_eq!(offer(&mut law, queue(0, 20), Codec::None, &mut NoDraw), Verdict::Drop);
        law.params.ecn = false;
        assert_eq!(offer(&mut law, queue(0, 20), Codec::Ecn, &mut NoDraw), Verdict::Drop);
    }
}
