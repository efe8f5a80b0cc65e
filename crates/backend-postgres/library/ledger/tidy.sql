-- What is forgotten little by little.

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
    -- One that is remembered anew at this moment is left alone.
    DELETE FROM seen USING (
        SELECT over.account, over.name FROM seen AS over WHERE over.until <= tidy_seen.now ORDER BY over.until LIMIT at_most
        FOR UPDATE SKIP LOCKED
    ) AS over
    WHERE seen.account = over.account AND seen.name = over.name;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END $$;
