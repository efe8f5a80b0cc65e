//! The statements of `sql/`, each a constant: see `build.rs`.

#[cfg(test)]
pub(crate) mod tests;

/// A statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statement {
    /// Which one of [`COUNT`].
    pub(crate) number: usize,
    /// What SQLite is given.
    pub(crate) text: &'static str,
    /// Its parameters by name, in their order.
    pub(crate) takes: &'static [&'static str],
}

impl Statement {
    /// Fails where parameters are given by other names than these, or in another order.
    pub(crate) const fn expect(&self, names: &[&str]) {
        assert!(
            self.takes.len() == names.len(),
            "the statement takes another number of parameters"
        );
        let mut at = 0;
        while at < names.len() {
            assert!(
                same(self.takes[at], names[at]),
                "the statement takes other parameters, or in another order"
            );
            at += 1;
        }
    }
}

/// Equality of texts, which no trait gives while compiling.
const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut at = 0;
    while at < left.len() && at < right.len() && left[at] == right[at] {
        at += 1;
    }
    at == left.len() && at == right.len()
}

/// A statement with the values of its parameters. Their names are compared while compiling, so that running it counts nothing.
macro_rules! with {
    ($statement:expr $(, $name:ident: $value:expr)* $(,)?) => {
        (
            const {
                $statement.expect(&[$(stringify!($name)),*]);
                $statement
            },
            rusqlite::params![$($value),*],
        )
    };
}
pub(crate) use with;

include!(concat!(env!("OUT_DIR"), "/sql.rs"));
