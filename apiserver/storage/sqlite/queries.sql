-- AddUsage adds one count to what is kept.
-- name: AddUsage :exec
INSERT INTO usage_counts (date, application, endpoint, calls)
VALUES (?, ?, ?, ?)
ON CONFLICT (date, application, endpoint)
DO UPDATE SET calls = usage_counts.calls + excluded.calls;

-- TakeBatch notes that a batch is added, and changes nothing when it was before.
-- name: TakeBatch :execrows
INSERT INTO usage_recorders (id, batch)
VALUES (?, ?)
ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, seen_at = excluded.seen_at
WHERE usage_recorders.batch < excluded.batch;

-- ForgetRecorders forgets those that have added nothing for a month.
-- name: ForgetRecorders :exec
DELETE FROM usage_recorders
WHERE seen_at < unixepoch('now', '-30 days');

-- Usage reads the counts of some days.
-- name: Usage :many
SELECT date, application, endpoint, calls
FROM usage_counts
WHERE date >= sqlc.arg(first_date) AND date <= sqlc.arg(last_date)
ORDER BY date, application, endpoint;

-- UsageTotals reads the calls to some endpoints in a period.
-- name: UsageTotals :many
SELECT application, endpoint, CAST(sum(calls) AS INTEGER) AS calls
FROM usage_counts
WHERE date >= sqlc.arg(first_date) AND date <= sqlc.arg(last_date) AND endpoint IN (sqlc.slice(endpoints))
GROUP BY application, endpoint
ORDER BY application, endpoint;

-- PutFeedback keeps the feedback of an interview in the place of what it has.
-- name: PutFeedback :exec
INSERT INTO interview_feedback (application, interview_id, patient_intent_before, patient_intent_after, received_at)
VALUES (?, ?, ?, ?, ?)
ON CONFLICT (application, interview_id) DO UPDATE SET
    patient_intent_before = excluded.patient_intent_before,
    patient_intent_after = excluded.patient_intent_after,
    received_at = excluded.received_at;

-- CountFeedback counts the interviews that have feedback.
-- name: CountFeedback :one
SELECT count(*) FROM interview_feedback;

-- Feedback reads a part of the feedback.
-- name: Feedback :many
SELECT application, interview_id, patient_intent_before, patient_intent_after, received_at
FROM interview_feedback
ORDER BY position
LIMIT sqlc.arg(at_most) OFFSET sqlc.arg(skipped);
