-- AddUsage adds all counts in one statement, unless they were added before: who
-- is still adding the same batch is waited for. Rows are taken in the order of
-- the primary key, so that replicas that add at the same time wait for each
-- other instead of deadlocking.
-- name: AddUsage :exec
WITH taken AS (
    INSERT INTO usage_recorders (id, batch)
    VALUES (@recorder, @batch)
    ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, seen_at = excluded.seen_at
    WHERE usage_recorders.batch < excluded.batch
    RETURNING id
)
INSERT INTO usage_counts (date, application, endpoint, calls)
SELECT added.date, added.application, added.endpoint, sum(added.calls)::bigint
FROM (
    SELECT
        unnest(@dates::date[]) AS date,
        unnest(@applications::text[]) COLLATE "C" AS application,
        unnest(@endpoints::text[]) COLLATE "C" AS endpoint,
        unnest(@calls::bigint[]) AS calls
) AS added
WHERE EXISTS (SELECT 1 FROM taken)
GROUP BY added.date, added.application, added.endpoint
ORDER BY added.date, added.application, added.endpoint
ON CONFLICT (date, application, endpoint)
DO UPDATE SET calls = usage_counts.calls + excluded.calls;

-- ForgetRecorders forgets those that have added nothing for a month.
-- name: ForgetRecorders :exec
DELETE FROM usage_recorders
WHERE seen_at < now() - interval '30 days';

-- Usage reads the counts of some days.
-- name: Usage :many
SELECT date, application, endpoint, calls
FROM usage_counts
WHERE date >= @first_date AND date <= @last_date
ORDER BY date, application, endpoint;

-- UsageTotals reads the calls to some endpoints in a period.
-- name: UsageTotals :many
SELECT application, endpoint, sum(calls)::bigint AS calls
FROM usage_counts
WHERE date >= @first_date AND date <= @last_date AND endpoint = ANY(@endpoints::text[])
GROUP BY application, endpoint
ORDER BY application, endpoint;

-- PutFeedback keeps the feedback of an interview in the place of what it has.
-- name: PutFeedback :exec
INSERT INTO interview_feedback (application, interview_id, patient_intent_before, patient_intent_after, received_at)
VALUES (@application, @interview_id, @patient_intent_before, @patient_intent_after, @received_at)
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
LIMIT @at_most::bigint OFFSET @skipped::bigint;

-- ReadOnly reports whether transactions on this connection cannot write, as
-- on a standby.
-- name: ReadOnly :one
SELECT current_setting('transaction_read_only')::boolean AS read_only;
