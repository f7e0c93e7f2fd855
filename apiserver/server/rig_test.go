// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/openapitest"
	"github.com/anamnesis-dev/anamnesis/apiserver/server"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/metrics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var contract = sync.OnceValues(func() (*openapitest.Contract, error) { return openapitest.Parse(openapi.EngineV3) })

// A rig is a server on a socket of its own and a client that holds every
// answer against the contract.
type rig struct {
	url     string
	client  *http.Client // checks answers
	plain   *http.Client // does not, for what the contract does not speak of
	library *model.Library
	usage   *counts
	log     *lines
	metrics *metrics.Metrics
	leaving atomic.Bool
	origin  atomic.Pointer[string]
}

// start makes a server of the release of these tests.
func start(t testing.TB) *rig {
	t.Helper()
	checked, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	applications, err := identity.NewApplications(
		identity.Credential{ID: "portal", Key: "portal-key", Scopes: []identity.Scope{}},
		identity.Credential{ID: "kiosk", Key: "kiosk-key", Scopes: []identity.Scope{}})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{library: openLibrary(t), usage: &counts{}, log: &lines{}}
	r.metrics = metrics.New(metrics.Sources{
		Instance: "test", Releases: r.library.Releases, BufferedUsage: func() int64 { return 7 },
		CertificateExpiry: func() time.Time { return time.Unix(1_800_000_000, 0) },
	})
	handler := server.New(server.Options{
		Guidance: http.HandlerFunc(guidanceAnswers),
		Models:   r.library, Engine: engine.New(), Applications: applications, Usage: r.usage,
		AllowsOrigin: func(origin string) bool {
			allowed := r.origin.Load()
			return allowed != nil && *allowed == origin
		},
		Leaving:  r.leaving.Load,
		Observer: r.metrics,
		Log:      slog.New(slog.NewJSONHandler(r.log, nil)),
	})
	listening := httptest.NewServer(handler)
	t.Cleanup(listening.Close)
	r.url, r.plain = listening.URL, listening.Client()
	r.client = &http.Client{Transport: checked.Transport(t, listening.Client().Transport)}
	return r
}

// guidanceAnswers stands for the handlers of the guidance platform, which have
// tests of their own.
func guidanceAnswers(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }

// A call is a request that tests vary.
type call struct {
	method, path, body string
	header             map[string]string // beside App-Id, App-Key and Content-Type; "" takes one away
}

// An answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
	closes bool // the connection, by the header Connection: close
}

func (r *rig) do(t testing.TB, c call) answer {
	t.Helper()
	return r.doWith(t, r.client, c)
}

func (r *rig) doWith(t testing.TB, client *http.Client, c call) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), c.method, r.url+c.path, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	header := map[string]string{"App-Id": "portal", "App-Key": "portal-key", "Content-Type": "application/json"}
	maps.Copy(header, c.header)
	for name, value := range header {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body), response.Close}
}

func get(path string) call { return call{method: http.MethodGet, path: path} }

func post(path, body string) call { return call{method: http.MethodPost, path: path, body: body} }

// counts is a counter of usage that remembers.
type counts struct {
	mu    sync.Mutex
	calls map[string]int
}

func (c *counts) Count(application, endpoint string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[string]int{}
	}
	c.calls[application+" "+endpoint]++
}

func (c *counts) all() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.calls)
}

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// openLibrary serves service-en and service-de.
func openLibrary(t testing.TB) *model.Library {
	t.Helper()
	directory := t.TempDir()
	english, german := content(), content()
	germanMeta := &german.Draft().Meta
	germanMeta.ModelID, germanMeta.Language, germanMeta.ChoicePresent = "service-de", "de", "Ja"
	for _, builder := range []*modeltest.Builder{english, german} {
		meta := builder.Draft().Meta
		path := filepath.Join(directory, model.FileName(meta.ModelID, meta.Version))
		if err := model.WriteFile(path, builder.Bytes(t)); err != nil {
			t.Fatal(err)
		}
	}
	library, err := model.OpenLibrary(directory, []model.Wanted{{ID: "service-en"}, {ID: "service-de"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(library.Close)
	return library
}

// content is a small model that has one of everything the catalogue can show.
func content() *modeltest.Builder {
	condition := func(name, common string, edit func(*model.DraftCondition)) func(*model.DraftCondition) {
		return func(c *model.DraftCondition) {
			c.Name, c.CommonName = name, common
			edit(c)
		}
	}
	observation := func(name, common string, edit func(*model.DraftObservation)) func(*model.DraftObservation) {
		return func(o *model.DraftObservation) {
			o.Name, o.CommonName = name, common
			edit(o)
		}
	}
	asIs := func(*model.DraftObservation) {}
	b := modeltest.New().
		Condition("c_1", 0.01, condition("Migraine", "Migraine", func(c *model.DraftCondition) {
			c.Hint, c.ICD10 = "Rest in a <dark> room.", "G43.9"
			c.Acuteness, c.Channel, c.Prevalence = model.ChronicWithExacerbations, model.AudioTeleconsultation, model.Common
		})).
		Condition("c_2", 0.002, condition("Subarachnoid hemorrhage", "Bleeding around the brain", func(c *model.DraftCondition) {
			c.Triage, c.Severity, c.Prevalence = model.EmergencyAmbulance, model.Severe, model.VeryRare
		})).
		Condition("c_3", 0.01, condition("croup", "Croup", func(c *model.DraftCondition) {
			c.AgeFrom, c.AgeTo, c.Triage = 6, 71, model.Consultation24
		})).
		Condition("c_4", 0.05, condition("Common cold", "Common cold", func(c *model.DraftCondition) {
			c.Triage, c.Severity = model.SelfCare, model.Mild
		})).
		Condition("c_5", 0.01, condition("Cystitis", "Bladder infection", func(c *model.DraftCondition) {
			c.Sex = model.FemaleOnly
		})).
		Symptom("s_1", 0.05, observation("Headache", "Headache", asIs)).
		Child("s_2", "s_1", model.SeverityRelation, 0.004, observation("Headache, severe", "Severe headache", asIs)).
		Child("s_3", "s_1", model.Location, 0.01, observation("Headache, temples", "Pain in the temples", asIs)).
		Child("s_4", "s_1", model.Location, 0.01, observation("Headache, occipital", "Pain in the back of the head", asIs)).
		Symptom("s_5", 0.03, observation("nausea", "Feeling sick", asIs)).
		Symptom("s_6", 0.001, observation("Neck stiffness", "Stiff neck", func(o *model.DraftObservation) {
			o.Seriousness = model.SeriousnessEmergencyAmbulance
		})).
		Symptom("s_7", 0.01, observation("Cough, barking", "Barking cough", func(o *model.DraftObservation) {
			o.AgeFrom, o.AgeTo, o.Seriousness = 6, 71, model.Serious
		})).
		Symptom("s_8", 0.1, observation("Rhinorrhea", "Runny nose", asIs)).
		Symptom("s_9", 0.01, observation("Nystagmus", "Nystagmus", func(o *model.DraftObservation) {
			o.Question, o.QuestionThirdPerson = "", ""
		})).
		Symptom("s_10", 0.02, observation("Dysuria", "Burning urination", asIs)).
		RiskFactor("p_7", 0.2, observation("BMI over 30", "High body mass index", asIs)).
		RiskFactor("p_15", 0.5, observation("Residence in Europe", "Living in Europe", func(o *model.DraftObservation) {
			o.Question, o.QuestionThirdPerson = "", ""
		})).
		RiskFactor("p_30", 0.1, observation("Pregnancy", "Pregnancy", func(o *model.DraftObservation) {
			o.Sex, o.AgeFrom, o.AgeTo = model.FemaleOnly, 144, 660
		})).
		LabResult("lt_1", 0.05, observation("Leukocytosis", "High white blood cells", asIs)).
		Link("c_1", "s_1", 0.95).Link("c_1", "s_2", 0.6).Link("c_1", "s_3", 0.4).Link("c_1", "s_4", 0.1).Link("c_1", "s_5", 0.6).Link("c_1", "s_9", 0.02).
		Link("c_2", "s_1", 0.95).Link("c_2", "s_2", 0.9).Link("c_2", "s_3", 0.05).Link("c_2", "s_4", 0.6).Link("c_2", "s_5", 0.5).Link("c_2", "s_6", 0.6).
		Link("c_3", "s_7", 0.9).Link("c_3", "s_8", 0.5).
		Link("c_4", "s_8", 0.9).Link("c_4", "s_1", 0.3).Link("c_4", "s_2", 0.01).Link("c_4", "s_3", 0.03).Link("c_4", "s_4", 0.03).
		Link("c_5", "s_10", 0.9).Link("c_5", "lt_1", 0.5).
		Factor("c_5", "p_30", 2, 0.9).Factor("c_1", "p_7", 1.2, 0.95).
		Group(model.GroupMultiple, "s_3", "s_4").
		Tuple(model.Emergency, "s_2", "s_5")
	draft := b.Draft()
	neurologist := &model.DraftNamed{Number: 17, Name: "Neurologist"}
	draft.Specialists = append(draft.Specialists, neurologist)
	for _, c := range draft.Conditions[:2] {
		c.Specialists = []*model.DraftNamed{neurologist, draft.Specialists[0]}
	}
	return b
}

// evidence writes the list of evidence, each item as "id choice source".
func evidence(items ...string) string {
	list := make([]string, len(items))
	for i, item := range items {
		fields := append(strings.Fields(item), "", "")
		list[i] = fmt.Sprintf(`{"id": %q, "choice_id": %q, "source": %q}`, fields[0], fields[1], fields[2])
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// interview writes the body of an adult woman with this evidence.
func interview(items ...string) string {
	return fmt.Sprintf(`{"sex": "female", "age": {"value": 30}, "evidence": %s}`, evidence(items...))
}
