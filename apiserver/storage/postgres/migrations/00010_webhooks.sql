-- +goose Up
CREATE TABLE webhooks (
    position   bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- creation order
    id         text    COLLATE "C" NOT NULL UNIQUE,
    document   text    NOT NULL, -- settings by the tenant, as JSON
    secrets    bytea   NOT NULL, -- encrypted
    generation text    COLLATE "C" NOT NULL, -- version of the keys that encrypted the secrets
    disabled   boolean NOT NULL DEFAULT false, -- receiver responded with status 410
    failures   bigint  NOT NULL DEFAULT 0, -- consecutive failures
    closed_until timestamptz NOT NULL DEFAULT 'epoch', -- time when the open circuit allows the next attempt
    attempts   bigint  NOT NULL DEFAULT 0 -- number of stored attempts
);
-- Delivery attempts, successful or not.
CREATE TABLE webhook_attempts (
    position   bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         text    COLLATE "C" NOT NULL UNIQUE,
    webhook_id text    COLLATE "C" NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    at         timestamptz NOT NULL,
    document   text    NOT NULL -- event and outcome as JSON
);
CREATE INDEX webhook_attempts_of ON webhook_attempts (webhook_id, position);
CREATE INDEX webhook_attempts_at ON webhook_attempts (at);
-- Times at which the subscribers of a survey are notified.
CREATE TABLE survey_notifications (
    survey_id text COLLATE "C" PRIMARY KEY REFERENCES surveys (id) ON DELETE CASCADE,
    at        timestamptz NOT NULL
);

-- +goose Down
DROP TABLE survey_notifications;
DROP TABLE webhook_attempts;
DROP TABLE webhooks;
