//! The generator of the sources for other languages, of the version that the library is built with.

fn main() {
    uniffi::uniffi_bindgen_main();
}
