// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// TestServedMetricsAreDocumented checks the metrics that a server has from its start, which
// include the build.
func TestServedMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	metrics := New(Sources{
		Instance:          "acme",
		Releases:          func() []model.Meta { return []model.Meta{{ModelID: "service-en"}} },
		BufferedUsage:     func() int64 { return 0 },
		CertificateExpiry: func() time.Time { return time.Time{} },
	})
	metrics.Observe("/v3/triage", http.StatusOK, time.Millisecond)
	recorder := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	served := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^# HELP (\S+)`).FindAllStringSubmatch(recorder.Body.String(), -1) {
		served[found[1]] = true
		if standard := strings.HasPrefix(found[1], "go_") || strings.HasPrefix(found[1], "process_"); !standard && !strings.Contains(string(page), "| `"+found[1]+"` |") {
			t.Errorf("%s is not documented: run 'make generate'", found[1])
		}
	}
	for _, want := range []string{"anamnesis_build_info", "anamnesis_instance_info", "anamnesis_release_info", "anamnesis_http_requests_total"} {
		if !served[want] {
			t.Errorf("%s is not served", want)
		}
	}
}
