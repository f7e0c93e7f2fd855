-- +goose Up
CREATE TABLE sign_in_states (
    name    text COLLATE "C" PRIMARY KEY, -- contact or code that the state belongs to
    user_id text COLLATE "C" REFERENCES users (id) ON DELETE CASCADE, -- null if the contact belongs to no user
    state   text NOT NULL
);
CREATE INDEX sign_in_states_of ON sign_in_states (user_id);
CREATE TABLE magic_codes (
    hash       bytea PRIMARY KEY, -- hash of the code, which is not stored
    user_id    text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    survey_id  text COLLATE "C" NOT NULL, -- survey that the code signs in to
    expires_at timestamptz NOT NULL
);
CREATE INDEX magic_codes_of ON magic_codes (user_id);
CREATE INDEX magic_codes_until ON magic_codes (expires_at);

-- +goose Down
DROP TABLE magic_codes;
DROP TABLE sign_in_states;
