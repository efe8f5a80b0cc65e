-- The moment after the last batch.
-- Takes nothing.
SELECT clock + 1 FROM store
