//! What the model says of the control plane.

use bailiwick::actors::document::{Content, Model};

use super::{Wish, problems, wish};

fn model(spec: &str) -> String {
    format!("apiVersion: bailiwick/v1\nkind: Model\nmetadata: {{name: default}}\nspec: {spec}\n")
}

#[test]
fn a_model_says_how_the_control_plane_is_reached_and_whom_to_believe() {
    let spec = "\n  caCertificate: |\n    -----BEGIN CERTIFICATE-----\n    MIIB\n    -----END CERTIFICATE-----\n  \
                imageSigningKey: key\n  tlsVerify: false";
    let Wish::Document { content, .. } = wish(&model(spec)) else { panic!("a document") };
    let expected = Model {
        ca_certificate: Some("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n".into()),
        image_signing_key: Some("key".into()),
        skips_certificate_check: true,
        ..Model::default()
    };
    assert_eq!(*content, Content::Model(expected));
    let Wish::Document { content, .. } = wish(&model("{region: north}")) else { panic!("a document") };
    let Content::Model(plain) = *content else { panic!("a model") };
    assert!(!plain.skips_certificate_check, "who answers is checked unless somebody says otherwise");
}

#[test]
fn whether_certificates_are_checked_is_said_by_a_truth_value() {
    assert_eq!(problems(model("{tlsVerify: sometimes}")), ["wrong-type 4:19 spec.tlsVerify"]);
}
