//! The query of a request, decoded strictly: what is no text is refused, never guessed.

use ff_core::error::{Code, Rejection};

/// The names and values of a query, in their order.
pub(crate) fn parse(query: &str) -> Result<Vec<(String, String)>, Rejection> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let parsed = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let spaced = |text: &str| decode(&text.replace('+', " "));
        spaced(name).zip(spaced(value))
    });
    let all: Option<_> = parsed.collect();
    all.ok_or_else(|| malformed("query"))
}

/// Refuses a path that is no text.
pub(crate) fn check_path(path: &str) -> Result<(), Rejection> {
    decode(path).map(|_| ()).ok_or_else(|| malformed("path"))
}

fn malformed(what: &str) -> Rejection {
    let detail = format!("the {what} is not percent-encoded UTF-8: % stands before two hex digits, and alone as %25");
    Code::InvalidInput.because(detail)
}

/// Every `%` must stand before two hex digits, and the bytes must be UTF-8.
fn decode(text: &str) -> Option<String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        decoded.push(match byte {
            b'%' => u8::try_from(digit()? * 16 + digit()?).ok()?,
            plain => plain,
        });
    }
    String::from_utf8(decoded).ok()
}

/// Text as it may stand in a query or a path.
pub(crate) fn encode(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_pairs_of_text() {
        let parsed = parse("a=1&b=%7Bx%7D+y&c&&d=e=f").unwrap();
        let expected = [("a", "1"), ("b", "{x} y"), ("c", ""), ("d", "e=f")];
        assert_eq!(
            parsed,
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for bad in ["a=%", "a=%4", "a=%zz", "a=%ff", "%c3=1", "a=%+1"] {
            assert_eq!(parse(bad).unwrap_err().code, Code::InvalidInput, "{bad}");
        }
        assert!(check_path("/v1/a%2Fb").is_ok() && check_path("/v1/%fe").is_err());
    }
}
