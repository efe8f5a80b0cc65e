-- Give: a grant ends.

CREATE FUNCTION give_step(books ledger_books, ask give_ask) RETURNS ledger_books LANGUAGE plpgsql AS $$
DECLARE
    first  text := books.accounts[ask.account];
    kept   hold;
    used   bigint;
    back   give_back;
    opened integer[] := '{}';
    at     integer;
    head   ledger_head;
BEGIN
    books.answer := answered('unknown', first);
    -- What is not there is not locked either: somebody may be making it.
    IF (books.heads[ask.account]).version IS NULL THEN
        RETURN books;
    END IF;
    SELECT * INTO kept FROM hold WHERE hold.account = first AND hold.grant_id = ask.grant_id;
    IF NOT FOUND THEN
        -- It may have asked on a way that is slower than this one.
        INSERT INTO seen (account, name, until) VALUES (first, 'grant:' || ask.grant_id, books.now + grant_ttl_max_ms())
        ON CONFLICT (account, name) DO UPDATE SET until = excluded.until;
        RETURN books;
    END IF;
    books := know_hold(books, kept);
    IF books.beside IS NOT NULL THEN
        RETURN books;
    END IF;
    FOR nth IN 1..cardinality(kept.meters) LOOP
        used := CASE WHEN ask.undo THEN kept.used[nth] ELSE 0 END;
        CONTINUE WHEN kept.held[nth] = 0 AND used = 0;
        at := array_position(books.keys, coalesce(kept.accounts[nth], first) || ' ' || kept.meters[nth]);
        books.used[at] := add_up(coalesce(books.used[at], 0), -used);
        books.held[at] := add_up(coalesce(books.held[at], 0), -kept.held[nth]);
        opened := opened || array_position(books.accounts, coalesce(kept.accounts[nth], first));
    END LOOP;
    IF ask.undo THEN
        FOR nth IN 1..cardinality(kept.places) LOOP
            at := array_position(books.accounts, coalesce(kept.place_accounts[nth], first));
            books := drop_place(books, at, kept.places[nth]);
            opened := opened || at;
        END LOOP;
    END IF;
    FOREACH back IN ARRAY ask.back LOOP
        books.used[back.number] := add_up(coalesce(books.used[back.number], 0), back.correction);
        books.held[back.number] := coalesce(books.held[back.number], 0);
        opened := opened || back.account;
    END LOOP;
    DELETE FROM hold WHERE hold.account = first AND hold.grant_id = ask.grant_id;
    FOR account IN 1..cardinality(books.accounts) LOOP
        CONTINUE WHEN account <> ALL (opened) OR (books.heads[account]).version IS NULL;
        head := books.heads[account];
        head.generation := add_up(head.generation, 1);
        IF head.marks > 0 THEN
            head := bring_forward(head, books.now);
        END IF;
        books.heads[account] := head;
    END LOOP;
    books.answer := answered('given', first);
    RETURN books;
END $$;
