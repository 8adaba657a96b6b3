//! Until when a certificate holds. Nothing else of it is read here: the client that trusts it checks the rest.

use bailiwick_actors::vocab::Timestamp;

const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xA0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The end of a certificate's validity (RFC 5280, 4.1); none if that is no certificate.
pub(super) fn end(certificate: &[u8]) -> Option<Timestamp> {
    let (content, _) = expect(SEQUENCE, certificate)?;
    let (mut rest, _) = expect(SEQUENCE, content)?;
    if let Some((_, after)) = expect(VERSION, rest) {
        rest = after;
    }
    // Serial number, algorithm and issuer stand before it.
    for _ in 0..3 {
        (_, _, rest) = value(rest)?;
    }
    let (validity, _) = expect(SEQUENCE, rest)?;
    let (_, _, after) = value(validity)?;
    let (tag, text, _) = value(after)?;
    moment(tag, std::str::from_utf8(text).ok()?)
}

fn expect(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (found, content, rest) = value(bytes)?;
    (found == tag).then_some((content, rest))
}

/// The first value in some DER: its tag, its content, and what follows it.
fn value(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, first], rest) = bytes.split_first_chunk::<2>()?;
    let (length, rest) = match first {
        0..=0x7F => (usize::from(first), rest),
        0x81..=0x84 => {
            let (length, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// `270225213000Z`, and with four digits of the year `20270225213000Z`.
fn moment(tag: u8, text: &str) -> Option<Timestamp> {
    let full = match tag {
        // A year of two digits is one from 1950 to 2049.
        UTC_TIME if text.get(..2)?.parse::<u8>().ok()? < 50 => format!("20{text}"),
        UTC_TIME => format!("19{text}"),
        GENERALIZED_TIME => text.to_owned(),
        _ => return None,
    };
    let at = jiff::civil::DateTime::strptime("%Y%m%d%H%M%SZ", full).ok()?;
    let at = at.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    u64::try_from(at.as_millisecond()).ok().map(Timestamp)
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn made(year: i32) -> Vec<u8> {
        let mut params = CertificateParams::new(vec!["lab.example".to_owned()]).expect("names");
        params.not_after = date_time_ymd(year, 2, 25);
        params.self_signed(&KeyPair::generate().expect("a key")).expect("signed").der().to_vec()
    }

    fn told(certificate: &[u8]) -> Option<String> {
        end(certificate).map(|end| end.to_string())
    }

    #[test]
    fn the_end_is_read_in_both_forms_of_a_time() {
        assert_eq!(told(&made(2037)).as_deref(), Some("2037-02-25T00:00:00.000Z"));
        assert_eq!(told(&made(2061)).as_deref(), Some("2061-02-25T00:00:00.000Z"));
    }

    #[test]
    fn what_is_no_certificate_has_no_end() {
        let whole = made(2037);
        for length in 0..whole.len() {
            // What is signed is missing, or all that stands before it is there.
            assert!(end(&whole[..length]).is_none(), "cut at {length}");
        }
        assert_eq!(end(&[0x30; 64]), None);
        assert_eq!(end(&[0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF]), None);
    }
}
