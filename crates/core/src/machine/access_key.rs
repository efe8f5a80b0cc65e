//! Keys of callers: who may have one, and whom it stands for.

use super::context::Context;
use crate::caller::Caller;
use crate::command::key::CreateKey;
use crate::digest::Digest;
use crate::error::{Code, Rejection};
use crate::limits::KEYS_MAX;
use crate::name::Identity;
use crate::record::{AccessKeyRecord, Actor};
use crate::time::Timestamp;

/// A key with this digest, beside `others` that there are.
pub fn create(
    command: &CreateKey,
    digest: Digest,
    others: usize,
    context: &Context,
) -> Result<AccessKeyRecord, Rejection> {
    let CreateKey {
        name,
        role,
        namespace,
        expires_at,
    } = command.clone();
    if [Identity::engine(), Identity::anonymous()].contains(&name) {
        return Err(Code::InvalidInput.because(format!("nobody can be called {name}: that name is the engine's")));
    }
    if expires_at.is_some_and(|at| at.has_come(context.now)) {
        return Err(Code::InvalidInput.because("expires_at has passed"));
    }
    if others >= KEYS_MAX {
        return Err(Code::InvalidInput.because(format!("there are {others} keys, and no more than {KEYS_MAX}")));
    }
    Ok(AccessKeyRecord {
        name,
        digest,
        role,
        namespace,
        created_at: context.now,
        expires_at,
        carried: Default::default(),
    })
}

/// Who shows this key, while it is worth anything.
pub fn caller(key: &AccessKeyRecord, now: Timestamp) -> Option<Caller> {
    if key.expires_at.is_some_and(|at| at.has_come(now)) {
        return None;
    }
    Some(Caller {
        actor: Actor::Client(key.name.clone()),
        role: key.role,
        namespace: key.namespace.clone(),
        ..Caller::local()
    })
}

/// Refuses a caller bound to a namespace to make a key that reaches anything else.
pub fn check_maker(caller: &Caller, command: &CreateKey) -> Result<(), Rejection> {
    match (&caller.namespace, &command.namespace) {
        (Some(own), Some(namespace)) if own == namespace => Ok(()),
        (None, _) => Ok(()),
        (Some(own), _) => {
            Err(Code::Forbidden.because(format!("this key makes keys of its own namespace only, which is {own}")))
        }
    }
}

/// Whether a key is there for a caller: one bound to a namespace sees keys of that one only.
pub fn is_visible(caller: &Caller, key: &AccessKeyRecord) -> bool {
    caller.namespace.is_none() || caller.namespace == key.namespace
}
