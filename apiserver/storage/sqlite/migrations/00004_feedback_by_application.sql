-- +goose Up
-- SQLite cannot drop a table constraint, so copy the table.
CREATE TABLE feedback_by_application (
    position              INTEGER PRIMARY KEY, -- order of the first feedback per interview
    application           TEXT    NOT NULL, -- empty for feedback stored before this migration
    interview_id          TEXT    NOT NULL,
    patient_intent_before TEXT    NOT NULL CHECK (json_valid(patient_intent_before)),
    patient_intent_after  TEXT    NOT NULL CHECK (json_valid(patient_intent_after)),
    received_at           INTEGER NOT NULL, -- microseconds since 1970, UTC
    UNIQUE (application, interview_id)
) STRICT;
INSERT INTO feedback_by_application (position, application, interview_id, patient_intent_before, patient_intent_after, received_at)
SELECT position, '', interview_id, patient_intent_before, patient_intent_after, received_at FROM interview_feedback;
DROP TABLE interview_feedback;
ALTER TABLE feedback_by_application RENAME TO interview_feedback;

-- +goose Down
CREATE TABLE feedback_of_all (
    position              INTEGER PRIMARY KEY,
    interview_id          TEXT    NOT NULL UNIQUE,
    patient_intent_before TEXT    NOT NULL CHECK (json_valid(patient_intent_before)),
    patient_intent_after  TEXT    NOT NULL CHECK (json_valid(patient_intent_after)),
    received_at           INTEGER NOT NULL
) STRICT;
INSERT OR REPLACE INTO feedback_of_all (position, interview_id, patient_intent_before, patient_intent_after, received_at)
SELECT position, interview_id, patient_intent_before, patient_intent_after, received_at FROM interview_feedback ORDER BY received_at;
DROP TABLE interview_feedback;
ALTER TABLE feedback_of_all RENAME TO interview_feedback;
