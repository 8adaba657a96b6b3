//! Sizes as people write them.

use bailiwick_actors::vocab::SizeMib;

/// The size that a text such as `64M`, `64MB`, `1.5Gi` or `2GiB` means. All units are binary, as Juju reads them; a part of a
/// MiB counts as a whole one.
pub(super) fn parse(text: &str) -> Option<SizeMib> {
    // Kubernetes writes `Gi` what Juju writes `GiB`.
    let is_binary = text
        .strip_suffix('i')
        .filter(|rest| rest.ends_with(|letter: char| letter.is_ascii_uppercase() && letter != 'B'));
    is_binary.unwrap_or(text).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_everybody_writes_them() {
        for (text, mib) in [
            ("64", Some(64)),
            ("64M", Some(64)),
            ("64MB", Some(64)),
            ("64Mi", Some(64)),
            ("64MiB", Some(64)),
            ("1G", Some(1_024)),
            ("4Gi", Some(4_096)),
            ("1.5Gi", Some(1_536)),
            ("0.5GB", Some(512)),
            ("2Ti", Some(2 * 1_024 * 1_024)),
            ("1024", Some(1_024)),
            ("Gi", None),
            ("GB", None),
            ("64i", None),
            ("4gi", None),
            ("4iB", None),
            ("4GiBi", None),
        ] {
            assert_eq!(parse(text), mib.map(SizeMib), "{text}");
        }
    }
}
