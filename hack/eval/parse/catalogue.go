// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/language"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A catalogue is the content in one language, with the slugs of its sources, by
// which the corpus names concepts.
type catalogue struct {
	release *model.Release
	ids     map[string]string // by slug
	slugs   map[string]string // by id
	known   vocabulary
	parents map[string]string // by slug
}

// openCatalogue opens the content in a language.
func openCatalogue(language string) (*catalogue, error) {
	release, err := compiled.Release(language)
	if err != nil {
		return nil, err
	}
	ids, err := observationIDs()
	if err != nil {
		return nil, err
	}
	slugs := make(map[string]string, len(ids))
	for slug, id := range ids {
		slugs[id] = slug
	}
	known, err := readVocabulary()
	if err != nil {
		return nil, err
	}
	parents := map[string]string{}
	for i, o := range release.Observations {
		if o.Parent != model.None {
			parents[slugs[release.ObservationID(model.ObservationIndex(i))]] = slugs[release.ObservationID(o.Parent)]
		}
	}
	return &catalogue{release: release, ids: ids, slugs: slugs, known: known, parents: parents}, nil
}

// observationIDs reads the ids of the observations by slug.
func observationIDs() (map[string]string, error) {
	file, err := content.FS.ReadFile("core/registry.yaml")
	if err != nil {
		return nil, fmt.Errorf("reading the registry of ids: %w", err)
	}
	var registry struct{ Observations map[string]string }
	if err := yaml.Unmarshal(file, &registry); err != nil {
		return nil, fmt.Errorf("reading the registry of ids: %w", err)
	}
	return registry.Observations, nil
}

// parse returns what the service finds in the sentence, in its order and in the
// words of the vocabulary.
func (c *catalogue) parse(s sentence) []mention {
	result := language.Parse(c.release, c.query(s))
	found := make([]mention, len(result.Mentions))
	for i, m := range result.Mentions {
		found[i] = mention{Concept: c.slugs[c.release.ObservationID(m.Observation)], Choice: present}
		if m.Absent {
			found[i].Choice = absent
		}
	}
	return c.known.project(found, c.parents)
}

func (c *catalogue) query(s sentence) language.Query {
	q := language.Query{Text: s.Text, AgeMonths: s.Age.months(), Symptoms: true, RiskFactors: true}
	if sex := slices.Index([]string{model.Female: "female", model.Male: "male"}, s.Sex); sex >= 0 {
		sex := model.Sex(sex)
		q.Sex = &sex
	}
	for _, slug := range s.Context {
		if o, ok := c.release.ObservationByID(c.ids[slug]); ok {
			q.Context = append(q.Context, o)
		}
	}
	return q
}
