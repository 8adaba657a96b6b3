use super::*;
use crate::client::lab::Ca;

#[test]
fn a_ca_is_kept_as_the_certificates_alone() {
    // given: a file with a key beside two certificates
    let (one, two) = (Ca::new("one"), Ca::new("two"));
    let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
    // when
    let read: Authority = format!("{}{key}\nsome words\n{}", one.pem(), two.pem()).parse().unwrap();
    let kept = String::from(read.clone());
    // then
    assert_eq!(read.fingerprints(), [one.fingerprint(), two.fingerprint()]);
    assert!(!kept.contains("PRIVATE"), "{kept}");
    assert_eq!(kept, format!("{}{}", one.pem(), two.pem()).replace("\r\n", "\n"));
    assert_eq!(kept.parse::<Authority>().unwrap(), read);
}

#[test]
fn what_is_no_certificate_is_no_ca() {
    let broken = pem(b"no certificate");
    for (text, said) in [
        ("", "there is no certificate in it"),
        ("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n", "it is not PEM"),
        (broken.as_str(), "a certificate in it cannot be used"),
    ] {
        let error = text.parse::<Authority>().unwrap_err().to_string();
        assert!(error.starts_with(said), "{text}: {error}");
    }
}

#[test]
fn fingerprints_are_read_as_programs_print_them() {
    // given
    let ca = Ca::new("lab");
    let fingerprint = ca.fingerprint();
    let digits = fingerprint.to_string();
    let pairs: Vec<String> =
        digits.as_bytes().chunks(2).map(|two| String::from_utf8_lossy(two).to_uppercase()).collect();
    // then
    assert_eq!(digits.len(), 64);
    assert_eq!(digits.parse(), Ok(fingerprint));
    assert_eq!(pairs.join(":").parse(), Ok(fingerprint));
    for text in ["", "ab", &digits[1..], &format!("{digits}00"), &digits.replace(|_| true, "g")] {
        assert_eq!(text.parse::<Fingerprint>(), Err(InvalidFingerprint), "{text}");
    }
}
