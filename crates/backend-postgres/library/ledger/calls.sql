-- Calls, and the order they are done in.

-- Does calls in turn, as many as it can: one that meets a hold on an account that was not named is not done, nor any after it, and
-- `beside` is that account.
CREATE FUNCTION ledger(
    caller         caller,
    accounts       text[],
    windows        bigint[],
    numbers        ledger_number[],
    turns          ledger_turn[],
    takes          take_ask[],
    draws          draw_ask[],
    gives          give_ask[],
    amends         amend_ask[],
    reads          read_ask[],
    holds          holds_ask[],
    OUT now        bigint,
    OUT generation bigint,
    OUT answers    ledger_answer[],
    OUT news       ledger_news[],
    OUT beside     text
) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    books  ledger_books := open_books(caller, accounts, windows, numbers);
    before ledger_head[] := books.heads;
    turn   ledger_turn;
BEGIN
    FOREACH turn IN ARRAY turns LOOP
        CASE turn.what
            WHEN 'take' THEN books := take_step(books, takes[turn.nth]);
            WHEN 'draw' THEN books := draw_step(books, draws[turn.nth]);
            WHEN 'give' THEN books := give_step(books, gives[turn.nth]);
            WHEN 'amend' THEN books := amend_step(books, amends[turn.nth]);
            WHEN 'read' THEN
                books := write_books(books);
                books.answer := read_step(books, reads[turn.nth]);
            WHEN 'holds' THEN books.answer := holds_step(books, holds[turn.nth]);
        END CASE;
        EXIT WHEN books.beside IS NOT NULL;
        answers := array_append(answers, books.answer);
    END LOOP;
    books := write_books(books);
    now := books.now;
    beside := books.beside;
    generation := current_generation(caller);
    FOR at IN 1..cardinality(accounts) LOOP
        IF books.heads[at] IS DISTINCT FROM before[at] THEN
            news := array_append(news, ROW(at, (before[at]).generation <> (books.heads[at]).generation,
                CASE WHEN (before[at]).due_at <= (books.heads[at]).due_at THEN NULL ELSE (books.heads[at]).due_at END)::ledger_news);
        END IF;
    END LOOP;
END $$;

-- Looks at accounts as they stood at one moment, and waits for nobody.
CREATE FUNCTION read_ledger(
    caller caller, accounts text[], turns ledger_turn[], reads read_ask[], holds holds_ask[],
    OUT now bigint, OUT generation bigint, OUT answers ledger_answer[]
) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
DECLARE
    books ledger_books;
    turn  ledger_turn;
BEGIN
    books.accounts := accounts;
    books.heads := ARRAY(
        SELECT head_of(known) FROM unnest(accounts) WITH ORDINALITY AS asked (name, nth)
        LEFT JOIN account AS known ON known.account = asked.name ORDER BY asked.nth);
    books.now := greatest(store_now(caller), (SELECT max(head.placed_at) FROM unnest(books.heads) AS head));
    FOREACH turn IN ARRAY turns LOOP
        answers := array_append(answers,
            CASE turn.what WHEN 'read' THEN read_step(books, reads[turn.nth]) ELSE holds_step(books, holds[turn.nth]) END);
    END LOOP;
    now := books.now;
    generation := current_generation(caller);
END $$;
