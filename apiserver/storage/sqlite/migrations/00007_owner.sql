-- +goose Up
CREATE TABLE owner (
    one INTEGER PRIMARY KEY CHECK (one = 1), -- there is one row at most
    uid TEXT    NOT NULL -- of the Instance whose data it is
) STRICT;

-- +goose Down
DROP TABLE owner;
