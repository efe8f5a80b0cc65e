//! Bytes as lower-case hexadecimal text, with exactly one spelling.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Two lower-case digits per byte.
pub fn encode(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)])
        .collect()
}

/// The bytes that [`encode`] writes as `text`; `None` for anything it never writes.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs
        .iter()
        .map(|&[high, low]| Some(value(high)? << 4 | value(low)?))
        .collect()
}

const fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&bytes)), Some(bytes));
        assert_eq!(encode(&[0x00, 0xaf, 0x31]), "00af31");
        assert_eq!(decode(""), Some(Vec::new()));
    }

    #[test]
    fn other_spellings_are_refused() {
        for bad in ["0", "0A", "0x", " 00", "00 ", "gg", "é"] {
            assert_eq!(decode(bad), None, "{bad:?}");
        }
    }
}
