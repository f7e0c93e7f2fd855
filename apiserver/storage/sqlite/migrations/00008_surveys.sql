-- +goose Up
CREATE TABLE surveys (
    position   INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order in which they were made
    id         TEXT    NOT NULL UNIQUE,
    patient_id TEXT    NOT NULL REFERENCES patients (id) ON DELETE CASCADE,
    status     TEXT    NOT NULL,
    version    INTEGER NOT NULL, -- grows with every write
    document   TEXT    NOT NULL  -- the survey, in JSON
) STRICT;
CREATE INDEX surveys_of ON surveys (patient_id, position);
CREATE INDEX surveys_by ON surveys (status, position);
CREATE TABLE survey_steps (
    survey_id TEXT    NOT NULL REFERENCES surveys (id) ON DELETE CASCADE,
    number    INTEGER NOT NULL, -- from 0
    step      TEXT    NOT NULL, -- the question and its answer, in JSON
    PRIMARY KEY (survey_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE survey_results (
    survey_id TEXT NOT NULL PRIMARY KEY REFERENCES surveys (id) ON DELETE CASCADE,
    result    TEXT NOT NULL -- in JSON
) STRICT, WITHOUT ROWID;

-- How many surveys there are of each status in each block of 1,024 positions, so that
-- a page far down a long list is found without counting what is before it.
CREATE TABLE survey_counts (
    block  INTEGER NOT NULL,
    status TEXT    NOT NULL,
    count  INTEGER NOT NULL,
    PRIMARY KEY (block, status)
) STRICT, WITHOUT ROWID;
-- +goose StatementBegin
CREATE TRIGGER surveys_made AFTER INSERT ON surveys BEGIN
    INSERT INTO survey_counts (block, status, count) VALUES (NEW.position >> 10, NEW.status, 1)
    ON CONFLICT (block, status) DO UPDATE SET count = count + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER surveys_moved AFTER UPDATE OF status ON surveys WHEN OLD.status <> NEW.status BEGIN
    UPDATE survey_counts SET count = count - 1 WHERE block = OLD.position >> 10 AND status = OLD.status;
    INSERT INTO survey_counts (block, status, count) VALUES (NEW.position >> 10, NEW.status, 1)
    ON CONFLICT (block, status) DO UPDATE SET count = count + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER surveys_erased AFTER DELETE ON surveys BEGIN
    UPDATE survey_counts SET count = count - 1 WHERE block = OLD.position >> 10 AND status = OLD.status;
    DELETE FROM magic_codes WHERE survey_id = OLD.id;
END;
-- +goose StatementEnd
CREATE INDEX magic_codes_to ON magic_codes (survey_id);

-- +goose Down
DROP INDEX magic_codes_to;
DROP TABLE survey_counts;
DROP TABLE survey_results;
DROP TABLE survey_steps;
DROP TABLE surveys;
