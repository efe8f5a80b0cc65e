-- Every queue that was ever used.
-- Takes nothing.
SELECT queue_id, namespace, lane, signature FROM queue
