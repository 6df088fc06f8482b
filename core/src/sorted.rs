//! Bounded sets, sorted in one piece of memory: for as many things as a bound of [`Limits`](crate::Limits) allows that
//! takes less code and less memory than a tree, and no more time, because most handles, ids and deadlines come and go in
//! order.

use alloc::collections::{VecDeque, vec_deque};
use core::cmp::Ordering;

/// Room for more than so many is given back once most of it is free, so that a burst costs nothing for ever.
const KEPT: usize = 64;

/// A set in ascending order.
#[derive(Clone, Debug)]
pub(crate) struct Sorted<T> {
    items: VecDeque<T>,
}

impl<T> Default for Sorted<T> {
    fn default() -> Self {
        Sorted { items: VecDeque::new() }
    }
}

impl<T> Sorted<T> {
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(crate) fn iter(&self) -> vec_deque::Iter<'_, T> {
        self.items.iter()
    }

    pub(crate) fn first(&self) -> Option<&T> {
        self.items.front()
    }

    pub(crate) fn clear(&mut self) {
        self.items = VecDeque::new();
    }

    /// Where the item is that compares as equal, or where it would have to be. `compare` says how an item stands to
    /// what is looked for.
    pub(crate) fn search(&self, mut compare: impl FnMut(&T) -> Ordering) -> Result<usize, usize> {
        // Most that comes is above all, and most that goes is the first.
        match self.items.back() {
            Some(last) if compare(last) != Ordering::Less => {}
            _ => return Err(self.items.len()),
        }
        match self.items.front() {
            Some(first) if compare(first) == Ordering::Equal => Ok(0),
            _ => self.items.binary_search_by(compare),
        }
    }

    /// The item at a place from [`search`](Self::search).
    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        self.items.get(at)
    }

    /// Adds an item at the place from [`search`](Self::search). Few are there at most times: room grows from one place.
    pub(crate) fn insert_at(&mut self, at: usize, item: T) {
        if self.items.len() == self.items.capacity() {
            self.items.reserve_exact(self.items.len().max(1));
        }
        self.items.insert(at, item);
    }

    /// Removes the item at a place from [`search`](Self::search).
    pub(crate) fn remove_at(&mut self, at: usize) {
        self.items.remove(at);
        if self.items.capacity() > KEPT.max(4 * self.items.len()) {
            self.items.shrink_to(2 * self.items.len());
        }
    }

    /// Most bytes that it takes to hold so many more, while the shorter list is still there.
    pub(crate) fn growth(&self, more: usize) -> usize {
        let needed = self.items.len() + more;
        if needed > self.items.capacity() { 2 * needed * size_of::<T>() } else { 0 }
    }
}

impl<T: Ord> Sorted<T> {
    pub(crate) fn contains(&self, item: &T) -> bool {
        self.search(|other| other.cmp(item)).is_ok()
    }

    pub(crate) fn insert(&mut self, item: T) {
        if let Err(at) = self.search(|other| other.cmp(&item)) {
            self.insert_at(at, item);
        }
    }

    /// Whether it was there.
    pub(crate) fn remove(&mut self, item: &T) -> bool {
        let found = self.search(|other| other.cmp(item));
        found.is_ok_and(|at| {
            self.remove_at(at);
            true
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn items_stand_once_and_in_order() {
        let mut set = Sorted::default();
        for item in [3, 1, 2, 3, 1] {
            set.insert(item);
        }
        assert_eq!(set.iter().copied().collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!((set.len(), set.first()), (3, Some(&1)));
        assert!(set.remove(&2) && !set.remove(&2));
        assert!(set.contains(&3) && !set.contains(&2));
        assert_eq!(
            [0, 1, 2, 3, 4].map(|item| set.search(|other| other.cmp(&item))),
            [Err(0), Ok(0), Err(1), Ok(1), Err(2)]
        );
        assert_eq!(set.get(1), Some(&3));
        set.clear();
        assert!(set.is_empty());
    }

    #[test]
    fn room_for_a_burst_is_given_back() {
        let mut set = Sorted::default();
        for item in 0..10 * KEPT {
            let (before, most) = (set.items.capacity(), set.growth(1));
            set.insert(item);
            let grown =
                if set.items.capacity() > before { set.items.capacity() * size_of::<usize>() } else { 0 };
            assert!(grown <= most, "{grown} bytes were taken, {most} were told");
        }
        for item in 0..10 * KEPT {
            assert!(set.remove(&item));
            assert!(set.items.capacity() <= KEPT.max(4 * set.len()));
        }
    }
}
