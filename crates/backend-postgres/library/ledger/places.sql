-- The log of an account: places are numbered as they are taken, which is the order in which they stop counting. Gaps are looked for from
-- the old end on, where they are few: what stops counting is left behind with the next place that is taken.

-- The first place that is younger than that, given back or not.
CREATE FUNCTION younger_than(head ledger_head, window_ms bigint, now bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    first bigint;
BEGIN
    IF window_ms > 0 AND head.first_place < head.next_place THEN
        SELECT place.number INTO first FROM account_place AS place
        WHERE place.account = head.account AND place.taken_at > now - window_ms
        ORDER BY place.taken_at, place.number LIMIT 1;
    END IF;
    RETURN greatest(coalesce(first, head.next_place), head.first_place);
END $$;

-- The same, looked up once for a batch: whatever it adds is younger, unless the window is none.
CREATE FUNCTION first_younger(books ledger_books, at integer, window_ms bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN books.windows[at] = window_ms AND window_ms > 0 THEN greatest(books.younger[at], (books.heads[at]).first_place)
        ELSE younger_than(books.heads[at], window_ms, books.now) END
$$;

-- How many places that may count and stand before this number were given back.
CREATE FUNCTION gaps_before(head ledger_head, number bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF head.gaps = 0 OR number <= head.first_place THEN
        RETURN 0;
    END IF;
    RETURN (SELECT count(*) FROM account_place AS place
        WHERE place.account = head.account AND place.name IS NULL AND place.number >= head.first_place
            AND place.number < gaps_before.number);
END $$;

-- How many places count from this one on.
CREATE FUNCTION count_places(head ledger_head, first bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT head.next_place - first - CASE WHEN head.gaps = 0 THEN 0 ELSE head.gaps - gaps_before(head, first) END
$$;

-- When the place was taken that so many younger ones stand beside; none: there are not so many.
CREATE FUNCTION place_behind(head ledger_head, younger bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    ahead bigint := head.first_place + (head.next_place - head.first_place - head.gaps - younger - 1);
    at    bigint := ahead;
    next  bigint;
BEGIN
    IF ahead < head.first_place THEN
        RETURN NULL;
    END IF;
    LOOP
        next := ahead + gaps_before(head, at + 1);
        EXIT WHEN next = at;
        at := next;
    END LOOP;
    RETURN (SELECT place.taken_at FROM account_place AS place WHERE place.account = head.account AND place.number = at);
END $$;

-- A name has no place any more.
CREATE FUNCTION drop_place(books ledger_books, at integer, gone text) RETURNS ledger_books LANGUAGE plpgsql AS $$
DECLARE
    head   ledger_head := books.heads[at];
    number bigint;
BEGIN
    UPDATE account_place AS place SET name = NULL WHERE place.account = head.account AND place.name = drop_place.gone
    RETURNING place.number INTO number;
    IF number >= head.first_place THEN
        books.heads[at].gaps := head.gaps + 1;
    END IF;
    RETURN books;
END $$;

-- A name takes the next place; one it had before, which no longer counts, makes way.
CREATE FUNCTION put_place(books ledger_books, at integer, new text) RETURNS ledger_books LANGUAGE plpgsql AS $$
DECLARE
    head ledger_head := books.heads[at];
BEGIN
    INSERT INTO account_place (account, number, taken_at, name) VALUES (head.account, head.next_place, books.now, new)
    ON CONFLICT (account, name) WHERE name IS NOT NULL DO NOTHING;
    IF NOT FOUND THEN
        RETURN put_place(drop_place(books, at, new), at, new);
    END IF;
    head.next_place := head.next_place + 1;
    head.placed_at := books.now;
    books.heads[at] := head;
    RETURN books;
END $$;

-- Whatever is not younger than that never counts again, however long the window becomes.
CREATE FUNCTION drop_places(books ledger_books, at integer, window_ms bigint) RETURNS ledger_books LANGUAGE plpgsql AS $$
DECLARE
    head  ledger_head := books.heads[at];
    first bigint := first_younger(books, at, window_ms);
BEGIN
    head.gaps := head.gaps - gaps_before(head, first);
    head.first_place := first;
    books.heads[at] := head;
    RETURN books;
END $$;
