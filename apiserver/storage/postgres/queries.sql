-- AddUsage adds all counts in one statement, unless they were added before: who
-- is still adding the same batch is waited for. Rows are taken in the order of
-- the primary key, so that replicas that add at the same time wait for each
-- other instead of deadlocking.
-- name: AddUsage :exec
WITH taken AS (
    INSERT INTO usage_recorders (id, batch)
    VALUES (@recorder, @batch)
    ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, seen_at = excluded.seen_at
    WHERE usage_recorders.batch < excluded.batch
    RETURNING id
)
INSERT INTO usage_counts (date, application, endpoint, calls)
SELECT added.date, added.application, added.endpoint, sum(added.calls)::bigint
FROM (
    SELECT
        unnest(@dates::date[]) AS date,
        unnest(@applications::text[]) COLLATE "C" AS application,
        unnest(@endpoints::text[]) COLLATE "C" AS endpoint,
        unnest(@calls::bigint[]) AS calls
) AS added
WHERE EXISTS (SELECT 1 FROM taken)
GROUP BY added.date, added.application, added.endpoint
ORDER BY added.date, added.application, added.endpoint
ON CONFLICT (date, application, endpoint)
DO UPDATE SET calls = usage_counts.calls + excluded.calls;

-- ForgetRecorders deletes recorders without calls for a month.
-- name: ForgetRecorders :exec
DELETE FROM usage_recorders
WHERE seen_at < now() - interval '30 days';

-- Usage reads the counts of some days.
-- name: Usage :many
SELECT date, application, endpoint, calls
FROM usage_counts
WHERE date >= @first_date AND date <= @last_date
ORDER BY date, application, endpoint;

-- UsageTotals reads the calls to some endpoints in a period.
-- name: UsageTotals :many
SELECT application, endpoint, sum(calls)::bigint AS calls
FROM usage_counts
WHERE date >= @first_date AND date <= @last_date AND endpoint = ANY(@endpoints::text[])
GROUP BY application, endpoint
ORDER BY application, endpoint;

-- PutFeedback keeps the feedback of an interview in the place of what it has.
-- name: PutFeedback :exec
INSERT INTO interview_feedback (application, interview_id, patient_intent_before, patient_intent_after, received_at)
VALUES (@application, @interview_id, @patient_intent_before, @patient_intent_after, @received_at)
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
LIMIT @at_most::bigint OFFSET @skipped::bigint;

-- ReadOnly reports whether transactions on this connection cannot write, as
-- on a standby.
-- name: ReadOnly :one
SELECT current_setting('transaction_read_only')::boolean AS read_only;

-- InsertUser keeps a new user.
-- name: InsertUser :exec
INSERT INTO users (id, contact, generation, created_at)
VALUES (@id, @contact, @generation, @created_at);

-- InsertUserHash makes a user found by a hash.
-- name: InsertUserHash :exec
INSERT INTO user_hashes (kind, key, hash, user_id)
VALUES (@kind, @key, @hash, @user_id);

-- DeleteUserHashes makes a user found by nothing but its id.
-- name: DeleteUserHashes :exec
DELETE FROM user_hashes WHERE user_id = @user_id;

-- User reads a user.
-- name: User :one
SELECT id, contact, generation, created_at FROM users WHERE id = @id;

-- LockUser reads a user and locks its row until the transaction ends.
-- name: LockUser :one
SELECT id, contact, generation, created_at FROM users WHERE id = @id FOR UPDATE;

-- UserByHash reads the user that a hash leads to.
-- name: UserByHash :one
SELECT users.id, contact, generation, created_at
FROM users JOIN user_hashes ON user_id = users.id
WHERE kind = @kind AND key = @key AND hash = @hash;

-- CountUsers counts the users.
-- name: CountUsers :one
SELECT count(*) FROM users;

-- Users reads some of the users.
-- name: Users :many
SELECT id, contact, generation, created_at FROM users
ORDER BY position
LIMIT @at_most::bigint OFFSET @skipped::bigint;

-- UsersOfOtherGenerations names users who were sealed or hashed with other keys.
-- name: UsersOfOtherGenerations :many
SELECT id FROM users
WHERE generation <> @generation AND id > @after
ORDER BY id
LIMIT @at_most::bigint;

-- UpdateUser changes a user.
-- name: UpdateUser :exec
UPDATE users SET contact = @contact, generation = @generation WHERE id = @id;

-- DeleteUser erases a user, with hashes and patients.
-- name: DeleteUser :execrows
DELETE FROM users WHERE id = @id;

-- InsertPatient keeps a new patient.
-- name: InsertPatient :exec
INSERT INTO patients (id, user_id, sex, birth_date, age_value, age_unit, dependent, created_at)
VALUES (@id, @user_id, @sex, @birth_date, @age_value, @age_unit, @dependent, @created_at);

-- Patient reads a patient.
-- name: Patient :one
SELECT id, user_id, sex, birth_date, age_value, age_unit, dependent, created_at
FROM patients WHERE id = @id;

-- LockPatient reads a patient and locks its row until the transaction ends.
-- name: LockPatient :one
SELECT id, user_id, sex, birth_date, age_value, age_unit, dependent, created_at
FROM patients WHERE id = @id FOR UPDATE;

-- CountPatients counts the patients.
-- name: CountPatients :one
SELECT count(*) FROM patients;

-- Patients reads some of the patients.
-- name: Patients :many
SELECT id, user_id, sex, birth_date, age_value, age_unit, dependent, created_at
FROM patients
ORDER BY position
LIMIT @at_most::bigint OFFSET @skipped::bigint;

-- CountPatientsOf counts the patients of a user.
-- name: CountPatientsOf :one
SELECT count(*) FROM patients WHERE user_id = @user_id;

-- PatientsOf reads some of the patients of a user.
-- name: PatientsOf :many
SELECT id, user_id, sex, birth_date, age_value, age_unit, dependent, created_at
FROM patients
WHERE user_id = @user_id
ORDER BY position
LIMIT @at_most::bigint OFFSET @skipped::bigint;

-- UpdatePatient changes a patient.
-- name: UpdatePatient :exec
UPDATE patients
SET sex = @sex, birth_date = @birth_date, age_value = @age_value, age_unit = @age_unit, dependent = @dependent
WHERE id = @id;

-- DeletePatient erases a patient.
-- name: DeletePatient :execrows
DELETE FROM patients WHERE id = @id;

-- InsertAudit keeps a record of the audit.
-- name: InsertAudit :exec
INSERT INTO audit (at, application, user_id, action, resource, resource_id)
VALUES (@at, @application, @user_id, @action, @resource, @resource_id);

-- CountAudit counts the records that a filter picks.
-- name: CountAudit :one
SELECT count(*) FROM audit
WHERE at >= @first::timestamptz AND at < @before::timestamptz
    AND (@application::text = '' OR application = @application::text)
    AND (@user_id::text = '' OR user_id = @user_id::text)
    AND (@action::text = '' OR action = @action::text)
    AND (@resource::text = '' OR resource = @resource::text)
    AND (@resource_id::text = '' OR resource_id = @resource_id::text);

-- Audit reads some of the records that a filter picks, the latest first.
-- name: Audit :many
SELECT at, application, user_id, action, resource, resource_id FROM audit
WHERE at >= @first::timestamptz AND at < @before::timestamptz
    AND (@application::text = '' OR application = @application::text)
    AND (@user_id::text = '' OR user_id = @user_id::text)
    AND (@action::text = '' OR action = @action::text)
    AND (@resource::text = '' OR resource = @resource::text)
    AND (@resource_id::text = '' OR resource_id = @resource_id::text)
ORDER BY position DESC
LIMIT @at_most::bigint OFFSET @skipped::bigint;

-- AuditOfUser reads what is recorded of acts by a user, and on the user and the
-- patients and their surveys, the latest first.
-- name: AuditOfUser :many
SELECT at, application, audit.user_id, action, resource, resource_id FROM audit
WHERE audit.user_id = @id OR resource_id = @id OR resource_id IN (SELECT id FROM patients WHERE patients.user_id = @id)
    OR resource_id IN (SELECT surveys.id FROM surveys JOIN patients ON patients.id = surveys.patient_id WHERE patients.user_id = @id)
ORDER BY position DESC
LIMIT @at_most::bigint;

-- InsertState keeps an empty state of a name that has none.
-- name: InsertState :exec
INSERT INTO sign_in_states (name, user_id, state) VALUES (@name, @user_id, '')
ON CONFLICT (name) DO NOTHING;

-- State reads the state of a name and locks its row until the transaction ends.
-- name: State :one
SELECT state FROM sign_in_states WHERE name = @name FOR UPDATE;

-- UpdateState changes the state of a name.
-- name: UpdateState :exec
UPDATE sign_in_states SET state = @state WHERE name = @name;

-- InsertMagicCode keeps a code.
-- name: InsertMagicCode :exec
INSERT INTO magic_codes (hash, user_id, survey_id, expires_at)
VALUES (@hash, @user_id, @survey_id, @expires_at);

-- MagicCode reads what a code is good for.
-- name: MagicCode :one
SELECT user_id, survey_id, expires_at FROM magic_codes WHERE hash = @hash;

-- DeleteMagicCodes forgets codes that expired before an instant.
-- name: DeleteMagicCodes :exec
DELETE FROM magic_codes WHERE expires_at < @before;

-- Mark reads the UID of the Instance whose data it is.
-- name: Mark :one
SELECT uid FROM owner;

-- PutMark marks the database as an Instance's.
-- name: PutMark :exec
INSERT INTO owner (one, uid) VALUES (true, @uid)
ON CONFLICT (one) DO UPDATE SET uid = excluded.uid;

-- InsertSurvey keeps a new survey.
-- name: InsertSurvey :exec
INSERT INTO surveys (id, patient_id, status, version, document)
VALUES (@id, @patient_id, @status, @version, @document);

-- Survey reads a survey.
-- name: Survey :one
SELECT document FROM surveys WHERE id = @id;

-- SurveyWithSteps reads a survey and its steps in one statement, because a second
-- statement could see later writes than the first.
-- name: SurveyWithSteps :one
SELECT document, ARRAY(SELECT step FROM survey_steps WHERE survey_id = surveys.id ORDER BY number)::text[] AS steps
FROM surveys WHERE id = @id;

-- UpdateSurvey puts a survey in the place of the version before it.
-- name: UpdateSurvey :execrows
UPDATE surveys SET status = @status, version = @version, document = @document
WHERE id = @id AND version = @version_before;

-- DeleteSurvey erases a survey, with its steps, its result and the codes that lead to it.
-- name: DeleteSurvey :execrows
DELETE FROM surveys WHERE id = @id;

-- SurveyCounts counts the surveys of a status, or all, in each block of positions.
-- name: SurveyCounts :many
SELECT block, sum(count)::bigint AS total FROM survey_counts
WHERE (@status::text = '' OR status = @status::text)
GROUP BY block
ORDER BY block;

-- SurveysFrom reads surveys from a position on.
-- name: SurveysFrom :many
SELECT document FROM surveys
WHERE position >= @position::bigint
ORDER BY position
LIMIT @at_most::bigint OFFSET @skipped::bigint;

-- SurveysByStatusFrom reads surveys of a status from a position on.
-- name: SurveysByStatusFrom :many
SELECT document FROM surveys
WHERE status = @status AND position >= @position::bigint
ORDER BY position
LIMIT @at_most::bigint OFFSET @skipped::bigint;

-- CountSurveysOfPatient counts a patient's surveys of a status, or all.
-- name: CountSurveysOfPatient :one
SELECT count(*) FROM surveys
WHERE patient_id = @patient_id AND (@status::text = '' OR status = @status::text);

-- SurveysOfPatient reads a patient's surveys of a status, or all.
-- name: SurveysOfPatient :many
SELECT document FROM surveys
WHERE patient_id = @patient_id AND (@status::text = '' OR status = @status::text)
ORDER BY position
LIMIT @at_most::bigint OFFSET @skipped::bigint;

-- CountSurveysOfUser counts the surveys of a user's patients, of a status, or all.
-- name: CountSurveysOfUser :one
SELECT count(*) FROM surveys
WHERE patient_id IN (SELECT id FROM patients WHERE user_id = @user_id) AND (@status::text = '' OR status = @status::text);

-- SurveysOfUser reads surveys of a user's patients, of a status, or all.
-- name: SurveysOfUser :many
SELECT document FROM surveys
WHERE patient_id IN (SELECT id FROM patients WHERE user_id = @user_id) AND (@status::text = '' OR status = @status::text)
ORDER BY position
LIMIT @at_most::bigint OFFSET @skipped::bigint;

-- LastCompletedSurvey reads the latest completed survey of a patient.
-- name: LastCompletedSurvey :one
SELECT document FROM surveys
WHERE patient_id = @patient_id AND status = 'completed'
ORDER BY position DESC
LIMIT 1;

-- Steps reads the steps of a survey.
-- name: Steps :many
SELECT step FROM survey_steps WHERE survey_id = @survey_id ORDER BY number;

-- PutStep keeps a step, in the place of the one with its number, if any.
-- name: PutStep :exec
INSERT INTO survey_steps (survey_id, number, step) VALUES (@survey_id, @number, @step)
ON CONFLICT (survey_id, number) DO UPDATE SET step = excluded.step;

-- DeleteSteps erases the steps of a survey from a number on.
-- name: DeleteSteps :exec
DELETE FROM survey_steps WHERE survey_id = @survey_id AND number >= @number;

-- PutResult keeps what a survey came to.
-- name: PutResult :exec
INSERT INTO survey_results (survey_id, result) VALUES (@survey_id, @result)
ON CONFLICT (survey_id) DO UPDATE SET result = excluded.result;

-- Result reads what a survey came to.
-- name: Result :one
SELECT result FROM survey_results WHERE survey_id = @survey_id;

-- InsertWebhook keeps a new configuration.
-- name: InsertWebhook :exec
INSERT INTO webhooks (id, document, secrets, generation) VALUES (@id, @document, @secrets, @generation);

-- Webhook reads a configuration.
-- name: Webhook :one
SELECT id, document, secrets, generation, disabled, failures, closed_until FROM webhooks WHERE id = @id;

-- LockWebhook reads a configuration and locks its row until the transaction ends.
-- name: LockWebhook :one
SELECT id, document, secrets, generation, disabled, failures, closed_until FROM webhooks WHERE id = @id FOR UPDATE;

-- Webhooks reads all configurations.
-- name: Webhooks :many
SELECT id, document, secrets, generation, disabled, failures, closed_until FROM webhooks ORDER BY position;

-- UpdateWebhook changes a configuration.
-- name: UpdateWebhook :exec
UPDATE webhooks SET document = @document, secrets = @secrets, generation = @generation WHERE id = @id;

-- UpdateWebhookHealth notes how deliveries went.
-- name: UpdateWebhookHealth :exec
UPDATE webhooks SET disabled = @disabled, failures = @failures, closed_until = @closed_until WHERE id = @id;

-- DeleteWebhook erases a configuration, with its attempts.
-- name: DeleteWebhook :execrows
DELETE FROM webhooks WHERE id = @id;

-- CountWebhookAttempts returns the number of stored attempts of a configuration.
-- name: CountWebhookAttempts :one
SELECT attempts FROM webhooks WHERE id = @id;

-- AddWebhookAttempts changes how many attempts of a configuration are kept.
-- name: AddWebhookAttempts :execrows
UPDATE webhooks SET attempts = attempts + @added WHERE id = @id;

-- WebhookAttempt reads an attempt.
-- name: WebhookAttempt :one
SELECT id, webhook_id, at, document FROM webhook_attempts WHERE id = @id AND webhook_id = @webhook_id;

-- WebhookAttempts reads attempts of a configuration, the latest first.
-- name: WebhookAttempts :many
SELECT id, webhook_id, at, document FROM webhook_attempts WHERE webhook_id = @webhook_id
ORDER BY position DESC
LIMIT @at_most::bigint OFFSET @skipped::bigint;

-- OldWebhookAttempts says whose attempts are from before an instant.
-- name: OldWebhookAttempts :many
SELECT id, webhook_id FROM webhook_attempts WHERE at < @before ORDER BY at LIMIT @at_most::bigint;

-- DeleteWebhookAttempt erases an attempt.
-- name: DeleteWebhookAttempt :execrows
DELETE FROM webhook_attempts WHERE id = @id;

-- PutNotification notes when a notification of a survey falls due.
-- name: PutNotification :exec
INSERT INTO survey_notifications (survey_id, at) VALUES (@survey_id, @at)
ON CONFLICT (survey_id) DO UPDATE SET at = excluded.at;

-- DeleteNotification forgets when a notification of a survey falls due.
-- name: DeleteNotification :exec
DELETE FROM survey_notifications WHERE survey_id = @survey_id;

-- TakeNotification forgets a notification that falls due at a time.
-- name: TakeNotification :execrows
DELETE FROM survey_notifications WHERE survey_id = @survey_id AND at = @at;

-- InsertWebhookAttempts keeps attempts.
-- name: InsertWebhookAttempts :exec
INSERT INTO webhook_attempts (id, webhook_id, at, document)
SELECT unnest(@ids::text[]), unnest(@webhook_ids::text[]), unnest(@times::timestamptz[]), unnest(@documents::text[]);

-- Waiting returns the pending jobs of each queue of the outbox.
-- name: Waiting :many
SELECT queue, count(*) AS jobs, count(*) FILTER (WHERE state = 'running') AS running,
    coalesce(min(scheduled_at) FILTER (WHERE state <> 'running'), 'epoch')::timestamptz AS next
FROM river_job WHERE state IN ('available', 'pending', 'retryable', 'running', 'scheduled')
GROUP BY queue ORDER BY queue;
