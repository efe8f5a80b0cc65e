-- The ledger: calls on accounts, in their order: the arithmetic of backend/src/ledger, function by function.
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
