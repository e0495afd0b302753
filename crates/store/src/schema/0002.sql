-- The hosts that carried the load, where it was not the one that stores the run.
ALTER TABLE run ADD COLUMN hosts TEXT NOT NULL DEFAULT '[]';   -- JSON
