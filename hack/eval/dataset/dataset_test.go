// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

type object struct {
	ID   string `json:"id"`
	Age  Age    `json:"age"`
	File string `json:"-"`
}

func readObjects(files fstest.MapFS) ([]object, error) {
	return Read(files, Development, func(file string) (object, error) {
		if strings.Contains(file, "bad") {
			return object{}, fmt.Errorf("%s: bad name", file)
		}
		return object{File: file}, nil
	})
}

func TestReadInOrderOfFilesAndLines(t *testing.T) {
	t.Parallel()
	got, err := readObjects(fstest.MapFS{
		"work/b.jsonl":    {Data: []byte(`{"id":"b1","age":{"value":7,"unit":"month"}}`)},
		"work/a.jsonl":    {Data: []byte(`{"id":"a1"}` + "\n\n" + `{"id":"a2"}`)},
		"measure/c.jsonl": {Data: []byte(`{"id":"c1"}`)},
		"work/README.md":  {},
	})
	want := []object{{"a1", Age{}, "work/a.jsonl"}, {"a2", Age{}, "work/a.jsonl"}, {"b1", Age{7, "month"}, "work/b.jsonl"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("got error %v (-want +got)\n%s", err, diff)
	}
}

func TestReadRejectsInvalidFiles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, content, want string }{
		{"a", `{"id":"a"} {"id":`, "reading object 2 of work/a.jsonl"},
		{"a", `{"name":"a"}`, "reading object 1 of work/a.jsonl"},
		{"bad", "", "work/bad.jsonl: bad name"},
	} {
		_, err := readObjects(fstest.MapFS{"work/" + test.name + ".jsonl": {Data: []byte(test.content)}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.content, err, test.want)
		}
	}
}

func TestAgeMonths(t *testing.T) {
	t.Parallel()
	for in, want := range map[Age]int{{34, "year"}: 408, {7, "year"}: 84, {8, "month"}: 8, {}: 0} {
		if got := in.Months(); got != want {
			t.Errorf("%+v: got %d months, want %d", in, got, want)
		}
	}
}
