//! Decisions of clients, connections and an application of a server behind HTTP; see `barewire_tests::http_walk`.
#![no_main]

libfuzzer_sys::fuzz_target!(|decisions: &[u8]| {
    barewire_tests::http_walk::run(decisions);
});
