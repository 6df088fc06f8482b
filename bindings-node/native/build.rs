//! Linker arguments of an addon.

fn main() {
    napi_build::setup();
}
