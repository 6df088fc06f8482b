//! Decisions of servers, users and stores around an authorization, challenge headers and metadata among them; see
//! `barewire_tests::authorization_walk`.
#![no_main]

libfuzzer_sys::fuzz_target!(|decisions: &[u8]| {
    barewire_tests::authorization_walk::run(decisions);
});
