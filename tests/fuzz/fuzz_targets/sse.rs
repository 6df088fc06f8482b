//! Event streams, read and written; see `barewire_tests::event_streams`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    barewire_tests::event_streams::check(bytes);
    barewire_tests::event_streams::check_written(bytes);
});
