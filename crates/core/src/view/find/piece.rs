//! Which piece of an id a text may be.

use uuid::Uuid;

use super::Find;
use crate::error::{Code, Rejection};
use crate::id::ExecutionId;
use crate::limits::FIND_BYTES_MAX;
use crate::time::{Duration, Timestamp};

/// Digits of a uuid that say when it was made, if it says so at all.
const TIME_DIGITS: usize = 12;
/// Fewest of them that are looked for: they leave a quarter of a second open.
const TIME_DIGITS_MIN: usize = 10;
/// Last digits of an id, as it is shown where there is no room for it.
const TAIL_DIGITS: usize = 8;
/// How far the making of an id and of what it names may lie apart.
const SLACK: Duration = Duration::from_secs(2);

/// What a text may be a piece of, besides the beginning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// All of an execution's id.
    Execution(ExecutionId),
    /// All of some id.
    Uuid(Uuid),
    /// The beginning of an id that says when it was made.
    Made {
        /// Not before this moment.
        from: Timestamp,
        /// Before this one.
        before: Timestamp,
    },
    /// The end of an id.
    Tail,
}

impl Find {
    /// Refuses what nothing is called by.
    pub fn check(&self) -> Result<(), Rejection> {
        let length = self.q.trim().len();
        if !(1..=FIND_BYTES_MAX).contains(&length) {
            let detail = format!("/q: something is looked for by 1 to {FIND_BYTES_MAX} bytes, not {length}");
            return Err(Code::InvalidInput.because(detail));
        }
        Ok(())
    }

    /// How a name may begin.
    pub fn name(&self) -> &str {
        self.q.trim()
    }

    /// Which piece of an id it may be.
    pub fn piece(&self) -> Option<Piece> {
        let text = self.name();
        if let Ok(id) = text.parse() {
            return Some(Piece::Execution(id));
        }
        if let Ok(uuid) = Uuid::try_parse(text) {
            return Some(Piece::Uuid(uuid));
        }
        let digits = self.digits()?;
        if digits.len() == TAIL_DIGITS {
            return Some(Piece::Tail);
        }
        if digits.len() < TIME_DIGITS_MIN {
            return None;
        }
        made(&digits)
    }

    /// When the thing with this whole id was made, as far as the id says so.
    pub fn made_at(&self) -> Option<Piece> {
        let uuid = Uuid::try_parse(self.name()).ok()?;
        let says_so = uuid.get_version_num() == 7;
        says_so.then(|| made(&uuid.simple().to_string()))?
    }

    /// Whether an id has this piece where it belongs.
    pub fn is_piece_of(&self, uuid: Uuid) -> bool {
        let whole = uuid.simple().to_string();
        match (self.piece(), self.digits()) {
            (Some(Piece::Execution(id)), _) => id.uuid() == uuid,
            (Some(Piece::Uuid(wanted)), _) => wanted == uuid,
            (Some(Piece::Made { .. }), Some(digits)) => whole.starts_with(&digits),
            (Some(Piece::Tail), Some(digits)) => whole.ends_with(&digits),
            _ => false,
        }
    }

    /// The digits, if there is nothing else but what stands between those of a uuid.
    fn digits(&self) -> Option<String> {
        let digits: String = self.name().chars().filter(|character| *character != '-').collect();
        let are_digits = digits.chars().all(|character| character.is_ascii_hexdigit());
        are_digits.then(|| digits.to_ascii_lowercase())
    }
}

/// The time that the first digits of an id say.
fn made(digits: &str) -> Option<Piece> {
    let known = &digits[..digits.len().min(TIME_DIGITS)];
    let millis = u64::from_str_radix(known, 16).ok()?;
    let open_bits = 4 * (TIME_DIGITS - known.len());
    let (first, last) = (millis << open_bits, ((millis + 1) << open_bits) - 1);
    let slack = SLACK.as_millis();
    Some(Piece::Made {
        from: Timestamp::from_millis(first.saturating_sub(slack)),
        before: Timestamp::from_millis(last + slack + 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Namespace;

    const UUID: &str = "0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5";

    fn find(q: &str) -> Find {
        Find {
            namespace: Namespace::default_namespace(),
            q: q.to_owned(),
        }
    }

    #[test]
    fn a_whole_id_is_one() {
        let uuid = Uuid::parse_str(UUID).unwrap();
        let execution = Piece::Execution(ExecutionId::new(3, uuid));
        assert_eq!(find(&format!("{{fp:3}}:{UUID}")).piece(), Some(execution));
        assert_eq!(find(&format!(" fp:3:{UUID}")).piece(), Some(execution));
        assert_eq!(find(UUID).piece(), Some(Piece::Uuid(uuid)));
        assert_eq!(find(UUID).made_at(), find("0190c5d47a6b").piece());
        assert_eq!(find(&Uuid::nil().to_string()).made_at(), None);
        assert_eq!(
            find(&UUID.to_uppercase().replace('-', "")).piece(),
            Some(Piece::Uuid(uuid))
        );
    }

    #[test]
    fn the_beginning_of_an_id_says_when_it_was_made() {
        let made = 0x0190_c5d4_7a6b;
        let whole = find("0190c5d4-7a6b-7c3");
        let piece = |from: u64, before: u64| Piece::Made {
            from: Timestamp::from_millis(from - 2_000),
            before: Timestamp::from_millis(before + 2_000),
        };
        assert_eq!(whole.piece(), Some(piece(made, made + 1)));
        assert_eq!(find("0190C5D47A").piece(), Some(piece(made - 0x6b, made - 0x6b + 256)));
        let uuid = Uuid::parse_str(UUID).unwrap();
        assert!(whole.is_piece_of(uuid) && !find("0190c5d4-7a6b-7c4").is_piece_of(uuid));
    }

    #[test]
    fn the_end_of_an_id_has_8_digits() {
        let tail = find("c2d3e4f5");
        assert_eq!(tail.piece(), Some(Piece::Tail));
        assert!(tail.is_piece_of(Uuid::parse_str(UUID).unwrap()));
        assert!(!tail.is_piece_of(Uuid::nil()));
    }

    #[test]
    fn anything_else_is_a_name() {
        for name in [
            "web",
            "c2d3e4f",
            "c2d3e4f51",
            "abcdefg123",
            "ffffffffffffffffffffffffffffffffff",
        ] {
            assert!(
                !matches!(find(name).piece(), Some(Piece::Tail | Piece::Uuid(_))),
                "{name}"
            );
            assert!(!find(name).is_piece_of(Uuid::nil()), "{name}");
        }
        assert!(find(" ").check().is_err() && find(&"x".repeat(257)).check().is_err());
    }
}
