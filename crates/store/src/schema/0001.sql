-- One execution of a schedule.
CREATE TABLE run (
    key             INTEGER PRIMARY KEY AUTOINCREMENT,
    id              TEXT NOT NULL UNIQUE,
    name            TEXT NOT NULL,           -- of the plan
    label           TEXT,
    state           TEXT NOT NULL,           -- running, complete, interrupted, failed
    reason          TEXT,
    started_unix_ns INTEGER NOT NULL,
    ended_unix_ns   INTEGER,
    host            TEXT NOT NULL,
    tool_version    TEXT NOT NULL,
    planned_trials  INTEGER NOT NULL,
    targets         TEXT NOT NULL,           -- JSON list, without repetition
    command_line    TEXT NOT NULL,           -- JSON
    plan_yaml       TEXT NOT NULL,
    fingerprint     TEXT NOT NULL,           -- JSON
    schedule        BLOB NOT NULL,           -- envelope of JSON
    owner_pid           INTEGER NOT NULL,
    owner_start_ticks   INTEGER,
    owner_boot_id       TEXT,
    owner_pid_namespace TEXT,
    owner_host          TEXT
);
CREATE INDEX run_by_start ON run (started_unix_ns);

-- One trial of a run, in the order in which they ran (by key).
CREATE TABLE trial (
    key             INTEGER PRIMARY KEY AUTOINCREMENT,
    run_key         INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
    position        INTEGER NOT NULL,        -- in the schedule
    row             INTEGER NOT NULL,
    iteration       INTEGER NOT NULL,
    label           TEXT NOT NULL,
    target          TEXT NOT NULL,
    engine          TEXT NOT NULL,           -- that was asked for
    state           TEXT NOT NULL,
    reason          TEXT,
    started_unix_ns INTEGER NOT NULL,
    -- Over the measure phase, known when the trial has ended:
    measured_ns     INTEGER,
    ops             INTEGER,                 -- successful reads, writes and trims
    bytes           INTEGER,
    errors          INTEGER,                 -- failures of any kind
    spec            TEXT NOT NULL,           -- JSON
    target_before   TEXT,                    -- JSON
    end             TEXT                     -- JSON
);
CREATE INDEX trial_by_run ON trial (run_key);

-- A stretch of a trial's series. The key is trial.key * 2^32 + number, so that
-- one tree serves order, look-up and append, and a commit dirties few pages.
CREATE TABLE chunk (
    key             INTEGER PRIMARY KEY,
    written_unix_ns INTEGER NOT NULL,
    measured_ns     INTEGER NOT NULL,        -- the four as in trial
    ops             INTEGER NOT NULL,
    bytes           INTEGER NOT NULL,
    errors          INTEGER NOT NULL,
    series          BLOB NOT NULL            -- envelope of samples and observations
);

-- What a run created and has not removed yet. Outlives its run.
CREATE TABLE file (
    path            BLOB PRIMARY KEY,
    run_id          TEXT NOT NULL,
    keep            INTEGER NOT NULL,
    noted_unix_ns   INTEGER NOT NULL
) WITHOUT ROWID;
