-- Amend: the definition and single numbers, compared with what the caller has read.

CREATE FUNCTION amend_step(books ledger_books, ask amend_ask) RETURNS ledger_books LANGUAGE plpgsql AS $$
DECLARE
    at     integer := ask.account;
    head   ledger_head := books.heads[at];
    is_new boolean := head.version IS NULL;
    move   amend_move;
BEGIN
    IF is_new <> (ask.expected = 'absent') OR (ask.expected = 'version' AND head.version <> ask.version) THEN
        books.answer := viewed('differs', head);
        RETURN books;
    END IF;
    IF is_new THEN
        INSERT INTO account (account, partition, version, revision, body, due_stamp, generation, marks)
        VALUES (books.accounts[at], ask.partition, ask.tag, ask.tag, coalesce(ask.body, ''), 0, 0, 0);
        head := (SELECT head_of(new) FROM account AS new WHERE new.account = books.accounts[at]);
        books.kept_heads[at] := head;
    ELSIF ask.body IS NOT NULL THEN
        UPDATE account SET body = ask.body WHERE account.account = head.account;
    END IF;
    head.version := ask.tag;
    IF ask.redefines THEN
        head.revision := ask.tag;
    END IF;
    IF is_new OR ask.redefines OR ask.restart THEN
        head.generation := add_up(head.generation, 1);
    END IF;
    IF ask.lists THEN
        head.listed_in := ask.listed_in;
    END IF;
    IF ask.sets_stale THEN
        head.stale_at := ask.stale_at;
    END IF;
    -- Whoever brought it forward meanwhile knows something that the caller does not.
    IF ask.due_stamp = head.due_stamp THEN
        head.due_at := ask.due_at;
    END IF;
    books.heads[at] := head;
    books.answer := answered('amended', head.account);
    books.answer.numbers := ARRAY[head.version, head.revision];
    IF ask.restart THEN
        books := clear_spent(books, head.account);
    END IF;
    IF ask.forget_ms IS NOT NULL THEN
        books := drop_places(books, at, ask.forget_ms);
    END IF;
    FOREACH move IN ARRAY ask.moves LOOP
        books := move_step(books, at, move);
    END LOOP;
    RETURN books;
END $$;

-- Nothing of what begins again is used any more; what nobody holds anything of is gone.
CREATE FUNCTION clear_spent(books ledger_books, account text) RETURNS ledger_books LANGUAGE plpgsql AS $$
BEGIN
    FOR at IN 1..cardinality(books.keys) LOOP
        IF starts_with(books.keys[at], account || ' spent:') THEN
            books.used[at] := CASE WHEN books.held[at] <> 0 THEN 0 END;
            books.held[at] := nullif(books.held[at], 0);
        END IF;
    END LOOP;
    books := write_books(books);
    DELETE FROM meter
    WHERE meter.account = clear_spent.account AND meter.meter >= 'spent:' AND meter.meter < 'spent;' AND meter.held = 0;
    UPDATE meter SET used = 0
    WHERE meter.account = clear_spent.account AND meter.meter >= 'spent:' AND meter.meter < 'spent;' AND meter.used <> 0;
    RETURN books;
END $$;

CREATE FUNCTION move_step(books ledger_books, at integer, move amend_move) RETURNS ledger_books LANGUAGE plpgsql AS $$
DECLARE
    head  ledger_head := books.heads[at];
    least bigint := move.amount;
BEGIN
    IF move.number IS NULL THEN
        IF move.how = 'add' THEN
            books.heads[at].generation := add_up(head.generation, move.amount);
        END IF;
        RETURN books;
    ELSIF move.how = 'add' THEN
        books.used[move.number] := add_up(coalesce(books.used[move.number], 0), move.amount);
        books.held[move.number] := coalesce(books.held[move.number], 0);
        RETURN books;
    ELSIF move.how = 'clear_below' THEN
        -- What is held of it stays.
        IF books.used[move.number] < move.amount THEN
            books.used[move.number] := CASE WHEN books.held[move.number] <> 0 THEN 0 END;
            books.held[move.number] := nullif(books.held[move.number], 0);
            IF move.is_mark THEN
                books.heads[at].marks := greatest(head.marks - 1, 0);
            END IF;
        END IF;
        RETURN books;
    ELSIF move.how = 'reach' THEN
        least := CASE WHEN move.other IS NULL THEN head.generation ELSE coalesce(books.used[move.other], 0) END;
    END IF;
    IF move.is_mark THEN
        RETURN put_mark(books, at, move.number, least, books.now + look_within_ms());
    END IF;
    books.held[move.number] := coalesce(books.held[move.number], 0);
    books.used[move.number] := greatest(coalesce(books.used[move.number], 0), least);
    RETURN books;
END $$;
