//! Who may use the node's API.

use bailiwick::{
    actors::{
        document::{Account, Content, Role, Token},
        vocab::Timestamp,
    },
    view,
};

use super::{Wish, problems, read, wish};

const HASH: &str = "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f";

fn manifest(spec: &str) -> String {
    format!("apiVersion: bailiwick/v1\nkind: Account\nmetadata: {{name: ada}}\nspec: {spec}\n")
}

fn account(spec: &str) -> Account {
    match wish(&manifest(spec)) {
        Wish::Document { content, .. } => match *content {
            Content::Account(account) => account,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// The advice for the one thing that is wrong.
fn advice(spec: &str) -> String {
    let error = read(manifest(spec)).expect_err("something is wrong");
    let [problem] = &error.problems[..] else { panic!("{error}") };
    format!("{}; {}", problem.message, problem.next.as_deref().unwrap_or_default())
}

#[test]
fn an_account_says_what_it_may_do_and_how_it_is_recognised() {
    // given everything that can be said
    let spec = format!(
        "\n  role: operate\n  kinds: [volume, machine]\n  users: [1000, 0]\n  tokens:\n  - id: 1f2e3d4c\n    hash: {HASH}\n    \
         expires: 2027-01-01T00:00:00Z\n  - {{id: 12345678, hash: '{HASH}'}}"
    );
    // then it is read as it is meant
    let token = |id: &str, expires| Token { id: id.into(), hash: [0x0f; 32], expires };
    let expected = Account {
        role: Role::Operate,
        kinds: ["machine", "volume"].map(str::to_owned).into(),
        tokens: vec![token("1f2e3d4c", Some(Timestamp(1_798_761_600_000))), token("12345678", None)],
        users: [0, 1000].into(),
    };
    assert_eq!(account(&spec), expected);
    // and the role alone is enough: such an account is revoked
    let revoked = Account { role: Role::View, kinds: [].into(), tokens: Vec::new(), users: [].into() };
    assert_eq!(account("{role: view}"), revoked);
}

#[test]
fn every_kind_that_can_be_changed_can_be_allowed() {
    // The members of a replica set are the set's.
    for kind in view::kinds().filter(|kind| *kind != "member") {
        assert!(account(&format!("{{role: operate, kinds: [{kind}]}}")).kinds.contains(kind));
    }
}

#[test]
fn what_is_no_role_kind_or_time_is_refused_with_what_may_be_meant() {
    assert_eq!(advice("{role: amin}"), "unknown role `amin`; did you mean `admin`?");
    assert_eq!(advice("{role: owner}"), "unknown role `owner`; write one of view, operate, admin");
    assert_eq!(advice("{role: view, kinds: [MachineSet]}"), "unknown kind `MachineSet`; did you mean `machine-set`?");
    let unknown = advice("{role: view, kinds: [everything]}");
    assert!(unknown.starts_with("unknown kind `everything`; known kinds: machine, machine-class, "), "{unknown}");
    let expires = format!("{{role: view, tokens: [{{id: 1f2e3d4c, hash: {HASH}, expires: tomorrow}}]}}");
    assert_eq!(advice(&expires), "\"tomorrow\" is not a time; write a time such as 2027-01-01T00:00:00Z");
}

#[test]
fn what_may_be_a_token_is_refused_and_not_repeated() {
    let hash = "hash: 1f2e3d4c.secret";
    for (token, field) in
        [(format!("id: 1f2e3d4c.secret, hash: {HASH}"), "id"), (format!("id: 1f2e3d4c, {hash}"), "hash")]
    {
        let spec = format!("{{role: view, tokens: [{{{token}}}]}}");
        let error = read(manifest(&spec)).expect_err("something is wrong");
        let [problem] = &error.problems[..] else { panic!("{error}") };
        assert_eq!(problem.field, format!("spec.tokens[0].{field}"));
        assert!(!problem.message.contains("secret"), "{}", problem.message);
    }
}

#[test]
fn all_that_is_wrong_with_an_account_is_told_at_once() {
    let spec = format!(
        "\n  kinds: [machin, '']\n  users: [root]\n  tokens:\n  - {{id: 1F2E3D4C, hash: {}}}\n  - {{hash: 0f}}\n  until: 2h",
        HASH.to_uppercase()
    );
    assert_eq!(
        problems(manifest(&spec)),
        [
            "missing-field 5:3 spec.role",
            "unsupported-kind 5:11 spec.kinds[0]",
            "unsupported-kind 5:19 spec.kinds[1]",
            "wrong-type 6:11 spec.users[0]",
            "bad-text 8:10 spec.tokens[0].id",
            "bad-text 8:26 spec.tokens[0].hash",
            "missing-field 9:5 spec.tokens[1].id",
            "bad-text 9:12 spec.tokens[1].hash",
            "unknown-field 10:3 spec.until",
        ]
    );
    let twice = format!("\n  role: view\n  tokens: [&one {{id: 1f2e3d4c, hash: {HASH}}}, *one]");
    assert_eq!(problems(manifest(&twice)), ["duplicate 6:17 spec.tokens[1]"]);
    let many = |count: usize| {
        let one = |number| format!("{{id: {number:08x}, hash: {HASH}}}");
        format!("\n  role: view\n  tokens: [{}]", (0..count).map(one).collect::<Vec<_>>().join(", "))
    };
    assert_eq!(account(&many(16)).tokens.len(), 16);
    assert_eq!(problems(manifest(&many(17))), ["too-many 6:11 spec.tokens"]);
}
