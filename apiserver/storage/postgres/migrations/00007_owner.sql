-- +goose Up
CREATE TABLE owner (
    one boolean PRIMARY KEY CHECK (one), -- allows a single row
    uid text COLLATE "C" NOT NULL -- UID of the Instance that owns the data
);

-- +goose Down
DROP TABLE owner;
