// SPDX-License-Identifier: Apache-2.0

package guidance_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
)

const webhooksPath = "/api/mgp/v1/config/webhook"

var secretPattern = regexp.MustCompile(`whsec_[A-Za-z0-9+/]{43}=`)

// maskSecrets replaces secrets, to make responses comparable.
func maskSecrets(text string) string {
	return secretPattern.ReplaceAllString(maskIDs(text), "<secret>")
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	r := newUsersClient(t)
	const both = `"subscribed_events":["survey_finished","notification"]`
	path := webhooksPath + "/" + r.create(webhooksPath, `{"url": "https://one.example/events", "authorization_token": "t1", "unknown": 1}`)
	strange := webhooksPath + "/" + uuid.NewString()
	const missing = `{"detail":"resource not found"}`
	for _, step := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", webhooksPath, `{"url": "https://two.example", "authorization_token": "t2", "subscribed_events": ["notification", "notification"], "reference": "r"}`, 201,
			`{"authorization_token":"t2","id":"<id>","reference":"r","signing_secret":"<secret>","status":"active","subscribed_events":["notification"],"url":"https://two.example"}`},
		{"POST", webhooksPath, `{"url": "https://three.example", "authorization_token": "t3", "subscribed_events": [], "reference": null}`, 201,
			`{"authorization_token":"t3","id":"<id>","reference":null,"signing_secret":"<secret>","status":"active","subscribed_events":[],"url":"https://three.example"}`},
		{"GET", path, "", 200, `{"id":"<id>","reference":null,"status":"active",` + both + `,"url":"https://one.example/events"}`},
		{"GET", webhooksPath, "", 200, `[{"id":"<id>","reference":null,"status":"active",` + both + `,"url":"https://one.example/events"},` +
			`{"id":"<id>","reference":"r","status":"active","subscribed_events":["notification"],"url":"https://two.example"},` +
			`{"id":"<id>","reference":null,"status":"active","subscribed_events":[],"url":"https://three.example"}]`},
		{"PATCH", path, `{"url": "https://four.example", "subscribed_events": ["survey_finished"], "reference": "new"}`, 200,
			`{"id":"<id>","reference":"new","status":"active","subscribed_events":["survey_finished"],"url":"https://four.example"}`},
		{"PATCH", path, `{"authorization_token": "t4", "subscribed_events": null}`, 200,
			`{"authorization_token":"t4","id":"<id>","reference":"new","status":"active","subscribed_events":["survey_finished"],"url":"https://four.example"}`},
		{"PATCH", path, `{"reference": null}`, 200, `{"id":"<id>","reference":null,"status":"active","subscribed_events":["survey_finished"],"url":"https://four.example"}`},
		{"POST", path + "/rotate_secret", "", 200,
			`{"id":"<id>","reference":null,"signing_secret":"<secret>","status":"active","subscribed_events":["survey_finished"],"url":"https://four.example"}`},
		{"POST", path + "/test", "", 202, `{"webhook_id":"<id>"}`},
		{"DELETE", path, "", 200, `{"id":"<id>","reference":null,"status":"active","subscribed_events":["survey_finished"],"url":"https://four.example"}`},
		{"DELETE", path, "", 404, missing},
		{"GET", strange, "", 404, missing},
		{"GET", webhooksPath + "/%00", "", 404, missing},
		{"PATCH", strange, `{}`, 404, missing},
		{"DELETE", webhooksPath + "/x", "", 404, missing},
		{"POST", strange + "/rotate_secret", "", 404, missing},
		{"POST", strange + "/test", "", 404, missing},
		{"GET", strange + "/deliveries", "", 404, missing},
		{"POST", strange + "/deliveries/" + uuid.NewString() + "/replay", "", 404, missing},
		{"POST", strange + "/deliveries/x/replay", "", 404, missing},
	} {
		if diff := cmp.Diff(step.want, maskSecrets(r.send(step.method, step.path, step.body, step.status))); diff != "" {
			t.Errorf("%s %s %s (-want +got):\n%s", step.method, step.path, step.body, diff)
		}
	}
}

func TestWebhooksValidation(t *testing.T) {
	t.Parallel()
	r := newUsersClient(t)
	path := webhooksPath + "/" + r.create(webhooksPath, `{"url": "https://one.example", "authorization_token": "t"}`)
	for body, fields := range map[string][]string{
		`{}`: {"url", "authorization_token"},
		`{"url": null, "authorization_token": ""}`:                                                                                                {"url", "authorization_token"},
		`{"url": "http://one.example", "authorization_token": "t"}`:                                                                               {"url"},
		`{"url": "ftp://one.example", "authorization_token": "t"}`:                                                                                {"url"},
		`{"url": "https://u:p@one.example", "authorization_token": "t"}`:                                                                          {"url"},
		`{"url": "https://one.example/#a", "authorization_token": "t"}`:                                                                           {"url"},
		`{"url": "https://one.example/#", "authorization_token": "t"}`:                                                                            {"url"},
		`{"url": "https://:8443/", "authorization_token": "t"}`:                                                                                   {"url"},
		`{"url": "https://one.example:0", "authorization_token": "t"}`:                                                                            {"url"},
		`{"url": "https://one.example:99999", "authorization_token": "t"}`:                                                                        {"url"},
		`{"url": "one.example", "authorization_token": "t"}`:                                                                                      {"url"},
		`{"url": "https://one.example/` + strings.Repeat("x", 2048) + `", "authorization_token": "t"}`:                                            {"url"},
		`{"url": "https://one.example", "authorization_token": "two words"}`:                                                                      {"authorization_token"},
		`{"url": "https://one.example", "authorization_token": "` + strings.Repeat("t", 513) + `"}`:                                               {"authorization_token"},
		`{"url": "https://one.example", "authorization_token": "é"}`:                                                                              {"authorization_token"},
		`{"url": "https://one.example", "authorization_token": "t", "subscribed_events": ["ping"]}`:                                               {"subscribed_events[0]"},
		`{"url": "https://one.example", "authorization_token": "t", "reference": "two words"}`:                                                    {"reference"},
		`{"url": "https://one.example", "authorization_token": "t", "subscribed_events": "notification"}`:                                         {"subscribed_events"},
		`{"url": 1, "authorization_token": "t"}`:                                                                                                  {"url"},
		`{"url": "https://one.example", "authorization_token": "t", "subscribed_events": ["x"], "reference": "` + strings.Repeat("r", 129) + `"}`: {"reference", "subscribed_events[0]"},
	} {
		answered := decode[struct {
			Errors []struct{ Field, Message string }
		}](t, r.send("POST", webhooksPath, body, 422))
		var got []string
		for _, fieldErr := range answered.Errors {
			got = append(got, fieldErr.Field)
			if strings.Contains(fieldErr.Message, "u:p") {
				t.Errorf("%s: message %q reveals a password", body, fieldErr.Message)
			}
		}
		if diff := cmp.Diff(fields, got); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
	r.send("PATCH", path, `{"authorization_token": ""}`, 422)
	r.send("PATCH", path, `{"url": ""}`, 422)
}

func TestDevelopmentAllowsHTTPWebhooks(t *testing.T) {
	t.Parallel()
	r := newUsersClient(t, func(o *guidance.Options) { o.AllowHTTPReceivers = true })
	r.create(webhooksPath, `{"url": "http://127.0.0.1:9000/events", "authorization_token": "t"}`)
}

func TestWebhookLimit(t *testing.T) {
	t.Parallel()
	r := newUsersClient(t)
	const body = `{"url": "https://one.example", "authorization_token": "t"}`
	for range 50 {
		r.create(webhooksPath, body)
	}
	r.send("POST", webhooksPath, body, http.StatusConflict)
}

// TestDeliveriesAndReplay checks that deliveries are listed newest first and can be replayed.
func TestDeliveriesAndReplay(t *testing.T) {
	t.Parallel()
	r := newUsersClient(t)
	webhook := decode[struct{ ID string }](t, r.send("POST", webhooksPath, `{"url": "https://one.example", "authorization_token": "t"}`, 201)).ID
	finished := event.NewSurveyFinished(uuid.NewString(), uuid.NewString())
	failed := event.Attempt{ID: uuid.NewString(), WebhookID: webhook, At: testNow, Event: finished, Number: 1, Error: "receiver refused the connection", NextAttemptAt: testNow.Add(time.Minute)}
	delivered := event.Attempt{ID: uuid.NewString(), WebhookID: webhook, At: testNow.Add(time.Minute), Event: finished, Number: 2, StatusCode: 204}
	err := r.store.Transact(t.Context(), func(tx storage.Tx) error {
		return tx.InsertWebhookAttempts(t.Context(), []event.Attempt{failed, delivered})
	})
	if err != nil {
		t.Fatal(err)
	}
	path := webhooksPath + "/" + webhook + "/deliveries"
	page := decode[struct {
		Items []json.RawMessage
		Last  string
	}](t, r.send("GET", path+"?limit=1", "", 200))
	const encoded = `{"attempt":2,"attempted_at":"2026-11-21T09:31:00Z","error":null,"event_type":"survey_finished","id":"<id>","next_attempt_at":null,"status_code":204,"webhook_id":"<id>"}`
	if len(page.Items) != 1 || !strings.HasSuffix(page.Last, "?cursor=1&limit=1") {
		t.Fatalf("got page %+v", page)
	}
	if diff := cmp.Diff(encoded, maskIDs(string(page.Items[0]))); diff != "" {
		t.Errorf("the latest attempt (-want +got):\n%s", diff)
	}
	if again := r.send("POST", path+"/"+failed.ID+"/replay", "", 202); !strings.Contains(again, finished.ID) {
		t.Errorf("replayed event is %s, want %s", again, finished.ID)
	}
	r.send("POST", path+"/"+uuid.NewString()+"/replay", "", 404)
	waiting, err := r.store.QueueStats(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].ReceiverID() != webhook || waiting[0].Jobs != 1 {
		t.Errorf("got outbox %+v, %v; want one delivery", waiting, err)
	}
	err = r.store.Transact(t.Context(), func(tx storage.Tx) error {
		return tx.UpdateWebhookHealth(t.Context(), webhook, event.ReceiverHealth{Disabled: true})
	})
	if err != nil {
		t.Fatal(err)
	}
	r.send("POST", path+"/"+failed.ID+"/replay", "", http.StatusConflict)
	r.send("POST", webhooksPath+"/"+webhook+"/test", "", http.StatusConflict)
	if disabled := r.send("GET", webhooksPath+"/"+webhook, "", 200); !strings.Contains(disabled, `"status":"disabled"`) {
		t.Errorf("after 410: got webhook %s", disabled)
	}
	if enabled := r.send("PATCH", webhooksPath+"/"+webhook, `{"url": "https://two.example"}`, 200); !strings.Contains(enabled, `"status":"active"`) {
		t.Errorf("after changing the URL: got webhook %s", enabled)
	}
}

// TestWebhookChangesAreAudited checks that changes to webhooks are audited, but reads are
// not.
func TestWebhookChangesAreAudited(t *testing.T) {
	t.Parallel()
	r := newUsersClient(t)
	path := webhooksPath + "/" + r.create(webhooksPath, `{"url": "https://one.example", "authorization_token": "t"}`)
	r.send("GET", webhooksPath, "", 200)
	r.send("GET", path, "", 200)
	r.send("PATCH", path, `{"url": "http://no.example"}`, 422) // not recorded
	r.send("PATCH", path, `{}`, 200)
	r.send("POST", path+"/rotate_secret", "", 200)
	r.send("POST", path+"/test", "", 202)
	r.send("GET", path+"/deliveries", "", 200)
	r.send("DELETE", path, "", 200)
	page := decode[struct {
		Items []struct{ Action, Resource string }
	}](t, r.send("GET", auditPath+"?resource="+string(audit.WebhookConfiguration)+"&limit=50", "", 200))
	var got []string
	for _, record := range page.Items {
		got = append(got, record.Action)
	}
	slices.Reverse(got)
	if diff := cmp.Diff([]string{"create", "change", "change", "change", "delete"}, got); diff != "" {
		t.Errorf("audit records (-want +got):\n%s", diff)
	}
}

// TestWebhookSecretsAreNotLeaked checks that tokens and signing secrets are neither logged
// nor returned a second time.
func TestWebhookSecretsAreNotLeaked(t *testing.T) {
	t.Parallel()
	r := newUsersClient(t)
	created := decode[struct {
		ID, AuthorizationToken, SigningSecret string
	}](t, strings.ReplaceAll(strings.ReplaceAll(r.send("POST", webhooksPath, `{"url": "https://one.example", "authorization_token": "the-token"}`, 201), "_t", "T"), "_s", "S"))
	path := webhooksPath + "/" + created.ID
	for _, text := range []string{r.send("GET", path, "", 200), r.send("GET", webhooksPath, "", 200), r.send("PATCH", path, `{}`, 200), r.send("POST", path+"/rotate_secret", "", 200), r.log.String()} {
		if strings.Contains(text, "the-token") || strings.Contains(text, created.SigningSecret) {
			t.Errorf("%s reveals a secret", text)
		}
	}
	err := r.store.Transact(t.Context(), func(tx storage.Tx) error {
		kept, err := tx.GetWebhook(t.Context(), created.ID)
		if strings.Contains(string(kept.EncryptedSecrets), "the-token") {
			t.Error("token is stored in plaintext")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOperationsAcceptMissingBody checks that operations without a request body accept
// requests without one.
func TestOperationsAcceptMissingBody(t *testing.T) {
	t.Parallel()
	checked, err := parsedContract()
	if err != nil {
		t.Fatal(err)
	}
	r := newUsersClient(t)
	tried := 0
	for operation, statuses := range checked.Operations() {
		path, posts := strings.CutPrefix(operation, "POST ")
		if !posts || slices.Contains(statuses, http.StatusRequestEntityTooLarge) {
			continue
		}
		tried++
		path = strings.NewReplacer("{webhook_id}", uuid.NewString(), "{delivery_id}", uuid.NewString()).Replace(path)
		if response, text := r.call("POST", path, "", "Authorization", r.bearer); response.StatusCode != http.StatusNotFound {
			t.Errorf("POST %s without a body: got status %d: %s", path, response.StatusCode, text)
		}
	}
	if tried != 3 {
		t.Errorf("got %d operations without a body, want 3", tried)
	}
}
