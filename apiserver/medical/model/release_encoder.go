// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"slices"
)

// Build sorts the concepts by number, replaces pointers with positions and derives the
// data that package inference reads: both directions of every link with its lambda and
// entropy, the children of each observation, the factors by observation, the groups of
// laboratory results, the words of all wordings, the stems, terms and deletions of the
// lexicon, and the names of drugs and specialists. The order of the draft's lists does
// not affect the release, except that groups, tuples, hospitalizations and the patterns
// of an observation keep their order. Build sorts the lists of the draft in place, so
// that positions in the draft and in the release agree.
//
// Build validates nothing; Decode rejects invalid releases. Build panics if the draft
// points to a concept that it does not contain.
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
	l := releaseEncoder{
		draft:         d,
		release:       &Release{Meta: d.Meta},
		texts:         map[string]StringRef{},
		observationAt: indexByValue(d.Observations),
	}
	l.release.Specialists = l.encodeNamedItems(d.Specialists)
	l.release.Categories = l.encodeNamedItems(d.Categories)
	l.encodeConditions()
	l.encodeObservations()
	l.encodeAliases()
	l.encodeGroups()
	l.encodeTuples()
	l.encodeLabTests()
	l.encodeArticles()
	l.encodeDrugs()
	l.encodeChronicDiseases()
	l.encodeWordings()
	l.encodeListWordings()
	l.encodeNameRanks()
	l.encodeLexicon()
	return l.release
}

// releaseEncoder encodes a draft as a release.
type releaseEncoder struct {
	draft         *Draft
	release       *Release
	texts         map[string]StringRef
	observationAt map[*DraftObservation]int32
}

func indexByValue[T comparable](list []T) map[T]int32 {
	at := make(map[T]int32, len(list))
	for i, entry := range list {
		at[entry] = int32(i)
	}
	return at
}

// mustIndex returns the position of an entry. It panics if the draft does not contain the
// entry.
func mustIndex[T comparable](at map[T]int32, entry T) int32 {
	i, ok := at[entry]
	if !ok {
		panic("model: draft references a concept outside its lists")
	}
	return i
}

// internText interns a string, so that equal strings are stored once.
func (l *releaseEncoder) internText(s string) StringRef {
	if s == "" {
		return StringRef{}
	}
	ref, ok := l.texts[s]
	if !ok {
		ref = StringRef{Offset: uint32(len(l.release.strings)), Length: uint32(len(s))}
		l.release.strings = append(l.release.strings, s...)
		l.texts[s] = ref
	}
	return ref
}

func (l *releaseEncoder) encodeNamedItems(list []*DraftNamedItem) []NamedItem {
	named := make([]NamedItem, len(list))
	for i, n := range list {
		named[i] = NamedItem{Number: n.Number, Name: l.internText(n.Name)}
	}
	return named
}

// appendSpan appends entries to a section and returns their span.
func appendSpan[T any](section *[]T, entries ...T) Span {
	start := len(*section)
	*section = append(*section, entries...)
	return Span{Start: uint32(start), End: uint32(len(*section))}
}

func (l *releaseEncoder) encodeConditions() {
	r := l.release
	specialistAt, categoryAt := indexByValue(l.draft.Specialists), indexByValue(l.draft.Categories)
	for _, c := range l.draft.Conditions {
		r.Conditions = append(r.Conditions, Condition{
			Number:      c.Number,
			Name:        l.internText(c.Name),
			CommonName:  l.internText(c.CommonName),
			ICD10:       l.internText(c.ICD10),
			Hint:        l.internText(c.Hint),
			Categories:  appendSpan(&r.CategoryRefs, namedItemRefs(categoryAt, c.Categories)...),
			Specialists: appendSpan(&r.SpecialistRefs, namedItemRefs(specialistAt, c.Specialists)...),
			Links:       appendSpan(&r.LinksByCondition, l.links(c)...),
			Factors:     appendSpan(&r.ConditionFactors, l.conditionFactors(c)...),
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

func namedItemRefs(at map[*DraftNamedItem]int32, list []*DraftNamedItem) []uint32 {
	refs := make([]uint32, len(list))
	for i, n := range list {
		refs[i] = uint32(mustIndex(at, n))
	}
	return refs
}

// links returns a condition's links, sorted by observation.
func (l *releaseEncoder) links(c *DraftCondition) []Link {
	links := make([]Link, len(c.Findings))
	for i, f := range c.Findings {
		links[i] = Link{
			Other:       mustIndex(l.observationAt, f.Observation),
			Probability: f.Probability,
			Lambda:      Lambda(f.Probability, f.Observation.Leak),
			Entropy:     BinaryEntropy(f.Probability),
		}
	}
	slices.SortStableFunc(links, func(a, b Link) int { return cmp.Compare(a.Other, b.Other) })
	return links
}

// conditionFactors returns a condition's factors, sorted by observation.
func (l *releaseEncoder) conditionFactors(c *DraftCondition) []ConditionFactor {
	carriers := make([]ConditionFactor, len(c.Factors))
	for i, f := range c.Factors {
		share := FactorProbability(f.Observation.Leak, f.Present, f.Absent)
		carriers[i] = ConditionFactor{
			Observation: ObservationIndex(mustIndex(l.observationAt, f.Observation)),
			Probability: share, Entropy: BinaryEntropy(share),
		}
	}
	slices.SortStableFunc(carriers, func(a, b ConditionFactor) int { return cmp.Compare(a.Observation, b.Observation) })
	return carriers
}

func (l *releaseEncoder) encodeObservations() {
	r := l.release
	links, factors, children := l.invertByObservation()
	for i, o := range l.draft.Observations {
		parent := ObservationIndex(None)
		if o.Parent != nil {
			parent = ObservationIndex(mustIndex(l.observationAt, o.Parent))
		}
		r.Observations = append(r.Observations, Observation{
			Number:              o.Number,
			Name:                l.internText(o.Name),
			CommonName:          l.internText(o.CommonName),
			Question:            l.internText(o.Question),
			QuestionThirdPerson: l.internText(o.QuestionThirdPerson),
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
func (l *releaseEncoder) invertByObservation() (links [][]Link, factors [][]Factor, children [][]ObservationIndex) {
	links = make([][]Link, len(l.draft.Observations))
	factors = make([][]Factor, len(l.draft.Observations))
	children = make([][]ObservationIndex, len(l.draft.Observations))
	for i, c := range l.draft.Conditions {
		for _, link := range Slice(l.release.LinksByCondition, l.release.Conditions[i].Links) {
			o := link.Other
			link.Other = int32(i)
			links[o] = append(links[o], link)
		}
		for _, f := range c.Factors {
			o := mustIndex(l.observationAt, f.Observation)
			factors[o] = append(factors[o], Factor{Condition: ConditionIndex(i), Present: f.Present, Absent: f.Absent})
		}
	}
	for i, o := range l.draft.Observations {
		if o.Parent != nil {
			p := mustIndex(l.observationAt, o.Parent)
			children[p] = append(children[p], ObservationIndex(i))
		}
	}
	return links, factors, children
}

func (l *releaseEncoder) encodeGroups() {
	for _, group := range l.draft.Groups {
		parent := ObservationIndex(None)
		if group.Parent != nil {
			parent = ObservationIndex(mustIndex(l.observationAt, group.Parent))
		}
		l.encodeGroup(Group{
			Question:            l.internText(group.Question),
			QuestionThirdPerson: l.internText(group.QuestionThirdPerson),
			Parent:              parent,
			Type:                group.Type,
			Ordered:             group.Ordered,
		}, l.observationIndexes(group.Items))
	}
}

// encodeGroup adds a group and sets it as the group of its items.
func (l *releaseEncoder) encodeGroup(g Group, items []ObservationIndex) {
	r := l.release
	for _, o := range items {
		r.Observations[o].Group = GroupIndex(len(r.Groups))
	}
	g.Items = appendSpan(&r.GroupItems, items...)
	r.Groups = append(r.Groups, g)
}

func (l *releaseEncoder) encodeTuples() {
	r := l.release
	for _, t := range l.draft.Tuples {
		items := l.observationIndexes(t.Observations)
		slices.Sort(items)
		r.Tuples = append(r.Tuples, Tuple{
			Observations: appendSpan(&r.TupleItems, items...),
			Reason:       l.internText(t.Reason),
			Level:        t.Level,
		})
	}
}

func (l *releaseEncoder) observationIndexes(list []*DraftObservation) []ObservationIndex {
	indexes := make([]ObservationIndex, len(list))
	for i, o := range list {
		indexes[i] = ObservationIndex(mustIndex(l.observationAt, o))
	}
	return indexes
}
