//! The core in a program without `std`: built and run by `no_std.sh`, not by cargo.
#![no_std]
#![no_main]

extern crate alloc;

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

#[link(name = "c")]
unsafe extern "C" {
    fn aligned_alloc(alignment: usize, size: usize) -> *mut u8;
    fn free(block: *mut u8);
    fn abort() -> !;
}

struct LibcAllocator;

// SAFETY: `aligned_alloc` gives a block of the asked size and alignment, or null, and `free` takes it back.
unsafe impl GlobalAlloc for LibcAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size = layout.size().next_multiple_of(layout.align());
        unsafe { aligned_alloc(layout.align(), size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, _layout: Layout) {
        unsafe { free(block) }
    }
}

#[global_allocator]
static ALLOCATOR: LibcAllocator = LibcAllocator;

/// `std` has one of its own: this one compiles only when nothing in the tree pulls `std` in.
#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    unsafe { abort() }
}

/// Named by the prebuilt `core`, which was compiled to unwind; never called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    use barewire as _;
    let text = alloc::string::String::from("built");
    i32::from(text.is_empty())
}
