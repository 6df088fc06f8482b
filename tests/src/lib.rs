//! Helpers for the tests of the core: a pair of peers on a virtual clock, links, scenarios.
