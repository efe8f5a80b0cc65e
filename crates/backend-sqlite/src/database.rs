//! A connection with the statements that were used on it.

use std::cell::Cell;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row, Rows};

use crate::sql::{COUNT, Statement};

/// A statement with the values of its parameters: see [`crate::sql::with`].
pub(crate) type Asked<P> = (Statement, P);

/// A connection, for as long as its transaction lasts. Compiled statements are found by their numbers: the connection finds
/// them by their text, which costs more than running some of them, so it is asked once.
pub(crate) struct Database<'c> {
    pub(crate) connection: &'c Connection,
    /// Where a statement lies while nobody runs it.
    statements: [Cell<Option<CachedStatement<'c>>>; COUNT],
}

impl<'c> Database<'c> {
    /// Nothing was used yet.
    pub(crate) const fn new(connection: &'c Connection) -> Self {
        Self {
            connection,
            statements: [const { Cell::new(None) }; COUNT],
        }
    }

    /// Runs a statement, whatever it changes.
    pub(crate) fn run(&self, asked: Asked<impl Params>) -> rusqlite::Result<()> {
        self.change(asked).map(drop)
    }

    /// Runs a statement; how many rows it changed.
    pub(crate) fn change(&self, (sql, values): Asked<impl Params>) -> rusqlite::Result<usize> {
        self.using(sql, |statement| statement.execute(values))
    }

    /// Inserts one row, and answers its number.
    pub(crate) fn insert(&self, (sql, values): Asked<impl Params>) -> rusqlite::Result<i64> {
        self.using(sql, |statement| statement.insert(values))
    }

    /// The first row a statement finds.
    pub(crate) fn find<T>(
        &self,
        (sql, values): Asked<impl Params>,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        self.using(sql, |statement| statement.query_row(values, read).optional())
    }

    /// Every row a statement finds.
    pub(crate) fn all<T>(
        &self,
        asked: Asked<impl Params>,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.rows(asked, |rows| rows.mapped(read).collect())
    }

    /// The rows a statement finds, as far as they are taken.
    pub(crate) fn rows<T>(
        &self,
        (sql, values): Asked<impl Params>,
        take: impl FnOnce(Rows<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.using(sql, |statement| take(statement.query(values)?))
    }

    fn using<T>(
        &self,
        sql: Statement,
        run: impl FnOnce(&mut CachedStatement<'c>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let slot = &self.statements[sql.number];
        let mut statement = match slot.take() {
            Some(statement) => statement,
            None => self.connection.prepare_cached(sql.text)?,
        };
        let answer = run(&mut statement);
        slot.set(Some(statement));
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Asked<()> = (
        Statement {
            number: 0,
            text: "SELECT 1",
            takes: &[],
        },
        (),
    );

    fn one(row: &Row<'_>) -> rusqlite::Result<u8> {
        row.get(0)
    }

    #[test]
    fn a_statement_in_use_can_be_had_once_more() {
        let connection = Connection::open_in_memory().unwrap();
        let database = Database::new(&connection);
        let both = database.find(ONE, |row| Ok((one(row)?, database.find(ONE, one)?)));
        assert_eq!(both, Ok(Some((1, Some(1)))));
    }

    #[test]
    fn a_statement_is_compiled_once_however_often_it_runs() {
        let connection = Connection::open_in_memory().unwrap();
        connection.set_prepared_statement_cache_capacity(0);
        let database = Database::new(&connection);
        for runs in 1..4 {
            assert_eq!(database.find(ONE, one), Ok(Some(1)));
            let run = database.using(ONE.0, |statement| {
                Ok(statement.get_status(rusqlite::StatementStatus::Run))
            });
            assert_eq!(run, Ok(runs), "it is the same one");
        }
    }
}
