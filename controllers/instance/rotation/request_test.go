// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRequest(t *testing.T) {
	t.Parallel()
	for annotation, want := range map[string]struct {
		requests map[string]string
		invalid  []string
	}{
		"":                             {},
		"keys:1":                       {requests: map[string]string{ApplicationKeys: "1"}},
		"keys:1,signing-keys:2":        {requests: map[string]string{ApplicationKeys: "1", SigningKeys: "2"}},
		" keys:a , keysets:b,":         {requests: map[string]string{ApplicationKeys: "a", Keysets: "b"}},
		"ca:2026-11-22T10:00Z":         {requests: map[string]string{CA: "2026-11-22T10:00Z"}},
		"keys:1,keys:2":                {requests: map[string]string{ApplicationKeys: "2"}},
		"key:1":                        {invalid: []string{"key:1"}},
		"keys":                         {invalid: []string{"keys"}},
		"keys:,signing-keys:2,Keys:1":  {requests: map[string]string{SigningKeys: "2"}, invalid: []string{"keys:", "Keys:1"}},
		"keys:1, please turn them all": {requests: map[string]string{ApplicationKeys: "1"}, invalid: []string{"please turn them all"}},
	} {
		annotations := map[string]string{Annotation: annotation}
		requests := map[string]string{}
		for _, target := range Targets() {
			if request := Request(annotations, target); request != "" {
				requests[target] = request
			}
		}
		if len(requests) == 0 {
			requests = nil
		}
		if diff := cmp.Diff(want.requests, requests); diff != "" {
			t.Errorf("%q: requests (-want +got):\n%s", annotation, diff)
		}
		if diff := cmp.Diff(want.invalid, InvalidEntries(annotations)); diff != "" {
			t.Errorf("%q: invalid entries (-want +got):\n%s", annotation, diff)
		}
	}
}
