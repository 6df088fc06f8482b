//! Decisions read from bytes, so that a property test and a fuzz target walk the same way: the one draws the bytes
//! from its seed, the other mutates them.

/// Decisions that are left to make.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    /// The decisions that `bytes` stand for.
    pub fn new(bytes: &'a [u8]) -> Choices<'a> {
        Choices { bytes }
    }

    /// True if nothing is left to decide by.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next byte; 0 when none is left.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        first
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let mut number = usize::from(self.byte());
        if bound > 256 {
            number = number << 8 | usize::from(self.byte());
        }
        number % bound
    }

    /// True once in `count` times.
    pub fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == 1
    }

    /// One of `items`, which is not empty.
    pub fn pick<'b, T>(&mut self, items: &'b [T]) -> &'b T {
        &items[self.below(items.len())]
    }
}
