-- Draw: it is spent, whatever the bounds say.

CREATE FUNCTION draw_step(books ledger_books, ask draw_ask) RETURNS ledger_books LANGUAGE plpgsql AS $$
DECLARE
    first      text := books.accounts[ask.path[1]];
    is_drawn   boolean;
    is_same    boolean;
    kept       hold;
    still_held bigint[];
    spent      draw_use;
    part       bigint;
    left_over  bigint;
BEGIN
    books.answer := obstacle(books, ask.path, ask.revisions);
    IF (books.answer).what IS NOT NULL THEN
        RETURN books;
    END IF;
    IF ask.names IS NOT NULL THEN
        SELECT count(*) > 0, bool_or(seen.bearer = ask.bearer) INTO is_drawn, is_same FROM seen
        WHERE seen.account = first AND seen.name = ANY (ask.names) AND seen.until > books.now;
        IF is_drawn THEN
            RETURN drawn(books, ask, CASE WHEN is_same THEN 'same' ELSE 'repeated' END);
        END IF;
    END IF;
    IF ask.grant_id IS NOT NULL THEN
        SELECT * INTO kept FROM hold WHERE hold.account = first AND hold.grant_id = ask.grant_id;
        still_held := kept.held;
    END IF;
    FOREACH spent IN ARRAY ask.uses LOOP
        IF NOT spent.is_counted AND books.used[spent.number] IS NULL THEN
            -- Names invented by callers do not grow an account without end.
            books := write_books(books);
            CONTINUE WHEN dimensions_max() <= (SELECT count(*) FROM meter
                WHERE meter.account = account_of(books.keys[spent.number]) AND meter.meter >= 'spent:' AND meter.meter < 'spent;');
        END IF;
        left_over := spent.amount;
        FOR nth IN 1..coalesce(cardinality(still_held), 0) LOOP
            IF coalesce(kept.accounts[nth], first) || ' ' || kept.meters[nth] = books.keys[spent.number] THEN
                part := greatest(least(left_over, still_held[nth]), 0);
                still_held[nth] := still_held[nth] - part;
                left_over := left_over - part;
            END IF;
        END LOOP;
        books.used[spent.number] := add_up(coalesce(books.used[spent.number], 0), spent.amount);
        books.held[spent.number] := add_up(coalesce(books.held[spent.number], 0), left_over - spent.amount);
    END LOOP;
    IF still_held IS DISTINCT FROM kept.held THEN
        UPDATE hold SET held = still_held WHERE hold.account = first AND hold.grant_id = ask.grant_id;
    END IF;
    books := note_passed(books, ask.watches);
    IF ask.names IS NOT NULL THEN
        INSERT INTO seen (account, name, bearer, until)
        SELECT first, named.name, ask.bearer, books.now + named.remembered_ms
        FROM unnest(ask.names, ask.remembered_ms) AS named (name, remembered_ms)
        ON CONFLICT (account, name) DO UPDATE SET bearer = excluded.bearer, until = excluded.until;
    END IF;
    RETURN drawn(books, ask, 'drawn');
END $$;

-- What the numbers show now.
CREATE FUNCTION drawn(books ledger_books, ask draw_ask, what text) RETURNS ledger_books LANGUAGE plpgsql AS $$
DECLARE
    showed bigint[] := '{}';
    spent  draw_use;
BEGIN
    FOREACH spent IN ARRAY ask.uses LOOP
        showed := array_append(showed, coalesce(books.used[spent.number], 0));
    END LOOP;
    books.answer := answered(what, books.accounts[ask.path[1]]);
    books.answer.numbers := showed;
    RETURN books;
END $$;

-- Counts and notes the first of each account's watches that sees a limit passed.
CREATE FUNCTION note_passed(books ledger_books, watches draw_watch[]) RETURNS ledger_books LANGUAGE plpgsql AS $$
DECLARE
    noted integer[] := '{}';
    watch draw_watch;
    head  ledger_head;
    value bigint;
BEGIN
    FOREACH watch IN ARRAY watches LOOP
        CONTINUE WHEN watch.account = ANY (noted);
        FOR nth IN 1..cardinality(watch.numbers) LOOP
            value := coalesce(books.used[watch.numbers[nth]], 0);
            IF value > watch.limits[nth] THEN
                books.used[watch.count] := add_up(coalesce(books.used[watch.count], 0), 1);
                books.held[watch.count] := coalesce(books.held[watch.count], 0);
                head := bring_forward(books.heads[watch.account], books.now);
                head.last := jsonb_build_array(meter_of(books.keys[watch.count]), meter_of(books.keys[watch.numbers[nth]]), value,
                    watch.limits[nth], books.now);
                books.heads[watch.account] := head;
                noted := noted || watch.account;
                EXIT;
            END IF;
        END LOOP;
    END LOOP;
    RETURN books;
END $$;
