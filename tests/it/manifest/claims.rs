//! The storage that a machine's declaration asks for.

use bailiwick::{
    actors::storage_rules::StorageConfig,
    manifest::{self, Known, Manifest, ManifestError, Source, Wish},
};

const CONFIG: &str = r#"{"default-block-pool": "fast", "default-filesystem-pool": "shared", "pools": {
    "fast": {"provider": "exec", "attributes": {"provider": "mine", "tier": "gold"}},
    "shared": {"provider": "directory", "attributes": {"capacity": "10G"}}}}"#;

fn read(machine: &str, storage: &str) -> Result<Manifest, ManifestError> {
    let text = format!(
        "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {{name: {machine}}}\nspec:\n  provider: local\n  \
         storage: {storage}\n"
    );
    let storage: StorageConfig = serde_json::from_str(CONFIG).expect("a document");
    manifest::parse(&[Source::new("lab.yaml", text)], &Known { storage, ..Known::default() })
}

/// What stands beside the machine: entity, provider or path, size, machine, and what owns it.
fn beside(storage: &str) -> Vec<String> {
    let manifest = read("web", storage).unwrap_or_else(|error| panic!("{error}"));
    let owned = |owner: &Option<_>| if owner.is_some() { " owned" } else { "" };
    let mut told = Vec::new();
    for document in &manifest.documents[1..] {
        let stream = document.wish.stream();
        told.push(match &document.wish {
            Wish::Volume { spec, machine, owner, .. } => {
                format!("{stream} {} {} {}{}", spec.provider, spec.size, machine.is_some(), owned(owner))
            }
            Wish::Filesystem { spec, owner, .. } => {
                format!("{stream} {} {} {}{}", spec.provider, spec.size, spec.machine.is_some(), owned(owner))
            }
            Wish::FilesystemAttachment { spec } => format!("{stream} {:?} {}", spec.path, spec.read_only),
            Wish::VolumeAttachment { spec } => format!("{stream} {}", spec.read_only),
            other => panic!("{other:?}"),
        });
    }
    told
}

#[test]
fn each_claim_becomes_storage_with_numbers_and_its_attachments() {
    assert_eq!(
        beside("{logs: 'local,64M,2'}"),
        [
            "volume/web-logs-0 local 64M true owned",
            "volume-attachment/web:web-logs-0 false",
            "volume/web-logs-1 local 64M true owned",
            "volume-attachment/web:web-logs-1 false",
        ]
    );
}

#[test]
fn what_names_no_pool_comes_from_the_default_and_what_names_no_size_has_1g() {
    assert_eq!(beside("{data: 1}")[0], "volume/web-data-0 mine 1G true owned");
    assert_eq!(beside("{data: {filesystem: 8M}}")[0], "filesystem/web-data-0 directory 8M false owned");
    assert_eq!(
        beside("{data: 'tmpfs,8M'}")[0],
        "filesystem/web-data-0 tmpfs 8M true owned",
        "the pool says what it is"
    );
    assert_eq!(
        beside("{data: {volume: 8M, readOnly: true}}")[1],
        "volume-attachment/web:web-data-0 true",
        "a volume is asked for"
    );
}

#[test]
fn a_filesystem_may_say_its_place_and_what_is_persistent_belongs_to_nobody() {
    assert_eq!(
        beside("{files: {filesystem: 'shared,8M', path: /srv/files, persistent: true}}"),
        [
            "filesystem/web-files-0 directory 8M false",
            "filesystem-attachment/web:web-files-0 Some(\"/srv/files\") false"
        ]
    );
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place() {
    let long = format!("{{{}: 1G}}", "x".repeat(63));
    for (storage, code, part) in [
        ("{data: fats}", "dangling-reference", "did you mean `fast`?"),
        ("{data: 'fast,1G,2,3'}", "bad-text", "twice"),
        ("{data: ''}", "bad-text", "not a storage request"),
        ("{data: '0'}", "bad-text", "at least 1"),
        ("{data: '1001,1M'}", "too-many", "1000"),
        ("{Data: 1G}", "bad-name", "valid name"),
        ("{data: {size: 1G}}", "missing-field", "exactly one"),
        ("{data: {volume: fast, filesystem: shared}}", "missing-field", "exactly one"),
        ("{data: {volume: 'tmpfs,1G'}}", "bad-pool", "does not provide volumes"),
        ("{data: {volume: '1G', path: /srv}}", "bad-text", "only a single filesystem"),
        ("{data: {filesystem: 'shared,1M,2', path: /srv/a}}", "bad-text", "only a single filesystem"),
        ("{data: {filesystem: 'shared,1M', path: /etc}}", "bad-name", "absolute path"),
        ("{data: {volume: 'loop,1M', persistent: true}}", "bad-pool", "is removed with it"),
        ("[1G]", "wrong-type", "a mapping"),
        (long.as_str(), "bad-name", "shorten"),
    ] {
        let error = read("web", storage).expect_err(storage);
        assert_eq!(error.problems[0].code.as_str(), code, "{storage}: {error}");
        assert!(error.to_string().contains(part), "{storage}: {error}");
        assert!(error.problems[0].place.line >= 6, "{storage}: {error}");
    }
}

#[test]
fn a_flood_of_claims_is_bounded() {
    let claims: Vec<String> = (0..64).map(|number| format!("c{number}: '1000,1M'")).collect();
    let error = read("web", &format!("{{{}}}", claims.join(", "))).expect_err("too many");
    assert_eq!(error.problems[0].code.as_str(), "too-many", "{error}");
}

#[test]
fn what_a_claim_makes_cannot_be_declared_beside_it() {
    let text = "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: web}\nspec: {provider: local, storage: {d: 'local,1M'}}\n\
                ---\napiVersion: bailiwick/v1\nkind: Volume\nmetadata: {name: web-d-0}\nspec: {provider: local, size: 1M}\n";
    let error = manifest::parse(&[Source::new("lab.yaml", text)], &Known::default()).expect_err("twice");
    assert_eq!(error.problems[0].code.as_str(), "duplicate", "{error}");
}
