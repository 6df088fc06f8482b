//! libbarewire: the C interface as a static and a shared library.
//!
//! Everything is in `barewire_c`; a leaf of its own, so that others (embedded ones) can be made of the same source.

extern crate barewire_c as _;
