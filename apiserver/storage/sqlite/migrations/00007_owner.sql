-- +goose Up
CREATE TABLE owner (
    one INTEGER PRIMARY KEY CHECK (one = 1), -- allows a single row
    uid TEXT    NOT NULL -- UID of the Instance that owns the data
) STRICT;

-- +goose Down
DROP TABLE owner;
