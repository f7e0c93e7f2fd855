-- +goose Up
CREATE TABLE interview_feedback (
    position              INTEGER PRIMARY KEY, -- order of the first feedback per interview
    interview_id          TEXT    NOT NULL UNIQUE,
    patient_intent_before TEXT    NOT NULL CHECK (json_valid(patient_intent_before)),
    patient_intent_after  TEXT    NOT NULL CHECK (json_valid(patient_intent_after)),
    received_at           INTEGER NOT NULL -- microseconds since 1970, UTC
) STRICT;

-- +goose Down
DROP TABLE interview_feedback;
