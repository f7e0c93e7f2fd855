-- AddUsage adds one count to what is kept.
-- name: AddUsage :exec
INSERT INTO usage_counts (date, application, endpoint, calls)
VALUES (?, ?, ?, ?)
ON CONFLICT (date, application, endpoint)
DO UPDATE SET calls = usage_counts.calls + excluded.calls;

-- TakeBatch notes that a batch is added, and changes nothing when it was before.
-- name: TakeBatch :execrows
INSERT INTO usage_recorders (id, batch)
VALUES (?, ?)
ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, seen_at = excluded.seen_at
WHERE usage_recorders.batch < excluded.batch;

-- ForgetRecorders deletes recorders without calls for a month.
-- name: ForgetRecorders :exec
DELETE FROM usage_recorders
WHERE seen_at < unixepoch('now', '-30 days');

-- Usage reads the counts of some days.
-- name: Usage :many
SELECT date, application, endpoint, calls
FROM usage_counts
WHERE date >= sqlc.arg(first_date) AND date <= sqlc.arg(last_date)
ORDER BY date, application, endpoint;

-- UsageTotals reads the calls to some endpoints in a period.
-- name: UsageTotals :many
SELECT application, endpoint, CAST(sum(calls) AS INTEGER) AS calls
FROM usage_counts
WHERE date >= sqlc.arg(first_date) AND date <= sqlc.arg(last_date) AND endpoint IN (sqlc.slice(endpoints))
GROUP BY application, endpoint
ORDER BY application, endpoint;

-- PutFeedback keeps the feedback of an interview in the place of what it has.
-- name: PutFeedback :exec
INSERT INTO interview_feedback (application, interview_id, patient_intent_before, patient_intent_after, received_at)
VALUES (?, ?, ?, ?, ?)
ON CONFLICT (application, interview_id) DO UPDATE SET
    patient_intent_before = excluded.patient_intent_before,
    patient_intent_after = excluded.patient_intent_after,
    received_at = excluded.received_at;

-- CountFeedback counts the interviews that have feedback.
-- name: CountFeedback :one
SELECT count(*) FROM interview_feedback;

-- Feedback reads a part of the feedback.
-- name: Feedback :many
SELECT application, interview_id, patient_intent_before, patient_intent_after, received_at
FROM interview_feedback
ORDER BY position
LIMIT sqlc.arg(at_most) OFFSET sqlc.arg(skipped);

-- InsertUser keeps a new user.
-- name: InsertUser :exec
INSERT INTO users (id, contact, generation, created_at)
VALUES (sqlc.arg(id), sqlc.arg(contact), sqlc.arg(generation), sqlc.arg(created_at));

-- InsertUserHash makes a user found by a hash.
-- name: InsertUserHash :exec
INSERT INTO user_hashes (kind, key, hash, user_id)
VALUES (sqlc.arg(kind), sqlc.arg(key), sqlc.arg(hash), sqlc.arg(user_id));

-- DeleteUserHashes makes a user found by nothing but its id.
-- name: DeleteUserHashes :exec
DELETE FROM user_hashes WHERE user_id = sqlc.arg(user_id);

-- User reads a user.
-- name: User :one
SELECT id, contact, generation, created_at FROM users WHERE id = sqlc.arg(id);

-- UserByHash reads the user that a hash leads to.
-- name: UserByHash :one
SELECT users.id, contact, generation, created_at
FROM users JOIN user_hashes ON user_id = users.id
WHERE kind = sqlc.arg(kind) AND key = sqlc.arg(key) AND hash = sqlc.arg(hash);

-- CountUsers counts the users.
-- name: CountUsers :one
SELECT count(*) FROM users;

-- Users reads some of the users.
-- name: Users :many
SELECT id, contact, generation, created_at FROM users
ORDER BY position
LIMIT sqlc.arg(at_most) OFFSET sqlc.arg(skipped);

-- UsersOfOtherGenerations names users who were sealed or hashed with other keys.
-- name: UsersOfOtherGenerations :many
SELECT id FROM users
WHERE generation <> sqlc.arg(generation) AND id > sqlc.arg(after)
ORDER BY id
LIMIT sqlc.arg(at_most);

-- UpdateUser changes a user.
-- name: UpdateUser :exec
UPDATE users SET contact = sqlc.arg(contact), generation = sqlc.arg(generation) WHERE id = sqlc.arg(id);

-- DeleteUser erases a user, with hashes and patients.
-- name: DeleteUser :execrows
DELETE FROM users WHERE id = sqlc.arg(id);

-- InsertPatient keeps a new patient.
-- name: InsertPatient :exec
INSERT INTO patients (id, user_id, sex, birth_date, age_value, age_unit, dependent, created_at)
VALUES (sqlc.arg(id), sqlc.arg(user_id), sqlc.arg(sex), sqlc.arg(birth_date), sqlc.arg(age_value), sqlc.arg(age_unit), sqlc.arg(dependent), sqlc.arg(created_at));

-- Patient reads a patient.
-- name: Patient :one
SELECT id, user_id, sex, birth_date, age_value, age_unit, dependent, created_at
FROM patients WHERE id = sqlc.arg(id);

-- CountPatients counts the patients.
-- name: CountPatients :one
SELECT count(*) FROM patients;

-- Patients reads some of the patients.
-- name: Patients :many
SELECT id, user_id, sex, birth_date, age_value, age_unit, dependent, created_at
FROM patients
ORDER BY position
LIMIT sqlc.arg(at_most) OFFSET sqlc.arg(skipped);

-- CountPatientsOf counts the patients of a user.
-- name: CountPatientsOf :one
SELECT count(*) FROM patients WHERE user_id = sqlc.arg(user_id);

-- PatientsOf reads some of the patients of a user.
-- name: PatientsOf :many
SELECT id, user_id, sex, birth_date, age_value, age_unit, dependent, created_at
FROM patients
WHERE user_id = sqlc.arg(user_id)
ORDER BY position
LIMIT sqlc.arg(at_most) OFFSET sqlc.arg(skipped);

-- UpdatePatient changes a patient.
-- name: UpdatePatient :exec
UPDATE patients
SET sex = sqlc.arg(sex), birth_date = sqlc.arg(birth_date), age_value = sqlc.arg(age_value), age_unit = sqlc.arg(age_unit), dependent = sqlc.arg(dependent)
WHERE id = sqlc.arg(id);

-- DeletePatient erases a patient.
-- name: DeletePatient :execrows
DELETE FROM patients WHERE id = sqlc.arg(id);

-- InsertAudit keeps a record of the audit.
-- name: InsertAudit :exec
INSERT INTO audit (at, application, user_id, action, resource, resource_id)
VALUES (sqlc.arg(at), sqlc.arg(application), sqlc.arg(user_id), sqlc.arg(action), sqlc.arg(resource), sqlc.arg(resource_id));

-- CountAudit counts the records that a filter picks.
-- name: CountAudit :one
SELECT count(*) FROM audit
WHERE at >= sqlc.arg(first) AND at < sqlc.arg(before)
    AND (CAST(sqlc.arg(application) AS TEXT) = '' OR application = CAST(sqlc.arg(application) AS TEXT))
    AND (CAST(sqlc.arg(user_id) AS TEXT) = '' OR user_id = CAST(sqlc.arg(user_id) AS TEXT))
    AND (CAST(sqlc.arg(action) AS TEXT) = '' OR action = CAST(sqlc.arg(action) AS TEXT))
    AND (CAST(sqlc.arg(resource) AS TEXT) = '' OR resource = CAST(sqlc.arg(resource) AS TEXT))
    AND (CAST(sqlc.arg(resource_id) AS TEXT) = '' OR resource_id = CAST(sqlc.arg(resource_id) AS TEXT));

-- Audit reads some of the records that a filter picks, the latest first.
-- name: Audit :many
SELECT at, application, user_id, action, resource, resource_id FROM audit
WHERE at >= sqlc.arg(first) AND at < sqlc.arg(before)
    AND (CAST(sqlc.arg(application) AS TEXT) = '' OR application = CAST(sqlc.arg(application) AS TEXT))
    AND (CAST(sqlc.arg(user_id) AS TEXT) = '' OR user_id = CAST(sqlc.arg(user_id) AS TEXT))
    AND (CAST(sqlc.arg(action) AS TEXT) = '' OR action = CAST(sqlc.arg(action) AS TEXT))
    AND (CAST(sqlc.arg(resource) AS TEXT) = '' OR resource = CAST(sqlc.arg(resource) AS TEXT))
    AND (CAST(sqlc.arg(resource_id) AS TEXT) = '' OR resource_id = CAST(sqlc.arg(resource_id) AS TEXT))
ORDER BY position DESC
LIMIT sqlc.arg(at_most) OFFSET sqlc.arg(skipped);

-- AuditOfUser reads what is recorded of acts by a user, and on the user and the
-- patients and their surveys, the latest first.
-- name: AuditOfUser :many
SELECT at, application, audit.user_id, action, resource, resource_id FROM audit
WHERE audit.user_id = sqlc.arg(id) OR resource_id = sqlc.arg(id) OR resource_id IN (SELECT id FROM patients WHERE patients.user_id = sqlc.arg(id))
    OR resource_id IN (SELECT surveys.id FROM surveys JOIN patients ON patients.id = surveys.patient_id WHERE patients.user_id = sqlc.arg(id))
ORDER BY position DESC
LIMIT sqlc.arg(at_most);

-- InsertState keeps an empty state of a name that has none.
-- name: InsertState :exec
INSERT INTO sign_in_states (name, user_id, state) VALUES (sqlc.arg(name), sqlc.arg(user_id), '')
ON CONFLICT (name) DO NOTHING;

-- State reads the state of a name, which cannot change before the transaction ends.
-- name: State :one
SELECT state FROM sign_in_states WHERE name = sqlc.arg(name);

-- UpdateState changes the state of a name.
-- name: UpdateState :exec
UPDATE sign_in_states SET state = sqlc.arg(state) WHERE name = sqlc.arg(name);

-- InsertMagicCode keeps a code.
-- name: InsertMagicCode :exec
INSERT INTO magic_codes (hash, user_id, survey_id, expires_at)
VALUES (sqlc.arg(hash), sqlc.arg(user_id), sqlc.arg(survey_id), sqlc.arg(expires_at));

-- MagicCode reads what a code is good for.
-- name: MagicCode :one
SELECT user_id, survey_id, expires_at FROM magic_codes WHERE hash = sqlc.arg(hash);

-- DeleteMagicCodes forgets codes that expired before an instant.
-- name: DeleteMagicCodes :exec
DELETE FROM magic_codes WHERE expires_at < sqlc.arg(before);

-- Mark reads the UID of the Instance whose data it is.
-- name: Mark :one
SELECT uid FROM owner;

-- PutMark marks the database as an Instance's.
-- name: PutMark :exec
INSERT INTO owner (one, uid) VALUES (1, sqlc.arg(uid))
ON CONFLICT (one) DO UPDATE SET uid = excluded.uid;

-- InsertSurvey keeps a new survey.
-- name: InsertSurvey :exec
INSERT INTO surveys (id, patient_id, status, version, document)
VALUES (sqlc.arg(id), sqlc.arg(patient_id), sqlc.arg(status), sqlc.arg(version), sqlc.arg(document));

-- Survey reads a survey.
-- name: Survey :one
SELECT document FROM surveys WHERE id = sqlc.arg(id);

-- UpdateSurvey puts a survey in the place of the version before it.
-- name: UpdateSurvey :execrows
UPDATE surveys SET status = sqlc.arg(status), version = sqlc.arg(version), document = sqlc.arg(document)
WHERE id = sqlc.arg(id) AND version = sqlc.arg(version_before);

-- DeleteSurvey erases a survey, with its steps, its result and the codes that lead to it.
-- name: DeleteSurvey :execrows
DELETE FROM surveys WHERE id = sqlc.arg(id);

-- SurveyCounts counts the surveys of a status, or all, in each block of positions.
-- name: SurveyCounts :many
SELECT block, CAST(sum(count) AS INTEGER) AS total FROM survey_counts
WHERE (CAST(sqlc.arg(status) AS TEXT) = '' OR status = CAST(sqlc.arg(status) AS TEXT))
GROUP BY block
ORDER BY block;

-- SurveysFrom reads surveys from a position on.
-- name: SurveysFrom :many
SELECT document FROM surveys
WHERE position >= sqlc.arg(position)
ORDER BY position
LIMIT sqlc.arg(at_most) OFFSET sqlc.arg(skipped);

-- SurveysByStatusFrom reads surveys of a status from a position on.
-- name: SurveysByStatusFrom :many
SELECT document FROM surveys
WHERE status = sqlc.arg(status) AND position >= sqlc.arg(position)
ORDER BY position
LIMIT sqlc.arg(at_most) OFFSET sqlc.arg(skipped);

-- CountSurveysOfPatient counts a patient's surveys of a status, or all.
-- name: CountSurveysOfPatient :one
SELECT count(*) FROM surveys
WHERE patient_id = sqlc.arg(patient_id) AND (CAST(sqlc.arg(status) AS TEXT) = '' OR status = CAST(sqlc.arg(status) AS TEXT));

-- SurveysOfPatient reads a patient's surveys of a status, or all.
-- name: SurveysOfPatient :many
SELECT document FROM surveys
WHERE patient_id = sqlc.arg(patient_id) AND (CAST(sqlc.arg(status) AS TEXT) = '' OR status = CAST(sqlc.arg(status) AS TEXT))
ORDER BY position
LIMIT sqlc.arg(at_most) OFFSET sqlc.arg(skipped);

-- CountSurveysOfUser counts the surveys of a user's patients, of a status, or all.
-- name: CountSurveysOfUser :one
SELECT count(*) FROM surveys
WHERE patient_id IN (SELECT id FROM patients WHERE user_id = sqlc.arg(user_id)) AND (CAST(sqlc.arg(status) AS TEXT) = '' OR status = CAST(sqlc.arg(status) AS TEXT));

-- SurveysOfUser reads surveys of a user's patients, of a status, or all.
-- name: SurveysOfUser :many
SELECT document FROM surveys
WHERE patient_id IN (SELECT id FROM patients WHERE user_id = sqlc.arg(user_id)) AND (CAST(sqlc.arg(status) AS TEXT) = '' OR status = CAST(sqlc.arg(status) AS TEXT))
ORDER BY position
LIMIT sqlc.arg(at_most) OFFSET sqlc.arg(skipped);

-- LastCompletedSurvey reads the latest completed survey of a patient.
-- name: LastCompletedSurvey :one
SELECT document FROM surveys
WHERE patient_id = sqlc.arg(patient_id) AND status = 'completed'
ORDER BY position DESC
LIMIT 1;

-- Steps reads the steps of a survey.
-- name: Steps :many
SELECT step FROM survey_steps WHERE survey_id = sqlc.arg(survey_id) ORDER BY number;

-- PutStep keeps a step, in the place of the one with its number, if any.
-- name: PutStep :exec
INSERT INTO survey_steps (survey_id, number, step) VALUES (sqlc.arg(survey_id), sqlc.arg(number), sqlc.arg(step))
ON CONFLICT (survey_id, number) DO UPDATE SET step = excluded.step;

-- DeleteSteps erases the steps of a survey from a number on.
-- name: DeleteSteps :exec
DELETE FROM survey_steps WHERE survey_id = sqlc.arg(survey_id) AND number >= sqlc.arg(number);

-- PutResult keeps what a survey came to.
-- name: PutResult :exec
INSERT INTO survey_results (survey_id, result) VALUES (sqlc.arg(survey_id), sqlc.arg(result))
ON CONFLICT (survey_id) DO UPDATE SET result = excluded.result;

-- Result reads what a survey came to.
-- name: Result :one
SELECT result FROM survey_results WHERE survey_id = sqlc.arg(survey_id);

-- InsertWebhook keeps a new configuration.
-- name: InsertWebhook :exec
INSERT INTO webhooks (id, document, secrets, generation) VALUES (sqlc.arg(id), sqlc.arg(document), sqlc.arg(secrets), sqlc.arg(generation));

-- Webhook reads a configuration.
-- name: Webhook :one
SELECT id, document, secrets, generation, disabled, failures, closed_until FROM webhooks WHERE id = sqlc.arg(id);

-- LockWebhook reads a configuration, which cannot change before the transaction ends.
-- name: LockWebhook :one
SELECT id, document, secrets, generation, disabled, failures, closed_until FROM webhooks WHERE id = sqlc.arg(id);

-- Webhooks reads all configurations.
-- name: Webhooks :many
SELECT id, document, secrets, generation, disabled, failures, closed_until FROM webhooks ORDER BY position;

-- UpdateWebhook changes a configuration.
-- name: UpdateWebhook :exec
UPDATE webhooks SET document = sqlc.arg(document), secrets = sqlc.arg(secrets), generation = sqlc.arg(generation) WHERE id = sqlc.arg(id);

-- UpdateWebhookHealth notes how deliveries went.
-- name: UpdateWebhookHealth :exec
UPDATE webhooks SET disabled = sqlc.arg(disabled), failures = sqlc.arg(failures), closed_until = sqlc.arg(closed_until) WHERE id = sqlc.arg(id);

-- DeleteWebhook erases a configuration, with its attempts.
-- name: DeleteWebhook :execrows
DELETE FROM webhooks WHERE id = sqlc.arg(id);

-- CountWebhookAttempts returns the number of stored attempts of a configuration.
-- name: CountWebhookAttempts :one
SELECT attempts FROM webhooks WHERE id = sqlc.arg(id);

-- AddWebhookAttempts changes how many attempts of a configuration are kept.
-- name: AddWebhookAttempts :execrows
UPDATE webhooks SET attempts = attempts + sqlc.arg(added) WHERE id = sqlc.arg(id);

-- WebhookAttempt reads an attempt.
-- name: WebhookAttempt :one
SELECT id, webhook_id, at, document FROM webhook_attempts WHERE id = sqlc.arg(id) AND webhook_id = sqlc.arg(webhook_id);

-- WebhookAttempts reads attempts of a configuration, the latest first.
-- name: WebhookAttempts :many
SELECT id, webhook_id, at, document FROM webhook_attempts WHERE webhook_id = sqlc.arg(webhook_id)
ORDER BY position DESC
LIMIT sqlc.arg(at_most) OFFSET sqlc.arg(skipped);

-- OldWebhookAttempts says whose attempts are from before an instant.
-- name: OldWebhookAttempts :many
SELECT id, webhook_id FROM webhook_attempts WHERE at < sqlc.arg(before) ORDER BY at LIMIT sqlc.arg(at_most);

-- DeleteWebhookAttempt erases an attempt.
-- name: DeleteWebhookAttempt :execrows
DELETE FROM webhook_attempts WHERE id = sqlc.arg(id);

-- PutNotification notes when a notification of a survey falls due.
-- name: PutNotification :exec
INSERT INTO survey_notifications (survey_id, at) VALUES (sqlc.arg(survey_id), sqlc.arg(at))
ON CONFLICT (survey_id) DO UPDATE SET at = excluded.at;

-- DeleteNotification forgets when a notification of a survey falls due.
-- name: DeleteNotification :exec
DELETE FROM survey_notifications WHERE survey_id = sqlc.arg(survey_id);

-- TakeNotification forgets a notification that falls due at a time.
-- name: TakeNotification :execrows
DELETE FROM survey_notifications WHERE survey_id = sqlc.arg(survey_id) AND at = sqlc.arg(at);

-- InsertWebhookAttempt keeps an attempt.
-- name: InsertWebhookAttempt :exec
INSERT INTO webhook_attempts (id, webhook_id, at, document)
VALUES (sqlc.arg(id), sqlc.arg(webhook_id), sqlc.arg(at), sqlc.arg(document));

-- Waiting returns the pending jobs of each queue of the outbox.
-- name: Waiting :many
SELECT queue, count(*) AS jobs, CAST(sum(state = 'running') AS INTEGER) AS running,
    CAST(coalesce(min(CASE WHEN state <> 'running' THEN unixepoch(scheduled_at, 'subsec') END), 0) * 1000000 AS INTEGER) AS next
FROM river_job WHERE state IN ('available', 'pending', 'retryable', 'running', 'scheduled')
GROUP BY queue ORDER BY queue;

-- ResumeJobs lets jobs be done again that a process was doing which is gone. It counts
-- as no attempt.
-- name: ResumeJobs :exec
UPDATE river_job SET state = 'available', attempt = max(attempt - 1, 0) WHERE state = 'running';

-- DeleteLeader forgets which process looked after the outbox, which is gone.
-- name: DeleteLeader :exec
DELETE FROM river_leader;
