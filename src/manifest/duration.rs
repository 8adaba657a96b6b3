//! Periods as people write them.

use jiff::SignedDuration;

use super::limits::PERIOD_MS_MAX;

/// Milliseconds of a text such as `500ms`, `10s`, `3m` or `1h30m`; otherwise what is wrong with it.
pub(super) fn parse_ms(text: &str) -> Result<u64, &'static str> {
    if text.len() > 80 {
        return Err("is too long for a period");
    }
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) && text != "0" {
        return Err("has no unit");
    }
    if text == "0" {
        return Ok(0);
    }
    let Ok(duration) = text.parse::<SignedDuration>() else { return Err("is not a period") };
    if duration.is_negative() {
        return Err("is negative");
    }
    if duration.subsec_nanos() % 1_000_000 != 0 {
        return Err("is finer than a millisecond");
    }
    match u64::try_from(duration.as_millis()) {
        Ok(ms) if ms <= PERIOD_MS_MAX => Ok(ms),
        _ => Err("is longer than ten years"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::parse_ms;

    #[test]
    fn periods_have_units() {
        let cases = [("500ms", 500), ("10s", 10_000), ("3m", 180_000), ("1h30m", 5_400_000), ("1.5s", 1_500), ("0", 0)];
        for (text, ms) in cases {
            assert_eq!(parse_ms(text), Ok(ms), "{text}");
        }
    }

    #[test]
    fn what_is_no_period_is_told_apart() {
        assert_eq!(parse_ms("10"), Err("has no unit"));
        assert_eq!(parse_ms("-10s"), Err("is negative"));
        assert_eq!(parse_ms("10us"), Err("is finer than a millisecond"));
        assert_eq!(parse_ms("99999999h"), Err("is longer than ten years"));
        for text in ["", "soon", "10 parsecs", "1h 2x", "s"] {
            assert_eq!(parse_ms(text), Err("is not a period"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_gets_an_answer(text in ".{0,100}") {
            let _ = parse_ms(&text);
        }
    }
}
