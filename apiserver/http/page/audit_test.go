// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// TestPagesAuditOneRead checks that each page of a survey is audited as a single read.
func TestPagesAuditOneRead(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	v := c.openAtSymptoms(testWoman)
	of := audit.Filter{ResourceID: v.survey[len("/survey/"):]}
	read := func(path string) audit.Record {
		t.Helper()
		_, before, err := c.users.ListAuditRecords(t.Context(), of, record.Page{Limit: 1})
		c.must(err)
		v.get(path).expect(t, http.StatusOK)
		records, after, err := c.users.ListAuditRecords(t.Context(), of, record.Page{Limit: 1000})
		c.must(err)
		if after != before+1 {
			t.Errorf("%s: got %d audit records", path, after-before)
			return audit.Record{}
		}
		last := records[0]
		return audit.Record{Action: last.Action, Resource: last.Resource}
	}
	survey := audit.Record{Action: audit.Read, Resource: audit.Survey}
	for _, path := range []string{v.survey, v.question(0), v.survey + "/why", v.survey + "/answers"} {
		if diff := cmp.Diff(survey, read(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	article, found := findArticle(v.completeSurvey(healthyPatient("a headache"), v.question(0), continueToEnd), v.survey)
	if !found {
		t.Fatal("article not found in the result")
	}
	result := audit.Record{Action: audit.Read, Resource: audit.Result}
	for _, path := range []string{v.survey + "/result", article} {
		if diff := cmp.Diff(result, read(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}
