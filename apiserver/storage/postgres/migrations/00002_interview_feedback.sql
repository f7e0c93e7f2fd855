-- +goose Up
CREATE TABLE interview_feedback (
    position              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- order of the first feedback per interview
    interview_id          text COLLATE "C" NOT NULL UNIQUE,
    patient_intent_before json NOT NULL,
    patient_intent_after  json NOT NULL,
    received_at           timestamptz NOT NULL
);

-- +goose Down
DROP TABLE interview_feedback;
