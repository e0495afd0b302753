-- What the user says about a run.
ALTER TABLE run ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';    -- JSON
ALTER TABLE run ADD COLUMN note TEXT;

-- What the list of runs shows of each, so that it need not judge them again.
CREATE TABLE digest (
    run_key         INTEGER PRIMARY KEY REFERENCES run (key) ON DELETE CASCADE,
    version         INTEGER NOT NULL,        -- of the judgement and of its form
    content         TEXT NOT NULL            -- JSON
);
