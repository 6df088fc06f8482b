//! Bytes of a hostile peer, for both roles; see `barewire_tests::frames`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    barewire_tests::frames::check(bytes);
});
