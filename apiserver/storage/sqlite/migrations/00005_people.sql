-- +goose Up
CREATE TABLE users (
    position   INTEGER PRIMARY KEY AUTOINCREMENT, -- creation order
    id         TEXT    NOT NULL UNIQUE,
    contact    BLOB    NOT NULL, -- encrypted
    generation TEXT    NOT NULL, -- version of the keys that encrypted and hashed the contact
    created_at INTEGER NOT NULL -- microseconds since 1970, UTC
) STRICT;
CREATE TABLE user_hashes (
    kind    TEXT    NOT NULL, -- email or phone
    key     INTEGER NOT NULL, -- id of the hash key
    hash    BLOB    NOT NULL,
    user_id TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (kind, key, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_hashes_of ON user_hashes (user_id);
CREATE TABLE patients (
    position   INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT    NOT NULL UNIQUE,
    user_id    TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    sex        TEXT    NOT NULL, -- empty if unknown
    birth_date TEXT,
    age_value  INTEGER NOT NULL,
    age_unit   TEXT    NOT NULL, -- empty if the age is unknown
    dependent  INTEGER NOT NULL, -- 0 or 1
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX patients_of ON patients (user_id, position);
CREATE TABLE audit (
    position    INTEGER PRIMARY KEY AUTOINCREMENT,
    at          INTEGER NOT NULL, -- microseconds since 1970, UTC
    application TEXT    NOT NULL, -- empty if no application acted
    user_id     TEXT    NOT NULL, -- empty if no end user acted
    action      TEXT    NOT NULL,
    resource    TEXT    NOT NULL,
    resource_id TEXT    NOT NULL -- empty for lists
) STRICT;
CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_by ON audit (user_id, position) WHERE user_id <> '';
CREATE INDEX audit_of ON audit (resource_id, position) WHERE resource_id <> '';

-- +goose Down
DROP TABLE audit;
DROP TABLE patients;
DROP TABLE user_hashes;
DROP TABLE users;
