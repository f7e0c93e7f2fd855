-- +goose Up
CREATE TABLE users (
    position   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- creation order
    id         text COLLATE "C" NOT NULL UNIQUE,
    contact    bytea NOT NULL, -- encrypted
    generation text COLLATE "C" NOT NULL, -- version of the keys that encrypted and hashed the contact
    created_at timestamptz NOT NULL
);
CREATE TABLE user_hashes (
    kind    text   COLLATE "C" NOT NULL, -- email or phone
    key     bigint NOT NULL, -- id of the hash key
    hash    bytea  NOT NULL,
    user_id text   COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (kind, key, hash)
);
CREATE INDEX user_hashes_of ON user_hashes (user_id);
CREATE TABLE patients (
    position   bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         text    COLLATE "C" NOT NULL UNIQUE,
    user_id    text    COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    sex        text    COLLATE "C" NOT NULL, -- empty if unknown
    birth_date date,
    age_value  bigint  NOT NULL,
    age_unit   text    COLLATE "C" NOT NULL, -- empty if the age is unknown
    dependent  boolean NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX patients_of ON patients (user_id, position);
CREATE TABLE audit (
    position    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at          timestamptz NOT NULL,
    application text COLLATE "C" NOT NULL, -- empty if no application acted
    user_id     text COLLATE "C" NOT NULL, -- empty if no end user acted
    action      text COLLATE "C" NOT NULL,
    resource    text COLLATE "C" NOT NULL,
    resource_id text COLLATE "C" NOT NULL -- empty for lists
);
CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_by ON audit (user_id, position) WHERE user_id <> '';
CREATE INDEX audit_of ON audit (resource_id, position) WHERE resource_id <> '';

-- +goose Down
DROP TABLE audit;
DROP TABLE patients;
DROP TABLE user_hashes;
DROP TABLE users;
