-- +goose Up
-- A server of before, which may run beside for a moment, cannot keep feedback from
-- here on and says so to its clients, which send it again: nothing that it took is
-- lost.
ALTER TABLE interview_feedback
    ADD COLUMN application text COLLATE "C" NOT NULL DEFAULT '', -- empty for what was kept before applications were told apart
    DROP CONSTRAINT interview_feedback_interview_id_key,
    ADD UNIQUE (application, interview_id);
ALTER TABLE interview_feedback ALTER COLUMN application DROP DEFAULT;

-- +goose Down
DELETE FROM interview_feedback older USING interview_feedback newer
WHERE older.interview_id = newer.interview_id
  AND (older.received_at, older.position) < (newer.received_at, newer.position);
ALTER TABLE interview_feedback
    DROP CONSTRAINT interview_feedback_application_interview_id_key,
    ADD UNIQUE (interview_id),
    DROP COLUMN application;
