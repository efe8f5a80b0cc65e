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
