//! Where storage comes from, as manifests say it.

use std::sync::Arc;

use bailiwick::{
    actors::storage_rules::{Attributes, StorageConfig},
    manifest::{self, Known, Manifest, ManifestError, Pooled, Source, Wish},
};

const CONFIG: &str = r#"{"default-filesystem-pool": "shared", "pools": {
    "fast": {"provider": "exec", "attributes": {"provider": "mine", "tier": "gold"}},
    "shared": {"provider": "directory", "attributes": {"capacity": "10G"}}}}"#;

fn known() -> Known {
    let storage: StorageConfig = serde_json::from_str(CONFIG).expect("a document");
    Known { storage, machines: Arc::new(["web".parse().expect("a name")].into()), ..Known::default() }
}

fn read(kind: &str, spec: &str) -> Result<Manifest, ManifestError> {
    let text = format!("apiVersion: bailiwick/v1\nkind: {kind}\nmetadata: {{name: data}}\nspec: {{{spec}}}\n");
    manifest::parse(&[Source::new("lab.yaml", text)], &known())
}

/// Provider, pool, what the pool says, and whether it was named.
fn source(kind: &str, spec: &str) -> (String, Option<(String, Attributes, bool)>) {
    let manifest = read(kind, spec).unwrap_or_else(|error| panic!("{error}"));
    let said = |pool: &Option<Pooled>| {
        let pool = pool.as_ref()?;
        Some((pool.pool.name.to_string(), pool.pool.attributes.clone(), pool.is_named))
    };
    match &manifest.documents[0].wish {
        Wish::Volume { spec, pool, .. } => (spec.provider.to_string(), said(pool)),
        Wish::Filesystem { spec, pool, .. } => (spec.provider.to_string(), said(pool)),
        other => panic!("{other:?}"),
    }
}

fn attributes(attributes: &[(&str, &str)]) -> Attributes {
    attributes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_pool_says_who_makes_it_and_what_he_is_told() {
    let gold = attributes(&[("tier", "gold")]);
    assert_eq!(source("Volume", "pool: fast, size: 1G"), ("mine".into(), Some(("fast".into(), gold, true))));
    assert_eq!(source("Volume", "size: 1G"), ("loop".into(), Some(("loop".into(), attributes(&[]), false))));
    let capacity = attributes(&[("capacity", "10G")]);
    let shared = |is_named| ("directory".to_owned(), Some(("shared".to_owned(), capacity.clone(), is_named)));
    assert_eq!(source("Filesystem", "size: 1G"), shared(false));
    assert_eq!(source("Filesystem", "size: 1G, pool: shared"), shared(true));
    assert_eq!(source("Volume", "provider: fast, size: 1G"), ("fast".into(), None), "a provider is no pool");
}

#[test]
fn a_pool_that_is_not_there_or_cannot_make_it_is_refused() {
    let cases = [
        ("Volume", "pool: fats, size: 1G", "dangling-reference", "did you mean `fast`?"),
        ("Volume", "pool: 7up, size: 1G", "bad-name", "letter"),
        ("Volume", "pool: tmpfs, size: 1G", "bad-pool", "does not provide volumes"),
        ("Volume", "pool: fast, provider: mine, size: 1G", "duplicate", "keep one"),
        ("Filesystem", "pool: loop, size: 1M", "bad-pool", "too small"),
        ("Volume", "pool: loop, size: 99P", "bad-pool", "more than"),
    ];
    for (kind, spec, code, part) in cases {
        let error = read(kind, spec).expect_err(spec);
        assert_eq!(error.problems[0].code.as_str(), code, "{spec}: {error}");
        assert!(error.to_string().contains(part), "{spec}: {error}");
    }
}

#[test]
fn a_problem_of_a_pool_points_at_the_pool() {
    let begin = "{apiVersion: bailiwick/v1, kind: Volume, metadata: {name: x}, spec: {size: 1G, pool: ";
    let text = format!("{begin}fats}}}}\n");
    let error = manifest::parse(&[Source::new("lab.yaml", &*text)], &known()).expect_err("no such pool");
    let told = format!("lab.yaml:1:{}: spec.pool: pool `fats` not found", begin.len() + 1);
    assert!(error.to_string().contains(&told), "{error}");
}

fn mount(filesystem: &str, path: &str) -> String {
    format!(
        "---\napiVersion: bailiwick/v1\nkind: FilesystemAttachment\nspec: {{machine: web, filesystem: {filesystem}, \
         path: '{path}'}}\n"
    )
}

fn mounts(text: &str, there: &[(&str, &str)]) -> Result<Manifest, ManifestError> {
    let mounts = there.iter().map(|(name, path)| ((*name).to_owned(), (*path).to_owned())).collect();
    let filesystems = Arc::new(["a", "b"].into_iter().map(|name| name.parse().expect("a name")).collect());
    manifest::parse(&[Source::new("lab.yaml", text)], &Known { mounts, filesystems, ..known() })
}

#[test]
fn a_place_on_a_machine_belongs_to_one_filesystem() {
    for (other, is_fine) in [("/srv/ab", true), ("/srv/a", false), ("/srv/a/b", false), ("/srv", false)] {
        let both = mounts(&format!("{}{}", mount("a", "/srv/a"), mount("b", other)), &[]);
        assert_eq!(both.is_ok(), is_fine, "{other}: {both:?}");
        let later = mounts(&mount("b", other), &[("web:a", "/srv/a")]);
        assert_eq!(later.is_ok(), is_fine, "{other}: {later:?}");
        let elsewhere = mounts(&mount("b", other), &[("db:a", "/srv/a"), ("web-2:a", "/srv/a")]);
        assert!(elsewhere.is_ok(), "{other}: {elsewhere:?}");
    }
    let error = mounts(&mount("b", "/srv/a"), &[("web:a", "/srv/a")]).expect_err("taken");
    assert_eq!((error.problems[0].code.as_str(), error.problems[0].field.as_str()), ("duplicate", "spec.path"));
    assert!(mounts(&mount("a", "/srv/a"), &[("web:a", "/srv/a")]).is_ok(), "the same again");
}

#[test]
fn the_places_of_the_system_are_nobodys() {
    for path in ["/", "/etc", "/proc/1", "/usr/share/x", "/srv/../etc", "/srv//x", "/srv/", "srv"] {
        let error = mounts(&mount("a", path), &[]).expect_err(path);
        assert_eq!(error.problems[0].code.as_str(), "bad-name", "{path}");
    }
}

/// What stands beside what was declared: entity, pool, whether that was named, and the owner.
fn beside(text: &str, known: &Known) -> Vec<String> {
    let manifest = manifest::parse(&[Source::new("lab.yaml", text)], known).unwrap_or_else(|error| panic!("{error}"));
    let told = manifest.documents.iter().map(|document| match &document.wish {
        Wish::Volume { pool, owner, machine, .. } => {
            let pool = pool.as_ref().map(|pool| (pool.pool.name.to_string(), pool.is_named));
            let (owner, machine) = (owner.as_ref().map(ToString::to_string), machine.as_ref().map(ToString::to_string));
            format!("{} {pool:?} {owner:?} {machine:?}", document.wish.stream())
        }
        Wish::Filesystem { spec, pool, .. } => {
            format!("{} {} on {:?} {}", document.wish.stream(), spec.provider, spec.backing, pool.is_some())
        }
        _ => document.wish.stream().to_string(),
    });
    told.collect()
}

#[test]
fn a_filesystem_from_a_pool_of_volumes_is_made_on_one_of_its_own() {
    let files = "apiVersion: bailiwick/v1\nkind: Filesystem\nmetadata: {name: a}\nspec: {size: 64M, machine: web, pool: loop}\n";
    let text = format!("{files}{}", mount("a", "/srv/a"));
    let volume =
        |named: bool| format!("volume/a-volume Some((\"loop\", {named})) Some(\"filesystem/a\") Some(\"web\")");
    let expected = [
        "filesystem/a managed on Some(a-volume) false".to_owned(),
        "filesystem-attachment/web:a".to_owned(),
        volume(true),
        "volume-attachment/web:a-volume".to_owned(),
    ];
    assert_eq!(beside(&text, &known()), expected);
    let storage = serde_json::from_str(r#"{"default-filesystem-pool": "loop"}"#).expect("a document");
    let known = Known { storage, ..known() };
    assert_eq!(
        beside(&text.replace(", pool: loop", ""), &known)[2],
        volume(false),
        "the default is none that was named"
    );
}

#[test]
fn what_is_mounted_later_is_attached_with_its_volume() {
    let own_volumes = [("a".parse().expect("a name"), "a-volume".parse().expect("a name"))].into();
    let one = |name: &str| Arc::new([name.parse().expect("a name")].into());
    let (filesystems, volumes) = (one("a"), one("a-volume"));
    let known = Known { own_volumes, filesystems, volumes, ..known() };
    assert_eq!(
        beside(&mount("a", "/srv/a"), &known),
        ["filesystem-attachment/web:a", "volume-attachment/web:a-volume"]
    );
}
