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

// verify holds a release against everything that its readers rely on, so that
// none of them has to check again: every index, span and piece of text is
// within its section, lists are in the order that searches expect, both
// directions of the links agree, numbers are probabilities, and the families
// of observations are trees whose children are never more frequent than their
// parents. The first thing wrong is the answer.
func verify(r *Release) error {
	checks := []func(*Release) error{
		verifyMeta,
		verifyNamed,
		verifyConditions,
		verifyObservations,
		verifyAliases,
		verifyLinks,
		verifyFactors,
		verifyCarriers,
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

// VersionLayout is the form of a version, as package time writes it.
const VersionLayout = "2006-01-02T15:04:05Z"

func verifyMeta(r *Release) error {
	m := r.Meta
	if !ValidModelID(m.ModelID) {
		return fmt.Errorf("the model id %q is not one of small letters, digits and dashes", m.ModelID)
	}
	if !validVersion(m.Version) {
		return fmt.Errorf("the version %q is not a time in UTC such as %s", m.Version, VersionLayout)
	}
	if m.Language == "" || m.ChoicePresent == "" || m.ChoiceAbsent == "" || m.ChoiceUnknown == "" {
		return errors.New("the language or the label of a choice is missing")
	}
	if strings.Count(m.DurationQuestion, SymptomSlot) != 1 || strings.Count(m.DurationQuestionThirdPerson, SymptomSlot) != 1 {
		return fmt.Errorf("a question of the duration does not have %s in it, once", SymptomSlot)
	}
	return m.LeakCourse.verify()
}

func (c Course) verify() error {
	if math.IsNaN(c.Mean) || math.IsInf(c.Mean, 0) || !(c.Deviation > 0) || math.IsInf(c.Deviation, 1) {
		return fmt.Errorf("a course of mean %v and deviation %v, expected numbers, the deviation over 0", c.Mean, c.Deviation)
	}
	return nil
}

func validVersion(version string) bool {
	_, err := time.Parse(VersionLayout, version)
	return err == nil && len(version) == len(VersionLayout)
}

// ValidModelID reports whether an id is one of small letters, digits and
// dashes, fit for file names and headers.
func ValidModelID(id string) bool {
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return id != "" && id[0] != '-'
}

// checkTexts refuses references that leave the strings section or cut a
// character in two.
func checkTexts(r *Release, refs ...StringRef) error {
	for _, ref := range refs {
		end := uint64(ref.Offset) + uint64(ref.Length)
		if end > uint64(len(r.strings)) {
			return fmt.Errorf("text of %d bytes at %d leaves the strings section of %d bytes", ref.Length, ref.Offset, len(r.strings))
		}
		if !utf8.Valid(r.strings[ref.Offset:end]) {
			return fmt.Errorf("text of %d bytes at %d is not UTF-8", ref.Length, ref.Offset)
		}
	}
	return nil
}

// A tiling checks that the spans of successive records cover a section
// without gap or overlap.
type tiling struct {
	section string
	length  int
	next    uint32
}

func (t *tiling) take(s Span) error {
	if s.Start != t.next || s.End < s.Start || uint64(s.End) > uint64(t.length) {
		return fmt.Errorf("%s [%d,%d) do not continue at %d of %d", t.section, s.Start, s.End, t.next, t.length)
	}
	t.next = s.End
	return nil
}

func (t *tiling) done() error {
	if int(t.next) != t.length {
		return fmt.Errorf("%d of the %s belong to nothing", t.length-int(t.next), t.section)
	}
	return nil
}

func verifyNamed(r *Release) error {
	for _, list := range [][]Named{r.Specialists, r.Categories} {
		last := uint32(0)
		for _, n := range list {
			if n.Number <= last {
				return fmt.Errorf("the specialist or category numbered %d follows %d", n.Number, last)
			}
			last = n.Number
			if err := checkTexts(r, n.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// inWords reports whether a vocabulary has a word for the value.
func inWords[T ~uint8](value T, words []string) bool { return int(value) < len(words) }

// isBool reads a bool as the byte it is: one from a file may be neither.
func isBool(b *bool) bool { return *(*uint8)(unsafe.Pointer(b)) <= 1 }

func verifyConditions(r *Release) error {
	links := tiling{section: "links by condition", length: len(r.LinksByCondition)}
	carriers := tiling{section: "carriers", length: len(r.Carriers)}
	categories := tiling{section: "category references", length: len(r.CategoryRefs)}
	specialists := tiling{section: "specialist references", length: len(r.SpecialistRefs)}
	last := uint32(0)
	for i := range r.Conditions {
		c := &r.Conditions[i]
		if c.Number <= last {
			return fmt.Errorf("condition number %d follows %d", c.Number, last)
		}
		last = c.Number
		err := errors.Join(links.take(c.Links), carriers.take(c.Carriers), categories.take(c.Categories), specialists.take(c.Specialists), verifyCondition(r, c))
		if err != nil {
			return fmt.Errorf("condition %s: %w", r.ConditionID(ConditionIndex(i)), err)
		}
	}
	for _, ref := range r.CategoryRefs {
		if int(ref) >= len(r.Categories) {
			return fmt.Errorf("category reference %d, where there are %d categories", ref, len(r.Categories))
		}
	}
	for _, ref := range r.SpecialistRefs {
		if int(ref) >= len(r.Specialists) {
			return fmt.Errorf("specialist reference %d, where there are %d specialists", ref, len(r.Specialists))
		}
	}
	return errors.Join(links.done(), carriers.done(), categories.done(), specialists.done())
}

func verifyCondition(r *Release, c *Condition) error {
	if err := checkTexts(r, c.Name, c.CommonName, c.ICD10, c.Hint); err != nil {
		return err
	}
	if c.Name.Length == 0 {
		return errors.New("no name")
	}
	if !inWords(c.Sex, sexFilterWords) || !inWords(c.Prevalence, prevalenceWords) || !inWords(c.Acuteness, acutenessWords) ||
		!inWords(c.Severity, severityWords) || !inWords(c.Channel, channelWords) {
		return errors.New("sex, prevalence, acuteness, severity or channel is none of the known ones")
	}
	if !inWords(c.Triage, triageLevelWords) || c.Triage == NoTriageLevel {
		return fmt.Errorf("%v is no triage level of a condition", c.Triage)
	}
	if c.AgeFrom > c.AgeTo {
		return fmt.Errorf("ages from %d to %d months", c.AgeFrom, c.AgeTo)
	}
	for _, bands := range c.Prior {
		for _, p := range bands {
			if !(p >= 0 && p < 1) {
				return fmt.Errorf("prior %v, expected 0 or more and less than 1", p)
			}
		}
	}
	return c.Course.verify()
}

// inside reports whether p is strictly between 0 and 1, which NaN is not.
func inside(p float64) bool { return p > 0 && p < 1 }

func verifyObservations(r *Release) error {
	links := tiling{section: "links by observation", length: len(r.LinksByObservation)}
	factors := tiling{section: "factors", length: len(r.Factors)}
	children := tiling{section: "children", length: len(r.ChildRefs)}
	last := uint64(0)
	for i := range r.Observations {
		o := &r.Observations[i]
		if !inWords(o.Kind, observationKindWords) {
			return fmt.Errorf("observation %d is of the unknown kind %d", i, o.Kind)
		}
		rank := uint64(o.Kind)<<32 | uint64(o.Number)
		if rank <= last || o.Number == 0 {
			return fmt.Errorf("observation %d, %s, is out of order", i, r.ObservationID(ObservationIndex(i)))
		}
		last = rank
		err := errors.Join(links.take(o.Links), factors.take(o.Factors), children.take(o.Children), verifyObservation(r, o))
		if err != nil {
			return fmt.Errorf("observation %s: %w", r.ObservationID(ObservationIndex(i)), err)
		}
	}
	return errors.Join(links.done(), factors.done(), children.done())
}

func verifyObservation(r *Release, o *Observation) error {
	if err := checkTexts(r, o.Name, o.CommonName, o.Question, o.QuestionThirdPerson); err != nil {
		return err
	}
	if o.Name.Length == 0 {
		return errors.New("no name")
	}
	if !inWords(o.Sex, sexFilterWords) || !inWords(o.Seriousness, seriousnessWords) || !inWords(o.Relation, relationWords) {
		return errors.New("sex, seriousness or relation is none of the known ones")
	}
	if o.AgeFrom > o.AgeTo {
		return fmt.Errorf("ages from %d to %d months", o.AgeFrom, o.AgeTo)
	}
	if !isBool(&o.Onlooker) {
		return errors.New("neither an onlooker's nor not")
	}
	if !inWords(o.LabResult, resultTypeWords) || !inWords(o.Topic, topicWords) || (o.Kind == LabResult) != (o.LabResult != NoLabResult) {
		return fmt.Errorf("result %v or topic %v is none of the known ones, or not of kind %v", o.LabResult, o.Topic, o.Kind)
	}
	if said := o.LastsFrom != 0 || o.LastsTo != 0; said && (o.LastsFrom >= o.LastsTo || o.Relation != Duration) {
		return fmt.Errorf("lasts from %d to %d minutes by relation %v", o.LastsFrom, o.LastsTo, o.Relation)
	}
	if !inside(o.Leak) {
		return fmt.Errorf("leak %v, expected a probability strictly between 0 and 1", o.Leak)
	}
	if o.Group != None && (o.Group < 0 || int(o.Group) >= len(r.Groups)) {
		return fmt.Errorf("group %d, where there are %d", o.Group, len(r.Groups))
	}
	return nil
}

// verifyLinks walks the links by condition. Because both directions are in
// order of index, the links of each observation must come up in their order.
func verifyLinks(r *Release) error {
	if len(r.LinksByCondition) != len(r.LinksByObservation) {
		return fmt.Errorf("%d links by condition, %d by observation", len(r.LinksByCondition), len(r.LinksByObservation))
	}
	seen := make([]uint32, len(r.Observations))
	for i := range r.Conditions {
		last := int32(-1)
		for _, link := range Part(r.LinksByCondition, r.Conditions[i].Links) {
			if link.Other <= last || int(link.Other) >= len(r.Observations) {
				return fmt.Errorf("condition %s: link to observation %d behind %d, where there are %d", r.ConditionID(ConditionIndex(i)), link.Other, last, len(r.Observations))
			}
			last = link.Other
			if err := verifyLink(r, int32(i), link, seen); err != nil {
				return fmt.Errorf("condition %s, link to %s: %w", r.ConditionID(ConditionIndex(i)), r.ObservationID(ObservationIndex(last)), err)
			}
		}
	}
	return nil
}

// rounding is by how much logarithms differ between processors, in the last bits.
const rounding = 1e-12

// verifyLink checks one link by condition, and that it is the next of the
// links by observation that were not seen yet.
func verifyLink(r *Release, condition int32, link Link, seen []uint32) error {
	o := &r.Observations[link.Other]
	if !inside(link.Share) || link.Share < o.Leak {
		return fmt.Errorf("share %v, expected one of at least the leak %v and less than 1", link.Share, o.Leak)
	}
	if link.Lambda != Lambda(link.Share, o.Leak) || !(math.Abs(link.Entropy-BinaryEntropy(link.Share)) <= rounding) {
		return fmt.Errorf("lambda %v and entropy %v do not follow from share %v and leak %v", link.Lambda, link.Entropy, link.Share, o.Leak)
	}
	at := o.Links.Start + seen[link.Other]
	seen[link.Other]++
	link.Other = condition
	if at >= o.Links.End || r.LinksByObservation[at] != link {
		return errors.New("not the same from the side of the observation")
	}
	return nil
}

func verifyFactors(r *Release) error {
	for i := range r.Observations {
		last := ConditionIndex(-1)
		for _, f := range Part(r.Factors, r.Observations[i].Factors) {
			if f.Condition <= last || int(f.Condition) >= len(r.Conditions) {
				return fmt.Errorf("observation %s: factor of condition %d behind %d, where there are %d", r.ObservationID(ObservationIndex(i)), f.Condition, last, len(r.Conditions))
			}
			if !isMultiplier(f.Present) || !isMultiplier(f.Absent) {
				return fmt.Errorf("observation %s: factors %v and %v, expected positive numbers", r.ObservationID(ObservationIndex(i)), f.Present, f.Absent)
			}
			last = f.Condition
		}
	}
	return nil
}

// verifyCarriers walks the carriers. As with links, the factors of each
// observation must come up in their order.
func verifyCarriers(r *Release) error {
	if len(r.Carriers) != len(r.Factors) {
		return fmt.Errorf("%d carriers, %d factors", len(r.Carriers), len(r.Factors))
	}
	seen := make([]uint32, len(r.Observations))
	for i := range r.Conditions {
		last := ObservationIndex(-1)
		for _, c := range Part(r.Carriers, r.Conditions[i].Carriers) {
			if c.Observation <= last || int(c.Observation) >= len(r.Observations) {
				return fmt.Errorf("condition %s: carriers of observation %d behind %d, where there are %d", r.ConditionID(ConditionIndex(i)), c.Observation, last, len(r.Observations))
			}
			last = c.Observation
			if err := verifyCarrier(r, ConditionIndex(i), c, seen); err != nil {
				return fmt.Errorf("condition %s, carriers of %s: %w", r.ConditionID(ConditionIndex(i)), r.ObservationID(last), err)
			}
		}
	}
	return nil
}

// verifyCarrier checks one entry against the next factor of its observation that
// was not seen yet.
func verifyCarrier(r *Release, condition ConditionIndex, c Carrier, seen []uint32) error {
	o := &r.Observations[c.Observation]
	at := o.Factors.Start + seen[c.Observation]
	seen[c.Observation]++
	if at >= o.Factors.End || r.Factors[at].Condition != condition {
		return errors.New("no factor from the side of the observation")
	}
	f := r.Factors[at]
	share := CarrierShare(o.Leak, f.Present, f.Absent)
	if !(math.Abs(c.Share-share) <= rounding) || !(math.Abs(c.Entropy-BinaryEntropy(share)) <= rounding) {
		return fmt.Errorf("share %v and entropy %v do not follow from the factors %v and %v", c.Share, c.Entropy, f.Present, f.Absent)
	}
	return nil
}

func isMultiplier(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

// verifyGroups runs before anything reads Ordered as a bool.
func verifyGroups(r *Release) error {
	items := tiling{section: "group items", length: len(r.GroupItems)}
	member := make([]bool, len(r.Observations))
	for i := range r.Groups {
		g := &r.Groups[i]
		if err := errors.Join(items.take(g.Items), verifyGroup(r, GroupIndex(i), member)); err != nil {
			return fmt.Errorf("group %d: %w", i, err)
		}
	}
	for i, o := range r.Observations {
		if o.Group != None && !member[i] {
			return fmt.Errorf("observation %s is no item of its group %d", r.ObservationID(ObservationIndex(i)), o.Group)
		}
	}
	return items.done()
}

func verifyGroup(r *Release, index GroupIndex, member []bool) error {
	g := &r.Groups[index]
	if err := checkTexts(r, g.Question, g.QuestionThirdPerson); err != nil {
		return err
	}
	if !inWords(g.Type, groupTypeWords) || !isBool(&g.Ordered) {
		return errors.New("neither group_single nor group_multiple")
	}
	if g.Parent != None && (g.Parent < 0 || int(g.Parent) >= len(r.Observations)) {
		return fmt.Errorf("parent %d, where there are %d observations", g.Parent, len(r.Observations))
	}
	if g.Ordered && (g.Type != GroupSingle || g.Parent == None) {
		return errors.New("ordered, but without a parent or not group_single")
	}
	if g.Items.Start >= g.Items.End || int(g.Items.End) > len(r.GroupItems) {
		return errors.New("no items")
	}
	for _, o := range Part(r.GroupItems, g.Items) {
		if o < 0 || int(o) >= len(r.Observations) || member[o] || r.Observations[o].Group != index {
			return fmt.Errorf("item %d is an observation of another group, of this one twice, or none", o)
		}
		if r.Observations[o].Parent != g.Parent {
			return fmt.Errorf("item %s has another parent", r.ObservationID(o))
		}
		member[o] = true
	}
	return nil
}

func verifyTuples(r *Release) error {
	items := tiling{section: "tuple items", length: len(r.TupleItems)}
	for i, t := range r.Tuples {
		if err := errors.Join(items.take(t.Observations), checkTexts(r, t.Reason)); err != nil {
			return fmt.Errorf("tuple %d: %w", i, err)
		}
		if !inWords(t.Level, triageLevelWords) || t.Level == NoTriageLevel {
			return fmt.Errorf("tuple %d: %v is no triage level", i, t.Level)
		}
		last := ObservationIndex(-1)
		for _, o := range Part(r.TupleItems, t.Observations) {
			if o <= last || int(o) >= len(r.Observations) {
				return fmt.Errorf("tuple %d: observation %d behind %d, where there are %d", i, o, last, len(r.Observations))
			}
			last = o
		}
		if t.Observations.Len() < 2 {
			return fmt.Errorf("tuple %d: %d observations, expected two or more", i, t.Observations.Len())
		}
	}
	return items.done()
}
