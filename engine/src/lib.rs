//! Re-exports Wasmtime's C API, so that one static library holds it.
pub use wasmtime_c_api::*;
