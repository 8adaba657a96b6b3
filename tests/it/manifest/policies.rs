//! Policies that are like those of another system.

use bailiwick::actors::policy::{Document, Judged};

use super::{Wish, problems, read, wish};

fn manifest(spec: &str) -> String {
    format!("apiVersion: bailiwick/v1\nkind: Policy\nmetadata: {{name: default}}\nspec: {spec}\n")
}

fn policy(spec: &str) -> Document {
    match wish(&manifest(spec)) {
        Wish::Policy { document, .. } => *document,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_policy_like_another_one_has_its_settings() {
    for name in Document::names() {
        assert_eq!(Some(policy(&format!("{{like: {name}}}"))), Document::named(name), "{name}");
    }
}

#[test]
fn what_is_said_beside_it_is_laid_over_it() {
    let own = policy("{machines: {attemptsMax: 2}, like: juju-2016, retries: {judged: each}}");
    let mut expected = Document::named("juju-2016").expect("a policy of ours");
    expected.machines.attempts_max = 2;
    expected.retries.judged = Judged::Each;
    assert_eq!(own, expected);
}

#[test]
fn an_unknown_name_is_refused_with_the_one_that_is_meant() {
    assert_eq!(problems(manifest("{like: gardener-0.94}")), ["dangling-reference 4:14 spec.like"]);
    let told = |spec: &str| read(manifest(spec)).expect_err("an unknown policy").to_string();
    assert!(told("{like: gardener-0.94}").contains("did you mean `gardener-0.49`?"));
    let others = told("{like: nomad}");
    assert!(
        others.contains("known policies: default, juju-2016, juju-2019, juju-2.9, juju-3.x, gardener-0.49"),
        "{others}"
    );
}

#[test]
fn what_is_wrong_beside_an_unknown_name_is_told_with_it() {
    let spec = "{like: juju, machines: {attemptsMax: many}}";
    assert_eq!(
        problems(manifest(spec)),
        ["dangling-reference 4:14 spec.like", "wrong-type 4:44 spec.machines.attemptsMax"]
    );
}
