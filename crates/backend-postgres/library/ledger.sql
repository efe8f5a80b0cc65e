-- ledger: calls on accounts, in their order: the arithmetic of backend/src/ledger, function by function.
--
-- The accounts of a batch are locked in the order of their keys. Their heads and numbers are read once, changed in memory (the "books")
-- and written once; what is written once anyway (holds, places, names) goes to its table at once. An account is known by its place in
-- the batch, a number by its key "<account> <meter>", which has a place too: who asks names both by these places.

-- What an account is besides its numbers and its body; no version: it is not there.
CREATE TYPE ledger_head AS (
    account text, partition text, version bigint, revision bigint, stale_at bigint, due_at bigint, due_stamp bigint, generation bigint,
    marks bigint, last text, listed_in text, oldest_place bigint, first_place bigint, next_place bigint, gaps bigint, placed_at bigint);
-- What is asked. In `path` and wherever else an `account` is a number it is the place of the account in the batch.
CREATE TYPE ledger_number AS (account integer, meter text);
-- `what` is "held", "used" or "place": then `name` and `window_ms` are set, otherwise `number`.
CREATE TYPE take_entry AS (
    what text, account integer, number integer, floor bigint, floor_is_now boolean, delta bigint, bound bigint, counts_from_now boolean,
    name text, window_ms bigint, at_most bigint);
CREATE TYPE take_tier AS (entries take_entry[]);
CREATE TYPE take_ask AS (
    path integer[], revisions bigint[], grant_id uuid, holder text, instead_of uuid, tiers take_tier[], marks text[]);
-- A use that is not always counted makes no new number once there are many.
CREATE TYPE draw_use AS (number integer, amount bigint, is_counted boolean);
CREATE TYPE draw_watch AS (account integer, count integer, numbers integer[], limits bigint[]);
CREATE TYPE draw_ask AS (
    path integer[], revisions bigint[], grant_id uuid, names text[], remembered_ms bigint[], bearer text, uses draw_use[],
    watches draw_watch[]);
CREATE TYPE give_back AS (account integer, number integer, correction bigint);
CREATE TYPE give_ask AS (account integer, grant_id uuid, undo boolean, back give_back[]);
-- `how` is "add", "at_least", "reach" or "clear_below". No number means the generation.
CREATE TYPE amend_move AS (number integer, is_mark boolean, how text, amount bigint, other integer);
CREATE TYPE amend_ask AS (
    account integer, partition text, expected text, version bigint, tag bigint, body text, lists boolean, listed_in text,
    redefines boolean, restart boolean, moves amend_move[], forget_ms bigint, sets_stale boolean, stale_at bigint, due_stamp bigint,
    due_at bigint);
CREATE TYPE read_places AS (window_ms bigint, at_most bigint, beside text);
-- No meters means all of them.
CREATE TYPE read_ask AS (account integer, meters text[], places read_places[]);
CREATE TYPE holds_ask AS (account integer, older_ms bigint, after uuid, at_most bigint);
-- One call of the batch: which kind, and which one of that kind.
CREATE TYPE ledger_turn AS (what text, nth integer);

-- What calls come to: `what` says which of the others mean something. A view is an account without its numbers.
CREATE TYPE ledger_view AS (
    version bigint, revision bigint, body text, stale_at bigint, due_at bigint, due_stamp bigint, generation bigint, marks bigint,
    last text, listed_in text);
CREATE TYPE ledger_meter AS (meter text, used bigint, held bigint);
CREATE TYPE ledger_hold AS (
    grant_id uuid, holder text, taken_at bigint, tier integer, accounts text[], meters text[], held bigint[], used bigint[],
    place_accounts text[], places text[]);
CREATE TYPE ledger_answer AS (
    what text, account text, tier integer, generation bigint, numbers bigint[], fits boolean[], moments bigint[], view ledger_view,
    meters ledger_meter[], holds ledger_hold[]);
-- An account that somebody must hear of: its generation moved, or it is due earlier than before.
CREATE TYPE ledger_news AS (account integer, is_open boolean, due_at bigint);

-- The accounts of a batch as they are now and as they stand in the tables. Of a number that is not there nothing is used.
CREATE TYPE ledger_books AS (
    now bigint, accounts text[], heads ledger_head[], kept_heads ledger_head[],
    keys text[], used bigint[], held bigint[], kept_used bigint[], kept_held bigint[],
    -- The window that calls ask about, and the first place of each log that is younger.
    windows bigint[], younger bigint[],
    -- An account that a hold is about and that nobody has locked: the call was not done.
    beside text,
    answer ledger_answer);
-- What a tier would leave: the numbers, and what the hold would say; and what its entries showed.
CREATE TYPE tier_sheet AS (
    used bigint[], held bigint[], accounts text[], meters text[], held_by bigint[], used_by bigint[], place_accounts text[],
    places text[], showed bigint[], fits boolean[], fits_at bigint[]);

CREATE FUNCTION number_max() RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT 9007199254740991 $$;
CREATE FUNCTION dimensions_max() RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT 64::bigint $$;
CREATE FUNCTION grant_ttl_max_ms() RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT 60000::bigint $$;
-- How soon somebody looks at an account where work waits and nobody knows from when on there is room.
CREATE FUNCTION look_within_ms() RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT 1000::bigint $$;

-- Adds two numbers, and stops at the end of the scale.
CREATE FUNCTION add_up(one bigint, other bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT greatest(least(one + other, number_max()), -number_max())
$$;

CREATE FUNCTION account_of(key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT split_part(key, ' ', 1) $$;
CREATE FUNCTION meter_of(key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT substr(key, strpos(key, ' ') + 1) $$;

-- Reading and writing the books.

CREATE FUNCTION head_of(known account) RETURNS ledger_head LANGUAGE sql IMMUTABLE AS $$
    SELECT ROW(known.account, known.partition, known.version, known.revision, known.stale_at, known.due_at, known.due_stamp,
        known.generation, known.marks, known.last::text, known.listed_in, known.oldest_place, known.first_place, known.next_place,
        known.gaps, known.placed_at)::ledger_head
$$;

-- Opens the books of accounts, which are given in the order of their keys: whoever locks several never waits in a circle.
CREATE FUNCTION open_books(caller caller, accounts text[], windows bigint[], numbers ledger_number[]) RETURNS ledger_books
LANGUAGE plpgsql AS $$
DECLARE
    books ledger_books;
    known account;
BEGIN
    books.accounts := accounts;
    FOR at IN 1..cardinality(accounts) LOOP
        SELECT * INTO known FROM account WHERE account.account = accounts[at] FOR UPDATE;
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

-- Answers.

CREATE FUNCTION answered(what text, account text, tier integer DEFAULT NULL) RETURNS ledger_answer LANGUAGE sql IMMUTABLE AS $$
    SELECT ROW(what, account, tier, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::ledger_answer
$$;

CREATE FUNCTION viewed(what text, head ledger_head) RETURNS ledger_answer LANGUAGE plpgsql STABLE AS $$
DECLARE
    answer ledger_answer := answered(what, head.account);
BEGIN
    answer.view := (
        SELECT ROW(head.version, head.revision, account.body, head.stale_at, head.due_at, head.due_stamp, head.generation, head.marks,
            head.last, head.listed_in)::ledger_view
        FROM account WHERE account.account = head.account);
    RETURN answer;
END $$;

-- Why nothing is taken or drawn on this path; none: nothing is in the way.
CREATE FUNCTION obstacle(books ledger_books, path integer[], revisions bigint[]) RETURNS ledger_answer LANGUAGE plpgsql STABLE AS $$
DECLARE
    head ledger_head;
BEGIN
    FOR nth IN 1..cardinality(path) LOOP
        head := books.heads[path[nth]];
        IF head.version IS NULL THEN
            RETURN answered('absent', books.accounts[path[nth]]);
        ELSIF head.revision <> revisions[nth] THEN
            RETURN viewed('other', head);
        ELSIF head.stale_at <= books.now THEN
            RETURN answered('stale', head.account);
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

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

-- Take: the first tier whose entries all fit, whole.

CREATE FUNCTION take_step(books ledger_books, ask take_ask) RETURNS ledger_books LANGUAGE plpgsql AS $$
DECLARE
    first      text := books.accounts[ask.path[1]];
    taken_tier integer;
    is_refused boolean;
    replaced   hold;
    sheet      tier_sheet;
BEGIN
    SELECT (SELECT hold.tier FROM hold WHERE hold.account = first AND hold.grant_id = ask.grant_id),
        EXISTS (SELECT FROM seen WHERE seen.account = first AND seen.name = 'grant:' || ask.grant_id AND seen.until > books.now)
    INTO taken_tier, is_refused;
    IF taken_tier IS NOT NULL OR is_refused THEN
        books.answer := answered(CASE WHEN taken_tier IS NOT NULL THEN 'again' ELSE 'late' END, first, taken_tier);
        RETURN books;
    END IF;
    books.answer := obstacle(books, ask.path, ask.revisions);
    IF (books.answer).what IS NOT NULL THEN
        RETURN books;
    END IF;
    IF ask.instead_of IS NOT NULL THEN
        SELECT * INTO replaced FROM hold WHERE hold.account = first AND hold.grant_id = ask.instead_of;
        IF FOUND THEN
            books := know_hold(books, replaced);
            IF books.beside IS NOT NULL THEN
                RETURN books;
            END IF;
        END IF;
    END IF;
    FOR tier IN 1..cardinality(ask.tiers) LOOP
        sheet := fill_tier(books, (ask.tiers[tier]).entries, replaced);
        IF true = ALL (sheet.fits) THEN
            RETURN write_tier(books, ask, tier, sheet, replaced.grant_id);
        END IF;
    END LOOP;
    RETURN refuse_tier(books, ask, sheet);
END $$;

-- Takes every entry on paper; a hold that is used up counts for nothing.
CREATE FUNCTION fill_tier(books ledger_books, entries take_entry[], replaced hold) RETURNS tier_sheet LANGUAGE plpgsql STABLE AS $$
DECLARE
    entry          take_entry;
    head           ledger_head;
    at             integer;
    used           bigint[] := books.used;
    held           bigint[] := books.held;
    used_now       bigint;
    held_now       bigint;
    wanted         bigint;
    bound          bigint;
    stands         boolean;
    accounts       text[] := '{}';
    meters         text[] := '{}';
    held_by        bigint[] := '{}';
    used_by        bigint[] := '{}';
    place_accounts text[] := '{}';
    places         text[] := '{}';
    showed         bigint[] := '{}';
    fits           boolean[] := '{}';
    fits_at        bigint[];
BEGIN
    FOR nth IN 1..coalesce(cardinality(replaced.meters), 0) LOOP
        at := array_position(books.keys, coalesce(replaced.accounts[nth], replaced.account) || ' ' || replaced.meters[nth]);
        used[at] := coalesce(used[at], 0);
        held[at] := add_up(coalesce(held[at], 0), -replaced.held[nth]);
    END LOOP;
    FOR nth IN 1..cardinality(entries) LOOP
        entry := entries[nth];
        IF entry.what = 'place' THEN
            head := books.heads[entry.account];
            stands := EXISTS (
                SELECT FROM account_place AS place
                WHERE place.account = head.account AND place.name = entry.name AND place.number >= head.first_place
                    AND place.taken_at + entry.window_ms > books.now);
            showed[nth] := count_places(head, first_younger(books, entry.account, entry.window_ms));
            FOR other IN 1..cardinality(places) LOOP
                IF place_accounts[other] = head.account THEN
                    showed[nth] := showed[nth] + 1;
                    stands := stands OR places[other] = entry.name;
                END IF;
            END LOOP;
            fits[nth] := stands OR showed[nth] < entry.at_most;
            IF NOT fits[nth] AND entry.at_most > 0 THEN
                fits_at[nth] := place_behind(head, entry.at_most - 1) + entry.window_ms;
            END IF;
            IF NOT stands THEN
                place_accounts := array_append(place_accounts, head.account);
                places := array_append(places, entry.name);
            END IF;
            CONTINUE;
        END IF;
        at := entry.number;
        used_now := coalesce(used[at], 0);
        held_now := coalesce(held[at], 0);
        showed[nth] := greatest(add_up(used_now, held_now), CASE WHEN entry.floor_is_now THEN books.now * 1000 ELSE entry.floor END);
        wanted := add_up(showed[nth], entry.delta);
        bound := CASE WHEN entry.counts_from_now THEN add_up(books.now * 1000, entry.bound) ELSE entry.bound END;
        fits[nth] := bound IS NULL OR wanted <= bound;
        IF entry.counts_from_now AND NOT fits[nth] AND wanted >= entry.bound THEN
            fits_at[nth] := (add_up(wanted, -entry.bound) + 999) / 1000;
        END IF;
        used[at] := CASE WHEN entry.what = 'held' THEN used_now ELSE add_up(wanted, -held_now) END;
        held[at] := CASE WHEN entry.what = 'held' THEN add_up(held_now, entry.delta) ELSE held_now END;
        IF used[at] <> used_now OR held[at] <> held_now THEN
            accounts := array_append(accounts, account_of(books.keys[at]));
            meters := array_append(meters, meter_of(books.keys[at]));
            held_by := array_append(held_by, add_up(held[at], -held_now));
            used_by := array_append(used_by, add_up(used[at], -used_now));
        END IF;
    END LOOP;
    RETURN ROW(used, held, accounts, meters, held_by, used_by, place_accounts, places, showed, fits, fits_at)::tier_sheet;
END $$;

-- Makes it true, and uses up the hold of the other grant, if there is one.
CREATE FUNCTION write_tier(books ledger_books, ask take_ask, tier integer, sheet tier_sheet, used_up uuid) RETURNS ledger_books
LANGUAGE plpgsql AS $$
DECLARE
    first text := books.accounts[ask.path[1]];
    entry take_entry;
BEGIN
    books.used := sheet.used;
    books.held := sheet.held;
    IF used_up IS NOT NULL THEN
        DELETE FROM hold WHERE hold.account = first AND hold.grant_id = used_up;
    END IF;
    FOR nth IN 1..cardinality(sheet.places) LOOP
        books := put_place(books, array_position(books.accounts, sheet.place_accounts[nth]), sheet.places[nth]);
    END LOOP;
    FOREACH entry IN ARRAY (ask.tiers[tier]).entries LOOP
        IF entry.what = 'place'
            AND first_younger(books, entry.account, entry.window_ms) > (books.heads[entry.account]).first_place
        THEN
            books := drop_places(books, entry.account, entry.window_ms);
        END IF;
    END LOOP;
    IF cardinality(sheet.meters) + cardinality(sheet.places) > 0 THEN
        INSERT INTO hold (account, grant_id, holder, taken_at, tier, accounts, meters, held, used, place_accounts, places)
        VALUES (first, ask.grant_id, ask.holder, books.now, tier - 1, array_replace(sheet.accounts, first, NULL), sheet.meters,
            sheet.held_by, sheet.used_by, array_replace(sheet.place_accounts, first, NULL), sheet.places);
    END IF;
    books.answer := answered('taken', first, tier - 1);
    RETURN books;
END $$;

-- Nothing fits; the account that refused the last tier is told where the work waits.
CREATE FUNCTION refuse_tier(books ledger_books, ask take_ask, sheet tier_sheet) RETURNS ledger_books LANGUAGE plpgsql AS $$
DECLARE
    refusing integer := array_position(sheet.fits, false);
    entry    take_entry := (ask.tiers[cardinality(ask.tiers)]).entries[refusing];
    head     ledger_head := books.heads[entry.account];
    key      text;
    meter    text;
BEGIN
    books.answer := answered('full', head.account);
    books.answer.generation := head.generation;
    books.answer.numbers := sheet.showed;
    books.answer.fits := sheet.fits;
    -- One for each entry, also where nobody knows any.
    books.answer.moments := ARRAY(SELECT sheet.fits_at[nth] FROM generate_subscripts(sheet.fits, 1) AS nth);
    FOREACH meter IN ARRAY ask.marks LOOP
        key := head.account || ' ' || meter;
        IF array_position(books.keys, key) IS NULL THEN
            books := know_number(books, key);
        END IF;
        books := put_mark(books, entry.account, array_position(books.keys, key), head.generation,
            coalesce(sheet.fits_at[refusing], books.now + look_within_ms()));
    END LOOP;
    RETURN books;
END $$;

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

-- Looking, at what stands in the tables.

CREATE FUNCTION read_step(books ledger_books, ask read_ask) RETURNS ledger_answer LANGUAGE plpgsql STABLE AS $$
DECLARE
    head   ledger_head := books.heads[ask.account];
    answer ledger_answer;
    places read_places;
    beside bigint;
BEGIN
    IF head.version IS NULL THEN
        RETURN answered('absent', books.accounts[ask.account]);
    END IF;
    answer := viewed('account', head);
    IF ask.meters IS NULL THEN
        answer.meters := ARRAY(
            SELECT ROW(meter.meter, meter.used, meter.held)::ledger_meter FROM meter WHERE meter.account = head.account);
    ELSE
        answer.meters := ARRAY(
            SELECT ROW(asked.meter, coalesce(meter.used, 0), coalesce(meter.held, 0))::ledger_meter
            FROM unnest(ask.meters) AS asked (meter)
            LEFT JOIN meter ON meter.account = head.account AND meter.meter = asked.meter);
    END IF;
    answer.numbers := '{}';
    FOREACH places IN ARRAY ask.places LOOP
        beside := (SELECT add_up(meter.used, meter.held) FROM meter
            WHERE meter.account = head.account AND meter.meter = places.beside);
        answer.numbers := answer.numbers || count_places(head, first_younger(books, ask.account, places.window_ms));
        answer.moments := array_append(answer.moments,
            place_behind(head, greatest(places.at_most - greatest(beside, 0), 0)) + places.window_ms);
    END LOOP;
    RETURN answer;
END $$;

CREATE FUNCTION holds_step(books ledger_books, ask holds_ask) RETURNS ledger_answer LANGUAGE plpgsql STABLE AS $$
DECLARE
    answer ledger_answer := answered('holds', books.accounts[ask.account]);
BEGIN
    answer.holds := ARRAY(
        SELECT ROW(hold.grant_id, hold.holder, hold.taken_at, hold.tier, hold.accounts, hold.meters, hold.held, hold.used,
            hold.place_accounts, hold.places)::ledger_hold
        FROM hold
        WHERE hold.account = answer.account AND hold.taken_at <= books.now - ask.older_ms
            AND hold.grant_id >= coalesce(ask.after, '00000000-0000-0000-0000-000000000000')
            AND hold.grant_id IS DISTINCT FROM ask.after
        ORDER BY hold.grant_id LIMIT ask.at_most);
    RETURN answer;
END $$;

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

-- Deletes places that never count again, at most so many; how many there were. An account is locked while that lasts.
CREATE FUNCTION tidy_places(at_most bigint) RETURNS bigint LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    left_over bigint := at_most;
    name      text;
    past      account;
    before    bigint;
BEGIN
    FOR name IN SELECT account_past.account FROM account_past ORDER BY account_past.account LIMIT at_most LOOP
        SELECT * INTO past FROM account WHERE account.account = name FOR UPDATE;
        before := least(past.first_place, past.oldest_place + left_over);
        DELETE FROM account_place AS place
        WHERE place.account = past.account AND place.number >= past.oldest_place AND place.number < before;
        UPDATE account SET oldest_place = before WHERE account.account = past.account;
        IF before = past.first_place THEN
            DELETE FROM account_past WHERE account_past.account = past.account;
        END IF;
        left_over := left_over - (before - past.oldest_place);
        EXIT WHEN left_over = 0;
    END LOOP;
    RETURN at_most - left_over;
END $$;

-- Forgets names that need not be remembered any more, at most so many; how many there were.
CREATE FUNCTION tidy_seen(now bigint, at_most bigint) RETURNS bigint LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    gone bigint;
BEGIN
    -- One that is remembered anew meanwhile is compared once more.
    DELETE FROM seen USING (
        SELECT over.account, over.name FROM seen AS over WHERE over.until <= tidy_seen.now ORDER BY over.until LIMIT at_most
    ) AS over
    WHERE seen.account = over.account AND seen.name = over.name AND seen.until <= tidy_seen.now;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END $$;
