// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// TestContractExamples checks that every example request of the contract gets the example
// response, and that every operation has an example response.
func TestContractExamples(t *testing.T) {
	t.Parallel()
	english, err := compiled.ForLanguage("en")
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	if err := model.WriteFile(filepath.Join(directory, english.Name), english.Data); err != nil {
		t.Fatal(err)
	}
	library, err := model.OpenStore(directory, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer library.Close()
	r := startServer(t)
	r.models.Models = library
	checked, err := parsedContract()
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range checked.Examples() {
		got := r.do(t, testCall{method: example.Method, path: example.Path, body: example.Body})
		if got.status != http.StatusOK {
			t.Errorf("%s: %s: got status %d: %s", example.Name, example.Path, got.status, got.body)
		}
		if !example.HasResponse {
			t.Errorf("%s: example response not found in the contract", example.Name)
		}
		if example.Response != "" {
			for _, difference := range diffExample("", parseJSON(t, example.Response), parseJSON(t, got.body)) {
				t.Errorf("%s: response differs from the contract: %s", example.Name, difference)
			}
		}
		if len(got.body) < len(`[]`)+2 && example.Response == "" && example.Name != "POST /v3/interviews/feedback broken" && example.Name != "POST /v3/interviews/feedback changed" {
			t.Errorf("%s: %s returned %s, an empty result", example.Name, example.Path, got.body)
		}
	}
}

func parseJSON(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

// diffExample returns the differences between a response and its example in the contract: some
// members of an object, the beginning of a list, and, for a text that varies, any text in
// place of the ellipsis.
func diffExample(at string, example, got any) []string {
	var list []string
	switch example := example.(type) {
	case map[string]any:
		object, _ := got.(map[string]any)
		for name, value := range example {
			list = append(list, diffExample(at+"."+name, value, object[name])...)
		}
		return list
	case []any:
		items, _ := got.([]any)
		if len(items) < len(example) {
			return []string{fmt.Sprintf("%s with %d items, the answer has %d", at, len(example), len(items))}
		}
		for i, value := range example {
			list = append(list, diffExample(fmt.Sprintf("%s[%d]", at, i), value, items[i])...)
		}
		return list
	case string:
		if _, text := got.(string); text && strings.HasSuffix(example, "…") {
			return nil
		}
	}
	if example != got {
		return []string{fmt.Sprintf("%s: %v, the answer has %v", at, example, got)}
	}
	return nil
}
