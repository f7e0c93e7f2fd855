-- +goose Up
CREATE TABLE usage_recorders (
    id      TEXT    NOT NULL PRIMARY KEY,
    batch   INTEGER NOT NULL CHECK (batch > 0), -- number of the last batch added
    seen_at INTEGER NOT NULL DEFAULT (unixepoch())
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE usage_recorders;
