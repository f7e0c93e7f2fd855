// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/people"
)

// Each page that shows a survey is read of it once.
func TestPagesReadOnce(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	v := c.toSymptoms(woman)
	of := audit.Filter{ResourceID: v.survey[len("/survey/"):]}
	read := func(path string) audit.Record {
		t.Helper()
		_, before, err := c.people.Audit(t.Context(), of, people.Page{AtMost: 1})
		c.must(err)
		v.get(path).is(t, http.StatusOK)
		records, after, err := c.people.Audit(t.Context(), of, people.Page{AtMost: 1000})
		c.must(err)
		if after != before+1 {
			t.Errorf("%s is recorded %d times", path, after-before)
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
	article, found := articleOf(v.walk(healthy("a headache"), v.question(0), all), v.survey)
	if !found {
		t.Fatal("there is nothing to read")
	}
	result := audit.Record{Action: audit.Read, Resource: audit.Result}
	for _, path := range []string{v.survey + "/result", article} {
		if diff := cmp.Diff(result, read(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}
