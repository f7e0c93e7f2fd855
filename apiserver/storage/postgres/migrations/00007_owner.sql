-- +goose Up
CREATE TABLE owner (
    one boolean PRIMARY KEY CHECK (one), -- there is one row at most
    uid text COLLATE "C" NOT NULL -- of the Instance whose data it is
);

-- +goose Down
DROP TABLE owner;
