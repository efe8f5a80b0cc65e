//! Keys of callers: create_key, list_keys, revoke_key; and who shows a key.

use ff_backend::query::Cursor;
use ff_core::caller::Caller;
use ff_core::command::key::{CreateKey, CreatedKey, KeyStatus, KeyView, RevokeKey};
use ff_core::command::page::{Page, PageRequest};
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::machine::access_key;
use ff_core::token::AccessKey;

use crate::directory::access_keys;
use crate::engine::Engine;
use crate::mint;

impl Engine {
    /// Who shows this key. A key that is unknown, revoked or expired is `unauthenticated`; a revocation is known everywhere
    /// within five seconds.
    pub async fn caller_of(&self, presented_key: &str) -> Result<Caller> {
        let digest = AccessKey::from_text(presented_key).digest();
        let unknown = || Code::Unauthenticated.because("this key is unknown, revoked or expired");
        let key = access_keys::find(self, &digest).await?.ok_or_else(unknown)?;
        let caller = access_key::caller(&key, self.store_time().await?).ok_or_else(unknown)?;
        access_keys::note_use(self, &key.name);
        Ok(caller)
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
