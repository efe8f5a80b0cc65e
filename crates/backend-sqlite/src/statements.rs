//! The compiled statements of a batch, found by where their text stands in the program.

use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use rusqlite::{CachedStatement, Connection};

/// Where a statement lies while nobody runs it.
type Slot<'c> = Rc<Cell<Option<CachedStatement<'c>>>>;

/// The statements a batch has used. The connection finds them by their text, which costs more than running some of them; so
/// it is asked once per batch.
pub(crate) struct Statements<'c> {
    connection: &'c Connection,
    slots: RefCell<Vec<(*const str, Slot<'c>)>>,
}

/// A statement in use; it goes back when it is dropped.
pub(crate) struct Borrowed<'c> {
    /// Taken only when it is dropped.
    statement: Option<CachedStatement<'c>>,
    slot: Slot<'c>,
}

impl<'c> Statements<'c> {
    /// None yet.
    pub(crate) fn new(connection: &'c Connection) -> Self {
        Self {
            connection,
            slots: RefCell::default(),
        }
    }

    /// The statement with this text, compiled once per connection.
    pub(crate) fn get(&self, sql: &'static str) -> rusqlite::Result<Borrowed<'c>> {
        let slot = self.slot(sql);
        let statement = match slot.take() {
            Some(statement) => statement,
            None => self.connection.prepare_cached(sql)?,
        };
        Ok(Borrowed {
            statement: Some(statement),
            slot,
        })
    }

    fn slot(&self, sql: &'static str) -> Slot<'c> {
        let mut slots = self.slots.borrow_mut();
        // A batch uses a few dozen statements at most, and mostly the same ten.
        if let Some((_, slot)) = slots.iter().find(|(known, _)| std::ptr::eq(*known, sql)) {
            return Rc::clone(slot);
        }
        let slot = Slot::default();
        slots.push((sql, Rc::clone(&slot)));
        slot
    }
}

impl<'c> Deref for Borrowed<'c> {
    type Target = CachedStatement<'c>;

    fn deref(&self) -> &Self::Target {
        match &self.statement {
            Some(statement) => statement,
            None => unreachable!("a statement is given back only once"),
        }
    }
}

impl DerefMut for Borrowed<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match &mut self.statement {
            Some(statement) => statement,
            None => unreachable!("a statement is given back only once"),
        }
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        self.slot.set(self.statement.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "SELECT 1";

    fn answer(statement: &mut Borrowed<'_>) -> i64 {
        statement.query_row([], |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_statement_in_use_can_be_had_once_more() {
        let connection = Connection::open_in_memory().unwrap();
        let statements = Statements::new(&connection);
        let mut outer = statements.get(ONE).unwrap();
        let mut inner = statements.get(ONE).unwrap();
        assert_eq!((answer(&mut outer), answer(&mut inner)), (1, 1));
    }

    #[test]
    fn a_statement_is_asked_for_once_however_often_it_runs() {
        let connection = Connection::open_in_memory().unwrap();
        let statements = Statements::new(&connection);
        for _ in 0..3 {
            assert_eq!(answer(&mut statements.get(ONE).unwrap()), 1);
        }
        assert_eq!(statements.slots.borrow().len(), 1);
    }
}
