//! Every stored form of the built-in kinds, byte for byte.

#[path = "stored_forms/broken.rs"]
mod broken;
#[path = "stored_forms/samples.rs"]
mod samples;

use std::path::Path;

use bailiwick_actors::testing::stored_forms::{self, Forms, form, forms};

fn check(kind: &str, forms: Forms) {
    stored_forms::check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden"), kind, &forms);
}

#[test]
fn stored_forms_of_machines_are_as_they_were() {
    check("machine", samples::machines::machine());
}

#[test]
fn stored_forms_of_volumes_are_as_they_were() {
    check("volume", samples::storage::volume());
}

#[test]
fn stored_forms_of_attachments_are_as_they_were() {
    check("volume-attachment", samples::storage::volume_attachment());
}

#[test]
fn stored_forms_of_filesystems_are_as_they_were() {
    check("filesystem", samples::storage::filesystem());
}

#[test]
fn stored_forms_of_filesystem_attachments_are_as_they_were() {
    check("filesystem-attachment", samples::storage::filesystem_attachment());
}

#[test]
fn stored_forms_of_policies_are_as_they_were() {
    check("policy", samples::policy());
}

#[test]
fn stored_forms_of_supervisors_are_as_they_were() {
    check("supervisor", samples::supervisors::supervisor());
}

#[test]
fn stored_forms_of_replica_sets_are_as_they_were() {
    check("replica-set", samples::replica_sets::replica_set());
}

#[test]
fn stored_forms_of_members_are_as_they_were() {
    check("member", samples::members::member());
}

#[test]
fn stored_forms_of_machine_sets_are_as_they_were() {
    check("machine-set", samples::machines::machine_set());
}

#[test]
fn stored_forms_of_machine_deployments_are_as_they_were() {
    check("machine-deployment", samples::machine_deployments::machine_deployment());
}

#[test]
fn stored_forms_of_machine_classes_are_as_they_were() {
    check("machine-class", samples::machine_classes::machine_class());
}

#[test]
fn stored_forms_of_providers_are_as_they_were() {
    check("provider", samples::providers::provider());
}

#[test]
fn stored_forms_of_documents_are_as_they_were() {
    check("document", samples::documents::document());
}

#[test]
fn stored_forms_of_facts_are_as_they_were() {
    check("facts", samples::facts());
}
