-- The partition counts this store was created with.
-- Takes nothing.
SELECT partition_counts FROM store
