//! Bootstrap tokens in user data: with one, a new instance may join.
//! Source: Gardener's machine controller, 0.49, whose ids follow from a machine's name; ours are drawn.

/// Stands in the user data where the token goes, plain or URL-encoded.
const PLACEHOLDERS: [&str; 2] = ["<<BOOTSTRAP_TOKEN>>", "%3C%3CBOOTSTRAP_TOKEN%3E%3E"];

/// The user data with the token in its place: every plain placeholder, or else every encoded one. Without any it is
/// passed on as it is.
pub fn placed(user_data: &str, token: &str) -> String {
    match PLACEHOLDERS.into_iter().find(|placeholder| user_data.contains(placeholder)) {
        Some(placeholder) => user_data.replace(placeholder, token),
        None => user_data.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_of_the_first_kind_that_is_there_is_replaced() {
        let plain = "a <<BOOTSTRAP_TOKEN>> b <<BOOTSTRAP_TOKEN>>";
        assert_eq!(placed(plain, "x.y"), "a x.y b x.y");
        assert_eq!(placed("a %3C%3CBOOTSTRAP_TOKEN%3E%3E", "x.y"), "a x.y");
        assert_eq!(placed("nothing", "x.y"), "nothing");
    }
}
