-- What an execution works on. Not joined: SQLite would compile a join anew for every value it is bound to.
-- Takes the execution's row.
SELECT content_type, bytes FROM input WHERE execution_row = ?1
