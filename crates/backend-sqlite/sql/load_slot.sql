-- A slot, by the grant it was taken under.
-- Takes quota policy id, grant id.
SELECT execution_id, taken_at FROM quota_slot WHERE quota_policy_id = ?1 AND grant_id = ?2
