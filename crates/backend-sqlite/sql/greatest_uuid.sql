-- The greatest uuid of all executions.
-- Takes nothing.
SELECT max(uuid) FROM execution
