-- +goose Up
CREATE TABLE usage_counts (
    date        TEXT    NOT NULL,
    application TEXT    NOT NULL,
    endpoint    TEXT    NOT NULL,
    calls       INTEGER NOT NULL CHECK (calls > 0),
    PRIMARY KEY (date, application, endpoint)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE usage_counts;
