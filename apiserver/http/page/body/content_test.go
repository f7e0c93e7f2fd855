// SPDX-License-Identifier: Apache-2.0

//go:build !race

package body

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/search"
)

func openRelease(t testing.TB) *model.Release {
	t.Helper()
	r, err := compiled.Release("en")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// offeredSymptoms returns the IDs in the list of symptoms; nil means either sex or any age.
func offeredSymptoms(r *model.Release, sex *model.Sex, ageMonths *int) map[string]bool {
	ids := map[string]bool{}
	for _, item := range search.Items(r, search.ListQuery{List: search.Symptoms, Sex: sex, AgeMonths: ageMonths}) {
		ids[item.ID] = true
	}
	return ids
}

// rootSymptom returns the most general parent of a symptom, or the symptom itself.
func rootSymptom(r *model.Release, id string) string {
	o, _ := r.ObservationByID(id)
	for r.Observations[o].Parent != model.None {
		o = r.Observations[o].Parent
	}
	return r.ObservationID(o)
}

// Risk factors, which the list contains too, have no region.
func TestEverySymptomHasARegion(t *testing.T) {
	t.Parallel()
	r, placed := openRelease(t), map[string]bool{}
	drawn := map[string]bool{}
	for _, region := range mustRead(t).Regions() {
		for _, id := range region.Symptoms {
			placed[id] = true
			drawn[id] = drawn[id] || region.Front || region.Back
		}
	}
	items, symptoms, shown := offeredSymptoms(r, nil, nil), 0, 0
	for id := range items {
		if !strings.HasPrefix(id, "s_") {
			continue
		}
		symptoms++
		if !placed[rootSymptom(r, id)] {
			t.Errorf("symptom %s: neither it nor its root symptom belongs to a region", id)
		}
		if drawn[rootSymptom(r, id)] {
			shown++
		}
	}
	t.Logf("%d listed symptoms have %d roots, %d of them in a drawn region", len(placed), symptoms, shown)
}

func TestRegionSymptomsAreOffered(t *testing.T) {
	t.Parallel()
	r := openRelease(t)
	items := offeredSymptoms(r, nil, nil)
	for _, region := range mustRead(t).Regions() {
		for _, id := range region.Symptoms {
			switch {
			case !items[id]:
				t.Errorf("region %s: %s is not in the list of symptoms", region.ID, id)
			case rootSymptom(r, id) != id:
				t.Errorf("region %s: %s should be replaced with its root %s", region.ID, id, rootSymptom(r, id))
			}
		}
	}
}

// Patients do not read longer lists.
func TestRegionSymptomListsAreShort(t *testing.T) {
	t.Parallel()
	r, regions := openRelease(t), mustRead(t).Regions()
	for _, sex := range []model.Sex{model.Female, model.Male} {
		for _, age := range []int{0, 1, 2, 4, 6, 12, 24, 36, 48, 60, 96, 120, 144, 168, 192, 216, 360, 480, 600, 900} {
			items := offeredSymptoms(r, &sex, &age)
			for _, region := range regions {
				shown := slices.DeleteFunc(slices.Clone(region.Symptoms), func(id string) bool { return !items[id] })
				if len(shown) > 24 {
					t.Errorf("%s: a patient of sex %v and %d months chooses from %d symptoms", region.ID, sex, age, len(shown))
				}
				if (region.Front || region.Back) && len(shown) < 3 {
					t.Errorf("%s: a patient of sex %v and %d months can only select %v", region.ID, sex, age, shown)
				}
			}
		}
	}
}

var symptomCommentPattern = regexp.MustCompile(`(?m)^ +- (\w+) # (\w+)$`)

func TestSymptomCommentsMatchRegistry(t *testing.T) {
	t.Parallel()
	var registry struct{ Observations map[string]string }
	if text, err := content.FS.ReadFile("core/registry.yaml"); err != nil {
		t.Fatal(err)
	} else if err := yaml.Unmarshal(text, &registry); err != nil {
		t.Fatal(err)
	}
	text, err := files.ReadFile("regions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	named, lines := 0, symptomCommentPattern.FindAllStringSubmatch(string(text), -1)
	for _, region := range mustRead(t).Regions() {
		named += len(region.Symptoms)
	}
	if len(lines) != named {
		t.Errorf("%d of %d ids have a slug comment", len(lines), named)
	}
	for _, line := range lines {
		if got := registry.Observations[line[2]]; got != line[1] {
			t.Errorf("%s has slug %q in the registry, not %s", line[2], got, line[1])
		}
	}
}
