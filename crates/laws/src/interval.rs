//! Intervals, one after the other. A law acts at the ticks that end them.

use crate::quantities::{Span, Time};

/// The current interval. Its length is an argument of each method, since it may be a parameter that changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interval {
    since: Time,
}

impl Interval {
    /// When it ends. This may be in the past, if the length has become shorter.
    #[inline]
    pub fn end(self, length: Span) -> Time {
        self.since + length
    }

    /// If the interval has ended, begins the next one, and returns how long it took.
    #[inline]
    pub fn next(&mut self, length: Span, now: Time) -> Option<Span> {
        let ended = now >= self.end(length);
        ended.then(|| now.since(std::mem::replace(&mut self.since, now)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_end_one_after_another_and_follow_their_length() {
        let ms = Span::from_millis;
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut interval = Interval::default();
        assert_eq!(interval.next(ms(10), at(9)), None);
        assert_eq!(interval.next(ms(10), at(10)), Some(ms(10)));
        assert_eq!(interval.next(ms(10), at(10)), None);
        assert_eq!(interval.end(ms(10)), at(20));
        assert_eq!(interval.end(ms(2)), at(12)); // now shorter, which is noticed at 15 ms
        assert_eq!(interval.next(ms(2), at(15)), Some(ms(5)));
        assert_eq!(interval.end(ms(2)), at(17));
    }
}
