-- +goose Up
-- A server of the previous version may still run briefly. It can no longer store feedback
-- and returns an error, so clients retry and no accepted feedback is lost.
ALTER TABLE interview_feedback
    ADD COLUMN application text COLLATE "C" NOT NULL DEFAULT '', -- empty for feedback stored before this migration
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
