//! Decisions of two applications, a link and a clock; see `barewire_tests::operations`.
#![no_main]

libfuzzer_sys::fuzz_target!(|decisions: &[u8]| {
    barewire_tests::operations::run(decisions, [[1; 32], [2; 32]]);
});
