-- +goose Up
CREATE TABLE webhooks (
    position   bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- in the order in which they were made
    id         text    COLLATE "C" NOT NULL UNIQUE,
    document   text    NOT NULL, -- what the tenant set, in JSON
    secrets    bytea   NOT NULL, -- sealed
    generation text    COLLATE "C" NOT NULL, -- of the keys that sealed the secrets
    disabled   boolean NOT NULL DEFAULT false, -- the receiver wants nothing any more
    failures   bigint  NOT NULL DEFAULT 0, -- in a row
    closed_until timestamptz NOT NULL DEFAULT 'epoch', -- nothing is sent before
    attempts   bigint  NOT NULL DEFAULT 0 -- how many are kept
);
-- Delivery attempts, successful or not.
CREATE TABLE webhook_attempts (
    position   bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         text    COLLATE "C" NOT NULL UNIQUE,
    webhook_id text    COLLATE "C" NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    at         timestamptz NOT NULL,
    document   text    NOT NULL -- the event and how it went, in JSON
);
CREATE INDEX webhook_attempts_of ON webhook_attempts (webhook_id, position);
CREATE INDEX webhook_attempts_at ON webhook_attempts (at);
-- When to notify the subscribers of a survey.
CREATE TABLE survey_notifications (
    survey_id text COLLATE "C" PRIMARY KEY REFERENCES surveys (id) ON DELETE CASCADE,
    at        timestamptz NOT NULL
);

-- +goose Down
DROP TABLE survey_notifications;
DROP TABLE webhook_attempts;
DROP TABLE webhooks;
