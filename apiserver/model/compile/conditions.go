// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// condition is one of the sources and what becomes of it.
type condition struct {
	*model.DraftCondition
	source *source.Condition
	words  *source.Words
}

func (c *compiler) atCondition(d *condition) place { return c.at(d.source.File, d.source.Slug.Line) }

func (c *compiler) addConditions() {
	ids := bySlug(c.core.Registry.Conditions)
	for _, s := range c.core.Conditions {
		p := c.at(s.File, s.Slug.Line)
		if !checkSlug(p, "condition", s.Slug.Text, c.conditions[s.Slug.Text] != nil) {
			continue
		}
		d := &condition{source: s, DraftCondition: &model.DraftCondition{
			Number:      c.number(p, ids, "condition", s.Slug.Text, model.ConditionPrefix),
			ICD10:       codes(p, s.ICD10),
			Acuteness:   required(p, "acuteness", s.Acuteness, model.ParseAcuteness),
			Severity:    required(p, "severity", s.Severity, model.ParseSeverity),
			Triage:      required(p, "triage_level", s.TriageLevel, model.ParseTriageLevel),
			Channel:     required(p, "channel", s.Channel, model.ParseChannel),
			Sex:         vocabulary(p, s.Sex, model.ParseSexFilter),
			Categories:  references(p, "category", "categories", s.Categories, c.categories),
			Specialists: references(p, "specialist", "specialists", s.Specialists, c.specialists),
		}}
		d.AgeFrom, d.AgeTo = ages(p, s.Ages)
		d.Course = course(p, s.Course, usualCourse[d.Acuteness])
		c.checkFields(p, s)
		c.setPrior(p, d)
		c.addFindings(d)
		c.addProtective(d)
		c.addRiskFactors(d)
		c.checkEmergencyPath(p, d)
		c.conditions[s.Slug.Text] = d
		c.conditionOf[d.DraftCondition] = d
		c.draft.Conditions = append(c.draft.Conditions, d.DraftCondition)
	}
}

var icd10Form = regexp.MustCompile(`^[A-Z][0-9][0-9A-Z](\.[0-9A-Z]{1,4})?$`)

// codes are the ICD-10 codes of a condition as answers give them, the one that
// fits best first.
func codes(p place, words source.OneOrMore) string {
	texts := make([]string, 0, len(words))
	for _, w := range words {
		switch at := p.line(w.Line); {
		case !icd10Form.MatchString(w.Text):
			at.add("ICD-10 code %q: expected one such as G43.9", w.Text)
		case slices.Contains(texts, w.Text):
			at.add("ICD-10 code %s is given twice", w.Text)
		}
		texts = append(texts, w.Text)
	}
	return strings.Join(texts, ", ")
}

func (c *compiler) checkFields(p place, s *source.Condition) {
	if s.TriageLevel.Text == model.NoTriageLevel.String() {
		p.line(s.TriageLevel.Line).add("condition %s has no triage level", s.Slug.Text)
	}
	if len(s.Sources) == 0 {
		p.add("condition %s names no sources for its numbers", s.Slug.Text)
	}
}

// references looks up the specialists or categories of a condition.
func references(p place, what, key string, words []source.Word, known map[string]*model.DraftNamed) []*model.DraftNamed {
	if len(words) == 0 {
		p.add("%s is missing", key)
	}
	named := make([]*model.DraftNamed, 0, len(words))
	for _, w := range words {
		n := known[w.Text]
		switch {
		case n == nil:
			p.line(w.Line).add("unknown %s %s: it is not in %s", what, w.Text, source.RegistryFile)
			continue
		case slices.Contains(named, n):
			p.line(w.Line).add("%s %s stands here twice", what, w.Text)
		}
		named = append(named, n)
	}
	return named
}

// setPrior multiplies the base by sex and age band. Bands and sexes that the
// condition does not occur in have none.
func (c *compiler) setPrior(p place, d *condition) {
	prior := d.source.Prior
	base := prior.Per10000.Value / 10000
	if !inside(base) {
		p.line(prior.Per10000.Line).add("prior.per_10000 of %s is %v: expected a number over 0 and under 10000", d.source.Slug.Text, prior.Per10000.Value)
		return
	}
	d.Prevalence = prevalence(prior.Per10000.Value)
	sexes := multipliers(p, prior.Sex, []string{model.Female.String(), model.Male.String()})
	bands := multipliers(p, prior.Ages, model.AgeBandNames[:])
	highest := 0.0
	for sex := range d.Prior {
		for band := range d.Prior[sex] {
			from, to := model.AgeBandRange(band)
			if !d.Sex.Admits(model.Sex(sex)) || to < int(d.AgeFrom) || from > int(d.AgeTo) {
				continue
			}
			d.Prior[sex][band] = base * sexes[sex] * bands[band]
			highest = max(highest, d.Prior[sex][band])
		}
	}
	if !inside(highest) {
		p.line(prior.Per10000.Line).add("the highest prior of %s over sexes and ages is %v: expected a probability strictly between 0 and 1", d.source.Slug.Text, highest)
	}
}

// multipliers reads a mapping from names to multipliers; those left out are 1.
func multipliers(p place, mapping map[source.Word]source.Number, names []string) []float64 {
	values := slices.Repeat([]float64{1}, len(names))
	for _, word := range lines(mapping) {
		number := mapping[word]
		i := slices.Index(names, word.Text)
		switch {
		case i < 0:
			p.line(word.Line).add("unknown key %s: expected one of %v", word.Text, names)
		case number.Line == 0 || number.Value != 0 && !isMultiplier(number.Value):
			p.line(word.Line).add("multiplier %v of %s: expected 0 or a positive number", number.Value, word.Text)
		default:
			values[i] = number.Value
		}
	}
	return values
}

func (c *compiler) addFindings(d *condition) {
	if len(d.source.Findings) == 0 {
		c.atCondition(d).add("condition %s has no findings: nothing could lead to it", d.source.Slug.Text)
	}
	for _, word := range lines(d.source.Findings) {
		p, share := c.at(d.source.File, word.Line), d.source.Findings[word].Value
		o := c.linked(p, d, word.Text)
		if o == nil {
			continue
		}
		switch {
		case o.Kind == model.RiskFactor:
			p.add("%s is a risk factor: it belongs under risk_factors", word.Text)
		case !inside(share):
			p.add("share %v of %s in %s: expected a probability strictly between 0 and 1", share, word.Text, d.source.Slug.Text)
		case share < o.Leak:
			p.add("share %v of %s in %s is under its background %v, as if the condition kept people from having it: raise it, or declare it under protective", share, word.Text, d.source.Slug.Text, o.Leak)
		default:
			d.Findings = append(d.Findings, model.DraftFinding{Observation: o.DraftObservation, Share: share})
		}
	}
}

func (c *compiler) addProtective(d *condition) {
	findings := bySlug(d.source.Findings)
	for _, word := range lines(d.source.Protective) {
		p, factor := c.at(d.source.File, word.Line), d.source.Protective[word]
		o := c.linked(p, d, word.Text)
		if o == nil {
			continue
		}
		_, both := findings[word.Text]
		switch {
		case o.Kind == model.RiskFactor:
			p.add("%s is a risk factor: it belongs under risk_factors", word.Text)
		case both:
			p.add("%s is protective and a finding of %s: it counts as one of them only", word.Text, d.source.Slug.Text)
		case !inside(factor.Present.Value) || factor.Absent.Value < 1 || !isMultiplier(factor.Absent.Value):
			p.add("%s speaks against %s: expected present between 0 and 1, and absent of 1 or more, not %v and %v", word.Text, d.source.Slug.Text, factor.Present.Value, factor.Absent.Value)
		default:
			d.Factors = append(d.Factors, model.DraftFactor{Observation: o.DraftObservation, Present: factor.Present.Value, Absent: factor.Absent.Value})
		}
	}
}

func (c *compiler) addRiskFactors(d *condition) {
	for _, word := range lines(d.source.RiskFactors) {
		p, risk := c.at(d.source.File, word.Line), d.source.RiskFactors[word].Value
		o := c.linked(p, d, word.Text)
		if o == nil {
			continue
		}
		switch {
		case o.Kind != model.RiskFactor:
			p.add("%s is no risk factor: it belongs under findings or protective", word.Text)
		case !isMultiplier(risk):
			p.add("relative risk %v of %s: expected a positive number", risk, word.Text)
		default:
			present, absent := relativeRisk(risk, o.Leak)
			d.Factors = append(d.Factors, model.DraftFactor{Observation: o.DraftObservation, Present: present, Absent: absent})
		}
	}
}

// linked is the observation that a condition names, if there is one and
// somebody can have both.
func (c *compiler) linked(p place, d *condition, slug string) *observation {
	o := c.observations[slug]
	switch {
	case o == nil:
		p.add("unknown observation %s", slug)
	case disjoint(o.Sex, d.Sex):
		p.add("%s occurs with sex %v only, %s applies to %v only: nobody has both", d.source.Slug.Text, d.Sex, slug, o.Sex)
	case o.AgeTo < d.AgeFrom || o.AgeFrom > d.AgeTo:
		p.add("%s occurs from %d to %d months of age, %s applies from %d to %d: nobody has both", d.source.Slug.Text, d.AgeFrom, d.AgeTo, slug, o.AgeFrom, o.AgeTo)
	}
	return o
}

// checkEmergencyPath makes sure that an emergency can be told from what the
// patient reports: by a finding that is one by itself, or by a tuple of
// findings and risk factors. What is never asked of patients is no path.
func (c *compiler) checkEmergencyPath(p place, d *condition) {
	if d.Triage < model.Emergency {
		return
	}
	var named []*model.DraftObservation
	for _, f := range d.Findings {
		asked := !c.observationOf[f.Observation].source.Professional.Value
		if asked && f.Observation.Seriousness >= model.SeriousnessEmergency {
			return
		}
		named = append(named, f.Observation)
	}
	for _, f := range d.Factors {
		if f.Observation.Kind == model.RiskFactor {
			named = append(named, f.Observation)
		}
	}
	for _, t := range c.draft.Tuples {
		isNamed := func(o *model.DraftObservation) bool { return slices.Contains(named, o) }
		if t.Level >= model.Emergency && !slices.ContainsFunc(t.Observations, func(o *model.DraftObservation) bool { return !isNamed(o) }) {
			return
		}
	}
	p.line(d.source.TriageLevel.Line).add("%s is an %v without an emergency path: none of its findings has the seriousness emergency or emergency_ambulance, and no tuple of that level is among them", d.source.Slug.Text, d.Triage)
}
