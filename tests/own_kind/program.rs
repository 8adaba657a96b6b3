//! The program of the example.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

/// The example, beside this test. Whoever runs this target alone has an older one there, or none: then it is built.
pub fn program() -> PathBuf {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
        let own = env::current_exe().expect("this test is a program");
        let profile = own.parent().and_then(|deps| deps.parent()).expect("it stands in the build directory");
        let built = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
        let example = profile.join("examples/own_kind");
        if built(&example) < built(Path::new(env!("CARGO_BIN_EXE_bailiwick"))) {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["build", "--locked", "--quiet", "--example", "own_kind"]);
            // What cargo tells this test about itself. Build scripts that ask for it would take it for a change, and all that
            // stands on them would be built again, here and then by whoever builds next.
            let of_this_test = ["CARGO_MANIFEST", "CARGO_PKG_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"];
            for (variable, _) in env::vars_os() {
                if of_this_test.iter().any(|prefix| variable.to_string_lossy().starts_with(prefix)) {
                    cargo.env_remove(variable);
                }
            }
            assert!(cargo.status().expect("cargo is there").success(), "the example is built");
        }
        example
    });
    PROGRAM.clone()
}
