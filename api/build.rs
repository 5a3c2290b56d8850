//! The migrations are compiled in: a new file among them builds them in again.

fn main() {
    println!("cargo:rerun-if-changed=../migrations");
}
