// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"iter"
	"regexp"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// releaseTexts yields every human-readable text of a release, except URLs.
func releaseTexts(r *model.Release) iter.Seq[string] {
	return func(yield func(string) bool) {
		var refs []model.StringRef
		for _, c := range r.Conditions {
			refs = append(refs, c.Hint)
		}
		for _, o := range r.Observations {
			refs = append(refs, o.Question, o.QuestionThirdPerson)
		}
		for _, g := range r.Groups {
			refs = append(refs, g.Question, g.QuestionThirdPerson)
		}
		for _, c := range r.Categories {
			refs = append(refs, c.Name)
		}
		for _, l := range r.LabTests {
			refs = append(refs, l.Name, l.CommonName, l.Category)
		}
		for _, w := range r.Wordings {
			if w.Kind != model.LayWording { // used for search, not displayed
				refs = append(refs, w.Text)
			}
		}
		for _, n := range r.Nodes {
			if n.Type != model.LinkNode {
				refs = append(refs, n.Text)
			}
		}
		for _, ref := range refs {
			if !yield(r.Text(ref)) {
				return
			}
		}
	}
}

// britishSpelling finds words spelt or used as in Britain only, and metric figures
// that patients in America do not measure with. (A class of one letter hides a
// word from the spelling check, which reads it as American.)
var britishSpelling = regexp.MustCompile(`(?i)\b(\p{L}*(haem|aemi|rrhoea|pnoea|paedi|gynaec|isation|lysed\b|leuco)\p{L}*` +
	`|(oedema|oesoph|colour|tumour|generali[s]|immobilis|agonis|moisturis)\p{L}*|(cent|lit|met|fib)res?|grey|faecal|mould|jewellery|napp(y|ies)|paracetamol|adrenaline|flannel|ambulance)\b|mmol/mol|\d °C$`)

func TestAmericanContentHasNoBritishSpelling(t *testing.T) {
	t.Parallel()
	for _, r := range releases(t) {
		if r.Meta.Language != "en-US" {
			continue
		}
		for text := range releaseTexts(r) {
			if word := britishSpelling.FindString(text); word != "" {
				t.Errorf("%q in %q", word, text)
			}
		}
	}
}

// An article has all nine sections and is neither too short nor too long.
func TestArticles(t *testing.T) {
	t.Parallel()
	const sections, minWords, maxWords = 9, 350, 600
	for _, r := range releases(t) {
		if len(r.Articles) < 20 {
			t.Errorf("%s has %d articles, expected 20 at least", r.Meta.ModelID, len(r.Articles))
		}
		for _, a := range r.Articles {
			name, words := r.Text(r.Conditions[a.Condition].Name), 0
			for _, s := range model.Slice(r.ArticleSections, a.Sections) {
				words += countWords(r, model.Slice(r.Nodes, s.Content))
			}
			if a.Sections.Len() != sections || words < minWords || words > maxWords {
				t.Errorf("%s: the article on %s has %d sections and %d words, expected %d and %d to %d", r.Meta.ModelID, name, a.Sections.Len(), words, sections, minWords, maxWords)
			}
		}
	}
}

func countWords(r *model.Release, nodes []model.Node) (count int) {
	for _, n := range nodes {
		if n.Type == model.TextNode {
			count += len(strings.Fields(r.Text(n.Text)))
		}
		count += countWords(r, model.Slice(r.Nodes, n.Children))
	}
	return count
}

// The usual result of a test is the result if nothing causes another result: it has no
// links, and a background that leaves the others to be explained.
func TestNormalLabResultsHaveNoLinks(t *testing.T) {
	t.Parallel()
	for _, r := range releases(t)[:1] {
		for i, o := range r.Observations {
			usual := o.LabResult == model.Normal || o.LabResult == model.ResultAbsent
			if usual && (o.Leak > 0.001 || o.Links.Len() > 0) {
				t.Errorf("%s %s has the background %v and %d links, want 0.001 and 0", r.ObservationID(model.ObservationIndex(i)), r.Text(o.Name), o.Leak, o.Links.Len())
			}
		}
	}
}
