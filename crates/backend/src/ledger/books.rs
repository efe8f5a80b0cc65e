//! The parts of accounts as a store keeps them.

use std::collections::BTreeMap;

use ff_core::id::{EffectId, GrantId};
use ff_core::ledger::{AccountKey, Head, Hold, Identity, Meter, Numbers, ReadHolds};
use ff_core::record::UsageIdentity;
use ff_core::time::{Duration, Timestamp};

/// Accounts under one lock: everything a call reads and writes. No call but one that reads all numbers reads a whole account.
pub trait Books {
    /// Why something cannot be read or written.
    type Error;

    /// The store's time.
    fn now(&self) -> Timestamp;

    /// The head of an account, if there is one.
    fn head(&mut self, account: AccountKey) -> Result<Option<Head>, Self::Error>;

    /// Writes the head of an account.
    fn put_head(&mut self, account: AccountKey, head: Head) -> Result<(), Self::Error>;

    /// A number, if it is there. Never the generation, which stands in the head.
    fn meter(&mut self, account: AccountKey, meter: &Meter) -> Result<Option<Numbers>, Self::Error>;

    /// Writes a number, or takes it away.
    fn put_meter(&mut self, account: AccountKey, meter: &Meter, numbers: Option<Numbers>) -> Result<(), Self::Error>;

    /// All numbers.
    fn all_meters(&mut self, account: AccountKey) -> Result<BTreeMap<Meter, Numbers>, Self::Error>;

    /// How many numbers there are that begin again with the account.
    fn count_spent(&mut self, account: AccountKey) -> Result<usize, Self::Error>;

    /// Nothing of these is used any more; what nobody holds anything of is gone.
    fn clear_spent(&mut self, account: AccountKey) -> Result<(), Self::Error>;

    /// What a grant has taken.
    fn hold(&mut self, account: AccountKey, grant: GrantId) -> Result<Option<Hold>, Self::Error>;

    /// Writes what a grant has taken.
    fn put_hold(&mut self, account: AccountKey, hold: Hold) -> Result<(), Self::Error>;

    /// A grant has taken nothing any more.
    fn drop_hold(&mut self, account: AccountKey, grant: GrantId) -> Result<(), Self::Error>;

    /// What grants hold, by grant.
    fn holds(&mut self, ask: &ReadHolds) -> Result<Vec<Hold>, Self::Error>;

    /// Whether a grant was given back before it took anything, and is refused.
    fn is_refused(&mut self, account: AccountKey, grant: GrantId) -> Result<bool, Self::Error>;

    /// Refuses a grant until then.
    fn refuse(&mut self, account: AccountKey, grant: GrantId, until: Timestamp) -> Result<(), Self::Error>;

    /// What brought the draw that is remembered under a name; `None`: none is.
    fn remembered(
        &mut self,
        account: AccountKey,
        identity: &UsageIdentity,
    ) -> Result<Option<Option<EffectId>>, Self::Error>;

    /// Remembers a draw under a name.
    fn remember(
        &mut self,
        account: AccountKey,
        identity: &Identity,
        bearer: Option<EffectId>,
    ) -> Result<(), Self::Error>;

    /// Since when a name has its place, whether it still counts or not.
    fn place(&mut self, account: AccountKey, name: &str) -> Result<Option<Timestamp>, Self::Error>;

    /// Gives a name its place from now on, or takes it away.
    fn put_place(&mut self, account: AccountKey, name: &str, at: Option<Timestamp>) -> Result<(), Self::Error>;

    /// Takes away the places that were taken so long ago or longer.
    fn drop_places(&mut self, account: AccountKey, age: Duration) -> Result<(), Self::Error>;

    /// How many places are younger than that.
    fn count_places(&mut self, account: AccountKey, age: Duration) -> Result<u64, Self::Error>;

    /// When the place was taken that so many younger ones stand beside.
    fn place_behind(&mut self, account: AccountKey, younger: u64) -> Result<Option<Timestamp>, Self::Error>;
}
