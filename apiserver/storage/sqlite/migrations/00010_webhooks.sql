-- +goose Up
CREATE TABLE webhooks (
    position   INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order in which they were made
    id         TEXT    NOT NULL UNIQUE,
    document   TEXT    NOT NULL, -- what the tenant set, in JSON
    secrets    BLOB    NOT NULL, -- sealed
    generation TEXT    NOT NULL, -- of the keys that sealed the secrets
    disabled   INTEGER NOT NULL DEFAULT 0, -- the receiver wants nothing any more
    failures   INTEGER NOT NULL DEFAULT 0, -- in a row
    closed_until INTEGER NOT NULL DEFAULT 0, -- nothing is sent before, in microseconds since 1970
    attempts   INTEGER NOT NULL DEFAULT 0 -- how many are kept
) STRICT;
-- Delivery attempts, successful or not.
CREATE TABLE webhook_attempts (
    position   INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT    NOT NULL UNIQUE,
    webhook_id TEXT    NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    at         INTEGER NOT NULL, -- in microseconds since 1970
    document   TEXT    NOT NULL -- the event and how it went, in JSON
) STRICT;
CREATE INDEX webhook_attempts_of ON webhook_attempts (webhook_id, position);
CREATE INDEX webhook_attempts_at ON webhook_attempts (at);
-- When to notify the subscribers of a survey.
CREATE TABLE survey_notifications (
    survey_id TEXT    NOT NULL PRIMARY KEY REFERENCES surveys (id) ON DELETE CASCADE,
    at        INTEGER NOT NULL -- in microseconds since 1970
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE survey_notifications;
DROP TABLE webhook_attempts;
DROP TABLE webhooks;
