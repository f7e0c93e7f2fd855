-- +goose Up
CREATE TABLE users (
    position   INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order in which they were made
    id         TEXT    NOT NULL UNIQUE,
    contact    BLOB    NOT NULL, -- sealed
    generation TEXT    NOT NULL, -- of the keys that sealed and hashed the contact
    created_at INTEGER NOT NULL -- microseconds since 1970, UTC
) STRICT;
CREATE TABLE user_hashes (
    kind    TEXT    NOT NULL, -- of what: email or phone
    key     INTEGER NOT NULL, -- that made the hash
    hash    BLOB    NOT NULL,
    user_id TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (kind, key, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_hashes_of ON user_hashes (user_id);
CREATE TABLE patients (
    position   INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT    NOT NULL UNIQUE,
    user_id    TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    sex        TEXT    NOT NULL, -- empty: not known
    birth_date TEXT,
    age_value  INTEGER NOT NULL,
    age_unit   TEXT    NOT NULL, -- empty: the age is not known
    dependent  INTEGER NOT NULL, -- 0 or 1
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX patients_of ON patients (user_id, position);
CREATE TABLE audit (
    position    INTEGER PRIMARY KEY AUTOINCREMENT,
    at          INTEGER NOT NULL, -- microseconds since 1970, UTC
    application TEXT    NOT NULL, -- empty: none acted
    user_id     TEXT    NOT NULL, -- empty: no end user acted
    action      TEXT    NOT NULL,
    resource    TEXT    NOT NULL,
    resource_id TEXT    NOT NULL -- empty: of a list
) STRICT;
CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_by ON audit (user_id, position) WHERE user_id <> '';
CREATE INDEX audit_of ON audit (resource_id, position) WHERE resource_id <> '';

-- +goose Down
DROP TABLE audit;
DROP TABLE patients;
DROP TABLE user_hashes;
DROP TABLE users;
