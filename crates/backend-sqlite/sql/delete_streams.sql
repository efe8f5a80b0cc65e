-- Hides the output of every attempt of an execution; the frames are cleaned up later, little by little.
-- Takes uuid, partition.
UPDATE stream SET is_deleted = 1 WHERE uuid = ?1 AND partition = ?2 AND is_deleted = 0
