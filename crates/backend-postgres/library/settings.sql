-- settings: small shared state, one operation after the other, each atomic.
CREATE FUNCTION settings(caller caller, ops setting_op[], OUT now bigint, OUT answer setting_found[]) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    op      setting_op;
    number  integer := 0;
    stands  setting;
BEGIN
    -- Who changes several does so in any order, but alone.
    IF (SELECT count(*) FROM unnest(ops) WHERE what = 'put') > 1 THEN
        PERFORM pg_advisory_xact_lock(1179017570, 2);
    END IF;
    now := store_now(caller);
    answer := '{}';
    FOREACH op IN ARRAY ops LOOP
        number := number + 1;
        IF op.what = 'list' THEN
            answer := answer || ARRAY(
                SELECT ROW(number, 'listed', setting.key, setting.value::text, setting.revision, setting.updated_at,
                    setting.expires_at)::setting_found
                FROM setting
                WHERE setting.key >= greatest(op.key, op.after) AND setting.key IS DISTINCT FROM op.after
                    AND starts_with(setting.key, op.key) AND (setting.expires_at IS NULL OR setting.expires_at > now)
                ORDER BY setting.key LIMIT op.at_most);
            CONTINUE;
        END IF;
        IF op.what = 'get' THEN
            SELECT * INTO stands FROM setting WHERE setting.key = op.key;
        ELSE
            SELECT * INTO stands FROM setting WHERE setting.key = op.key FOR UPDATE;
        END IF;
        IF stands.expires_at <= now THEN
            IF op.what <> 'get' THEN
                DELETE FROM setting WHERE setting.key = op.key;
            END IF;
            stands := NULL;
        END IF;
        IF op.what = 'put' THEN
            IF (op.expected = 'absent' AND stands.key IS NOT NULL)
                OR (op.expected = 'revision' AND stands.revision IS DISTINCT FROM op.revision)
            THEN
                answer := answer || ROW(number, 'conflict', stands.key, stands.value::text, stands.revision, stands.updated_at,
                    stands.expires_at)::setting_found;
                CONTINUE;
            END IF;
            IF op.value IS NULL THEN
                DELETE FROM setting WHERE setting.key = op.key;
                answer := answer || ROW(number, CASE WHEN stands.key IS NULL THEN 'absent' ELSE 'deleted' END, NULL, NULL, NULL, NULL,
                    NULL)::setting_found;
                CONTINUE;
            END IF;
            -- A revision is never given twice, also where the last writes were lost: it is a moment, in microseconds.
            INSERT INTO setting (key, value, revision, updated_at, expires_at)
            VALUES (op.key, op.value::json,
                greatest(floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint, coalesce(stands.revision, 0) + 1), now,
                now + op.ttl_ms)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value, revision = excluded.revision,
                updated_at = excluded.updated_at, expires_at = excluded.expires_at
            WHERE stands.key IS NOT NULL OR op.expected = 'anything'
            RETURNING * INTO stands;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'somebody else has created a setting' USING ERRCODE = 'unique_violation';
            END IF;
            answer := answer || ROW(number, 'written', stands.key, stands.value::text, stands.revision, stands.updated_at,
                stands.expires_at)::setting_found;
        ELSIF stands.key IS NOT NULL THEN
            answer := answer || ROW(number, 'found', stands.key, stands.value::text, stands.revision, stands.updated_at,
                stands.expires_at)::setting_found;
        END IF;
    END LOOP;
END $$;
