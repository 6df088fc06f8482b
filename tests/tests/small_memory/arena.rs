//! An allocator over one fixed block, as a program without an operating system has it: first fit, in order of address,
//! neighbours joined. Positions are counted in 32 bits, so that it costs as much here as on a small target.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// What an allocation costs beside its bytes.
const HEADER: usize = 4;

/// Sizes and positions are multiples of this, and so is the alignment that is given.
const UNIT: usize = 8;

/// No further free block.
const NONE: u32 = u32::MAX;

/// One block of memory that everything is allocated from.
pub struct Arena {
    /// Blocks begin four bytes after a multiple of eight, so that what follows their header is aligned.
    memory: Vec<u64>,
    /// Position of the first free block.
    first: u32,
    /// Bytes in use, with headers.
    live: usize,
    /// The most bytes that were ever in use at once.
    pub peak_of_all: usize,
    /// What lies below is not allocated from.
    floor: u32,
    /// The end of what was allocated above since `floor` was last set.
    top: u32,
    /// Allocations that did not fit. They are served from elsewhere, so that a test can go on and tell.
    pub refused: usize,
}

thread_local! {
    static CURRENT: Cell<*mut Arena> = const { Cell::new(std::ptr::null_mut()) };
    static SUSPENDED: Cell<bool> = const { Cell::new(false) };
}

/// The allocator of the test program: the arena of the thread, or the system's where there is none.
pub struct Allocator;

impl Arena {
    pub fn new(bytes: usize) -> Box<Arena> {
        let mut arena = Box::new(Arena {
            memory: vec![0; bytes / UNIT],
            first: HEADER as u32,
            live: 0,
            peak_of_all: 0,
            floor: 0,
            top: 0,
            refused: 0,
        });
        let size = (bytes / UNIT - 1) * UNIT;
        arena.set_size(HEADER as u32, size as u32);
        arena.set_next(HEADER as u32, NONE);
        arena
    }

    fn note_peak(&mut self, end: u32) {
        self.top = self.top.max(end);
        self.peak_of_all = self.peak_of_all.max(self.live);
    }

    fn base(&self) -> *const u8 {
        self.memory.as_ptr().cast()
    }

    fn word(&self, at: u32) -> u32 {
        let (word, half) = (at as usize / UNIT, at as usize % UNIT / 4);
        (self.memory[word] >> (32 * half)) as u32
    }

    fn set_word(&mut self, at: u32, value: u32) {
        let (word, half) = (at as usize / UNIT, at as usize % UNIT / 4);
        let old = self.memory[word];
        let shift = 32 * half;
        self.memory[word] = old & !(0xffff_ffff << shift) | u64::from(value) << shift;
    }

    fn size(&self, block: u32) -> u32 {
        self.word(block)
    }

    fn set_size(&mut self, block: u32, size: u32) {
        self.set_word(block, size);
    }

    fn next(&self, block: u32) -> u32 {
        self.word(block + 4)
    }

    fn set_next(&mut self, block: u32, next: u32) {
        self.set_word(block + 4, next);
    }

    fn link(&mut self, before: Option<u32>, to: u32) {
        match before {
            None => self.first = to,
            Some(before) => self.set_next(before, to),
        }
    }

    fn take(&mut self, bytes: usize) -> Option<*mut u8> {
        let need = u32::try_from((bytes + HEADER).next_multiple_of(UNIT)).ok()?;
        let (mut before, mut block) = (None, self.first);
        while block != NONE {
            let size = self.size(block);
            if size >= need && block + size > self.floor {
                let mut next = self.next(block);
                if size > need {
                    let rest = block + need;
                    self.set_size(rest, size - need);
                    self.set_next(rest, next);
                    self.set_size(block, need);
                    next = rest;
                }
                self.link(before, next);
                self.live += need as usize;
                self.note_peak(block + need);
                return Some(self.base().cast_mut().wrapping_add(block as usize + HEADER));
            }
            (before, block) = (Some(block), self.next(block));
        }
        None
    }

    fn position(&self, place: *mut u8) -> Option<u32> {
        let offset = (place as usize).checked_sub(self.base() as usize)?;
        (offset < self.memory.len() * UNIT).then(|| (offset - HEADER) as u32)
    }

    fn give_back(&mut self, block: u32) {
        self.live -= self.size(block) as usize;
        let (mut before, mut after) = (None, self.first);
        while after < block {
            (before, after) = (Some(after), self.next(after));
        }
        let mut size = self.size(block);
        let mut next = after;
        if after != NONE && block + size == after {
            size += self.size(after);
            next = self.next(after);
        }
        match before {
            Some(before) if before + self.size(before) == block => {
                self.set_size(before, self.size(before) + size);
                self.set_next(before, next);
            }
            _ => {
                self.set_size(block, size);
                self.set_next(block, next);
                self.link(before, block);
            }
        }
    }

    /// Makes a block longer or shorter where it is; false if there is no room behind it.
    fn resize(&mut self, block: u32, bytes: usize) -> bool {
        let Ok(need) = u32::try_from((bytes + HEADER).next_multiple_of(UNIT)) else { return false };
        let size = self.size(block);
        if need > size && block < self.floor {
            return false;
        }
        if need > size {
            let mut after = self.first;
            let mut before = None;
            while after < block {
                (before, after) = (Some(after), self.next(after));
            }
            if after == NONE || block + size != after || size + self.size(after) < need {
                return false;
            }
            let whole = size + self.size(after);
            let next = self.next(after);
            self.link(before, next);
            self.set_size(block, whole);
            self.live += whole as usize - size as usize;
        }
        let size = self.size(block);
        if size > need {
            self.set_size(block, need);
            let rest = block + need;
            self.set_size(rest, size - need);
            self.give_back(rest);
        }
        self.note_peak(block + need);
        true
    }

    /// The longest free block, and its size.
    fn longest(&self) -> (u32, u32) {
        let (mut longest, mut block) = ((0, 0), self.first);
        while block != NONE {
            if self.size(block) > longest.1 {
                longest = (block, self.size(block));
            }
            block = self.next(block);
        }
        longest
    }

    /// Bytes that one allocation can have.
    pub fn available(&self) -> usize {
        (self.longest().1 as usize).saturating_sub(HEADER)
    }

    /// From now on everything is allocated from what is the longest free block now: how much of it is used is what a
    /// step takes where no other block happens to serve.
    pub fn use_longest_alone(&mut self) {
        self.floor = self.longest().0;
        self.top = self.floor;
    }

    /// Ends that; the bytes that were used, with gaps.
    pub fn use_all(&mut self) -> usize {
        self.top.saturating_sub(std::mem::take(&mut self.floor)) as usize
    }

    pub fn live(&self) -> usize {
        self.live
    }
}

/// Runs `work` with everything allocated from `arena`.
pub fn within<T>(arena: &mut Arena, work: impl FnOnce() -> T) -> T {
    CURRENT.set(arena);
    let result = work();
    CURRENT.set(std::ptr::null_mut());
    result
}

/// Runs `work`, which belongs to the test and not to the program, with the system's allocator.
pub fn outside<T>(work: impl FnOnce() -> T) -> T {
    SUSPENDED.set(true);
    let result = work();
    SUSPENDED.set(false);
    result
}

/// The arena of this thread, to look at.
pub fn look<T>(look: impl FnOnce(&mut Arena) -> T) -> T {
    let current = CURRENT.get();
    assert!(!current.is_null(), "there is no arena");
    // SAFETY: `within` has set it and has not returned, and nobody else uses it meanwhile.
    look(unsafe { &mut *current })
}

fn current() -> Option<&'static mut Arena> {
    let current = CURRENT.try_with(Cell::get).ok()?;
    // SAFETY: as above; the reference does not outlive the call of the allocator.
    unsafe { current.as_mut() }
}

// SAFETY: blocks of the arena do not overlap, are as long as was asked for and aligned to eight bytes, which is all
// that is taken from there; everything else is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !SUSPENDED.try_with(Cell::get).unwrap_or(true)
            && let Some(arena) = current()
        {
            if layout.align() <= UNIT
                && let Some(place) = arena.take(layout.size())
            {
                return place;
            }
            arena.refused += 1;
        }
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        if let Some(arena) = current()
            && let Some(block) = arena.position(place)
        {
            return arena.give_back(block);
        }
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let held = current().and_then(|arena| Some((arena.position(place)?, arena)));
        let Some((block, arena)) = held else {
            return unsafe { System.realloc(place, layout, size) };
        };
        if arena.resize(block, size) {
            return place;
        }
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !new.is_null() {
            unsafe {
                std::ptr::copy_nonoverlapping(place, new, layout.size().min(size));
                self.dealloc(place, layout);
            }
        }
        new
    }
}
