// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

// condition is a condition in the sources with its draft.
type condition struct {
	*model.DraftCondition
	source       *source.Condition
	localization *source.Localization
}

func (c *compiler) reportAtCondition(d *condition) reporter {
	return c.reportAt(d.source.File, d.source.Slug.Line)
}

func (c *compiler) addConditions() {
	ids := bySlug(c.core.Registry.Conditions)
	for _, s := range c.core.Conditions {
		p := c.reportAt(s.File, s.Slug.Line)
		if !checkSlug(p, "condition", s.Slug.Text, c.conditions[s.Slug.Text] != nil) {
			continue
		}
		d := &condition{source: s, DraftCondition: &model.DraftCondition{
			Number:      c.registeredNumber(p, ids, "condition", s.Slug.Text, model.ConditionPrefix),
			ICD10:       icd10Codes(p, s.ICD10),
			Acuteness:   parseRequired(p, "acuteness", s.Acuteness, model.ParseAcuteness),
			Severity:    parseRequired(p, "severity", s.Severity, model.ParseSeverity),
			Triage:      parseRequired(p, "triage_level", s.TriageLevel, model.ParseTriageLevel),
			Channel:     parseRequired(p, "channel", s.Channel, model.ParseChannel),
			Sex:         parseOptional(p, s.Sex, model.ParseSexFilter),
			Categories:  lookupNamedItems(p, "category", "categories", s.Categories, c.categories),
			Specialists: lookupNamedItems(p, "specialist", "specialists", s.Specialists, c.specialists),
		}}
		d.AgeFrom, d.AgeTo = parseAgeRange(p, s.Ages)
		d.Course = parseCourse(p, s.Course, defaultCourses[d.Acuteness])
		c.checkConditionFields(p, s)
		c.setPrior(p, d)
		c.addFindings(d)
		c.addProtectiveFindings(d)
		c.addRiskFactors(d)
		c.checkEmergencyPath(p, d)
		c.conditions[s.Slug.Text] = d
		c.conditionsByDraft[d.DraftCondition] = d
		c.draft.Conditions = append(c.draft.Conditions, d.DraftCondition)
	}
}

var icd10Pattern = regexp.MustCompile(`^[A-Z][0-9][0-9A-Z](\.[0-9A-Z]{1,4})?$`)

// icd10Codes returns the ICD-10 codes of a condition in API format, best match first.
func icd10Codes(p reporter, words source.ScalarOrList) string {
	texts := make([]string, 0, len(words))
	for _, w := range words {
		switch at := p.atLine(w.Line); {
		case !icd10Pattern.MatchString(w.Text):
			at.errorf("invalid ICD-10 code %q: expected a code such as G43.9", w.Text)
		case slices.Contains(texts, w.Text):
			at.errorf("ICD-10 code %s is listed twice", w.Text)
		}
		texts = append(texts, w.Text)
	}
	return strings.Join(texts, ", ")
}

func (c *compiler) checkConditionFields(p reporter, s *source.Condition) {
	if s.TriageLevel.Text == model.NoTriageLevel.String() {
		p.atLine(s.TriageLevel.Line).errorf("condition %s has no triage level", s.Slug.Text)
	}
	if len(s.Sources) == 0 {
		p.errorf("condition %s has no sources for its numbers", s.Slug.Text)
	}
}

// lookupNamedItems returns the specialists or categories of a condition.
func lookupNamedItems(p reporter, kind, key string, words []source.Scalar, known map[string]*model.DraftNamedItem) []*model.DraftNamedItem {
	if len(words) == 0 {
		p.errorf("%s is missing", key)
	}
	named := make([]*model.DraftNamedItem, 0, len(words))
	for _, w := range words {
		n := known[w.Text]
		switch {
		case n == nil:
			p.atLine(w.Line).errorf("unknown %s %s: add it to %s or use one listed there", kind, w.Text, source.RegistryFile)
			continue
		case slices.Contains(named, n):
			p.atLine(w.Line).errorf("%s %s is listed twice", kind, w.Text)
		}
		named = append(named, n)
	}
	return named
}

// setPrior sets the prior, by sex and age band, to the base probability times the
// multipliers. The prior stays zero for sexes and age bands in which the condition does
// not occur.
func (c *compiler) setPrior(p reporter, d *condition) {
	prior := d.source.Prior
	base := prior.Per10000.Value / 10000
	if !inOpenUnitInterval(base) {
		p.atLine(prior.Per10000.Line).errorf("invalid prior.per_10000 of %s: expected a number above 0 and below 10000, got %v", d.source.Slug.Text, prior.Per10000.Value)
		return
	}
	d.Prevalence = prevalenceClass(prior.Per10000.Value)
	sexes := parseMultipliers(p, prior.Sex, []string{model.Female.String(), model.Male.String()})
	bands := parseMultipliers(p, prior.Ages, model.AgeBandNames[:])
	highest := 0.0
	for sex := range d.Prior {
		for band := range d.Prior[sex] {
			from, to := model.AgeBandRange(band)
			if !d.Sex.Includes(model.Sex(sex)) || to < int(d.AgeFrom) || from > int(d.AgeTo) {
				continue
			}
			d.Prior[sex][band] = base * sexes[sex] * bands[band]
			highest = max(highest, d.Prior[sex][band])
		}
	}
	if !inOpenUnitInterval(highest) {
		p.atLine(prior.Per10000.Line).errorf("highest prior of %s over sexes and ages is %v: expected a probability strictly between 0 and 1", d.source.Slug.Text, highest)
	}
}

// parseMultipliers parses a mapping from names to multipliers. Missing multipliers
// default to 1.
func parseMultipliers(p reporter, mapping map[source.Scalar]source.Number, names []string) []float64 {
	values := slices.Repeat([]float64{1}, len(names))
	for _, word := range keysByLine(mapping) {
		number := mapping[word]
		i := slices.Index(names, word.Text)
		switch {
		case i < 0:
			p.atLine(word.Line).errorf("unknown key %s: expected one of %v", word.Text, names)
		case number.Line == 0 || number.Value != 0 && !isMultiplier(number.Value):
			p.atLine(word.Line).errorf("invalid multiplier %v of %s: expected 0 or a positive number", number.Value, word.Text)
		default:
			values[i] = number.Value
		}
	}
	return values
}

func (c *compiler) addFindings(d *condition) {
	if len(d.source.Findings) == 0 {
		c.reportAtCondition(d).errorf("condition %s has no findings: add at least one", d.source.Slug.Text)
	}
	for _, word := range keysByLine(d.source.Findings) {
		p, share := c.reportAt(d.source.File, word.Line), d.source.Findings[word].Value
		o := c.linkedObservation(p, d, word.Text)
		if o == nil {
			continue
		}
		switch {
		case o.Kind == model.RiskFactor:
			p.errorf("%s is a risk factor: move it to risk_factors", word.Text)
		case !inOpenUnitInterval(share):
			p.errorf("invalid share %v of %s in %s: expected a probability strictly between 0 and 1", share, word.Text, d.source.Slug.Text)
		case share < o.Leak:
			p.errorf("share %v of %s in %s is below its background %v: raise the share, or move the finding to protective", share, word.Text, d.source.Slug.Text, o.Leak)
		default:
			d.Findings = append(d.Findings, model.DraftFinding{Observation: o.DraftObservation, Probability: share})
		}
	}
}

func (c *compiler) addProtectiveFindings(d *condition) {
	findings := bySlug(d.source.Findings)
	for _, word := range keysByLine(d.source.Protective) {
		p, factor := c.reportAt(d.source.File, word.Line), d.source.Protective[word]
		o := c.linkedObservation(p, d, word.Text)
		if o == nil {
			continue
		}
		_, both := findings[word.Text]
		switch {
		case o.Kind == model.RiskFactor:
			p.errorf("%s is a risk factor: move it to risk_factors", word.Text)
		case both:
			p.errorf("%s is both protective and a finding of %s: remove one entry", word.Text, d.source.Slug.Text)
		case !inOpenUnitInterval(factor.Present.Value) || factor.Absent.Value < 1 || !isMultiplier(factor.Absent.Value):
			p.errorf("invalid multipliers of %s, which is protective against %s: expected present between 0 and 1 and absent of at least 1, got %v and %v", word.Text, d.source.Slug.Text, factor.Present.Value, factor.Absent.Value)
		default:
			d.Factors = append(d.Factors, model.DraftFactor{Observation: o.DraftObservation, Present: factor.Present.Value, Absent: factor.Absent.Value})
		}
	}
}

func (c *compiler) addRiskFactors(d *condition) {
	for _, word := range keysByLine(d.source.RiskFactors) {
		p, risk := c.reportAt(d.source.File, word.Line), d.source.RiskFactors[word].Value
		o := c.linkedObservation(p, d, word.Text)
		if o == nil {
			continue
		}
		switch {
		case o.Kind != model.RiskFactor:
			p.errorf("%s is not a risk factor: move it to findings or protective", word.Text)
		case !isMultiplier(risk):
			p.errorf("invalid relative risk %v of %s: expected a positive number", risk, word.Text)
		default:
			present, absent := oddsMultipliers(risk, o.Leak)
			d.Factors = append(d.Factors, model.DraftFactor{Observation: o.DraftObservation, Present: present, Absent: absent})
		}
	}
}

// linkedObservation returns the observation to which a condition refers, if it exists
// and a patient can have both.
func (c *compiler) linkedObservation(p reporter, d *condition, slug string) *observation {
	o := c.observations[slug]
	switch {
	case o == nil:
		p.errorf("unknown observation %s", slug)
	case disjointSexes(o.Sex, d.Sex):
		p.errorf("%s occurs only with sex %v, but %s applies only to sex %v: they can never occur together", d.source.Slug.Text, d.Sex, slug, o.Sex)
	case o.AgeTo < d.AgeFrom || o.AgeFrom > d.AgeTo:
		p.errorf("%s occurs from %d to %d months of age, but %s applies from %d to %d months: they can never occur together", d.source.Slug.Text, d.AgeFrom, d.AgeTo, slug, o.AgeFrom, o.AgeTo)
	}
	return o
}

// checkEmergencyPath checks that patients can report an emergency: through a finding
// that is an emergency on its own, or through a tuple of findings and risk factors.
// Observations without a question for patients do not count.
func (c *compiler) checkEmergencyPath(p reporter, d *condition) {
	if d.Triage < model.Emergency {
		return
	}
	var reportable []*model.DraftObservation
	for _, f := range d.Findings {
		isAsked := !c.observationsByDraft[f.Observation].source.Professional.Value
		if isAsked && f.Observation.Seriousness >= model.SeriousnessEmergency {
			return
		}
		reportable = append(reportable, f.Observation)
	}
	for _, f := range d.Factors {
		if f.Observation.Kind == model.RiskFactor {
			reportable = append(reportable, f.Observation)
		}
	}
	for _, t := range c.draft.Tuples {
		isReportable := func(o *model.DraftObservation) bool { return slices.Contains(reportable, o) }
		if t.Level >= model.Emergency && !slices.ContainsFunc(t.Observations, func(o *model.DraftObservation) bool { return !isReportable(o) }) {
			return
		}
	}
	p.atLine(d.source.TriageLevel.Line).errorf("%s has the triage level %v but no emergency path: add a finding with seriousness emergency or emergency_ambulance, or a tuple of its observations with such a level", d.source.Slug.Text, d.Triage)
}
