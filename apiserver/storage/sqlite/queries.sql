-- AddUsage adds one count to what is kept.
-- name: AddUsage :exec
INSERT INTO usage_counts (date, application, endpoint, calls)
VALUES (?, ?, ?, ?)
ON CONFLICT (date, application, endpoint)
DO UPDATE SET calls = usage_counts.calls + excluded.calls;

-- Usage reads the counts of some days.
-- name: Usage :many
SELECT date, application, endpoint, calls
FROM usage_counts
WHERE date >= sqlc.arg(first_date) AND date <= sqlc.arg(last_date)
ORDER BY date, application, endpoint;
