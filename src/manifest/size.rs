//! Sizes as people write them.

use bailiwick_actors::vocab::SizeMib;

const UNITS: [char; 6] = ['M', 'G', 'T', 'P', 'E', 'Z'];

/// The size that a text such as `64M`, `1.5Gi`, `2GiB` or `64MB` means: `M`, `Mi` and `MiB` are binary, `MB` is decimal, and a
/// part of a MiB counts as a whole one.
pub(super) fn parse(text: &str) -> Option<SizeMib> {
    let is_digit = |letter: char| letter.is_ascii_digit() || letter == '.';
    let unit = text.trim_start_matches(is_digit);
    let number = &text[..text.len() - unit.len()];
    let mut letters = unit.chars();
    match (letters.next(), letters.as_str()) {
        (Some(letter), "B") => decimal(number, UNITS.iter().position(|known| *known == letter)?),
        (Some(letter), "i") => format!("{number}{letter}").parse().ok(),
        // As Juju reads it.
        _ => text.parse().ok(),
    }
}

/// So many millions, or thousands of them, in bytes.
fn decimal(number: &str, thousands: usize) -> Option<SizeMib> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.len() > 18 || whole.len() + fraction.len() == 0 {
        return None;
    }
    let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let unit = 1_000_u128.checked_pow(u32::try_from(thousands).ok()?)?.checked_mul(1_000_000)?;
    let mib = digits.checked_mul(unit)?.div_ceil(scale.checked_mul(1024 * 1024)?);
    u64::try_from(mib).ok().map(SizeMib)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_everybody_writes_them() {
        for (text, mib) in [
            ("64", Some(64)),
            ("64M", Some(64)),
            ("64Mi", Some(64)),
            ("64MiB", Some(64)),
            ("1G", Some(1_024)),
            ("4Gi", Some(4_096)),
            ("1.5Gi", Some(1_536)),
            ("2Ti", Some(2 * 1_024 * 1_024)),
            ("64MB", Some(62)),
            ("1GB", Some(954)),
            ("1.5GB", Some(1_431)),
            ("0.5TB", Some(476_838)),
            ("1024", Some(1_024)),
            ("Gi", None),
            ("GB", None),
            ("1.2.3GB", None),
            ("-1GB", None),
            ("4gb", None),
            ("4iB", None),
            ("99999999999999999999999999999ZB", None),
        ] {
            assert_eq!(parse(text), mib.map(SizeMib), "{text}");
        }
    }
}
