// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"
)

// verify checks every invariant on which readers of a release rely, so that they need
// no checks of their own: every index, span and string is within its section, lists
// have the order that searches expect, both directions of the links agree,
// probabilities are valid, and families of observations are trees in which children are
// never more frequent than their parents. It returns the first violation.
func verify(r *Release) error {
	checks := []func(*Release) error{
		verifyMeta,
		verifyNamedItems,
		verifyConditions,
		verifyObservations,
		verifyAliases,
		verifyLinks,
		verifyFactors,
		verifyConditionFactors,
		verifyFamilies,
		verifyGroups,
		verifyTuples,
		verifyLabTests,
		verifyArticles,
		verifyDrugs,
		verifyChronicDiseases,
		verifyHospitalizations,
		verifyWordings,
		verifyWords,
		verifyListWordings,
		verifyNameRanks,
		verifyLexicon,
		verifyFrequencies,
	}
	for _, check := range checks {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

// VersionLayout is the format of a version, for package time.
const VersionLayout = "2006-01-02T15:04:05Z"

func verifyMeta(r *Release) error {
	m := r.Meta
	if !ValidModelID(m.ModelID) {
		return fmt.Errorf("invalid model ID %q: expected lowercase letters, digits and dashes", m.ModelID)
	}
	if !validVersion(m.Version) {
		return fmt.Errorf("invalid version %q: expected a UTC time such as %s", m.Version, VersionLayout)
	}
	if m.Language == "" || m.ChoicePresent == "" || m.ChoiceAbsent == "" || m.ChoiceUnknown == "" {
		return errors.New("missing language or choice label")
	}
	if strings.Count(m.DurationQuestion, SymptomPlaceholder) != 1 || strings.Count(m.DurationQuestionThirdPerson, SymptomPlaceholder) != 1 {
		return fmt.Errorf("duration question must contain %s exactly once", SymptomPlaceholder)
	}
	return m.LeakCourse.verify()
}

func (c Course) verify() error {
	if math.IsNaN(c.Mean) || math.IsInf(c.Mean, 0) || !(c.StdDev > 0) || math.IsInf(c.StdDev, 1) {
		return fmt.Errorf("invalid course with mean %v and standard deviation %v: expected finite numbers and a standard deviation above 0", c.Mean, c.StdDev)
	}
	return nil
}

func validVersion(version string) bool {
	_, err := time.Parse(VersionLayout, version)
	return err == nil && len(version) == len(VersionLayout)
}

// ValidModelID reports whether an ID consists only of lowercase letters, digits and
// dashes, and is therefore safe in file names and headers.
func ValidModelID(id string) bool {
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return id != "" && id[0] != '-'
}

// verifyTexts rejects references that exceed the strings section or split a character.
func verifyTexts(r *Release, refs ...StringRef) error {
	for _, ref := range refs {
		end := uint64(ref.Offset) + uint64(ref.Length)
		if end > uint64(len(r.strings)) {
			return fmt.Errorf("text of %d bytes at offset %d exceeds the strings section of %d bytes", ref.Length, ref.Offset, len(r.strings))
		}
		if !utf8.Valid(r.strings[ref.Offset:end]) {
			return fmt.Errorf("text of %d bytes at offset %d is not UTF-8", ref.Length, ref.Offset)
		}
	}
	return nil
}

// A spanChecker checks that the spans of successive records cover a section
// without gap or overlap.
type spanChecker struct {
	section string
	length  int
	next    uint32
}

func (c *spanChecker) check(s Span) error {
	if s.Start != c.next || s.End < s.Start || uint64(s.End) > uint64(c.length) {
		return fmt.Errorf("invalid range [%d,%d) of %s: expected a range from %d that ends by %d", s.Start, s.End, c.section, c.next, c.length)
	}
	c.next = s.End
	return nil
}

func (c *spanChecker) checkComplete() error {
	if int(c.next) != c.length {
		return fmt.Errorf("section %s has %d unreferenced records", c.section, c.length-int(c.next))
	}
	return nil
}

func verifyNamedItems(r *Release) error {
	for _, list := range [][]NamedItem{r.Specialists, r.Categories} {
		last := uint32(0)
		for _, n := range list {
			if n.Number <= last {
				return fmt.Errorf("specialist or category number %d is out of order after %d", n.Number, last)
			}
			last = n.Number
			if err := verifyTexts(r, n.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// isKnownValue reports whether a value is defined in its enum.
func isKnownValue[T ~uint8](value T, words []string) bool { return int(value) < len(words) }

// isValidBool reports whether the byte of a bool is 0 or 1. A bool from a file may hold
// other values.
func isValidBool(b *bool) bool { return *(*uint8)(unsafe.Pointer(b)) <= 1 }

func verifyConditions(r *Release) error {
	links := spanChecker{section: "links by condition", length: len(r.LinksByCondition)}
	factors := spanChecker{section: "condition factors", length: len(r.ConditionFactors)}
	categories := spanChecker{section: "category references", length: len(r.CategoryRefs)}
	specialists := spanChecker{section: "specialist references", length: len(r.SpecialistRefs)}
	last := uint32(0)
	for i := range r.Conditions {
		c := &r.Conditions[i]
		if c.Number <= last {
			return fmt.Errorf("condition number %d is out of order after %d", c.Number, last)
		}
		last = c.Number
		err := errors.Join(links.check(c.Links), factors.check(c.Factors), categories.check(c.Categories), specialists.check(c.Specialists), verifyCondition(r, c))
		if err != nil {
			return fmt.Errorf("condition %s: %w", r.ConditionID(ConditionIndex(i)), err)
		}
	}
	for _, ref := range r.CategoryRefs {
		if int(ref) >= len(r.Categories) {
			return fmt.Errorf("category reference %d out of range [0,%d)", ref, len(r.Categories))
		}
	}
	for _, ref := range r.SpecialistRefs {
		if int(ref) >= len(r.Specialists) {
			return fmt.Errorf("specialist reference %d out of range [0,%d)", ref, len(r.Specialists))
		}
	}
	return errors.Join(links.checkComplete(), factors.checkComplete(), categories.checkComplete(), specialists.checkComplete())
}

func verifyCondition(r *Release, c *Condition) error {
	if err := verifyTexts(r, c.Name, c.CommonName, c.ICD10, c.Hint); err != nil {
		return err
	}
	if c.Name.Length == 0 {
		return errors.New("missing name")
	}
	if !isKnownValue(c.Sex, sexFilterValues) || !isKnownValue(c.Prevalence, prevalenceValues) || !isKnownValue(c.Acuteness, acutenessValues) ||
		!isKnownValue(c.Severity, severityValues) || !isKnownValue(c.Channel, channelValues) {
		return errors.New("unknown sex, prevalence, acuteness, severity or channel")
	}
	if !isKnownValue(c.Triage, triageLevelValues) || c.Triage == NoTriageLevel {
		return fmt.Errorf("invalid triage level %v for a condition", c.Triage)
	}
	if c.AgeFrom > c.AgeTo {
		return fmt.Errorf("invalid age range from %d to %d months", c.AgeFrom, c.AgeTo)
	}
	for _, bands := range c.Prior {
		for _, p := range bands {
			if !(p >= 0 && p < 1) {
				return fmt.Errorf("invalid prior %v: expected at least 0 and less than 1", p)
			}
		}
	}
	return c.Course.verify()
}

// inOpenUnitInterval reports whether p is strictly between 0 and 1. It returns false for
// NaN.
func inOpenUnitInterval(p float64) bool { return p > 0 && p < 1 }

func verifyObservations(r *Release) error {
	links := spanChecker{section: "links by observation", length: len(r.LinksByObservation)}
	factors := spanChecker{section: "factors", length: len(r.Factors)}
	children := spanChecker{section: "children", length: len(r.ChildRefs)}
	last := uint64(0)
	for i := range r.Observations {
		o := &r.Observations[i]
		if !isKnownValue(o.Kind, observationKindValues) {
			return fmt.Errorf("observation %d: unknown kind %d", i, o.Kind)
		}
		rank := uint64(o.Kind)<<32 | uint64(o.Number)
		if rank <= last || o.Number == 0 {
			return fmt.Errorf("observation %d (%s) is out of order", i, r.ObservationID(ObservationIndex(i)))
		}
		last = rank
		err := errors.Join(links.check(o.Links), factors.check(o.Factors), children.check(o.Children), verifyObservation(r, o))
		if err != nil {
			return fmt.Errorf("observation %s: %w", r.ObservationID(ObservationIndex(i)), err)
		}
	}
	return errors.Join(links.checkComplete(), factors.checkComplete(), children.checkComplete())
}

func verifyObservation(r *Release, o *Observation) error {
	if err := verifyTexts(r, o.Name, o.CommonName, o.Question, o.QuestionThirdPerson); err != nil {
		return err
	}
	if o.Name.Length == 0 {
		return errors.New("missing name")
	}
	if !isKnownValue(o.Sex, sexFilterValues) || !isKnownValue(o.Seriousness, seriousnessValues) || !isKnownValue(o.Relation, relationValues) {
		return errors.New("unknown sex, seriousness or relation")
	}
	if o.AgeFrom > o.AgeTo {
		return fmt.Errorf("invalid age range from %d to %d months", o.AgeFrom, o.AgeTo)
	}
	if !isValidBool(&o.CommonInOnlookers) {
		return errors.New("invalid onlooker flag")
	}
	if !isKnownValue(o.LabResult, resultTypeValues) || !isKnownValue(o.Topic, topicValues) || (o.Kind == LabResult) != (o.LabResult != NoLabResult) {
		return fmt.Errorf("result %v or topic %v is unknown or does not match kind %v", o.LabResult, o.Topic, o.Kind)
	}
	if hasDuration := o.DurationFrom != 0 || o.DurationTo != 0; hasDuration && (o.DurationFrom >= o.DurationTo || o.Relation != DurationRelation) {
		return fmt.Errorf("invalid duration from %d to %d minutes for relation %v: expected an increasing range, on duration relations only", o.DurationFrom, o.DurationTo, o.Relation)
	}
	if !inOpenUnitInterval(o.Leak) {
		return fmt.Errorf("invalid leak %v: expected a probability strictly between 0 and 1", o.Leak)
	}
	if o.Group != None && (o.Group < 0 || int(o.Group) >= len(r.Groups)) {
		return fmt.Errorf("group %d out of range [0,%d)", o.Group, len(r.Groups))
	}
	return nil
}

// verifyLinks walks the links by condition. Because both directions are sorted by
// index, it must encounter the links of each observation in their order.
func verifyLinks(r *Release) error {
	if len(r.LinksByCondition) != len(r.LinksByObservation) {
		return fmt.Errorf("found %d links by condition, but %d links by observation", len(r.LinksByCondition), len(r.LinksByObservation))
	}
	seen := make([]uint32, len(r.Observations))
	for i := range r.Conditions {
		last := int32(-1)
		for _, link := range Slice(r.LinksByCondition, r.Conditions[i].Links) {
			if link.Other <= last || int(link.Other) >= len(r.Observations) {
				return fmt.Errorf("condition %s: link to observation %d after %d is out of order or out of range [0,%d)", r.ConditionID(ConditionIndex(i)), link.Other, last, len(r.Observations))
			}
			last = link.Other
			if err := verifyLink(r, int32(i), link, seen); err != nil {
				return fmt.Errorf("condition %s, link to %s: %w", r.ConditionID(ConditionIndex(i)), r.ObservationID(ObservationIndex(last)), err)
			}
		}
	}
	return nil
}

// roundingTolerance is the tolerated difference between logarithms, whose last bits
// differ between processors.
const roundingTolerance = 1e-12

// verifyLink checks one link by condition, and that it is the next unseen link of its
// observation.
func verifyLink(r *Release, condition int32, link Link, seen []uint32) error {
	o := &r.Observations[link.Other]
	if !inOpenUnitInterval(link.Probability) || link.Probability < o.Leak {
		return fmt.Errorf("invalid share %v: expected at least the leak %v and less than 1", link.Probability, o.Leak)
	}
	if link.Lambda != Lambda(link.Probability, o.Leak) || !(math.Abs(link.Entropy-BinaryEntropy(link.Probability)) <= roundingTolerance) {
		return fmt.Errorf("lambda %v and entropy %v do not match share %v and leak %v", link.Lambda, link.Entropy, link.Probability, o.Leak)
	}
	index := o.Links.Start + seen[link.Other]
	seen[link.Other]++
	link.Other = condition
	if index >= o.Links.End || r.LinksByObservation[index] != link {
		return errors.New("link by condition does not match the link by observation")
	}
	return nil
}

func verifyFactors(r *Release) error {
	for i := range r.Observations {
		last := ConditionIndex(-1)
		for _, f := range Slice(r.Factors, r.Observations[i].Factors) {
			if f.Condition <= last || int(f.Condition) >= len(r.Conditions) {
				return fmt.Errorf("observation %s: factor of condition %d after %d is out of order or out of range [0,%d)", r.ObservationID(ObservationIndex(i)), f.Condition, last, len(r.Conditions))
			}
			if !isMultiplier(f.Present) || !isMultiplier(f.Absent) {
				return fmt.Errorf("observation %s: invalid multipliers %v and %v: expected positive numbers", r.ObservationID(ObservationIndex(i)), f.Present, f.Absent)
			}
			last = f.Condition
		}
	}
	return nil
}

// verifyConditionFactors walks the factors by condition. As with links, it must
// encounter the factors of each observation in their order.
func verifyConditionFactors(r *Release) error {
	if len(r.ConditionFactors) != len(r.Factors) {
		return fmt.Errorf("found %d factors by condition, but %d factors by observation", len(r.ConditionFactors), len(r.Factors))
	}
	seen := make([]uint32, len(r.Observations))
	for i := range r.Conditions {
		last := ObservationIndex(-1)
		for _, c := range Slice(r.ConditionFactors, r.Conditions[i].Factors) {
			if c.Observation <= last || int(c.Observation) >= len(r.Observations) {
				return fmt.Errorf("condition %s: factor for observation %d is out of order (follows %d) or out of range [0,%d)", r.ConditionID(ConditionIndex(i)), c.Observation, last, len(r.Observations))
			}
			last = c.Observation
			if err := verifyConditionFactor(r, ConditionIndex(i), c, seen); err != nil {
				return fmt.Errorf("condition %s, factor of %s: %w", r.ConditionID(ConditionIndex(i)), r.ObservationID(last), err)
			}
		}
	}
	return nil
}

// verifyConditionFactor checks one entry against the next unseen factor of its
// observation.
func verifyConditionFactor(r *Release, condition ConditionIndex, c ConditionFactor, seen []uint32) error {
	o := &r.Observations[c.Observation]
	index := o.Factors.Start + seen[c.Observation]
	seen[c.Observation]++
	if index >= o.Factors.End || r.Factors[index].Condition != condition {
		return errors.New("matching factor by observation not found")
	}
	f := r.Factors[index]
	share := FactorProbability(o.Leak, f.Present, f.Absent)
	if !(math.Abs(c.Probability-share) <= roundingTolerance) || !(math.Abs(c.Entropy-BinaryEntropy(share)) <= roundingTolerance) {
		return fmt.Errorf("share %v and entropy %v do not match the multipliers %v and %v", c.Probability, c.Entropy, f.Present, f.Absent)
	}
	return nil
}

func isMultiplier(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

// verifyGroups must run before any code reads Ordered as a bool.
func verifyGroups(r *Release) error {
	items := spanChecker{section: "group items", length: len(r.GroupItems)}
	member := make([]bool, len(r.Observations))
	for i := range r.Groups {
		g := &r.Groups[i]
		if err := errors.Join(items.check(g.Items), verifyGroup(r, GroupIndex(i), member)); err != nil {
			return fmt.Errorf("group %d: %w", i, err)
		}
	}
	for i, o := range r.Observations {
		if o.Group != None && !member[i] {
			return fmt.Errorf("observation %s is not an item of its group %d", r.ObservationID(ObservationIndex(i)), o.Group)
		}
	}
	return items.checkComplete()
}

func verifyGroup(r *Release, index GroupIndex, member []bool) error {
	g := &r.Groups[index]
	if err := verifyTexts(r, g.Question, g.QuestionThirdPerson); err != nil {
		return err
	}
	if !isKnownValue(g.Type, groupTypeValues) || !isValidBool(&g.Ordered) {
		return errors.New("unknown group type or invalid ordered flag")
	}
	if g.Parent != None && (g.Parent < 0 || int(g.Parent) >= len(r.Observations)) {
		return fmt.Errorf("parent %d out of range [0,%d)", g.Parent, len(r.Observations))
	}
	if g.Ordered && (g.Type != GroupSingle || g.Parent == None) {
		return errors.New("an ordered group must have a parent and be group_single")
	}
	if g.Items.Start >= g.Items.End || int(g.Items.End) > len(r.GroupItems) {
		return errors.New("missing items")
	}
	for _, o := range Slice(r.GroupItems, g.Items) {
		if o < 0 || int(o) >= len(r.Observations) || member[o] || r.Observations[o].Group != index {
			return fmt.Errorf("item %d is unknown, listed twice, or in another group", o)
		}
		if r.Observations[o].Parent != g.Parent {
			return fmt.Errorf("item %s has a different parent than the group", r.ObservationID(o))
		}
		member[o] = true
	}
	return nil
}

func verifyTuples(r *Release) error {
	items := spanChecker{section: "tuple items", length: len(r.TupleItems)}
	for i, t := range r.Tuples {
		if err := errors.Join(items.check(t.Observations), verifyTexts(r, t.Reason)); err != nil {
			return fmt.Errorf("tuple %d: %w", i, err)
		}
		if !isKnownValue(t.Level, triageLevelValues) || t.Level == NoTriageLevel {
			return fmt.Errorf("tuple %d: invalid triage level %v", i, t.Level)
		}
		last := ObservationIndex(-1)
		for _, o := range Slice(r.TupleItems, t.Observations) {
			if o <= last || int(o) >= len(r.Observations) {
				return fmt.Errorf("tuple %d: observation %d after %d is out of order or out of range [0,%d)", i, o, last, len(r.Observations))
			}
			last = o
		}
		if t.Observations.Len() < 2 {
			return fmt.Errorf("tuple %d has %d observations: expected at least two", i, t.Observations.Len())
		}
	}
	return items.checkComplete()
}
