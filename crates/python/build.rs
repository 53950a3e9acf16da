//! Says to linkers that want to know that the interpreter comes with whoever loads the library.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
