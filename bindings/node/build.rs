//! Sets the linker options of a Node.js addon.

fn main() {
    napi_build::setup();
}
