//! `libbarewire_embedded.a`: the C interface for programs without an operating system. Memory comes from the caller's
//! hooks, and a defect ends in the caller's hook; beyond those it needs `memcpy`, `memmove`, `memset` and `bcmp`.
//! `include/barewire_port.h` declares the hooks.
#![no_std]

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;

use barewire_c as _;

unsafe extern "C" {
    fn bw_port_allocate(size: usize) -> *mut c_void;
    fn bw_port_reallocate(place: *mut c_void, size: usize) -> *mut c_void;
    fn bw_port_free(place: *mut c_void);
    safe fn bw_port_panic() -> !;
}

/// The alignment of what the hooks give.
const ALIGNMENT: usize = 8;

/// The memory of the caller.
struct Port;

#[global_allocator]
static PORT: Port = Port;

// SAFETY: the hooks give blocks that do not overlap, are as long as was asked for and aligned to eight bytes, or NULL, as
// their header says. Nothing here asks for more alignment than that; if it did, it would be refused.
unsafe impl GlobalAlloc for Port {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() > ALIGNMENT {
            return core::ptr::null_mut();
        }
        unsafe { bw_port_allocate(layout.size()) }.cast()
    }

    unsafe fn dealloc(&self, place: *mut u8, _layout: Layout) {
        unsafe { bw_port_free(place.cast()) }
    }

    unsafe fn realloc(&self, place: *mut u8, _layout: Layout, size: usize) -> *mut u8 {
        unsafe { bw_port_reallocate(place.cast(), size) }.cast()
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    bw_port_panic()
}

/// What prebuilt code refers to for unwinding, which never happens: a panic does not return.
#[cfg(not(target_family = "wasm"))]
#[unsafe(no_mangle)]
pub extern "C" fn rust_eh_personality() {}

// The same for what continues it. It gives way to a library that has it, such as libgcc_eh.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(".text", ".weak _Unwind_Resume", "_Unwind_Resume:", "jmp bw_port_panic@PLT");

/// Compares `length` bytes, as the C library does: prebuilt code calls it.
///
/// # Safety
/// Both places are good for `length` bytes.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcmp(one: *const u8, other: *const u8, length: usize) -> i32 {
    for at in 0..length {
        // SAFETY: `at` is below `length`.
        let (one, other) = unsafe { (*one.add(at), *other.add(at)) };
        if one != other {
            return i32::from(one) - i32::from(other);
        }
    }
    0
}
