//! Sealing of `requestState`.
