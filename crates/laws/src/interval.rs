//! Intervals that follow one another: what a law does once an interval, it does on the ticks that end them.

use crate::quantities::{Span, Time};

/// The interval under way. Its length is asked for anew each time, since a parameter may change it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interval {
    since: Time,
}

impl Interval {
    /// When it ends. That may have passed, where it has just become shorter.
    #[inline]
    pub fn end(self, length: Span) -> Time {
        self.since + length
    }

    /// If it has ended the next one begins now. How long did it take?
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
        assert_eq!(interval.end(ms(2)), at(12)); // shorter from here on, and noticed at 15 ms
        assert_eq!(interval.next(ms(2), at(15)), Some(ms(5)));
        assert_eq!(interval.end(ms(2)), at(17));
    }
}
