-- +goose Up
CREATE TABLE usage_recorders (
    id      text        COLLATE "C" PRIMARY KEY,
    batch   bigint      NOT NULL CHECK (batch > 0), -- the last of its batches that was added
    seen_at timestamptz NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE usage_recorders;
