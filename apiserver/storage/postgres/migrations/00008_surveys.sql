-- +goose Up
CREATE TABLE surveys (
    position   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- creation order
    id         text   COLLATE "C" NOT NULL UNIQUE,
    patient_id text   COLLATE "C" NOT NULL REFERENCES patients (id) ON DELETE CASCADE,
    status     text   COLLATE "C" NOT NULL,
    version    bigint NOT NULL, -- incremented by every write
    document   text   NOT NULL  -- survey as JSON
);
CREATE INDEX surveys_of ON surveys (patient_id, position);
CREATE INDEX surveys_by ON surveys (status, position);
CREATE TABLE survey_steps (
    survey_id text   COLLATE "C" NOT NULL REFERENCES surveys (id) ON DELETE CASCADE,
    number    bigint NOT NULL, -- zero-based
    step      text   NOT NULL, -- question and answer as JSON
    PRIMARY KEY (survey_id, number)
);
CREATE TABLE survey_results (
    survey_id text COLLATE "C" PRIMARY KEY REFERENCES surveys (id) ON DELETE CASCADE,
    result    text NOT NULL -- as JSON
);

-- Number of surveys per status in each block of 1,024 positions, so that a page deep in a
-- long list can be found without counting all preceding rows.
CREATE TABLE survey_counts (
    block  bigint NOT NULL,
    status text   COLLATE "C" NOT NULL,
    count  bigint NOT NULL,
    PRIMARY KEY (block, status)
);
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION count_survey() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        UPDATE survey_counts SET count = count - 1 WHERE block = OLD.position >> 10 AND status = OLD.status;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO survey_counts (block, status, count) VALUES (NEW.position >> 10, NEW.status, 1)
        ON CONFLICT (block, status) DO UPDATE SET count = survey_counts.count + 1;
    ELSE
        DELETE FROM magic_codes WHERE survey_id = OLD.id;
    END IF;
    RETURN NULL;
END;
$$;
-- +goose StatementEnd
CREATE TRIGGER surveys_made AFTER INSERT ON surveys FOR EACH ROW EXECUTE FUNCTION count_survey();
CREATE TRIGGER surveys_moved AFTER UPDATE ON surveys FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION count_survey();
CREATE TRIGGER surveys_erased AFTER DELETE ON surveys FOR EACH ROW EXECUTE FUNCTION count_survey();
CREATE INDEX magic_codes_to ON magic_codes (survey_id);

-- +goose Down
DROP INDEX magic_codes_to;
DROP TABLE survey_counts;
DROP TABLE survey_results;
DROP TABLE survey_steps;
DROP TABLE surveys;
DROP FUNCTION count_survey;
