//! Bounded sets, sorted in one piece of memory: for as many things as a bound of [`Limits`](crate::Limits) allows that
//! takes less code and less memory than a tree, and less time as well, because most handles and deadlines come in
//! order.

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::slice;

/// Room for more than so many is given back once most of it is free, so that a burst costs nothing for ever.
const KEPT: usize = 64;

/// A set in ascending order.
#[derive(Clone, Debug)]
pub(crate) struct Sorted<T> {
    items: Vec<T>,
}

impl<T> Default for Sorted<T> {
    fn default() -> Self {
        Sorted { items: Vec::new() }
    }
}

impl<T> Sorted<T> {
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(crate) fn iter(&self) -> slice::Iter<'_, T> {
        self.items.iter()
    }

    pub(crate) fn first(&self) -> Option<&T> {
        self.items.first()
    }

    pub(crate) fn clear(&mut self) {
        self.items = Vec::new();
    }

    /// Where the item is that compares as equal, or where it would have to be. `compare` says how an item stands to
    /// what is looked for.
    pub(crate) fn search(&self, compare: impl FnMut(&T) -> Ordering) -> Result<usize, usize> {
        self.items.binary_search_by(compare)
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
    pub(crate) fn remove_at(&mut self, at: usize) -> T {
        let item = self.items.remove(at);
        if self.items.capacity() > KEPT.max(4 * self.items.len()) {
            self.items.shrink_to(2 * self.items.len());
        }
        item
    }

    /// Most bytes that it takes to hold so many more, while the shorter list is still there.
    pub(crate) fn growth(&self, more: usize) -> usize {
        let needed = self.items.len() + more;
        if needed > self.items.capacity() { 2 * needed * size_of::<T>() } else { 0 }
    }
}

impl<T: Ord> Sorted<T> {
    pub(crate) fn contains(&self, item: &T) -> bool {
        self.items.binary_search(item).is_ok()
    }

    pub(crate) fn insert(&mut self, item: T) {
        if let Err(at) = self.items.binary_search(&item) {
            self.insert_at(at, item);
        }
    }

    /// Whether it was there.
    pub(crate) fn remove(&mut self, item: &T) -> bool {
        let found = self.items.binary_search(item);
        found.is_ok_and(|at| {
            self.remove_at(at);
            true
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(set.search(|item| item.cmp(&2)), Err(1));
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
