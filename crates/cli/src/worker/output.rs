//! What a command prints: frames while it runs, and its result.

use ff_core::limits::{FRAME_BYTES_MAX, PAYLOAD_BYTES_DEFAULT};
use ff_core::name::ContentType;
use ff_core::payload::Payload;
use ff_sdk::{Ctx, TaskError};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

use crate::process::readable;
use crate::say;

/// The type of frames.
const FRAME: &str = "line";
/// A longer line is streamed up to here: quotes and escapes take room, too.
const STREAMED_BYTES_MAX: usize = FRAME_BYTES_MAX / 4;
/// So much of what it said last on standard error is the reason of a failure.
const REASON_BYTES_MAX: usize = 2_000;

/// What the result of a command is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ResultIs {
    /// The last line that it printed
    #[default]
    LastLine,
    /// Everything that it printed
    All,
}

/// Streams every line of standard output, and gives the result.
pub(super) async fn stream(from: impl AsyncRead + Unpin, ctx: &Ctx, result: ResultIs) -> Result<Payload, TaskError> {
    let (mut lines, mut frames) = (BufReader::new(from), ctx.frames(FRAME));
    let mut kept = Vec::new();
    loop {
        let mut line = Vec::new();
        let room = u64::try_from(PAYLOAD_BYTES_DEFAULT)? + 1;
        if (&mut lines).take(room).read_until(b'\n', &mut line).await? == 0 {
            break;
        }
        let ended = line.strip_suffix(b"\n").unwrap_or(&line);
        if let Some(text) = text(ended) {
            frames.push(text).await?;
        }
        match result {
            ResultIs::All => kept.extend_from_slice(&line),
            ResultIs::LastLine if ended.is_empty() => {}
            ResultIs::LastLine => kept = ended.to_vec(),
        }
        if kept.len() > PAYLOAD_BYTES_DEFAULT {
            let told =
                format!("the result has more than {PAYLOAD_BYTES_DEFAULT} bytes: store it elsewhere and print where");
            return Err(TaskError::permanent(told));
        }
    }
    frames.flush().await?;
    Ok(payload(kept))
}

/// What can be streamed of a line: what is text, as far as there is room.
fn text(line: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(line).ok()?;
    let end = text.floor_char_boundary(STREAMED_BYTES_MAX);
    Some(&text[..end])
}

/// JSON if it is JSON, text if it is text.
fn payload(bytes: Vec<u8>) -> Payload {
    let content_type = match serde_json::from_slice::<serde::de::IgnoredAny>(&bytes) {
        Ok(_) => ContentType::json(),
        Err(_) if std::str::from_utf8(&bytes).is_ok() => {
            ContentType::parse("text/plain; charset=utf-8").unwrap_or_else(|_| ContentType::binary())
        }
        Err(_) => ContentType::binary(),
    };
    Payload {
        content_type,
        bytes: bytes.into(),
    }
}

/// Says every line of standard error here, and gives the last of it.
pub(super) async fn repeat(from: impl AsyncRead + Unpin, label: &str) -> std::io::Result<String> {
    let mut lines = BufReader::new(from).split(b'\n');
    let mut last = String::new();
    while let Some(line) = lines.next_segment().await? {
        let line = readable(line);
        say::aside(format_args!("{label} | {line}"));
        last += &line;
        last.push('\n');
        let start = last.ceil_char_boundary(last.len().saturating_sub(REASON_BYTES_MAX));
        last.drain(..start);
    }
    Ok(last.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_json_or_text_or_bytes() {
        let type_of = |bytes: &[u8]| payload(bytes.to_vec()).content_type.to_string();
        assert_eq!(type_of(b"{\"a\":1}"), "application/json");
        assert_eq!(type_of(b"12"), "application/json");
        assert_eq!(type_of(b"done, all 12"), "text/plain; charset=utf-8");
        assert_eq!(type_of(b"\xff\xfe"), "application/octet-stream");
    }

    #[test]
    fn what_is_streamed_is_text_and_fits() {
        assert_eq!(text(b"one"), Some("one"));
        assert_eq!(text(b"\xff"), None);
        let long = "\u{e9}".repeat(STREAMED_BYTES_MAX);
        assert!(text(long.as_bytes()).unwrap().len() <= STREAMED_BYTES_MAX);
    }
}
