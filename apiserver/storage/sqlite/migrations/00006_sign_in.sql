-- +goose Up
CREATE TABLE sign_in_states (
    name    TEXT NOT NULL PRIMARY KEY, -- contact or code that the state belongs to
    user_id TEXT REFERENCES users (id) ON DELETE CASCADE, -- null if the contact belongs to no user
    state   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_states_of ON sign_in_states (user_id);
CREATE TABLE magic_codes (
    hash       BLOB    NOT NULL PRIMARY KEY, -- hash of the code, which is not stored
    user_id    TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    survey_id  TEXT    NOT NULL, -- survey that the code signs in to
    expires_at INTEGER NOT NULL -- microseconds since 1970, UTC
) STRICT, WITHOUT ROWID;
CREATE INDEX magic_codes_of ON magic_codes (user_id);
CREATE INDEX magic_codes_until ON magic_codes (expires_at);

-- +goose Down
DROP TABLE magic_codes;
DROP TABLE sign_in_states;
