-- +goose Up
CREATE TABLE usage_recorders (
    id      text        COLLATE "C" PRIMARY KEY,
    batch   bigint      NOT NULL CHECK (batch > 0), -- number of the last batch added
    seen_at timestamptz NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE usage_recorders;
