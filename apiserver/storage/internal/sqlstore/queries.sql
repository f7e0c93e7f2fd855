-- name: Usage :many
SELECT date, application, endpoint, calls
FROM usage_counts
WHERE date >= @first_date AND date <= @last_date
ORDER BY date, application, endpoint;

-- PutFeedback stores the feedback of an interview and replaces earlier feedback.
-- name: PutFeedback :exec
INSERT INTO interview_feedback (application, interview_id, patient_intent_before, patient_intent_after, received_at)
VALUES (@application, @interview_id, @patient_intent_before, @patient_intent_after, @received_at)
ON CONFLICT (application, interview_id) DO UPDATE SET
    patient_intent_before = excluded.patient_intent_before,
    patient_intent_after = excluded.patient_intent_after,
    received_at = excluded.received_at;

-- name: CountFeedback :one
SELECT count(*) FROM interview_feedback;

-- name: Feedback :many
SELECT application, interview_id, patient_intent_before, patient_intent_after, received_at
FROM interview_feedback
ORDER BY position
LIMIT CAST(sqlc.arg('limit') AS bigint) OFFSET CAST(sqlc.arg('offset') AS bigint);

-- name: InsertUser :exec
INSERT INTO users (id, contact, generation, created_at)
VALUES (@id, @contact, @generation, @created_at);

-- name: InsertUserHash :exec
INSERT INTO user_hashes (kind, key, hash, user_id)
VALUES (@kind, @key, @hash, @user_id);

-- name: DeleteUserHashes :exec
DELETE FROM user_hashes WHERE user_id = @user_id;

-- name: User :one
SELECT id, contact, generation, created_at FROM users WHERE id = @id;

-- name: LockUser :one
SELECT id, contact, generation, created_at FROM users WHERE id = @id FOR UPDATE;

-- name: UserByHash :one
SELECT users.id, contact, generation, created_at
FROM users JOIN user_hashes ON user_id = users.id
WHERE kind = @kind AND key = @key AND hash = @hash;

-- name: CountUsers :one
SELECT count(*) FROM users;

-- name: Users :many
SELECT id, contact, generation, created_at FROM users
ORDER BY position
LIMIT CAST(sqlc.arg('limit') AS bigint) OFFSET CAST(sqlc.arg('offset') AS bigint);

-- UserIDsWithOtherKeys returns the ids of users encrypted or hashed with other keys.
-- name: UserIDsWithOtherKeys :many
SELECT id FROM users
WHERE generation <> @generation AND id > @after
ORDER BY id
LIMIT CAST(sqlc.arg('limit') AS bigint);

-- name: UpdateUser :exec
UPDATE users SET contact = @contact, generation = @generation WHERE id = @id;

-- DeleteUser deletes a user and the user's hashes, patients and surveys.
-- name: DeleteUser :execrows
DELETE FROM users WHERE id = @id;

-- name: InsertPatient :exec
INSERT INTO patients (id, user_id, sex, birth_date, age_value, age_unit, dependent, created_at)
VALUES (@id, @user_id, @sex, @birth_date, @age_value, @age_unit, @dependent, @created_at);

-- name: Patient :one
SELECT id, user_id, sex, birth_date, age_value, age_unit, dependent, created_at
FROM patients WHERE id = @id;

-- name: LockPatient :one
SELECT id, user_id, sex, birth_date, age_value, age_unit, dependent, created_at
FROM patients WHERE id = @id FOR UPDATE;

-- name: CountPatients :one
SELECT count(*) FROM patients;

-- name: Patients :many
SELECT id, user_id, sex, birth_date, age_value, age_unit, dependent, created_at
FROM patients
ORDER BY position
LIMIT CAST(sqlc.arg('limit') AS bigint) OFFSET CAST(sqlc.arg('offset') AS bigint);

-- name: CountUserPatients :one
SELECT count(*) FROM patients WHERE user_id = @user_id;

-- name: UserPatients :many
SELECT id, user_id, sex, birth_date, age_value, age_unit, dependent, created_at
FROM patients
WHERE user_id = @user_id
ORDER BY position
LIMIT CAST(sqlc.arg('limit') AS bigint) OFFSET CAST(sqlc.arg('offset') AS bigint);

-- name: UpdatePatient :exec
UPDATE patients
SET sex = @sex, birth_date = @birth_date, age_value = @age_value, age_unit = @age_unit, dependent = @dependent
WHERE id = @id;

-- name: DeletePatient :execrows
DELETE FROM patients WHERE id = @id;

-- name: InsertAudit :exec
INSERT INTO audit (at, application, user_id, action, resource, resource_id)
VALUES (@at, @application, @user_id, @action, @resource, @resource_id);

-- name: CountAudit :one
SELECT count(*) FROM audit
WHERE at >= @first AND at < @before
    AND (CAST(@application AS text) = '' OR application = CAST(@application AS text))
    AND (CAST(@user_id AS text) = '' OR user_id = CAST(@user_id AS text))
    AND (CAST(@action AS text) = '' OR action = CAST(@action AS text))
    AND (CAST(@resource AS text) = '' OR resource = CAST(@resource AS text))
    AND (CAST(@resource_id AS text) = '' OR resource_id = CAST(@resource_id AS text));

-- Audit returns the records that match a filter, newest first. Empty values match all.
-- name: Audit :many
SELECT at, application, user_id, action, resource, resource_id FROM audit
WHERE at >= @first AND at < @before
    AND (CAST(@application AS text) = '' OR application = CAST(@application AS text))
    AND (CAST(@user_id AS text) = '' OR user_id = CAST(@user_id AS text))
    AND (CAST(@action AS text) = '' OR action = CAST(@action AS text))
    AND (CAST(@resource AS text) = '' OR resource = CAST(@resource AS text))
    AND (CAST(@resource_id AS text) = '' OR resource_id = CAST(@resource_id AS text))
ORDER BY position DESC
LIMIT CAST(sqlc.arg('limit') AS bigint) OFFSET CAST(sqlc.arg('offset') AS bigint);

-- UserAudit returns the records of actions by a user, and on the user, the user's
-- patients and their surveys, newest first.
-- name: UserAudit :many
SELECT at, application, audit.user_id, action, resource, resource_id FROM audit
WHERE audit.user_id = @id OR resource_id = @id OR resource_id IN (SELECT id FROM patients WHERE patients.user_id = @id)
    OR resource_id IN (SELECT surveys.id FROM surveys JOIN patients ON patients.id = surveys.patient_id WHERE patients.user_id = @id)
ORDER BY position DESC
LIMIT CAST(sqlc.arg('limit') AS bigint);

-- name: InsertState :exec
INSERT INTO sign_in_states (name, user_id, state) VALUES (@name, @user_id, '')
ON CONFLICT (name) DO NOTHING;

-- name: State :one
SELECT state FROM sign_in_states WHERE name = @name FOR UPDATE;

-- name: UpdateState :exec
UPDATE sign_in_states SET state = @state WHERE name = @name;

-- name: InsertMagicCode :exec
INSERT INTO magic_codes (hash, user_id, survey_id, expires_at)
VALUES (@hash, @user_id, @survey_id, @expires_at);

-- name: MagicCode :one
SELECT user_id, survey_id, expires_at FROM magic_codes WHERE hash = @hash;

-- name: DeleteExpiredMagicCodes :exec
DELETE FROM magic_codes WHERE expires_at < @before;

-- OwnerUID returns the UID of the Instance that owns the database.
-- name: OwnerUID :one
SELECT uid FROM owner;

-- name: PutOwnerUID :exec
INSERT INTO owner (one, uid) VALUES (true, @uid)
ON CONFLICT (one) DO UPDATE SET uid = excluded.uid;

-- name: InsertSurvey :exec
INSERT INTO surveys (id, patient_id, status, version, document)
VALUES (@id, @patient_id, @status, @version, @document);

-- name: Survey :one
SELECT document FROM surveys WHERE id = @id;

-- SurveyWithSteps returns a survey, as number -1, and its steps. A single statement reads
-- a consistent snapshot.
-- name: SurveyWithSteps :many
SELECT CAST(-1 AS bigint) AS number, document FROM surveys WHERE id = @id
UNION ALL
SELECT number, step FROM survey_steps WHERE survey_id = @id
ORDER BY number;

-- UpdateSurvey updates a survey if its version is still version_before.
-- name: UpdateSurvey :execrows
UPDATE surveys SET status = @status, version = @version, document = @document
WHERE id = @id AND version = @version_before;

-- DeleteSurvey deletes a survey with its steps, its result and its magic codes.
-- name: DeleteSurvey :execrows
DELETE FROM surveys WHERE id = @id;

-- SurveyCounts counts the surveys per block of positions. An empty status matches all.
-- name: SurveyCounts :many
SELECT block, CAST(sum(count) AS bigint) AS total FROM survey_counts
WHERE (CAST(@status AS text) = '' OR status = CAST(@status AS text))
GROUP BY block
ORDER BY block;

-- name: SurveysFrom :many
SELECT document FROM surveys
WHERE position >= @position
ORDER BY position
LIMIT CAST(sqlc.arg('limit') AS bigint) OFFSET CAST(sqlc.arg('offset') AS bigint);

-- name: SurveysByStatusFrom :many
SELECT document FROM surveys
WHERE status = @status AND position >= @position
ORDER BY position
LIMIT CAST(sqlc.arg('limit') AS bigint) OFFSET CAST(sqlc.arg('offset') AS bigint);

-- name: CountPatientSurveys :one
SELECT count(*) FROM surveys
WHERE patient_id = @patient_id AND (CAST(@status AS text) = '' OR status = CAST(@status AS text));

-- PatientSurveys returns surveys of a patient. An empty status matches all.
-- name: PatientSurveys :many
SELECT document FROM surveys
WHERE patient_id = @patient_id AND (CAST(@status AS text) = '' OR status = CAST(@status AS text))
ORDER BY position
LIMIT CAST(sqlc.arg('limit') AS bigint) OFFSET CAST(sqlc.arg('offset') AS bigint);

-- name: CountUserSurveys :one
SELECT count(*) FROM surveys
WHERE patient_id IN (SELECT id FROM patients WHERE user_id = @user_id) AND (CAST(@status AS text) = '' OR status = CAST(@status AS text));

-- UserSurveys returns surveys of a user's patients. An empty status matches all.
-- name: UserSurveys :many
SELECT document FROM surveys
WHERE patient_id IN (SELECT id FROM patients WHERE user_id = @user_id) AND (CAST(@status AS text) = '' OR status = CAST(@status AS text))
ORDER BY position
LIMIT CAST(sqlc.arg('limit') AS bigint) OFFSET CAST(sqlc.arg('offset') AS bigint);

-- name: LastCompletedSurvey :one
SELECT document FROM surveys
WHERE patient_id = @patient_id AND status = 'completed'
ORDER BY position DESC
LIMIT 1;

-- name: Steps :many
SELECT step FROM survey_steps WHERE survey_id = @survey_id ORDER BY number;

-- name: PutStep :exec
INSERT INTO survey_steps (survey_id, number, step) VALUES (@survey_id, @number, @step)
ON CONFLICT (survey_id, number) DO UPDATE SET step = excluded.step;

-- name: DeleteSteps :exec
DELETE FROM survey_steps WHERE survey_id = @survey_id AND number >= @number;

-- name: PutResult :exec
INSERT INTO survey_results (survey_id, result) VALUES (@survey_id, @result)
ON CONFLICT (survey_id) DO UPDATE SET result = excluded.result;

-- name: Result :one
SELECT result FROM survey_results WHERE survey_id = @survey_id;

-- name: InsertWebhook :exec
INSERT INTO webhooks (id, document, secrets, generation) VALUES (@id, @document, @secrets, @generation);

-- name: Webhook :one
SELECT id, document, secrets, generation, disabled, failures, closed_until FROM webhooks WHERE id = @id;

-- name: LockWebhook :one
SELECT id, document, secrets, generation, disabled, failures, closed_until FROM webhooks WHERE id = @id FOR UPDATE;

-- name: Webhooks :many
SELECT id, document, secrets, generation, disabled, failures, closed_until FROM webhooks ORDER BY position;

-- name: UpdateWebhook :exec
UPDATE webhooks SET document = @document, secrets = @secrets, generation = @generation WHERE id = @id;

-- name: UpdateWebhookHealth :exec
UPDATE webhooks SET disabled = @disabled, failures = @failures, closed_until = @closed_until WHERE id = @id;

-- name: DeleteWebhook :execrows
DELETE FROM webhooks WHERE id = @id;

-- name: CountWebhookAttempts :one
SELECT attempts FROM webhooks WHERE id = @id;

-- AddToWebhookAttemptCount adjusts the number of stored attempts of a webhook.
-- name: AddToWebhookAttemptCount :execrows
UPDATE webhooks SET attempts = attempts + @added WHERE id = @id;

-- name: WebhookAttempt :one
SELECT id, webhook_id, at, document FROM webhook_attempts WHERE id = @id AND webhook_id = @webhook_id;

-- name: WebhookAttempts :many
SELECT id, webhook_id, at, document FROM webhook_attempts WHERE webhook_id = @webhook_id
ORDER BY position DESC
LIMIT CAST(sqlc.arg('limit') AS bigint) OFFSET CAST(sqlc.arg('offset') AS bigint);

-- name: ExpiredWebhookAttempts :many
SELECT id, webhook_id FROM webhook_attempts WHERE at < @before ORDER BY at LIMIT CAST(sqlc.arg('limit') AS bigint);

-- name: DeleteWebhookAttempt :execrows
DELETE FROM webhook_attempts WHERE id = @id;

-- name: PutNotification :exec
INSERT INTO survey_notifications (survey_id, at) VALUES (@survey_id, @at)
ON CONFLICT (survey_id) DO UPDATE SET at = excluded.at;

-- name: DeleteNotification :exec
DELETE FROM survey_notifications WHERE survey_id = @survey_id;

-- ClaimScheduledNotification deletes a notification's schedule if it has this time.
-- name: ClaimScheduledNotification :execrows
DELETE FROM survey_notifications WHERE survey_id = @survey_id AND at = @at;
