//! Cursors as callers carry them: signed, and good only for the query they came from.

use ff_backend::query::Cursor;
use ff_core::command::page::PageRequest;
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::token::SignedCursor;

use crate::directory::keys;
use crate::engine::Engine;

impl Engine {
    /// The place a request goes on from, if its cursor was given out for `scope`: a name of the query and all it filters by.
    pub(crate) async fn open_cursor(&self, request: &PageRequest, scope: &str) -> Result<Option<Cursor>> {
        let Some(signed) = &request.cursor else { return Ok(None) };
        let state = self.open_signed(signed, scope).await?;
        let text = String::from_utf8(state);
        let invalid = |_| Code::InvalidCursor.because("the cursor is not one of this listing; start without one");
        Ok(Some(Cursor(text.map_err(invalid)?)))
    }

    /// The cursor a caller is given.
    pub(crate) async fn sign_cursor(&self, cursor: Option<Cursor>, scope: &str) -> Result<Option<SignedCursor>> {
        match cursor {
            None => Ok(None),
            Some(cursor) => Ok(Some(self.sign(scope, cursor.0.as_bytes()).await?)),
        }
    }

    /// Signs where a reader goes on.
    pub(crate) async fn sign(&self, scope: &str, state: &[u8]) -> Result<SignedCursor> {
        Ok(SignedCursor::mint(&*keys::ring(self).await?, scope, state))
    }

    /// What a signed cursor says, under any key still valid.
    pub(crate) async fn open_signed(&self, signed: &SignedCursor, scope: &str) -> Result<Vec<u8>> {
        let (ring, now) = keys::ring_for(self, signed.kid()).await?;
        signed.open(&ring, scope, now)
    }
}
