-- How many wait in a queue, over all partitions and in one.
-- Takes the queue and the partition.
SELECT count(*), count(*) FILTER (WHERE partition = ?2) FROM execution INDEXED BY execution_queued WHERE queue_id = ?1
