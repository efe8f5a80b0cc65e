-- Reading and writing the books.

CREATE FUNCTION head_of(known account) RETURNS ledger_head LANGUAGE sql IMMUTABLE AS $$
    SELECT ROW(known.account, known.partition, known.version, known.revision, known.stale_at, known.due_at, known.due_stamp,
        known.generation, known.marks, known.last::text, known.listed_in, known.oldest_place, known.first_place, known.next_place,
        known.gaps, known.placed_at)::ledger_head
$$;

-- Opens the books of accounts, which are given in the order of their keys: whoever locks several never waits in a circle. One that is
-- not there has no row to lock, and somebody may be making it: its name is locked instead.
CREATE FUNCTION open_books(caller caller, accounts text[], windows bigint[], numbers ledger_number[]) RETURNS ledger_books
LANGUAGE plpgsql AS $$
DECLARE
    books ledger_books;
    known account;
BEGIN
    books.accounts := accounts;
    FOR at IN 1..cardinality(accounts) LOOP
        SELECT * INTO known FROM account WHERE account.account = accounts[at] FOR UPDATE;
        IF NOT FOUND THEN
            PERFORM pg_advisory_xact_lock(hashtextextended(accounts[at], 0));
            SELECT * INTO known FROM account WHERE account.account = accounts[at] FOR UPDATE;
        END IF;
        books.heads[at] := head_of(known);
        books.now := greatest(books.now, known.placed_at);
    END LOOP;
    -- Read before the locks, the clock would be behind that of whoever had them.
    books.now := greatest(books.now, store_now(caller));
    FOR at IN 1..cardinality(accounts) LOOP
        IF windows[at] IS NOT NULL THEN
            books.younger[at] := younger_than(books.heads[at], windows[at], books.now);
        END IF;
    END LOOP;
    books.windows := windows;
    SELECT coalesce(array_agg(number.key), '{}'), coalesce(array_agg(number.used), '{}'), coalesce(array_agg(number.held), '{}')
    INTO books.keys, books.used, books.held
    FROM (
        SELECT accounts[asked.account] || ' ' || asked.meter AS key, meter.used, meter.held
        FROM unnest(numbers) WITH ORDINALITY AS asked
        LEFT JOIN meter ON meter.account = accounts[asked.account] AND meter.meter = asked.meter
        ORDER BY asked.ordinality
    ) AS number;
    books.kept_heads := books.heads;
    books.kept_used := books.used;
    books.kept_held := books.held;
    RETURN books;
END $$;

-- Writes what has changed.
CREATE FUNCTION write_books(books ledger_books) RETURNS ledger_books LANGUAGE plpgsql AS $$
BEGIN
    IF books.used IS DISTINCT FROM books.kept_used OR books.held IS DISTINCT FROM books.kept_held THEN
        INSERT INTO meter (account, meter, used, held)
        SELECT account_of(number.key), meter_of(number.key), number.used, number.held
        FROM unnest(books.keys, books.used, books.held, books.kept_used, books.kept_held)
            AS number (key, used, held, kept_used, kept_held)
        WHERE number.used IS NOT NULL AND (number.used, number.held) IS DISTINCT FROM (number.kept_used, number.kept_held)
        ON CONFLICT (account, meter) DO UPDATE SET used = excluded.used, held = excluded.held;
        IF array_position(books.used, NULL) IS NOT NULL THEN
            DELETE FROM meter USING unnest(books.keys, books.used, books.kept_used) AS number (key, used, kept_used)
            WHERE number.used IS NULL AND number.kept_used IS NOT NULL
                AND meter.account = account_of(number.key) AND meter.meter = meter_of(number.key);
        END IF;
        books.kept_used := books.used;
        books.kept_held := books.held;
    END IF;
    FOR at IN 1..cardinality(books.heads) LOOP
        IF books.heads[at] IS DISTINCT FROM books.kept_heads[at] THEN
            PERFORM write_head(books.heads[at], books.kept_heads[at]);
        END IF;
    END LOOP;
    books.kept_heads := books.heads;
    RETURN books;
END $$;

CREATE FUNCTION write_head(head ledger_head, kept ledger_head) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE account SET version = head.version, revision = head.revision, stale_at = head.stale_at, due_at = head.due_at,
        due_stamp = head.due_stamp, generation = head.generation, marks = head.marks, last = head.last::jsonb,
        listed_in = head.listed_in, first_place = head.first_place, next_place = head.next_place, gaps = head.gaps,
        placed_at = head.placed_at
    WHERE account.account = head.account;
    IF head.due_at IS DISTINCT FROM kept.due_at THEN
        DELETE FROM account_due
        WHERE account_due.partition = kept.partition AND account_due.at = kept.due_at AND account_due.account = kept.account;
        INSERT INTO account_due (partition, at, account)
        SELECT head.partition, head.due_at, head.account WHERE head.due_at IS NOT NULL;
    END IF;
    IF head.first_place > kept.first_place AND kept.first_place = kept.oldest_place THEN
        INSERT INTO account_past (account) VALUES (head.account) ON CONFLICT DO NOTHING;
    END IF;
END $$;

-- Reads a number that is not in the books yet: nobody has asked for it by name.
CREATE FUNCTION know_number(books ledger_books, key text) RETURNS ledger_books LANGUAGE plpgsql AS $$
DECLARE
    known meter;
BEGIN
    SELECT * INTO known FROM meter WHERE meter.account = account_of(key) AND meter.meter = meter_of(key);
    books.keys := array_append(books.keys, key);
    books.used := array_append(books.used, known.used);
    books.held := array_append(books.held, known.held);
    books.kept_used := array_append(books.kept_used, known.used);
    books.kept_held := array_append(books.kept_held, known.held);
    RETURN books;
END $$;

-- Reads whatever a hold is about. If one of its accounts is not locked, the books say so.
CREATE FUNCTION know_hold(books ledger_books, hold hold) RETURNS ledger_books LANGUAGE plpgsql AS $$
DECLARE
    key text;
BEGIN
    books.beside := (
        SELECT other FROM unnest(hold.accounts || hold.place_accounts) AS other WHERE other <> ALL (books.accounts) LIMIT 1);
    IF books.beside IS NULL THEN
        FOR nth IN 1..cardinality(hold.meters) LOOP
            key := coalesce(hold.accounts[nth], hold.account) || ' ' || hold.meters[nth];
            IF array_position(books.keys, key) IS NULL THEN
                books := know_number(books, key);
            END IF;
        END LOOP;
    END IF;
    RETURN books;
END $$;

-- Somebody looks at the account then at the latest.
CREATE FUNCTION bring_forward(head ledger_head, moment bigint) RETURNS ledger_head LANGUAGE plpgsql AS $$
BEGIN
    head.due_at := least(head.due_at, moment);
    head.due_stamp := head.due_stamp + 1;
    RETURN head;
END $$;

-- Work waits: the mark stands with the generation. One that stands with it already tells nobody anything new.
CREATE FUNCTION put_mark(books ledger_books, at integer, number integer, generation bigint, look_at bigint)
RETURNS ledger_books LANGUAGE plpgsql AS $$
DECLARE
    head ledger_head := books.heads[at];
BEGIN
    IF books.used[number] >= generation THEN
        RETURN books;
    END IF;
    IF books.used[number] IS NULL THEN
        head.marks := head.marks + 1;
    END IF;
    books.used[number] := generation;
    books.held[number] := 0;
    books.heads[at] := bring_forward(head, look_at);
    RETURN books;
END $$;
