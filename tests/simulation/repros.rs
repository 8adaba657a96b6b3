//! What chaos has found, each mended since: `tests/repro` has a file of each.

use std::path::Path;

use bailiwick::chaos::{Repro, Verdict};

#[test]
fn whatever_was_found_settles_by_now() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/repro");
    let files = std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let find = Repro::read(&file).unwrap_or_else(|error| panic!("{error:?}"));
        assert_ne!(find.found.verdict, Verdict::Settled, "{} was none", file.display());
        let now = find.run(&file).unwrap_or_else(|error| panic!("{error:?}"));
        assert!(now.is_settled(), "{}: {:?}", file.display(), now.verdict);
    }
}
