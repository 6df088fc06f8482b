//! Gives the shared library its name for the dynamic linker: it changes with each version that breaks the interface.
#![allow(clippy::disallowed_macros, reason = "how a build script speaks to cargo")]

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if matches!(&*system, "linux" | "android" | "freebsd" | "netbsd" | "openbsd" | "dragonfly") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libbarewire.so.0");
    }
}
