-- Notes that frames of a stream were cleaned up.
-- Takes its row, how many.
UPDATE stream SET frames = frames - ?2 WHERE row = ?1
