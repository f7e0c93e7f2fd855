// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// Every example of the contract can be sent as it is, and is answered from the
// content as the contract shows; and every operation has an example of its
// answer.
func TestExamplesOfTheContract(t *testing.T) {
	t.Parallel()
	english, err := compiled.In("en")
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	if err := model.WriteFile(filepath.Join(directory, english.Name), english.Data); err != nil {
		t.Fatal(err)
	}
	library, err := model.OpenLibrary(directory, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer library.Close()
	r := start(t)
	r.models.Models = library
	checked, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range checked.Examples() {
		got := r.do(t, call{method: example.Method, path: example.Path, body: example.Body})
		if got.status != http.StatusOK {
			t.Errorf("%s: %s answered %d: %s", example.Name, example.Path, got.status, got.body)
		}
		if !example.Answers {
			t.Errorf("%s: the contract has no example of an answer", example.Name)
		}
		if example.Answer != "" {
			for _, difference := range differences("", parse(t, example.Answer), parse(t, got.body)) {
				t.Errorf("%s: the contract shows %s", example.Name, difference)
			}
		}
		if len(got.body) < len(`[]`)+2 && example.Answer == "" && example.Name != "POST /v3/interviews/feedback broken" && example.Name != "POST /v3/interviews/feedback changed" {
			t.Errorf("%s: %s answered %s, which shows nothing", example.Name, example.Path, got.body)
		}
	}
}

func parse(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

// differences are those between an answer and what the contract shows of it:
// some members of an object, the beginning of a list, and for a text that is
// another one each time whatever ends with an ellipsis.
func differences(at string, shown, got any) []string {
	var list []string
	switch shown := shown.(type) {
	case map[string]any:
		object, _ := got.(map[string]any)
		for name, value := range shown {
			list = append(list, differences(at+"."+name, value, object[name])...)
		}
		return list
	case []any:
		items, _ := got.([]any)
		if len(items) < len(shown) {
			return []string{fmt.Sprintf("%s with %d items, the answer has %d", at, len(shown), len(items))}
		}
		for i, value := range shown {
			list = append(list, differences(fmt.Sprintf("%s[%d]", at, i), value, items[i])...)
		}
		return list
	case string:
		if _, text := got.(string); text && strings.HasSuffix(shown, "…") {
			return nil
		}
	}
	if shown != got {
		return []string{fmt.Sprintf("%s: %v, the answer has %v", at, shown, got)}
	}
	return nil
}
