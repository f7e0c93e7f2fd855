// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/nlp"
)

// A catalog holds the content in one language, with the slugs that identify concepts in
// the corpus.
type catalog struct {
	release    *model.Release
	ids        map[string]string // by slug
	slugs      map[string]string // by id
	vocabulary vocabulary
	parents    map[string]string // by slug
}

// openCatalog opens the content in the given language.
func openCatalog(language string) (*catalog, error) {
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
	vocab, err := readVocabulary()
	if err != nil {
		return nil, err
	}
	parents := map[string]string{}
	for i, o := range release.Observations {
		if o.Parent != model.None {
			parents[slugs[release.ObservationID(model.ObservationIndex(i))]] = slugs[release.ObservationID(o.Parent)]
		}
	}
	return &catalog{release: release, ids: ids, slugs: slugs, vocabulary: vocab, parents: parents}, nil
}

// observationIDs returns the IDs of observations by slug.
func observationIDs() (map[string]string, error) {
	file, err := content.FS.ReadFile("core/registry.yaml")
	if err != nil {
		return nil, fmt.Errorf("reading the ID registry: %w", err)
	}
	var registry struct{ Observations map[string]string }
	if err := yaml.Unmarshal(file, &registry); err != nil {
		return nil, fmt.Errorf("reading the ID registry: %w", err)
	}
	return registry.Observations, nil
}

// parse returns the mentions that the parser finds in a sentence, in order, projected onto
// the vocabulary.
func (c *catalog) parse(s sentence) []mention {
	result := nlp.Parse(c.release, c.query(s))
	found := make([]mention, len(result.Mentions))
	for i, m := range result.Mentions {
		found[i] = mention{Concept: c.slugs[c.release.ObservationID(m.Observation)], Choice: present}
		if m.Absent {
			found[i].Choice = absent
		}
	}
	return c.vocabulary.project(found, c.parents)
}

func (c *catalog) query(s sentence) nlp.Query {
	q := nlp.Query{Text: s.Text, AgeMonths: s.Age.Months(), Symptoms: true, RiskFactors: true}
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
