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
