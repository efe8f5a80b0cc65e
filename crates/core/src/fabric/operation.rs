//! What the table says about an operation.

use std::fmt;
use std::pin::Pin;

use super::Fabric;
use crate::caller::Role;
use crate::error::Rejection;
use crate::limits;
use crate::payload::Payload;
use crate::wire::Fields;

/// One operation of the interface.
pub struct Operation {
    /// Its name: of the method, of the metric, in the log.
    pub name: &'static str,
    /// What it is about: the group of the table it stands in.
    pub noun: &'static str,
    /// What it promises.
    pub summary: &'static str,
    /// How it is called over HTTP.
    pub method: Method,
    /// Where, below the version; `{name}` stands for the field of that name.
    pub path: &'static str,
    /// Who may.
    pub access: Access,
    /// How large its body may be.
    pub body: Body,
    /// Reads its command from fields, calls it, and writes its answer.
    pub call: Call,
    /// What it takes and answers, as schemas.
    #[cfg(feature = "schema")]
    pub shape: fn(&mut crate::schema::Schemas) -> crate::schema::Shape,
}

/// Calls an operation of a fabric.
pub type Call =
    for<'a> fn(&'a dyn Fabric, Fields<'a>) -> Pin<Box<dyn Future<Output = Result<Reply, Rejection>> + Send + 'a>>;

/// An answer as it travels.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// JSON.
    Json(Vec<u8>),
    /// Bytes of a user, as they are.
    Bytes(Payload),
    /// There is nothing to say.
    Nothing,
}

/// How an operation is called over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// Reads.
    GET,
    /// Acts.
    POST,
    /// Sets.
    PUT,
    /// Changes what is named.
    PATCH,
    /// Deletes.
    DELETE,
}

impl Method {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Method::GET => "GET",
            Method::POST => "POST",
            Method::PUT => "PUT",
            Method::PATCH => "PATCH",
            Method::DELETE => "DELETE",
        }
    }

    /// Whether what is not in the path stands in the body; otherwise it is the query.
    pub const fn has_body(self) -> bool {
        !matches!(self, Method::GET | Method::DELETE)
    }
}

/// Who may call an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Whoever shows what the operation itself asks for.
    Anyone,
    /// Whoever has a key, whatever its role.
    AnyRole,
    /// Whoever has this role.
    Role(Role),
    /// Whoever has this role, and a worker that holds a lease on what it is about.
    RoleOrHolder(Role),
}

/// How large the body of a request may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Names and numbers.
    Small,
    /// A submission with its input.
    Submission,
    /// The end of a lease, with a result.
    Finish,
    /// A signal with its payload.
    Signal,
    /// Nothing but an input, as it is.
    Input,
    /// Nothing but the payload of a signal, as it is.
    Callback,
    /// A frame.
    Frame,
    /// Many things at once.
    Batch,
}

impl Body {
    /// In bytes, where payloads have at most `payload_bytes_max`.
    pub const fn bytes_max(self, payload_bytes_max: usize) -> usize {
        match self {
            Body::Small | Body::Frame => limits::BODY_SMALL_BYTES_MAX,
            // In base64, with full tags beside it.
            Body::Submission => payload_bytes_max / 3 * 4 + limits::BODY_SMALL_BYTES_MAX,
            Body::Finish => limits::BODY_FINISH_BYTES_MAX,
            Body::Signal => limits::BODY_SIGNAL_BYTES_MAX,
            Body::Input => payload_bytes_max,
            Body::Callback => limits::SIGNAL_PAYLOAD_BYTES_MAX,
            Body::Batch => limits::BODY_BATCH_BYTES_MAX,
        }
    }
}

impl Operation {
    /// The operation of this name.
    pub fn named(name: &str) -> Option<&'static Operation> {
        super::OPERATIONS
            .iter()
            .copied()
            .find(|operation| operation.name == name)
    }

    /// The fields that stand in its path, in their order.
    pub fn path_fields(&self) -> impl Iterator<Item = &'static str> {
        path_fields(self.path)
    }
}

/// The fields that stand in a path, in their order.
pub fn path_fields(path: &'static str) -> impl Iterator<Item = &'static str> {
    let parts = path.split('/');
    parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} {})", self.name, self.method.as_str(), self.path)
    }
}
