-- Writes an edge.
-- Takes edge_id, partition, version, tag, upstream, downstream, state, body.
INSERT INTO edge VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (edge_id, partition) DO UPDATE SET version = excluded.version, tag = excluded.tag, state = excluded.state,
    upstream = excluded.upstream, downstream = excluded.downstream, body = excluded.body
