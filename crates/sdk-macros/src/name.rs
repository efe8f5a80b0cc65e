//! Names that the engine would refuse later are refused here.

/// Refuses what cannot be a kind.
pub(crate) fn check_kind(text: &str) -> Result<(), String> {
    check("kind", text, 256, |c| !c.is_whitespace() && !c.is_control())
}

/// Refuses what cannot be a lane.
pub(crate) fn check_lane(text: &str) -> Result<(), String> {
    check("lane", text, 64, |c| c.is_ascii_graphic())
}

/// Refuses what cannot be the name of an input.
pub(crate) fn check_input(text: &str) -> Result<(), String> {
    check("name of an input", text, 256, |c| !c.is_whitespace() && !c.is_control())
}

/// Refuses what cannot be a category of failures.
pub(crate) fn check_category(text: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    match !text.is_empty() && text.len() <= 64 && text.chars().all(allowed) {
        true => Ok(()),
        false => Err(format!(
            "{text:?} is no category of failures: up to 64 of a-z, 0-9 and _"
        )),
    }
}

fn check(what: &str, text: &str, max: usize, allowed: fn(char) -> bool) -> Result<(), String> {
    if text.is_empty() {
        return Err(format!("a {what} is not empty"));
    }
    if text.len() > max {
        return Err(format!("a {what} has at most {max} bytes, this one has {}", text.len()));
    }
    if text.starts_with('_') && what != "name of an input" {
        return Err(format!(
            "a {what} that begins with _ is kept for FlowFabric itself: take another name"
        ));
    }
    match text.chars().find(|c| !allowed(*c)) {
        Some(c) => Err(format!("a {what} cannot contain {c:?}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_engine_refuses_are_refused_with_the_reason() {
        assert_eq!(check_kind("mail.send"), Ok(()));
        assert_eq!(check_kind("two words"), Err("a kind cannot contain ' '".to_owned()));
        assert!(check_kind("_mine").is_err() && check_kind("").is_err());
        assert!(check_lane("gpu/a100").is_ok() && check_lane("größe").is_err());
        assert!(check_input("_x").is_ok());
        assert!(check_category("rate_limited").is_ok() && check_category("Busy").is_err());
    }
}
