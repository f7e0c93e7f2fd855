-- +goose Up
CREATE TABLE webhooks (
    position   INTEGER PRIMARY KEY AUTOINCREMENT, -- creation order
    id         TEXT    NOT NULL UNIQUE,
    document   TEXT    NOT NULL, -- settings by the tenant, as JSON
    secrets    BLOB    NOT NULL, -- encrypted
    generation TEXT    NOT NULL, -- version of the keys that encrypted the secrets
    disabled   INTEGER NOT NULL DEFAULT 0, -- receiver responded with status 410
    failures   INTEGER NOT NULL DEFAULT 0, -- consecutive failures
    closed_until INTEGER NOT NULL DEFAULT 0, -- time when the open circuit allows the next attempt, in microseconds since 1970
    attempts   INTEGER NOT NULL DEFAULT 0 -- number of stored attempts
) STRICT;
-- Delivery attempts, successful or not.
CREATE TABLE webhook_attempts (
    position   INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT    NOT NULL UNIQUE,
    webhook_id TEXT    NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    at         INTEGER NOT NULL, -- in microseconds since 1970
    document   TEXT    NOT NULL -- event and outcome as JSON
) STRICT;
CREATE INDEX webhook_attempts_of ON webhook_attempts (webhook_id, position);
CREATE INDEX webhook_attempts_at ON webhook_attempts (at);
-- Times at which the subscribers of a survey are notified.
CREATE TABLE survey_notifications (
    survey_id TEXT    NOT NULL PRIMARY KEY REFERENCES surveys (id) ON DELETE CASCADE,
    at        INTEGER NOT NULL -- in microseconds since 1970
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE survey_notifications;
DROP TABLE webhook_attempts;
DROP TABLE webhooks;
