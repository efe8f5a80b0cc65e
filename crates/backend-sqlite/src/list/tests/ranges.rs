//! Lists longer than what one call looks at, and lists with something in them that cannot be read.

use std::sync::Arc;

use ff_backend::codec::cursor::VISITED_MAX;
use ff_backend::codec::key::name;
use ff_backend::query::{Cursor, HeadsOf, Listing, Page, Range};
use ff_backend::transaction::{Put, Tag, Transaction};
use ff_backend::{Backend, Error};
use ff_core::id::{BudgetId, ExecutionId, FlowId};
use ff_core::ledger::AccountKey;
use ff_core::machine::index::{Entry, Index, Order, entries};
use ff_core::name::Namespace;
use ff_core::partition::Partition;
use ff_core::record::{Execution, Record, RecordKey};
use ff_core::time::Timestamp;
use uuid::Uuid;

use super::{Fault, Scratch, Template};
use crate::backend::SqliteBackend;
use crate::database::Database;
use crate::error::is_unreadable;
use crate::options::Options;
use crate::sql::{self, with};

const MANY: u64 = 2 * VISITED_MAX as u64 + 500;

impl Scratch {
    fn enter(&self, entry: &Entry, id: ExecutionId) {
        let key = name(&RecordKey::Execution(id));
        let entered = Database::new(&self.0).run(with!(sql::PUT_ENTRY,
            name: entry.index.to_string(), sort: entry.order.as_str(), partition: id.partition().index, key: key));
        entered.unwrap();
    }

    /// Inserts an execution into the table and into a list, in which the newest come first.
    fn insert_into(&self, list: &Index, execution: &Execution) {
        self.insert(execution, true);
        let order = newest(execution);
        let index = list.clone();
        self.enter(&Entry { index, order }, execution.id);
    }

    /// The executions of a range, and how many pages it took.
    fn range(&self, range: &Range, limit: usize) -> (Vec<ExecutionId>, usize) {
        let (rows, pages) = self.follow(&Listing::Range(range.clone()), limit, Page::executions);
        (rows.into_iter().map(|(execution, _)| execution.id).collect(), pages)
    }

    fn damage(&self, id: ExecutionId) {
        let sql = "UPDATE execution SET body = '{}' WHERE uuid = ?1";
        assert_eq!(self.0.execute(sql, [id.uuid().to_string()]), Ok(1));
    }
}

fn newest(execution: &Execution) -> Order {
    Order::newest(execution.definition.created_at).then_newest(execution.id)
}

fn everywhere() -> Vec<Partition> {
    (0..7).map(Partition::flow).collect()
}

fn tagged(value: &str) -> Index {
    Index::Tag(Namespace::default_namespace(), "key".to_owned(), value.to_owned())
}

#[test]
fn what_few_partitions_have_of_a_long_list_is_found_on_short_pages() {
    let (scratch, template) = (Scratch::new(), Template::new());
    let mut wanted = Vec::new();
    for n in 0..MANY {
        let mut execution = template.execution(n, "lane", None);
        let is_elsewhere = n % 1_000 == 0;
        execution.id = ExecutionId::new(if is_elsewhere { 9 } else { 3 }, execution.id.uuid());
        scratch.insert_into(&tagged("long"), &execution);
        if is_elsewhere {
            wanted.insert(0, execution.id);
        }
    }
    for list in [
        tagged("long"),
        Index::Age(None),
        Index::Age(Some(Namespace::default_namespace())),
    ] {
        let range = Range::of(list, vec![Partition::flow(9)]);
        assert_eq!(scratch.range(&range, 100), (wanted.clone(), 3));
        assert_eq!(scratch.range(&range, 1).0, wanted);
    }
}

#[test]
fn of_several_lists_nothing_is_passed_over_where_one_was_not_followed_further() {
    let (scratch, template) = (Scratch::new(), Template::new());
    let mut wanted = Vec::new();
    for n in 0..MANY {
        let mut execution = template.execution(n, "lane", None);
        let is_wanted = n % 100 == 0;
        // The long list has nothing but its end in the partition that is asked for; the other one has all over its length.
        let partition = if is_wanted || n < 10 { 9 } else { 3 };
        execution.id = ExecutionId::new(partition, execution.id.uuid());
        scratch.insert_into(&tagged(if is_wanted { "rare" } else { "long" }), &execution);
        if partition == 9 {
            wanted.insert(0, execution.id);
        }
    }
    let range = Range {
        of: vec![tagged("rare"), tagged("long")],
        ..Range::of(tagged("rare"), vec![Partition::flow(9)])
    };
    for limit in [1, 7, 100] {
        assert_eq!(scratch.range(&range, limit).0, wanted, "{limit} a page");
    }
}

#[test]
fn the_creation_of_an_execution_bounds_a_range() {
    let (scratch, template) = (Scratch::new(), Template::new());
    let mut ids = Vec::new();
    for n in 0..20 {
        let execution = template.execution(n, "lane", None);
        scratch.insert(&execution, true);
        ids.insert(0, execution.id);
    }
    let before = |millis| Some(Order::newest(Timestamp::from_millis(millis)));
    let range = Range {
        from: before(15),
        until: before(10),
        ..Range::of(Index::Age(None), everywhere())
    };
    assert_eq!(scratch.range(&range, 2).0, ids[4..9]);
}

#[test]
fn what_cannot_be_read_is_left_out_but_not_of_a_list_that_must_be_whole() {
    let (scratch, template) = (Scratch::new(), Template::new());
    let members = Index::Members(FlowId::from_uuid(Uuid::nil()));
    let executions = [1, 2, 3].map(|n| template.execution(n, "lane", None));
    for execution in &executions {
        scratch.insert_into(&tagged("v"), execution);
        let (index, order) = (members.clone(), newest(execution));
        scratch.enter(&Entry { index, order }, execution.id);
    }
    scratch.damage(executions[1].id);
    let readable = vec![executions[2].id, executions[0].id];
    for list in [tagged("v"), Index::Age(None)] {
        assert_eq!(scratch.range(&Range::of(list, everywhere()), 10).0, readable);
    }
    let whole = Listing::Range(Range::of(members, everywhere()));
    let failed = scratch.tried(&whole, None, 10);
    assert!(matches!(failed, Err(Fault::Store(error)) if is_unreadable(&error)));
}

#[test]
fn an_entry_of_a_record_that_is_gone_shows_nothing() {
    let (scratch, template) = (Scratch::new(), Template::new());
    let executions = [1, 2, 3].map(|n| template.execution(n, "lane", None));
    for execution in &executions {
        scratch.insert_into(&tagged("v"), execution);
    }
    let gone = executions[2].id.uuid().to_string();
    scratch
        .0
        .execute("DELETE FROM execution WHERE uuid = ?1", [gone])
        .unwrap();
    let (ids, pages) = scratch.range(&Range::of(tagged("v"), everywhere()), 1);
    assert_eq!((ids, pages), (vec![executions[1].id, executions[0].id], 3));
}

#[test]
fn heads_jump_over_what_accounts_hold_back() {
    let (scratch, template) = (Scratch::new(), Template::new());
    let mut wanted = Vec::new();
    for account in [1, 2].map(|n| AccountKey::Budget(BudgetId::from_uuid(Uuid::from_u128(n)))) {
        let index = Index::Blocked(account);
        for n in 0..MANY {
            let execution = template.execution(n, "lane", None);
            let (index, order) = (index.clone(), Order::index(u32::try_from(n).unwrap()));
            if n < 7 {
                wanted.push((execution.id.partition(), index.clone(), order.clone()));
            }
            scratch.enter(&Entry { index, order }, execution.id);
        }
    }
    wanted.sort_by_key(|(partition, index, _)| (*partition, index.to_string()));
    for limit in [1, 3, 100] {
        let of = Listing::Heads {
            of: HeadsOf::Blocked,
            partitions: everywhere(),
            count: 0,
        };
        let (heads, pages) = scratch.follow(&of, limit, Page::heads);
        let found: Vec<_> = heads
            .into_iter()
            .map(|head| (head.partition, head.index, head.first))
            .collect();
        assert_eq!((found, pages), (wanted.clone(), wanted.len().div_ceil(limit)));
    }
}

#[test]
fn an_audit_says_which_entries_are_missing() {
    let (scratch, template) = (Scratch::new(), Template::new());
    let mut execution = template.execution(1, "lane", None);
    execution.tags = Arc::new(["lost", "v"].map(|key| (key.to_owned(), "v".to_owned())).into());
    scratch.insert(&execution, true);
    let [lost, kept] = entries(&Record::from(execution.clone())).try_into().unwrap();
    scratch.enter(&kept, execution.id);
    // An entry of another record stands for nothing.
    scratch.enter(&lost, template.execution(8, "lane", None).id);
    let audit = Listing::Audit(execution.id.partition());
    let (rows, _) = scratch.follow(&audit, 10, Page::audit);
    assert_eq!(rows.into_iter().map(|row| row.missing).collect::<Vec<_>>(), [[lost]]);
}

#[test]
fn a_place_in_a_list_of_another_kind_is_refused() {
    let scratch = Scratch::new();
    let id = ExecutionId::new(0, Uuid::nil());
    let wide = "0".repeat(53);
    for (list, place) in [
        (Index::Age(None), wide.as_str()),
        (Index::Attempts(id), "000000000"),
        (Index::Signals(id), &wide),
        (tagged("v"), "not a place"),
    ] {
        let of = Listing::Range(Range::of(list, everywhere()));
        let cursor = Cursor(format!("range:{place:?}"));
        assert_eq!(scratch.page(&of, Some(cursor), 10), Err(Error::InvalidCursor), "{of:?}");
    }
}

#[tokio::test]
async fn work_without_anything_special_has_no_entries() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteBackend::open(&Options::new(directory.path().join("store.db"))).unwrap();
    let template = Template::new();
    let mut special = template.execution(1, "lane", None);
    special.tags = Arc::new([("key".to_owned(), "v".to_owned())].into());
    let mut found = Vec::new();
    for execution in [template.execution(2, "lane", None), special] {
        let mut transaction = Transaction::new(execution.id.partition(), Tag(1));
        transaction.puts.push(Put::create(Record::from(execution)));
        assert!(store.commit(vec![transaction]).await[0].is_ok());
        let count = store.writer.write(|batch| {
            let sql = "SELECT count(*) FROM entry";
            batch.database.connection.query_row(sql, [], |row| row.get::<_, u64>(0))
        });
        found.push(count.await.unwrap());
    }
    assert_eq!(found, [0, 1]);
}
