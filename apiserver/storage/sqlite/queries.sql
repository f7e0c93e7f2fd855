-- name: AddUsage :exec
INSERT INTO usage_counts (date, application, endpoint, calls)
VALUES (?, ?, ?, ?)
ON CONFLICT (date, application, endpoint)
DO UPDATE SET calls = usage_counts.calls + excluded.calls;

-- ClaimBatch records a batch, unless it was added before; then it changes no row.
-- name: ClaimBatch :execrows
INSERT INTO usage_recorders (id, batch)
VALUES (?, ?)
ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, seen_at = excluded.seen_at
WHERE usage_recorders.batch < excluded.batch;

-- name: DeleteStaleRecorders :exec
DELETE FROM usage_recorders
WHERE seen_at < unixepoch('now', '-30 days');

-- name: UsageTotals :many
SELECT application, endpoint, CAST(sum(calls) AS INTEGER) AS calls
FROM usage_counts
WHERE date >= sqlc.arg(first_date) AND date <= sqlc.arg(last_date) AND endpoint IN (sqlc.slice(endpoints))
GROUP BY application, endpoint
ORDER BY application, endpoint;

-- name: InsertWebhookAttempt :exec
INSERT INTO webhook_attempts (id, webhook_id, at, document)
VALUES (sqlc.arg(id), sqlc.arg(webhook_id), sqlc.arg(at), sqlc.arg(document));

-- QueueStats returns the unfinished jobs per queue.
-- name: QueueStats :many
SELECT queue, count(*) AS jobs, CAST(sum(state = 'running') AS INTEGER) AS running,
    CAST(coalesce(min(CASE WHEN state <> 'running' THEN unixepoch(scheduled_at, 'subsec') END), 0) * 1000000 AS INTEGER) AS next
FROM river_job WHERE state IN ('available', 'pending', 'retryable', 'running', 'scheduled')
GROUP BY queue ORDER BY queue;

-- ResumeJobs makes the jobs that a killed process was running available again, without
-- counting an attempt.
-- name: ResumeJobs :exec
UPDATE river_job SET state = 'available', attempt = max(attempt - 1, 0) WHERE state = 'running';

-- DeleteLeader ends the leadership of a killed process.
-- name: DeleteLeader :exec
DELETE FROM river_leader;
