//! A ring buffer whose length is a power of two. Packets wait and travel in it.

/// First in, first out. It grows when full and never shrinks, so that a run allocates only while it warms up. When it
/// becomes empty, it starts again at its first slot, which is likely still in the cache.
#[derive(Debug)]
pub struct Ring<T> {
    slots: Box<[T]>,
    head: u32,
    len: u32,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { slots: Box::new([]), head: 0, len: 0 }
    }
}

impl<T: Copy> Ring<T> {
    /// Appends a value. Returns a reference to it: changing a field there, rather than before the copy, avoids a
    /// stall of the processor.
    #[inline]
    pub fn push(&mut self, value: T) -> &mut T {
        if self.len as usize == self.slots.len() {
            self.grow(value);
        }
        let wrap = self.slots.len() - 1;
        let slot = &mut self.slots[(self.head + self.len) as usize & wrap];
        *slot = value;
        self.len += 1;
        slot
    }

    /// The first.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.len == 0 { None } else { self.slots.get(self.head as usize) }
    }

    /// The last.
    pub fn back(&self) -> Option<&T> {
        let last = (self.head + self.len).wrapping_sub(1) as usize;
        if self.len == 0 { None } else { self.slots.get(last & (self.slots.len() - 1)) }
    }

    /// Removes the first.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let value = *self.front()?;
        self.len -= 1;
        let next = (self.head + 1) & (self.slots.len() as u32 - 1);
        self.head = if self.len == 0 { 0 } else { next };
        Some(value)
    }

    /// Is there none?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All, first to last.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let (later, first) = self.slots.split_at(self.head as usize);
        first.iter().chain(later).take(self.len as usize)
    }

    #[cold]
    fn grow(&mut self, filler: T) {
        let len = (self.slots.len() * 2).max(2);
        let mut slots = Vec::with_capacity(len);
        slots.extend(self.iter());
        slots.resize(len, filler);
        self.slots = slots.into();
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn it_is_a_queue(operations in prop::collection::vec(prop::option::of(0u32..100), 0..300)) {
            let (mut ring, mut oracle) = (Ring::default(), VecDeque::new());
            for operation in operations {
                match operation {
                    Some(value) => { ring.push(value); oracle.push_back(value); }
                    None => prop_assert_eq!(ring.pop(), oracle.pop_front()),
                }
                prop_assert_eq!(ring.front(), oracle.front());
                prop_assert_eq!(ring.back(), oracle.back());
                prop_assert_eq!(ring.is_empty(), oracle.is_empty());
                prop_assert!(ring.iter().eq(oracle.iter()));
            }
        }
    }
}
