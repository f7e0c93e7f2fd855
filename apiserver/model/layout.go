// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"slices"
)

// Layout sorts the concepts by their numbers, replaces pointers by positions
// and derives what the engine reads: both directions of every link with its
// lambda and entropy, the children of each observation, the factors by
// observation, the groups of laboratory results, the words of all wordings,
// the stems, terms and deletes of the lexicon, the names of drugs and specialists. The same draft, its lists in
// whatever order, gives the same release, except that groups, tuples,
// hospitalizations and the patterns of an observation keep the order they were
// given in.
// The lists of the draft are sorted in place: what stands at a position of
// the draft then stands at the same one of the release.
//
// Layout checks nothing: Encode and Decode refuse what a release must not say.
// It panics when the draft points to something that it does not hold.
func (d *Draft) Layout() *Release {
	slices.SortStableFunc(d.Conditions, func(a, b *DraftCondition) int { return cmp.Compare(a.Number, b.Number) })
	slices.SortStableFunc(d.Observations, func(a, b *DraftObservation) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Number, b.Number))
	})
	slices.SortStableFunc(d.LabTests, func(a, b *DraftLabTest) int { return cmp.Compare(a.Number, b.Number) })
	slices.SortStableFunc(d.Drugs, func(a, b *DraftDrug) int { return cmp.Compare(a.Number, b.Number) })
	for _, list := range [][]*DraftNamed{d.Specialists, d.Categories} {
		slices.SortStableFunc(list, func(a, b *DraftNamed) int { return cmp.Compare(a.Number, b.Number) })
	}
	l := layout{
		draft:         d,
		release:       &Release{Meta: d.Meta},
		texts:         map[string]StringRef{},
		observationAt: positions(d.Observations),
	}
	l.release.Specialists = l.named(d.Specialists)
	l.release.Categories = l.named(d.Categories)
	l.layConditions()
	l.layObservations()
	l.layAliases()
	l.layGroups()
	l.layTuples()
	l.layLabTests()
	l.layArticles()
	l.layDrugs()
	l.layChronicDiseases()
	l.layWordings()
	l.layListWordings()
	l.layNameRanks()
	l.layLexicon()
	return l.release
}

// layout is a release in the making.
type layout struct {
	draft         *Draft
	release       *Release
	texts         map[string]StringRef
	observationAt map[*DraftObservation]int32
}

func positions[T comparable](list []T) map[T]int32 {
	at := make(map[T]int32, len(list))
	for i, entry := range list {
		at[entry] = int32(i)
	}
	return at
}

// position looks up where something stands that the draft must hold.
func position[T comparable](at map[T]int32, entry T) int32 {
	i, ok := at[entry]
	if !ok {
		panic("model: a draft points to a concept that is not in its lists")
	}
	return i
}

// text interns a string: equal words stand in the file once.
func (l *layout) text(s string) StringRef {
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

func (l *layout) named(list []*DraftNamed) []Named {
	named := make([]Named, len(list))
	for i, n := range list {
		named[i] = Named{Number: n.Number, Name: l.text(n.Name)}
	}
	return named
}

// appendSpan appends entries to a section and says where they are.
func appendSpan[T any](section *[]T, entries ...T) Span {
	start := len(*section)
	*section = append(*section, entries...)
	return Span{Start: uint32(start), End: uint32(len(*section))}
}

func (l *layout) layConditions() {
	r := l.release
	specialistAt, categoryAt := positions(l.draft.Specialists), positions(l.draft.Categories)
	for _, c := range l.draft.Conditions {
		r.Conditions = append(r.Conditions, Condition{
			Number:      c.Number,
			Name:        l.text(c.Name),
			CommonName:  l.text(c.CommonName),
			ICD10:       l.text(c.ICD10),
			Hint:        l.text(c.Hint),
			Categories:  appendSpan(&r.CategoryRefs, references(categoryAt, c.Categories)...),
			Specialists: appendSpan(&r.SpecialistRefs, references(specialistAt, c.Specialists)...),
			Links:       appendSpan(&r.LinksByCondition, l.links(c)...),
			Carriers:    appendSpan(&r.Carriers, l.carriers(c)...),
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

func references(at map[*DraftNamed]int32, list []*DraftNamed) []uint32 {
	refs := make([]uint32, len(list))
	for i, n := range list {
		refs[i] = uint32(position(at, n))
	}
	return refs
}

// links are a condition's links in order of observation.
func (l *layout) links(c *DraftCondition) []Link {
	links := make([]Link, len(c.Findings))
	for i, f := range c.Findings {
		links[i] = Link{
			Other:   position(l.observationAt, f.Observation),
			Share:   f.Share,
			Lambda:  Lambda(f.Share, f.Observation.Leak),
			Entropy: BinaryEntropy(f.Share),
		}
	}
	slices.SortStableFunc(links, func(a, b Link) int { return cmp.Compare(a.Other, b.Other) })
	return links
}

// carriers are a condition's factors in order of observation.
func (l *layout) carriers(c *DraftCondition) []Carrier {
	carriers := make([]Carrier, len(c.Factors))
	for i, f := range c.Factors {
		share := CarrierShare(f.Observation.Leak, f.Present, f.Absent)
		carriers[i] = Carrier{
			Observation: ObservationIndex(position(l.observationAt, f.Observation)),
			Share:       share, Entropy: BinaryEntropy(share),
		}
	}
	slices.SortStableFunc(carriers, func(a, b Carrier) int { return cmp.Compare(a.Observation, b.Observation) })
	return carriers
}

func (l *layout) layObservations() {
	r := l.release
	links, factors, children := l.byObservation()
	for i, o := range l.draft.Observations {
		parent := ObservationIndex(None)
		if o.Parent != nil {
			parent = ObservationIndex(position(l.observationAt, o.Parent))
		}
		r.Observations = append(r.Observations, Observation{
			Number:              o.Number,
			Name:                l.text(o.Name),
			CommonName:          l.text(o.CommonName),
			Question:            l.text(o.Question),
			QuestionThirdPerson: l.text(o.QuestionThirdPerson),
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
			Onlooker:            o.Onlooker,
			LastsFrom:           o.LastsFrom,
			LastsTo:             o.LastsTo,
			Leak:                o.Leak,
		})
	}
}

// byObservation turns around what conditions say about observations, and what
// children say about their parents. Conditions and children are visited in
// order of index, so that every list comes out in that order.
func (l *layout) byObservation() (links [][]Link, factors [][]Factor, children [][]ObservationIndex) {
	links = make([][]Link, len(l.draft.Observations))
	factors = make([][]Factor, len(l.draft.Observations))
	children = make([][]ObservationIndex, len(l.draft.Observations))
	for i, c := range l.draft.Conditions {
		for _, link := range Part(l.release.LinksByCondition, l.release.Conditions[i].Links) {
			o := link.Other
			link.Other = int32(i)
			links[o] = append(links[o], link)
		}
		for _, f := range c.Factors {
			o := position(l.observationAt, f.Observation)
			factors[o] = append(factors[o], Factor{Condition: ConditionIndex(i), Present: f.Present, Absent: f.Absent})
		}
	}
	for i, o := range l.draft.Observations {
		if o.Parent != nil {
			p := position(l.observationAt, o.Parent)
			children[p] = append(children[p], ObservationIndex(i))
		}
	}
	return links, factors, children
}

func (l *layout) layGroups() {
	for _, group := range l.draft.Groups {
		parent := ObservationIndex(None)
		if group.Parent != nil {
			parent = ObservationIndex(position(l.observationAt, group.Parent))
		}
		l.layGroup(Group{
			Question:            l.text(group.Question),
			QuestionThirdPerson: l.text(group.QuestionThirdPerson),
			Parent:              parent,
			Type:                group.Type,
			Ordered:             group.Ordered,
		}, l.indexes(group.Items))
	}
}

// layGroup adds a group of items, which then name it.
func (l *layout) layGroup(g Group, items []ObservationIndex) {
	r := l.release
	for _, o := range items {
		r.Observations[o].Group = GroupIndex(len(r.Groups))
	}
	g.Items = appendSpan(&r.GroupItems, items...)
	r.Groups = append(r.Groups, g)
}

func (l *layout) layTuples() {
	r := l.release
	for _, t := range l.draft.Tuples {
		items := l.indexes(t.Observations)
		slices.Sort(items)
		r.Tuples = append(r.Tuples, Tuple{
			Observations: appendSpan(&r.TupleItems, items...),
			Reason:       l.text(t.Reason),
			Level:        t.Level,
		})
	}
}

func (l *layout) indexes(list []*DraftObservation) []ObservationIndex {
	indexes := make([]ObservationIndex, len(list))
	for i, o := range list {
		indexes[i] = ObservationIndex(position(l.observationAt, o))
	}
	return indexes
}
