//! Wake-ups, sent when a call is done.

use super::flaw::Flaw;
use super::store::Store;

impl Store {
    /// Sends what was noted during the call.
    pub(super) fn send_hints(&mut self) {
        if self.flawed(Flaw::HintsNeverSent) {
            self.hints.forget();
        } else {
            self.hints.send();
        }
    }
}
