//! Calls: one statement each, on a connection that calls share.

use std::fmt::Display;
use std::time::Duration;

use deadpool_postgres::{Object, Pool, PoolError};
use ff_backend::{Error, Result};
use postgres_types::{FromSql, ToSql};
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::row::RowIndex;

use crate::error::{Fate, as_error, corrupt, describe, fate};
use crate::library::LIBRARY;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often a call is made again that others were in the way of.
const TRIES_MAX: u32 = 16;

/// A function of the library, with the values of its parameters.
pub(crate) struct Call<'v> {
    pub(crate) function: &'static str,
    pub(crate) names: Vec<&'static str>,
    pub(crate) values: Vec<&'v (dyn ToSql + Sync)>,
    /// Whether a lost reply leaves a doubt.
    pub(crate) writes: bool,
}

/// A call of a function by its name, with parameters by theirs.
macro_rules! call {
    ($kind:ident $function:ident($($name:ident: $value:expr),* $(,)?)) => {
        $crate::call::Call {
            function: stringify!($function),
            names: vec![$(stringify!($name)),*],
            values: vec![$($value as &(dyn postgres_types::ToSql + Sync)),*],
            writes: $crate::call::$kind,
        }
    };
}
pub(crate) use call;

/// The kinds of calls.
#[expect(non_upper_case_globals, reason = "they are read as words of a call")]
pub(crate) const reading: bool = false;
#[expect(non_upper_case_globals, reason = "they are read as words of a call")]
pub(crate) const writing: bool = true;

impl Call<'_> {
    fn text(&self) -> String {
        let named = self.names.iter().enumerate();
        let named: Vec<String> = named.map(|(at, name)| format!("{name} => ${}", at + 1)).collect();
        format!(
            "SELECT * FROM {}.{}({})",
            LIBRARY.schema,
            self.function,
            named.join(", ")
        )
    }
}

/// The row a function answers.
pub(crate) struct Answer(pub(crate) Row);

impl Answer {
    /// A column by its name or number.
    pub(crate) fn get<'r, T: FromSql<'r>>(&'r self, column: impl RowIndex + Display) -> Result<T> {
        self.0.try_get(column).map_err(corrupt)
    }

    /// The rows in a column; where there are none, the store says nothing.
    pub(crate) fn list<T: for<'r> FromSql<'r>>(&self, column: &str) -> Result<Vec<T>> {
        Ok(self.get::<Option<Vec<T>>>(column)?.unwrap_or_default())
    }
}

/// What a row is about that says so by a place. The store counts from 1.
pub(crate) fn asked_at<T>(asked: &[T], nth: i32) -> Result<&T> {
    let at = usize::try_from(nth).ok().and_then(|nth| nth.checked_sub(1));
    at.and_then(|at| asked.get(at))
        .ok_or_else(|| corrupt("an answer to nothing"))
}

/// The connections.
#[derive(Clone)]
pub(crate) struct Connections(pub(crate) Pool);

impl Connections {
    /// The rows a function answers.
    pub(crate) async fn rows(&self, call: Call<'_>) -> Result<Vec<Row>> {
        let text = call.text();
        let mut tries = 0;
        loop {
            let connection = self.get().await?;
            let error = match timeout(PATIENCE, run(&connection, &text, &call.values)).await {
                Ok(Ok(rows)) => return Ok(rows),
                Ok(Err(error)) => error,
                Err(_) => {
                    // Its answer would be taken for that of the next call.
                    drop(Object::take(connection));
                    let why = format!("{} was not answered in {} s", call.function, PATIENCE.as_secs());
                    return Err(if call.writes {
                        Error::Unknown(why)
                    } else {
                        Error::Unavailable(why)
                    });
                }
            };
            tries += 1;
            let again = fate(&error) == Fate::Again && tries < TRIES_MAX;
            tracing::debug!(function = call.function, error = %describe(&error), again, "a call failed");
            if !again {
                return Err(as_error(&error, call.writes));
            }
        }
    }

    /// The one row a function answers.
    pub(crate) async fn row(&self, call: Call<'_>) -> Result<Answer> {
        let function = call.function;
        let mut rows = self.rows(call).await?;
        let row = rows.pop();
        row.map(Answer)
            .ok_or_else(|| corrupt(format!("{function} answered nothing")))
    }

    async fn get(&self) -> Result<Object> {
        self.0.get().await.map_err(|error| {
            Error::Unavailable(match error {
                PoolError::Timeout(_) => {
                    let size = self.0.status().max_size;
                    format!("all {size} connections are in use; allow more of them (`postgres_connections_max`)")
                }
                PoolError::Backend(error) => describe(&error),
                other => other.to_string(),
            })
        })
    }
}

async fn run(
    connection: &Object,
    text: &str,
    values: &[&(dyn ToSql + Sync)],
) -> std::result::Result<Vec<Row>, tokio_postgres::Error> {
    let statement = connection.prepare_cached(text).await?;
    connection.query(&statement, values).await
}
