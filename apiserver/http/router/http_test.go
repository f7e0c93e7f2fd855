// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/notify"
)

// endpoints lists every endpoint, each with a request that succeeds and the route that it
// matches.
var endpoints = []struct {
	testCall
	route string
}{
	{post("/v3/diagnosis", interviewBody("s_1 present initial")), "POST /v3/diagnosis"},
	{post("/v3/triage", interviewBody("s_1 present initial")), "POST /v3/triage"},
	{post("/v3/recommend_specialist", interviewBody("s_1 present initial")), "POST /v3/recommend_specialist"},
	{post("/v3/explain", explainBody("c_4", "s_1 present initial")), "POST /v3/explain"},
	{post("/v3/rationale", interviewBody("s_1 present initial")), "POST /v3/rationale"},
	{post("/v3/suggest", interviewBody("s_1 present initial")), "POST /v3/suggest"},
	{post("/v3/red_flags", interviewBody("s_1 present initial")), "POST /v3/red_flags"},
	{post("/v3/parse", parseRequestBody("headache")), "POST /v3/parse"},
	{get("/v3/info"), "GET /v3/info"},
	{get("/v3/search?phrase=headache&age.value=30"), "GET /v3/search"},
	{get("/v3/concepts"), "GET /v3/concepts"},
	{get("/v3/concepts/s_1"), "GET /v3/concepts/{id}"},
	{get("/v3/conditions?age.value=30"), "GET /v3/conditions"},
	{get("/v3/conditions/c_1?age.value=30"), "GET /v3/conditions/{id}"},
	{get("/v3/symptoms?age.value=30"), "GET /v3/symptoms"},
	{get("/v3/symptoms/s_1?age.value=30"), "GET /v3/symptoms/{id}"},
	{get("/v3/risk_factors?age.value=30"), "GET /v3/risk_factors"},
	{get("/v3/risk_factors/p_7?age.value=30"), "GET /v3/risk_factors/{id}"},
	{get("/v3/lab_tests?age.value=30"), "GET /v3/lab_tests"},
	{get("/v3/lab_tests/lab_1?age.value=30"), "GET /v3/lab_tests/{id}"},
	{getArticle("c_1", ""), "GET /v3/patient_education/{condition_id}"},
	{postFeedback(feedbackBody), "POST /v3/interviews/feedback"},
}

func TestAllEndpointsSucceed(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, endpoint := range endpoints {
		got := r.do(t, endpoint.testCall)
		if got.status != http.StatusOK || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: got status %d %s", endpoint.route, got.status, got.header.Get("Content-Type"))
		}
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	const refusal = "App-Id or App-Key is missing or wrong"
	for _, endpoint := range endpoints {
		for name, header := range map[string]map[string]string{
			"no id":            {"App-Id": ""},
			"no key":           {"App-Key": ""},
			"neither":          {"App-Id": "", "App-Key": ""},
			"unknown id":       {"App-Id": "unknown"},
			"wrong key":        {"App-Key": "portal-kez"},
			"longer key":       {"App-Key": "portal-key1"},
			"another's key":    {"App-Key": "kiosk-key"},
			"id in capitals":   {"App-Id": "PORTAL"},
			"checked first":    {"App-Key": "wrong", "Model": "nonsense", "Content-Type": "text/plain", "Interview-Id": "ä"},
			"in dev mode also": {"App-Key": "wrong", "Dev-Mode": "true"},
		} {
			t.Run(endpoint.route+" "+name, func(t *testing.T) {
				expectError(t, r.do(t, endpoint.withHeader(header)), http.StatusForbidden, refusal)
			})
		}
	}
	if counted := r.usage.all(); len(counted) != 0 {
		t.Errorf("rejected calls were counted: %v", counted)
	}
}

// TestScopes checks that a missing scope denies access regardless of other scopes.
func TestScopes(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, endpoint := range endpoints {
		got := r.do(t, endpoint.withHeader(map[string]string{"App-Id": "survey", "App-Key": "survey-key", "Model": "nonsense"}))
		expectError(t, got, http.StatusForbidden, "the application lacks the scope knowledge:read")
	}
}

func TestModelHeader(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, endpoint := range endpoints {
		for _, unknown := range []string{"service-xx", "service-fr", "nonsense", "infermedica-xx", "Service-en"} {
			expectError(t, r.do(t, endpoint.withHeader(map[string]string{"Model": unknown})), 400, "service-en, service-de")
		}
	}
	long := r.do(t, get("/v3/info").withHeader(map[string]string{"Model": strings.Repeat("x", 10000)}))
	expectError(t, long, 400, strings.Repeat("x", 64)+"…")
	diagnosis := post("/v3/diagnosis", interviewBody("s_1 present initial"))
	for model, label := range map[string]string{
		"": "Yes", "service-en": "Yes", "infermedica-en": "Yes", "service-de": "Ja", "infermedica-de": "Ja",
	} {
		got := r.do(t, diagnosis.withHeader(map[string]string{"Model": model}))
		if got.status != 200 || !strings.Contains(got.body, fmt.Sprintf(`"label":%q`, label)) {
			t.Errorf("%q: got status %d %s, expected the label %s", model, got.status, got.body, label)
		}
	}
}

func TestInterviewID(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, endpoint := range endpoints {
		for _, good := range []string{"d8b7a2f0-5a3c-4f0e-9d51-7f0a5b6c7d8e", strings.Repeat("~", 128), "!"} {
			if got := r.do(t, endpoint.withHeader(map[string]string{"Interview-Id": good})); got.status != 200 {
				t.Errorf("%s with %q: got status %d", endpoint.route, good, got.status)
			}
		}
		for _, bad := range []string{strings.Repeat("x", 129), "two words", "ä"} {
			got := r.do(t, endpoint.withHeader(map[string]string{"Interview-Id": bad}))
			expectError(t, got, 400, "Interview-Id: expected at most 128 visible ASCII characters")
		}
	}
}

func TestContentType(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, endpoint := range endpoints {
		for contentType, want := range map[string]int{
			"application/json":                           200,
			"application/json; charset=utf-8":            200,
			"Application/JSON;charset=UTF-8;x=\"a b\"":   200,
			"application/json; charset":                  200,
			"":                                           400,
			"text/plain":                                 400,
			"text/plain; a=application/json":             400,
			"application/x-www-form-urlencoded":          400,
			"application/json5":                          400,
			"application/problem+json":                   400,
			"application/json, text/plain":               400,
			"multipart/form-data; boundary=application/": 400,
		} {
			if endpoint.method == http.MethodGet {
				want = 200
			}
			got := r.do(t, endpoint.withHeader(map[string]string{"Content-Type": contentType}))
			if got.status != want {
				t.Errorf("%s with %q: got status %d, expected %d", endpoint.route, contentType, got.status, want)
			}
			if want == 400 {
				expectError(t, got, 400, "Content-Type: expected application/json, got ")
			}
		}
	}
}

func TestBodySize(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	const limit = 1 << 20
	body := interviewBody("s_1 present initial")
	padded := func(size int) string { return body + strings.Repeat(" ", size-len(body)) }
	for _, path := range []string{"/v3/diagnosis", "/v3/triage"} {
		if got := r.do(t, post(path, padded(limit))); got.status != 200 {
			t.Errorf("%s: 1 MiB answered %d: %s", path, got.status, got.body)
		}
		for _, size := range []int{limit + 1, 2 * limit} {
			expectError(t, r.do(t, post(path, padded(size))), http.StatusRequestEntityTooLarge, "at most 1 MiB")
		}
		expectError(t, r.do(t, post(path, strings.Repeat("x", 2*limit))), http.StatusRequestEntityTooLarge, "at most 1 MiB")
		if got := r.do(t, post(path, body)); got.status != 200 {
			t.Errorf("%s: the next call answered %d", path, got.status)
		}
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, path := range []string{
		"/v3", "/v3/", "/v3/nothing", "/v3/conditions/", "/v3/conditions/c_1/x", "/v3/diagnosis/", "/V3/info",
		"/v2/info", "/v3//info", "/v3/info/../info", "/metrics", "/debug/pprof/", "/livez",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			t.Run(method+" "+path, func(t *testing.T) {
				expectError(t, r.do(t, testCall{method: method, path: path}), http.StatusNotFound, "no endpoint at this path")
			})
		}
	}
}

func TestPagePaths(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for path, want := range map[string]int{
		"/": http.StatusAccepted, "/survey": http.StatusAccepted, "/survey/x/questions/1": http.StatusAccepted, "/surveys": http.StatusNotFound,
	} {
		if got := r.doWith(t, r.http1Client, get(path)); got.status != want {
			t.Errorf("%s: got status %d, want %d", path, got.status, want)
		}
	}
}

func TestGuidancePaths(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for path, want := range map[string]int{
		"/api/auth/token": http.StatusTeapot, "/api/": http.StatusTeapot, "/.well-known/jwks.json": http.StatusTeapot,
		"/api": http.StatusNotFound, "/apis/x": http.StatusNotFound, "/v3/api/x": http.StatusNotFound,
	} {
		got := r.doWith(t, r.http1Client, get(path))
		if got.status != want || got.header.Get("X-Request-Id") == "" {
			t.Errorf("%s: got status %d %v, expected %d", path, got.status, got.header, want)
		}
	}
}

func TestMethodNotAllowed(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, endpoint := range endpoints {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			if method == endpoint.method {
				continue
			}
			got := r.do(t, testCall{method: method, path: endpoint.path, body: endpoint.body})
			expectError(t, got, http.StatusMethodNotAllowed, "method not allowed; use "+endpoint.method)
			if allow := got.header.Get("Allow"); allow != endpoint.method {
				t.Errorf("%s %s allows %q, expected %s", method, endpoint.path, allow, endpoint.method)
			}
		}
		invented := r.doWith(t, r.http1Client, testCall{method: "INVENTED", path: endpoint.path})
		expectError(t, invented, http.StatusMethodNotAllowed, "method not allowed; use "+endpoint.method)
		if head := r.doWith(t, r.http1Client, testCall{method: "HEAD", path: endpoint.path}); head.status != 405 || head.header.Get("Allow") != endpoint.method {
			t.Errorf("HEAD %s: got status %d, allowing %q", endpoint.path, head.status, head.header.Get("Allow"))
		}
	}
}

// Unknown paths allow no method.
func TestUnknownMethodOnUnknownPath(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	got := r.doWith(t, r.http1Client, testCall{method: "INVENTED", path: "/v3/nothing"})
	expectError(t, got, http.StatusNotFound, "no endpoint at this path")
	if allow, ok := got.header["Allow"]; ok {
		t.Errorf("allows %q", allow)
	}
}

// TestResponsesAreNotCacheable checks that neither shared browsers nor proxies cache
// responses.
func TestResponsesAreNotCacheable(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, endpoint := range endpoints {
		if got := r.do(t, endpoint.testCall).header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: Cache-Control is %q", endpoint.route, got)
		}
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for _, c := range []testCall{
		get("/v3/info"), get("/v3/nothing"), get("/v3/diagnosis"), post("/v3/diagnosis", "x"), get("/v3/concepts/s_99"),
		get("/v3/info").withHeader(map[string]string{"App-Key": "wrong"}),
	} {
		c.header = withHeaderValue(c.header, "X-Request-Id", "")
		first, second := r.do(t, c).header.Get("X-Request-Id"), r.do(t, c).header.Get("X-Request-Id")
		if !uuid.MatchString(first) || first == second {
			t.Errorf("%s %s got the ids %q and %q, expected two UUIDs", c.method, c.path, first, second)
		}
		for _, own := range []string{"mine", strings.Repeat("x", 128), "!~"} {
			c.header = withHeaderValue(c.header, "X-Request-Id", own)
			if got := r.do(t, c).header.Get("X-Request-Id"); got != own {
				t.Errorf("%s %s got the id %q, expected its own %q", c.method, c.path, got, own)
			}
		}
		for _, bad := range []string{strings.Repeat("x", 129), "two words", "ä"} {
			c.header = withHeaderValue(c.header, "X-Request-Id", bad)
			if got := r.do(t, c).header.Get("X-Request-Id"); !uuid.MatchString(got) {
				t.Errorf("%s %s got the id %q for %q, expected a UUID", c.method, c.path, got, bad)
			}
		}
	}
}

func withHeaderValue(header map[string]string, name, value string) map[string]string {
	result := map[string]string{name: value}
	for n, v := range header {
		if n != name {
			result[n] = v
		}
	}
	return result
}

// preflight sends a CORS preflight request.
func preflight(t *testing.T, r *testServer, path, origin, method, headers string) testResponse {
	t.Helper()
	return r.doWith(t, r.http1Client, testCall{method: "OPTIONS", path: path, header: map[string]string{
		"Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers,
		"App-Id": "", "App-Key": "", "Content-Type": "",
	}})
}

// TestPreflightFollowsContract checks that a preflight allows exactly the methods of the
// path.
func TestPreflightFollowsContract(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	portal := "https://portal.example"
	r.origin.Store(&portal)
	checked, err := parsedContract()
	if err != nil {
		t.Fatal(err)
	}
	callable := 0
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		for operation := range checked.Operations() {
			_, path, _ := strings.Cut(operation, " ")
			_, inContract := checked.Operations()[method+" "+path]
			got := preflight(t, r, strings.ReplaceAll(path, "{id}", "s_1"), portal, method, "app-id")
			if allowed := got.header.Get("Access-Control-Allow-Methods") == method; allowed != inContract {
				t.Errorf("%s %s: allowed %v, in the contract %v", method, path, allowed, inContract)
			} else if allowed {
				callable++
			}
		}
	}
	if callable < len(checked.Operations()) {
		t.Errorf("%d times a page may call, and there are %d operations", callable, len(checked.Operations()))
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	sendPreflight := func(origin, method, headers string) testResponse {
		return preflight(t, r, "/v3/diagnosis", origin, method, headers)
	}
	const portal = "https://portal.example"
	const headers = "app-id,app-key,authorization,content-type,dev-mode,instance-id,interview-id,interview-token,model"
	if got := sendPreflight(portal, "POST", headers); got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("unconfigured origin was allowed")
	}
	allowed := portal
	r.origin.Store(&allowed)
	got := sendPreflight(portal, "POST", headers)
	if got.status != 200 || got.header.Get("Access-Control-Allow-Origin") != portal ||
		got.header.Get("Access-Control-Allow-Methods") != "POST" || got.header.Get("X-Request-Id") == "" {
		t.Errorf("the preflight answered %d %v", got.status, got.header)
	}
	for name := range strings.SplitSeq(headers, ",") {
		if list := strings.ToLower(got.header.Get("Access-Control-Allow-Headers")); !slices.Contains(strings.Split(list, ", "), name) {
			t.Errorf("the preflight allows %q, without %s", list, name)
		}
	}
	for what, refused := range map[string]testResponse{
		"another origin": sendPreflight("https://evil.example", "POST", headers),
		"another method": sendPreflight(portal, "DELETE", headers),
		"another header": sendPreflight(portal, "POST", "x-secret"),
	} {
		if refused.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s is allowed: %v", what, refused.header)
		}
	}
	for _, c := range []testCall{get("/v3/info"), get("/v3/nothing"), get("/v3/info").withHeader(map[string]string{"App-Key": "x"})} {
		c.header = withHeaderValue(c.header, "Origin", portal)
		got := r.do(t, c)
		if got.header.Get("Access-Control-Allow-Origin") != portal || !strings.Contains(got.header.Get("Access-Control-Expose-Headers"), "X-Request-Id") {
			t.Errorf("%s: response is not readable for the page: %v", c.path, got.header)
		}
		c.header["Origin"] = "https://evil.example"
		if got := r.do(t, c); got.header.Get("Access-Control-Allow-Origin") != "" || got.header.Get("Vary") != "Origin" {
			t.Errorf("%s: response is readable for another origin: %v", c.path, got.header)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	want := map[string]int{}
	for _, endpoint := range endpoints {
		r.do(t, endpoint.testCall)
		r.do(t, endpoint.withHeader(map[string]string{"App-Id": "kiosk", "App-Key": "kiosk-key"}))
		r.do(t, endpoint.withHeader(map[string]string{"Dev-Mode": "false", "Model": "nonsense"})) // an invalid call counts too
		r.do(t, endpoint.withHeader(map[string]string{"Dev-Mode": "true"}))
		r.do(t, endpoint.withHeader(map[string]string{"Dev-Mode": "True"}))
		r.do(t, endpoint.withHeader(map[string]string{"App-Id": "kiosk", "App-Key": "kiosk-key", "Dev-Mode": "true"})) // lacks the permission
		r.do(t, endpoint.withHeader(map[string]string{"App-Id": "survey", "App-Key": "survey-key"}))
		want["portal "+endpoint.route] = 3
		want["kiosk "+endpoint.route] = 2
	}
	r.do(t, get("/v3/nothing"))
	r.do(t, testCall{method: "PUT", path: "/v3/info"})
	if diff := cmp.Diff(want, r.usage.all()); diff != "" {
		t.Errorf("counted calls (-want +got)\n%s", diff)
	}
}

func TestAccessLog(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	secret := "s_hush"
	r.do(t, post("/v3/diagnosis", interviewBody("s_1 present initial", secret+" present")).withHeader(map[string]string{
		"X-Request-Id": "first", "Interview-Id": "interview-hush",
	}))
	r.do(t, get("/v3/concepts/"+secret).withHeader(map[string]string{"X-Request-Id": "second", "App-Key": "wrong-hush"}))
	r.do(t, get("/v3/nothing/hush?q=hush").withHeader(map[string]string{"X-Request-Id": "third", "Model": "hush"}))
	type line struct {
		Msg, RequestID, Endpoint, Application, Protocol string
		Status                                          int
		DurationSeconds                                 float64
	}
	var got []line
	for text := range strings.Lines(r.log.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if l.DurationSeconds <= 0 || l.DurationSeconds > 60 {
			t.Errorf("got duration of %v seconds", l.DurationSeconds)
		}
		l.DurationSeconds = 0
		got = append(got, l)
	}
	want := []line{
		{"handled request", "first", "POST /v3/diagnosis", "portal", "HTTP/1.1", 400, 0},
		{"handled request", "second", "GET /v3/concepts/{id}", "", "HTTP/1.1", 403, 0},
		{"handled request", "third", "", "", "HTTP/1.1", 404, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, word := range []string{"hush", "portal-key", "female"} {
		if strings.Contains(r.log.String(), word) {
			t.Errorf("log reveals %q: %s", word, r.log)
		}
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	r.do(t, get("/v3/info"))
	r.do(t, get("/v3/concepts/s_99"))
	r.do(t, get("/v3/nothing"))
	r.metrics.SetStorageUp(true)
	r.metrics.RecordReload("tls", nil)
	r.metrics.RecordReload("tls", errors.New("rubbish"))
	r.metrics.RecordUsageFlush(nil)
	r.metrics.RecordRejection(string(limiter.TooManyConnections))
	r.metrics.RecordNotification(notify.TextMessage, notify.Dropped)
	recorder := httptest.NewRecorder()
	r.metrics.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		`anamnesis_http_requests_total{endpoint="GET /v3/info",status="200"} 1`,
		`anamnesis_http_requests_total{endpoint="GET /v3/concepts/{id}",status="404"} 1`,
		`anamnesis_http_requests_total{endpoint="none",status="404"} 1`,
		`anamnesis_http_request_duration_seconds_count{endpoint="GET /v3/info"} 1`,
		`anamnesis_release_info{model="service-en",version="2026-11-21T00:00:00Z"} 1`,
		`anamnesis_release_info{model="service-de",version="2026-11-21T00:00:00Z"} 1`,
		`anamnesis_instance_info{instance_id="test"} 1`,
		`anamnesis_storage_up 1`,
		`anamnesis_config_reloads_total{outcome="applied",source="tls"} 1`,
		`anamnesis_config_reloads_total{outcome="refused",source="tls"} 1`,
		`anamnesis_usage_flushes_total{outcome="stored"} 1`,
		`anamnesis_http_requests_rejected_total{reason="connections"} 1`,
		`anamnesis_notifications_total{channel="sms",outcome="dropped"} 1`,
		`anamnesis_usage_buffered_calls 7`,
		`anamnesis_tls_certificate_expiry_timestamp_seconds 1.8e+09`,
		`go_goroutines `,
	} {
		if !strings.Contains(recorder.Body.String(), want) {
			t.Errorf("metric %s not found", want)
		}
	}
}

func TestConnectionCloseWhileDraining(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	calls := []testCall{get("/v3/info"), get("/v3/nothing"), post("/v3/diagnosis", "x")}
	for _, draining := range []bool{false, true} {
		r.draining.Store(draining)
		for _, c := range calls {
			if got := r.do(t, c); got.closes != draining {
				t.Errorf("%s: the connection closes: %v, while leaving: %v", c.path, got.closes, draining)
			}
		}
	}
}

// TestInternalErrors checks that server faults are reported and logged without client data,
// and not counted as usage.
func TestInternalErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault func() error
		log   string
	}{
		"error":             {func() error { return errors.New("closed") }, `"error":"closed"`},
		"panic":             {func() error { panic("evidence s_hush") }, `"panic":"value of type string"`},
		"panic of an error": {func() error { panic(errors.New("evidence s_hush")) }, `"panic":"value of type *errors.errorString"`},
		"panic of the runtime": {func() error { return fmt.Errorf("%d", []int{}[len(os.Getenv(""))]) },
			`"panic":"runtime error: index out of range`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startServer(t)
			r.models.err.Store(&test.fault)
			got := r.do(t, get("/v3/info").withHeader(map[string]string{"X-Request-Id": "mine"}))
			expectError(t, got, 500, "the server log has details under request id mine")
			if log := r.log.String(); !strings.Contains(log, test.log) || !strings.Contains(log, `"status":500`) {
				t.Errorf("got log %s, expected %s", log, test.log)
			}
			if strings.Contains(r.log.String(), "hush") {
				t.Errorf("log reveals client data: %s", r.log)
			}
			if len(r.usage.all()) != 0 {
				t.Errorf("server fault was counted as usage: %v", r.usage.all())
			}
		})
	}
}

// A truncated body is a client error, not a server fault.
func TestTruncatedBody(t *testing.T) {
	t.Parallel()
	body := io.MultiReader(strings.NewReader(`{"sex": `), iotest.ErrReader(io.ErrUnexpectedEOF))
	request := httptest.NewRequest(http.MethodPost, "/v3/diagnosis", body)
	request.Header.Set("App-Id", "portal")
	request.Header.Set("App-Key", "portal-key")
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	newTestServer(t).handler.ServeHTTP(recorder, request)
	expectError(t, testResponse{status: recorder.Code, body: recorder.Body.String()}, 400, "truncated after 8 bytes")
}
