-- A chunk of older history.
-- Takes subject, number of its first line, lines.
INSERT OR REPLACE INTO history VALUES (?1, ?2, ?3)
