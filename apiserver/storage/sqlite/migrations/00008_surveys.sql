-- +goose Up
CREATE TABLE surveys (
    position   INTEGER PRIMARY KEY AUTOINCREMENT, -- creation order
    id         TEXT    NOT NULL UNIQUE,
    patient_id TEXT    NOT NULL REFERENCES patients (id) ON DELETE CASCADE,
    status     TEXT    NOT NULL,
    version    INTEGER NOT NULL, -- incremented by every write
    document   TEXT    NOT NULL  -- survey as JSON
) STRICT;
CREATE INDEX surveys_of ON surveys (patient_id, position);
CREATE INDEX surveys_by ON surveys (status, position);
CREATE TABLE survey_steps (
    survey_id TEXT    NOT NULL REFERENCES surveys (id) ON DELETE CASCADE,
    number    INTEGER NOT NULL, -- zero-based
    step      TEXT    NOT NULL, -- question and answer as JSON
    PRIMARY KEY (survey_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE survey_results (
    survey_id TEXT NOT NULL PRIMARY KEY REFERENCES surveys (id) ON DELETE CASCADE,
    result    TEXT NOT NULL -- as JSON
) STRICT, WITHOUT ROWID;

-- Number of surveys per status in each block of 1,024 positions, so that a page deep in a
-- long list can be found without counting all preceding rows.
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
