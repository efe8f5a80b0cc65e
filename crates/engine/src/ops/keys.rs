//! Keys of callers: create_key, list_keys, revoke_key; and who shows a key.

use ff_backend::query::Cursor;
use ff_core::caller::Caller;
use ff_core::command::key::{CreateKey, CreatedKey, KeyStatus, KeyView, RevokeKey};
use ff_core::command::page::{Page, PageRequest};
use ff_core::digest::Digest;
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::limits::SIGNED_IN_FOR;
use ff_core::machine::access_key;
use ff_core::time::Timestamp;
use ff_core::token::{AccessKey, SignInTicket, SignedIn};

use crate::directory::{access_keys, keys};
use crate::engine::Engine;
use crate::mint;

/// What somebody has shown to say who it is, without the secret.
#[derive(Clone, Debug)]
pub struct Credential {
    digest: Digest,
    /// From when on it is worth nothing, whatever the key is worth.
    until: Option<Timestamp>,
}

impl Credential {
    /// A key.
    pub fn of_key(key: &str) -> Self {
        Self {
            digest: AccessKey::from_text(key).digest(),
            until: None,
        }
    }
}

impl Engine {
    /// Who shows this key. A key that is unknown, revoked or expired is `unauthenticated`; a revocation is known everywhere
    /// within five seconds.
    pub async fn caller_of(&self, presented_key: &str) -> Result<Caller> {
        self.caller_by(&Credential::of_key(presented_key)).await
    }

    /// The same for whatever was shown.
    pub async fn caller_by(&self, shown: &Credential) -> Result<Caller> {
        let caller = self.still_caller_by(shown).await?;
        if let Some(name) = caller.actor.identity() {
            access_keys::note_use(self, &name);
        }
        Ok(caller)
    }

    /// Whom something stands for that was shown a while ago, if it does still.
    pub async fn still_caller_by(&self, shown: &Credential) -> Result<Caller> {
        let unknown = || Code::Unauthenticated.because("this key is unknown, revoked or expired");
        let now = self.store_time().await?;
        if shown.until.is_some_and(|until| until.has_come(now)) {
            return Err(Code::Unauthenticated.because("this browser was signed in for long enough; sign in again"));
        }
        let key = access_keys::find(self, &shown.digest).await?.ok_or_else(unknown)?;
        access_key::caller(&key, now).ok_or_else(unknown)
    }

    /// A ticket for the browser of whoever shows this key. Nothing is written: it says itself what it stands for.
    pub async fn sign_in(&self, presented_key: &str) -> Result<SignInTicket> {
        let shown = Credential::of_key(presented_key);
        self.caller_by(&shown).await?;
        let claims = SignedIn {
            digest: shown.digest,
            expires_at: self.store_time().await? + SIGNED_IN_FOR,
        };
        Ok(SignInTicket::mint(&*keys::ring(self).await?, &claims))
    }

    /// What a ticket stands for; `None`: it is none, or no longer. Anybody may show anything here, so nothing is read for it that
    /// was read a moment ago.
    pub async fn credential_of(&self, ticket: &str) -> Result<Option<Credential>> {
        let ring = keys::ring(self).await?;
        let claims = SignInTicket::from_text(ticket).open(&ring, self.store_time().await?);
        Ok(claims.map(|claims| Credential {
            digest: claims.digest,
            until: Some(claims.expires_at),
        }))
    }

    /// Completes when any key of a caller may have changed, as soon as that is known here.
    pub fn keys_changed(&self) -> impl Future<Output = ()> + Send + 'static {
        self.shared.directory.access_keys.changed()
    }

    /// Whether there are keys at all: without any, everybody on this machine may do everything.
    pub async fn has_keys(&self) -> Result<bool> {
        Ok(access_keys::count(self).await? > 0)
    }
}

pub(crate) async fn create_key(engine: &Engine, command: CreateKey) -> Result<CreatedKey> {
    access_key::check_maker(&engine.caller, &command)?;
    let key = AccessKey::from_random(mint::secret_bytes(engine.host()));
    let others = access_keys::count(engine).await?;
    let context = engine.context(engine.store().ping().await?);
    let record = access_key::create(&command, key.digest(), others, &context)?;
    access_keys::add(engine, &record).await?;
    Ok(CreatedKey {
        status: KeyStatus::Created,
        key,
        view: KeyView::of(record, None),
    })
}

pub(crate) async fn list_keys(engine: &Engine, page: PageRequest) -> Result<Page<KeyView>> {
    let scope = "access keys";
    let limit = page.limit()?;
    let after = engine.open_cursor(&page, scope).await?.map(|cursor| cursor.0);
    let found = access_keys::page(engine, after, limit).await?;
    let visible = found
        .keys
        .into_iter()
        .filter(|(key, _)| access_key::is_visible(&engine.caller, key));
    Ok(Page {
        items: visible.map(|(key, used_at)| KeyView::of(key, used_at)).collect(),
        next: engine.sign_cursor(found.next.map(Cursor), scope).await?,
    })
}

pub(crate) async fn revoke_key(engine: &Engine, command: RevokeKey) -> Result<()> {
    access_keys::remove(engine, &command.name, |key| access_key::is_visible(&engine.caller, key)).await
}
