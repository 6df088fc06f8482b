//! The core in a program without `std`: built and run by `no_std.sh`, not by cargo.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::string::String;
use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

use barewire::server::Server;
use barewire::transport::Stdio;
use barewire::{Implementation, Instant, ServerConfig};

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

/// Zero when the server answers a handshake.
#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    i32::from(
        answer().is_none_or(|answer| !answer.contains("\"result\":{\"protocolVersion\":\"2025-11-25\"")),
    )
}

fn answer() -> Option<String> {
    let config = ServerConfig::new(Implementation::new("no_std", "1"), [7; 32]);
    let mut server = Stdio::new(Server::new(config).ok()?);
    server.receive_data(Instant::from_millis(0), HANDSHAKE).ok()?;
    String::from_utf8(server.data_to_send().to_vec()).ok()
}

const HANDSHAKE: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
"#;
