-- +goose Up
CREATE TABLE usage_counts (
    date        date   NOT NULL,
    application text   COLLATE "C" NOT NULL,
    endpoint    text   COLLATE "C" NOT NULL,
    calls       bigint NOT NULL CHECK (calls > 0),
    PRIMARY KEY (date, application, endpoint)
);

-- +goose Down
DROP TABLE usage_counts;
