-- Notes the time of a batch and the last setting revision, so that neither goes back after a restart.
-- Takes the time and the revision.
UPDATE store SET clock = max(clock, ?1), last_revision = max(last_revision, ?2)
