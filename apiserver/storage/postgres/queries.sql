-- AddUsage adds the counts of a batch unless the batch was added before. It waits for a
-- concurrent transaction that adds the same batch, and locks rows in primary key order so
-- that replicas do not deadlock.
-- name: AddUsage :exec
WITH claimed AS (
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
WHERE EXISTS (SELECT 1 FROM claimed)
GROUP BY added.date, added.application, added.endpoint
ORDER BY added.date, added.application, added.endpoint
ON CONFLICT (date, application, endpoint)
DO UPDATE SET calls = usage_counts.calls + excluded.calls;

-- name: DeleteStaleRecorders :exec
DELETE FROM usage_recorders
WHERE seen_at < now() - interval '30 days';

-- name: UsageTotals :many
SELECT application, endpoint, sum(calls)::bigint AS calls
FROM usage_counts
WHERE date >= @first_date AND date <= @last_date AND endpoint = ANY(@endpoints::text[])
GROUP BY application, endpoint
ORDER BY application, endpoint;

-- ReadOnly reports whether this connection is read-only, for example on a standby.
-- name: ReadOnly :one
SELECT current_setting('transaction_read_only')::boolean AS read_only;

-- name: InsertWebhookAttempts :exec
INSERT INTO webhook_attempts (id, webhook_id, at, document)
SELECT unnest(@ids::text[]), unnest(@webhook_ids::text[]), unnest(@times::timestamptz[]), unnest(@documents::text[]);

-- QueueStats returns the unfinished jobs per queue.
-- name: QueueStats :many
SELECT queue, count(*) AS jobs, count(*) FILTER (WHERE state = 'running') AS running,
    coalesce(min(scheduled_at) FILTER (WHERE state <> 'running'), 'epoch')::timestamptz AS next
FROM river_job WHERE state IN ('available', 'pending', 'retryable', 'running', 'scheduled')
GROUP BY queue ORDER BY queue;
