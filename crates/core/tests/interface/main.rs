//! The interface as data: the table of operations, the codes, and the pages made from them.

mod codes;
mod rest_page;
mod table;
