//! The Python extension module: the sans-IO floor of the `barewire` package.

use pyo3::prelude::*;

#[pymodule]
mod _native {}
