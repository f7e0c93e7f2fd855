// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile"
)

// Every example of the contract can be sent as it is, and is answered from the
// content; and every operation has an example of its answer.
func TestExamplesOfTheContract(t *testing.T) {
	t.Parallel()
	english, err := compile.Compile(content.FS, "en")
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	if err := model.WriteFile(filepath.Join(directory, model.FileName(english.Meta.ModelID, english.Meta.Version)), english.Release); err != nil {
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
		if len(got.body) < len(`[]`)+2 && example.Name != "POST /v3/interviews/feedback broken" && example.Name != "POST /v3/interviews/feedback changed" {
			t.Errorf("%s: %s answered %s, which shows nothing", example.Name, example.Path, got.body)
		}
	}
}
