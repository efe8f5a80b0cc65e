//! Bytes somebody gives: JSON on the command line, a file, or standard input.

use std::fs::File;
use std::io::Read;

use anyhow::Context;
use ff_core::name::ContentType;
use ff_core::payload::Payload;
use ff_core::wire;

use crate::failure::{Class, Failure};

/// More is read from nowhere: no operation takes as much.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What `given` stands for: JSON as it is, `@FILE`, or `-` for standard input. What is not JSON is bytes of no known type.
pub(crate) fn payload(given: &str) -> anyhow::Result<Payload> {
    let (bytes, is_text) = match given.strip_prefix('@') {
        Some(path) => (file(path)?, false),
        None if given == "-" => (standard_input()?, false),
        None => (given.as_bytes().to_vec(), true),
    };
    let content_type = match wire::is_json(&bytes) {
        true => ContentType::json(),
        false if is_text => return Err(not_json(given).into()),
        false => ContentType::binary(),
    };
    Ok(Payload {
        bytes: bytes.into(),
        content_type,
    })
}

/// The text `given` stands for, in the same three forms.
pub(crate) fn text(given: &str) -> anyhow::Result<String> {
    let bytes = match given.strip_prefix('@') {
        Some(path) => file(path)?,
        None if given == "-" => standard_input()?,
        None => return Ok(given.to_owned()),
    };
    String::from_utf8(bytes).with_context(|| format!("{given} is not text"))
}

/// The file of this name, as text of up to so many bytes; `-` is standard input.
pub(crate) fn text_file(path: &str, bytes_max: u64) -> anyhow::Result<String> {
    let bytes = match path {
        "-" => bounded(std::io::stdin().lock(), "standard input", bytes_max)?,
        _ => bounded(open(path)?, path, bytes_max)?,
    };
    String::from_utf8(bytes).with_context(|| format!("{path} is not text"))
}

fn not_json(given: &str) -> Failure {
    let shown: String = given.chars().take(40).collect();
    let what = format!("{shown:?} is not JSON");
    Failure::new(Class::Other, what)
        .advise("Text is JSON in quotes of its own: '\"text\"'. A file is given as @FILE, standard input as -.")
}

fn file(path: &str) -> anyhow::Result<Vec<u8>> {
    bounded(open(path)?, path, BYTES_MAX)
}

fn standard_input() -> anyhow::Result<Vec<u8>> {
    bounded(std::io::stdin().lock(), "standard input", BYTES_MAX)
}

fn open(path: &str) -> anyhow::Result<File> {
    File::open(path).with_context(|| format!("cannot open {path}"))
}

fn bounded(from: impl Read, what: &str, bytes_max: u64) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = from.take(bytes_max + 1).read_to_end(&mut bytes);
    let read = read.with_context(|| format!("cannot read {what}"))?;
    anyhow::ensure!(
        read as u64 <= bytes_max,
        "{what} has more than {bytes_max} bytes, which nothing takes"
    );
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_taken_as_it_is_and_other_text_is_explained() {
        let given = payload(r#"{"a": 1.10}"#).unwrap();
        assert_eq!(&given.bytes[..], br#"{"a": 1.10}"#);
        assert_eq!(given.content_type, ContentType::json());
        assert!(payload("hello").unwrap_err().to_string().contains("not JSON"));
    }

    #[test]
    fn files_may_hold_anything() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it");
        std::fs::write(&path, [0xff, 0x00]).unwrap();
        let given = payload(&format!("@{}", path.display())).unwrap();
        assert_eq!(given, Payload::binary(vec![0xff, 0x00]));
        assert!(payload("@/nowhere").unwrap_err().to_string().contains("/nowhere"));
    }
}
