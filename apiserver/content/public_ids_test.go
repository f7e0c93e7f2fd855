// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
)

// A publicID is an ID that clients hard-code, with the meaning it has to them and our
// matching concept, if any.
type publicID struct {
	ID, Slug, Means, Where string
}

type publicIDs struct {
	IDs      []publicID `yaml:"ids"`
	Aliases  []publicID `yaml:"aliases"`
	Reserved []publicID `yaml:"reserved"`
}

func readPublicIDs(t *testing.T) publicIDs {
	t.Helper()
	file, err := os.Open("testdata/public_ids.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var list publicIDs
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	if err := decoder.Decode(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

// A client that selects smoking must not report stress.
func TestPublicIDsKeepTheirMeaning(t *testing.T) {
	t.Parallel()
	file, err := content.FS.ReadFile("core/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var registry struct {
		Conditions, Observations, Aliases, Reserved map[string]string
	}
	if err := yaml.Unmarshal(file, &registry); err != nil {
		t.Fatal(err)
	}
	list, slugs := readPublicIDs(t), map[string]string{}
	for _, ids := range []map[string]string{registry.Conditions, registry.Observations} {
		for slug, id := range ids {
			slugs[id] = slug
		}
	}
	for _, public := range list.IDs {
		if got := slugs[public.ID]; got != public.Slug {
			t.Errorf("%s is %q, but means %s (%s): expected %s", public.ID, got, public.Means, public.Where, public.Slug)
		}
	}
	aliases, reserved := map[string]string{}, map[string]bool{}
	for _, public := range list.Aliases {
		aliases[public.ID] = public.Slug
	}
	for _, public := range list.Reserved {
		reserved[public.ID] = true
		if reason := registry.Reserved[public.ID]; !strings.HasPrefix(reason, public.Means+": ") {
			t.Errorf("%s is reserved for %q, expected %s and the reason", public.ID, reason, public.Means)
		}
	}
	if diff := cmp.Diff(aliases, registry.Aliases); diff != "" {
		t.Errorf("aliases of the list and of the registry: (-list +registry)\n%s", diff)
	}
	if len(reserved) != len(registry.Reserved) {
		t.Errorf("the registry reserves %d ids, the list %d", len(registry.Reserved), len(reserved))
	}
}

// The list states once for each ID its meaning and the source of that meaning.
func TestPublicIDsCiteSources(t *testing.T) {
	t.Parallel()
	list, seen := readPublicIDs(t), map[string]bool{}
	for _, ids := range [][]publicID{list.IDs, list.Aliases, list.Reserved} {
		for _, public := range ids {
			if seen[public.ID] || public.Means == "" || public.Where == "" {
				t.Errorf("%+v: expected an id that stands once, with its meaning and where it is stated", public)
			}
			seen[public.ID] = true
		}
	}
	for _, id := range strings.Fields("p_6 p_7 p_8 p_9 p_10 p_11 p_13 p_14 p_15 p_16 p_17 p_18 p_19 p_20 p_21 p_22 p_28 p_42 p_147 p_236 p_264 s_21 s_98") {
		if !seen[id] {
			t.Errorf("%s is not in the list", id)
		}
	}
}
