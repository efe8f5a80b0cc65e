-- Deletes tombstones of grants that cannot be alive any more.
-- Takes the moment up to which they were made, how many at most.
DELETE FROM quota_tombstone WHERE (quota_policy_id, grant_id) IN (
    SELECT quota_policy_id, grant_id FROM quota_tombstone INDEXED BY quota_tombstone_by_age
    WHERE released_at <= ?1 ORDER BY released_at LIMIT ?2)
