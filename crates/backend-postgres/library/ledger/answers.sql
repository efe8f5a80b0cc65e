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
