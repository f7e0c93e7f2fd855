// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"slices"
)

// Build sorts the concepts by number, replaces pointers with positions, and derives the
// data for package inference: both directions of every link with its lambda and
// entropy, the children of each observation, the factors by observation, the groups of
// laboratory results, the words of all wordings, the stems, terms and deletions of the
// lexicon, and the names of drugs and specialists. The order of the draft's lists does
// not affect the release, except that groups, tuples, hospitalizations and the patterns
// of an observation keep their order. Build sorts the lists of the draft in place, so
// that positions in the draft and in the release agree.
//
// Build does not validate the draft; Decode rejects invalid releases. Build panics if
// the draft refers to a concept that it does not contain.
func (d *Draft) Build() *Release {
	slices.SortStableFunc(d.Conditions, func(a, b *DraftCondition) int { return cmp.Compare(a.Number, b.Number) })
	slices.SortStableFunc(d.Observations, func(a, b *DraftObservation) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Number, b.Number))
	})
	slices.SortStableFunc(d.LabTests, func(a, b *DraftLabTest) int { return cmp.Compare(a.Number, b.Number) })
	slices.SortStableFunc(d.Drugs, func(a, b *DraftDrug) int { return cmp.Compare(a.Number, b.Number) })
	for _, list := range [][]*DraftNamedItem{d.Specialists, d.Categories} {
		slices.SortStableFunc(list, func(a, b *DraftNamedItem) int { return cmp.Compare(a.Number, b.Number) })
	}
	e := releaseEncoder{
		draft:         d,
		release:       &Release{Meta: d.Meta},
		texts:         map[string]StringRef{},
		observationAt: indexByValue(d.Observations),
	}
	e.release.Specialists = e.encodeNamedItems(d.Specialists)
	e.release.Categories = e.encodeNamedItems(d.Categories)
	e.encodeConditions()
	e.encodeObservations()
	e.encodeAliases()
	e.encodeGroups()
	e.encodeTuples()
	e.encodeLabTests()
	e.encodeArticles()
	e.encodeDrugs()
	e.encodeChronicDiseases()
	e.encodeWordings()
	e.encodeListWordings()
	e.encodeNameRanks()
	e.encodeLexicon()
	return e.release
}

// releaseEncoder encodes a draft as a release.
type releaseEncoder struct {
	draft         *Draft
	release       *Release
	texts         map[string]StringRef
	observationAt map[*DraftObservation]int32
}

func indexByValue[T comparable](list []T) map[T]int32 {
	index := make(map[T]int32, len(list))
	for i, entry := range list {
		index[entry] = int32(i)
	}
	return index
}

// mustIndex returns the position of an entry. It panics if the draft does not contain the
// entry.
func mustIndex[T comparable](index map[T]int32, entry T) int32 {
	i, ok := index[entry]
	if !ok {
		panic("model: draft references a concept outside its lists")
	}
	return i
}

// internText interns a string, so that equal strings are stored once.
func (e *releaseEncoder) internText(s string) StringRef {
	if s == "" {
		return StringRef{}
	}
	ref, ok := e.texts[s]
	if !ok {
		ref = StringRef{Offset: uint32(len(e.release.strings)), Length: uint32(len(s))}
		e.release.strings = append(e.release.strings, s...)
		e.texts[s] = ref
	}
	return ref
}

func (e *releaseEncoder) encodeNamedItems(list []*DraftNamedItem) []NamedItem {
	named := make([]NamedItem, len(list))
	for i, n := range list {
		named[i] = NamedItem{Number: n.Number, Name: e.internText(n.Name)}
	}
	return named
}

// appendSpan appends entries to a section and returns their span.
func appendSpan[T any](section *[]T, entries ...T) Span {
	start := len(*section)
	*section = append(*section, entries...)
	return Span{Start: uint32(start), End: uint32(len(*section))}
}

func (e *releaseEncoder) encodeConditions() {
	r := e.release
	specialistAt, categoryAt := indexByValue(e.draft.Specialists), indexByValue(e.draft.Categories)
	for _, c := range e.draft.Conditions {
		r.Conditions = append(r.Conditions, Condition{
			Number:      c.Number,
			Name:        e.internText(c.Name),
			CommonName:  e.internText(c.CommonName),
			ICD10:       e.internText(c.ICD10),
			Hint:        e.internText(c.Hint),
			Categories:  appendSpan(&r.CategoryRefs, namedItemRefs(categoryAt, c.Categories)...),
			Specialists: appendSpan(&r.SpecialistRefs, namedItemRefs(specialistAt, c.Specialists)...),
			Links:       appendSpan(&r.LinksByCondition, e.links(c)...),
			Factors:     appendSpan(&r.ConditionFactors, e.conditionFactors(c)...),
			AgeFrom:     c.AgeFrom,
			AgeTo:       c.AgeTo,
			Sex:         c.Sex,
			Prevalence:  c.Prevalence,
			Acuteness:   c.Acuteness,
			Severity:    c.Severity,
			Triage:      c.Triage,
			Channel:     c.Channel,
			Article:     None,
			Course:      c.Course,
			Prior:       c.Prior,
		})
	}
}

func namedItemRefs(index map[*DraftNamedItem]int32, list []*DraftNamedItem) []uint32 {
	refs := make([]uint32, len(list))
	for i, n := range list {
		refs[i] = uint32(mustIndex(index, n))
	}
	return refs
}

// links returns the links of a condition, sorted by observation.
func (e *releaseEncoder) links(c *DraftCondition) []Link {
	links := make([]Link, len(c.Findings))
	for i, f := range c.Findings {
		links[i] = Link{
			Other:       mustIndex(e.observationAt, f.Observation),
			Probability: f.Probability,
			Lambda:      Lambda(f.Probability, f.Observation.Leak),
			Entropy:     BinaryEntropy(f.Probability),
		}
	}
	slices.SortStableFunc(links, func(a, b Link) int { return cmp.Compare(a.Other, b.Other) })
	return links
}

// conditionFactors returns the factors of a condition, sorted by observation.
func (e *releaseEncoder) conditionFactors(c *DraftCondition) []ConditionFactor {
	factors := make([]ConditionFactor, len(c.Factors))
	for i, f := range c.Factors {
		share := FactorProbability(f.Observation.Leak, f.Present, f.Absent)
		factors[i] = ConditionFactor{
			Observation: ObservationIndex(mustIndex(e.observationAt, f.Observation)),
			Probability: share, Entropy: BinaryEntropy(share),
		}
	}
	slices.SortStableFunc(factors, func(a, b ConditionFactor) int { return cmp.Compare(a.Observation, b.Observation) })
	return factors
}

func (e *releaseEncoder) encodeObservations() {
	r := e.release
	links, factors, children := e.invertByObservation()
	for i, o := range e.draft.Observations {
		parent := ObservationIndex(None)
		if o.Parent != nil {
			parent = ObservationIndex(mustIndex(e.observationAt, o.Parent))
		}
		r.Observations = append(r.Observations, Observation{
			Number:              o.Number,
			Name:                e.internText(o.Name),
			CommonName:          e.internText(o.CommonName),
			Question:            e.internText(o.Question),
			QuestionThirdPerson: e.internText(o.QuestionThirdPerson),
			Children:            appendSpan(&r.ChildRefs, children[i]...),
			Links:               appendSpan(&r.LinksByObservation, links[i]...),
			Factors:             appendSpan(&r.Factors, factors[i]...),
			Parent:              parent,
			Group:               None,
			AgeFrom:             o.AgeFrom,
			AgeTo:               o.AgeTo,
			Kind:                o.Kind,
			Sex:                 o.Sex,
			Seriousness:         o.Seriousness,
			Relation:            o.Relation,
			LabResult:           o.LabResult,
			Topic:               o.Topic,
			CommonInOnlookers:   o.CommonInOnlookers,
			DurationFrom:        o.DurationFrom,
			DurationTo:          o.DurationTo,
			Leak:                o.Leak,
		})
	}
}

// invertByObservation inverts the references from conditions to observations and from
// children to parents. It visits conditions and children in order of index, so every
// resulting list is sorted.
func (e *releaseEncoder) invertByObservation() (links [][]Link, factors [][]Factor, children [][]ObservationIndex) {
	links = make([][]Link, len(e.draft.Observations))
	factors = make([][]Factor, len(e.draft.Observations))
	children = make([][]ObservationIndex, len(e.draft.Observations))
	for i, c := range e.draft.Conditions {
		for _, link := range Slice(e.release.LinksByCondition, e.release.Conditions[i].Links) {
			o := link.Other
			link.Other = int32(i)
			links[o] = append(links[o], link)
		}
		for _, f := range c.Factors {
			o := mustIndex(e.observationAt, f.Observation)
			factors[o] = append(factors[o], Factor{Condition: ConditionIndex(i), Present: f.Present, Absent: f.Absent})
		}
	}
	for i, o := range e.draft.Observations {
		if o.Parent != nil {
			p := mustIndex(e.observationAt, o.Parent)
			children[p] = append(children[p], ObservationIndex(i))
		}
	}
	return links, factors, children
}

func (e *releaseEncoder) encodeGroups() {
	for _, group := range e.draft.Groups {
		parent := ObservationIndex(None)
		if group.Parent != nil {
			parent = ObservationIndex(mustIndex(e.observationAt, group.Parent))
		}
		e.encodeGroup(Group{
			Question:            e.internText(group.Question),
			QuestionThirdPerson: e.internText(group.QuestionThirdPerson),
			Parent:              parent,
			Type:                group.Type,
			Ordered:             group.Ordered,
		}, e.observationIndexes(group.Items))
	}
}

// encodeGroup adds a group and sets it as the group of its items.
func (e *releaseEncoder) encodeGroup(g Group, items []ObservationIndex) {
	r := e.release
	for _, o := range items {
		r.Observations[o].Group = GroupIndex(len(r.Groups))
	}
	g.Items = appendSpan(&r.GroupItems, items...)
	r.Groups = append(r.Groups, g)
}

func (e *releaseEncoder) encodeTuples() {
	r := e.release
	for _, t := range e.draft.Tuples {
		items := e.observationIndexes(t.Observations)
		slices.Sort(items)
		r.Tuples = append(r.Tuples, Tuple{
			Observations: appendSpan(&r.TupleItems, items...),
			Reason:       e.internText(t.Reason),
			Level:        t.Level,
		})
	}
}

func (e *releaseEncoder) observationIndexes(list []*DraftObservation) []ObservationIndex {
	indexes := make([]ObservationIndex, len(list))
	for i, o := range list {
		indexes[i] = ObservationIndex(mustIndex(e.observationAt, o))
	}
	return indexes
}
