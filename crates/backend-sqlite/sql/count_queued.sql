-- How many executions wait in each queue of each partition. Read once, when the store is opened.
-- Takes nothing.
SELECT queue_id, partition, count(*) FROM execution INDEXED BY execution_queued
WHERE queue_id IS NOT NULL
GROUP BY queue_id, partition
