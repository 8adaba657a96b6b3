//! Hexadecimal digits.

/// Two lower-case digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

/// The bytes that these digits stand for; none if they are no digits, or one is missing.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let pair = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_two_digits_and_comes_back() {
        let all: Vec<u8> = (0..=255).collect();
        let digits = hex(&all);
        assert!(digits.starts_with("000102") && digits.ends_with("fdfeff") && digits.len() == 512, "{digits}");
        assert_eq!(unhex(&digits), Some(all));
        assert_eq!((unhex("0g"), unhex("012")), (None, None));
    }
}
