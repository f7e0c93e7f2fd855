// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// smallDraft returns a draft with content in every section.
func smallDraft() *Draft {
	named := []*DraftNamedItem{{Number: 1, Name: "One"}}
	headache := &DraftObservation{Number: 1, Name: "Headache", AgeTo: MaxAgeMonths, Leak: 0.1, Synonyms: []string{"head pain"}, LayWordings: []string{"my head hurts"}}
	mild := &DraftObservation{Number: 2, Name: "Mild headache", AgeTo: MaxAgeMonths, Leak: 0.05, Parent: headache, Relation: SeverityRelation}
	severe := &DraftObservation{Number: 3, Name: "Severe headache", AgeTo: MaxAgeMonths, Leak: 0.01, Parent: headache, Relation: SeverityRelation}
	low := &DraftObservation{Number: 1, Kind: LabResult, Name: "Low", AgeTo: MaxAgeMonths, Leak: 0.1, LabResult: Low}
	high := &DraftObservation{Number: 2, Kind: LabResult, Name: "High", AgeTo: MaxAgeMonths, Leak: 0.2, LabResult: High}
	smoker := &DraftObservation{Number: 1, Kind: RiskFactor, Name: "Smoker", AgeTo: MaxAgeMonths, Leak: 0.2}
	condition := func(number uint32) *DraftCondition {
		c := &DraftCondition{
			Number: number, Name: "Migraine", Synonyms: []string{"megrim"}, Categories: named, Specialists: named, AgeTo: MaxAgeMonths, Triage: Consultation,
			Course:   NewCourse(1440, 14400),
			Findings: []DraftFinding{{headache, 0.9}, {mild, 0.3}, {severe, 0.4}},
			Factors:  []DraftFactor{{smoker, 2, 0.8}},
		}
		c.Prior[Female][3] = 0.01
		if number == 2 {
			c.Article = smallArticle()
		}
		return c
	}
	first, second := condition(1), condition(2)
	return &Draft{
		Meta: Meta{
			ModelID: "service-en", Version: "2026-11-21T00:00:00Z", Language: "en", Stemmer: "english", ChoicePresent: "Yes", ChoiceAbsent: "No", ChoiceUnknown: "Don't know",
			DurationQuestion: "Since when: {symptom}?", DurationQuestionThirdPerson: "Since when have they: {symptom}?", LeakCourse: NewCourse(360, 525600),
		},
		Conditions:   []*DraftCondition{first, second},
		Observations: []*DraftObservation{headache, mild, severe, smoker, low, high},
		Aliases:      []DraftAlias{{Number: 7, Observation: smoker}, {Number: 9, Observation: headache}, {Number: 8, Observation: severe}},
		Groups:       []*DraftGroup{{Question: "How bad?", Type: GroupSingle, Ordered: true, Parent: headache, Items: []*DraftObservation{mild, severe}}},
		Tuples:       []DraftTuple{{Observations: []*DraftObservation{headache, smoker}, Level: Emergency, Reason: "both"}},
		Specialists:  named,
		Categories:   named,
		LabTests:     []*DraftLabTest{{Number: 1, Name: "Iron", Category: "Blood", Results: []*DraftObservation{high, low}}},
		Drugs:        []*DraftDrug{{Number: 2, Name: "Estradiol", ATC: "G03CA03"}, {Number: 7, Name: "Nicotine", ATC: "N07BA01", Synonyms: []string{"niacotine"}, Brands: []string{"Nicorette", "Habitrol"}, RiskFactors: []*DraftObservation{smoker}}},
		Lexicon:      smallLexicon(headache, smoker),

		ChronicDiseases:  []*DraftChronicDisease{{Condition: first}, {Condition: second, RiskFactors: []*DraftObservation{smoker}}},
		Hospitalizations: []*DraftObservation{smoker},
	}
}

// smallLexicon returns a lexicon with every kind of element, and a class.
func smallLexicon(headache, smoker *DraftObservation) DraftLexicon {
	pain := &DraftClass{Name: "pain", Words: []string{"pain", "ache"}}
	return DraftLexicon{
		Patterns: []DraftPattern{
			{Meaning: CueNegation, Elements: []DraftElement{{Word: "no"}}},
			{Meaning: MeaningMention, Observation: smoker, Elements: []DraftElement{{Kind: NumberElement, From: 20, To: 40}}},
			{Meaning: MeaningMention, Observation: headache, Elements: []DraftElement{{Word: "head", Gap: 2}, {Class: pain, Gap: 2}}, AnyOrder: true},
			{Meaning: MeaningMention, Observation: headache, Elements: []DraftElement{{Word: "heads"}, {Word: "pounding", Gap: 6}}},
			{Meaning: CueOtherExperiencer, Elements: []DraftElement{{Word: "father"}}, NamesRelative: true},
			{Meaning: MeaningDuration, Elements: []DraftElement{{Word: "for"}, {Kind: TimeElement}}},
			{Meaning: MeaningTime, Elements: []DraftElement{{Word: "last"}, {Word: "night"}}, Minutes: 720},
		},
		Fillers:       []string{"the", "my"},
		PlainWords:    []string{"have"},
		Misspellings:  map[string]string{"hedake": "headache", "feaver": "fever"},
		Numbers:       map[string]float64{"two": 2, "half": 0.5},
		Units:         map[string]uint32{"day": 1440, "days": 1440},
		OrdinaryWords: []string{"table", "pain", "smoke", "chimney", "weather"},
		Examples: []DraftExample{
			{Observation: smoker, Words: []string{"i", "smoke", "like", "a", "chimney"}},
			{Observation: smoker, Words: []string{"smokes", "my", "two"}},
			{Observation: headache, Words: []string{"chimney", "pounding", "pounding"}},
			{Words: []string{"the", "weather"}},
		},
	}
}

// smallArticle returns an article with two sections.
func smallArticle() *DraftArticle {
	text := func(words string) DraftNode { return DraftNode{Type: TextNode, Text: words} }
	title := func(words string) DraftNode { return DraftNode{Type: Heading1Node, Children: []DraftNode{text(words)}} }
	return &DraftArticle{Title: title("Migraine"), Sections: []DraftSection{
		{Name: SummarySection, Title: title("In short"), Content: []DraftNode{
			{Type: ParagraphNode, Children: []DraftNode{text("It hurts.")}},
			{Type: UnorderedListNode, Children: []DraftNode{{Type: ListItemNode, Children: []DraftNode{text("Rest.")}}}},
		}},
		{Name: SourcesSection, Title: title("Sources"), Content: []DraftNode{
			{Type: LinkNode, Text: "https://example.org", Children: []DraftNode{text("Source")}},
		}},
	}}
}

func mustEncode(t interface{ Fatal(...any) }, r *Release) []byte {
	data, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDecodeRoundTrip(t *testing.T) {
	t.Parallel()
	want := smallDraft().Build()
	got, err := Decode(mustEncode(t, want))
	if err != nil {
		t.Fatal(err)
	}
	blank := cmpopts.IgnoreFields(Release{}, "unmap", "fsts")
	if diff := cmp.Diff(want, got, blank, cmpopts.EquateNaNs(), cmp.AllowUnexported(Release{}, Condition{}, Observation{}, Link{}, Factor{}, ConditionFactor{}, Group{}, Tuple{}, Wording{}, ArticleSection{}, Node{}, Stem{}, Element{})); diff != "" {
		t.Error(diff)
	}
	if again := mustEncode(t, got); !bytes.Equal(again, mustEncode(t, want)) {
		t.Error("the decoded release encodes to different bytes")
	}
}

// TestRecordsHaveNoHiddenPadding checks that the file layout of records equals their
// memory layout, including padding and alignment, because records are used in place.
func TestRecordsHaveNoHiddenPadding(t *testing.T) {
	t.Parallel()
	r := smallDraft().Build()
	for _, section := range sectionCodecs {
		data, err := section.encode(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		var attached Release
		if len(data)%section.recordSize != 0 {
			t.Errorf("%s: %d bytes are not a multiple of the record size %d", section.name, len(data), section.recordSize)
			continue
		}
		section.attach(&attached, alignedCopy(data))
		again, err := section.encode(nil, &attached)
		if err != nil || !bytes.Equal(data, again) {
			t.Errorf("%s: section attached in place encodes to different bytes, %v", section.name, err)
		}
	}
	for name, sizes := range map[string][2]int{
		"Condition":   {binary.Size(Condition{}), recordSize(t, "conditions")},
		"Observation": {binary.Size(Observation{}), recordSize(t, "observations")},
		"Alias":       {binary.Size(Alias{}), recordSize(t, "aliases")},
		"Link":        {binary.Size(Link{}), recordSize(t, "links by condition")},
		"Factor":      {binary.Size(Factor{}), recordSize(t, "factors")},
		"Carrier":     {binary.Size(ConditionFactor{}), recordSize(t, "condition factors")},
		"Group":       {binary.Size(Group{}), recordSize(t, "groups")},
		"Tuple":       {binary.Size(Tuple{}), recordSize(t, "tuples")},
		"Named":       {binary.Size(NamedItem{}), recordSize(t, "specialists")},
		"LabTest":     {binary.Size(LabTest{}), recordSize(t, "laboratory tests")},
		"Article":     {binary.Size(Article{}), recordSize(t, "articles")},
		"Section":     {binary.Size(ArticleSection{}), recordSize(t, "article sections")},
		"Node":        {binary.Size(Node{}), recordSize(t, "nodes")},
		"Wording":     {binary.Size(Wording{}), recordSize(t, "wordings")},
		"Word":        {binary.Size(Word{}), recordSize(t, "words")},
	} {
		if sizes[0] != sizes[1] {
			t.Errorf("%s has %d bytes in the file and %d in memory", name, sizes[0], sizes[1])
		}
	}
}

func recordSize(t *testing.T, name string) int {
	t.Helper()
	for _, section := range sectionCodecs {
		if section.name == name {
			return section.recordSize
		}
	}
	t.Fatalf("section %s not found", name)
	return 0
}

func TestDecodeAcceptsUnalignedBytes(t *testing.T) {
	t.Parallel()
	data := mustEncode(t, smallDraft().Build())
	for shift := range alignment {
		moved := append(make([]byte, shift, shift+len(data)), data...)[shift:]
		if r, err := Decode(moved); err != nil || r.ConditionID(1) != "c_2" {
			t.Errorf("moved by %d bytes: %v", shift, err)
		}
	}
}

func TestDecodeRejectsOtherFiles(t *testing.T) {
	t.Parallel()
	data := mustEncode(t, smallDraft().Build())
	edited := func(edit func(data []byte) []byte) []byte { return edit(bytes.Clone(data)) }
	for _, test := range []struct {
		name    string
		data    []byte
		wantErr string
	}{
		{"nothing", nil, "not a release file"},
		{"less than a header", data[:headerSize-1], "not a release file"},
		{"another kind of file", bytes.Repeat([]byte("PK\x03\x04"), 100), "not a release file"},
		{"line endings changed on the way", bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), "not a release file"},
		{"the format before", edited(func(d []byte) []byte { d[8] = FormatVersion - 1; return d }), "unsupported release format 11, expected 12: rebuild the release with `model build` from this version"},
		{"a later format", edited(func(d []byte) []byte { d[8] = FormatVersion + 1; return d }), "unsupported release format 13, expected 12: rebuild the release with `model build` from this version"},
		{"the last byte lost", data[:len(data)-1], "truncated"},
		{"only the header", data[:headerSize], "truncated"},
		{"a byte too many", append(bytes.Clone(data), 0), "file is truncated"},
		{"fewer sections", withUpdatedChecksums(data, func(_ []tableEntry, h *header) { h.SectionCount-- }), "has 49 sections: expected 50"},
		{"a corrupt table", edited(func(d []byte) []byte { d[headerSize+20] ^= 1; return d }), "section table is corrupt: checksum mismatch"},
		{"a corrupt section", edited(func(d []byte) []byte { d[len(d)/2] ^= 1; return d }), "section 17 (wordings): section is corrupt: checksum mismatch"},
		{"another section in place", withUpdatedChecksums(data, func(table []tableEntry, _ *header) { table[2].Kind = 3 }), "section 2 (conditions): unexpected section kind 3"},
		{"other records", withUpdatedChecksums(data, func(table []tableEntry, _ *header) { table[2].RecordSize += 8 }), "section 2 (conditions): invalid record size of 272 bytes, expected 264"},
		{"a gap", withUpdatedChecksums(data, func(table []tableEntry, _ *header) { table[2].Offset += 8 }), "section 2 (conditions): invalid section offset 2360, expected 2352"},
		{"a section over the end", withUpdatedChecksums(data, func(table []tableEntry, _ *header) { table[2].Size = 1 << 40 }), "section 2 (conditions): section of 1099511627776 bytes"},
		{"a section that overflows", withUpdatedChecksums(data, func(table []tableEntry, _ *header) { table[2].Size = 1<<64 - 1 }), "section 2 (conditions): section of 18446744073709551615 bytes"},
		{"part of a record", withUpdatedChecksums(data, func(table []tableEntry, _ *header) { table[2].Size-- }), "is not a multiple of the record size"},
		{"bytes behind the last section", withUpdatedChecksums(append(bytes.Clone(data), make([]byte, 8)...), func(_ []tableEntry, h *header) { h.FileSize += 8 }), "unexpected 8 bytes after the last section"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := Decode(test.data)
			if err == nil {
				t.Fatal("it was accepted")
			}
			if !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("got error %q, want it to contain %q", err, test.wantErr)
			}
		})
	}
}

// withUpdatedChecksums edits the header and the section table of a file and corrects the
// checksum of the table, as an attacker or another encoder would.
func withUpdatedChecksums(data []byte, edit func(table []tableEntry, head *header)) []byte {
	var head header
	table := make([]tableEntry, len(sectionCodecs))
	rows := data[headerSize:][:tableEntrySize*len(table)]
	_, errHead := binary.Decode(data, binary.LittleEndian, &head)
	_, errTable := binary.Decode(rows, binary.LittleEndian, table)
	edit(table, &head)
	edited, errRows := binary.Append(nil, binary.LittleEndian, table)
	head.TableChecksum = crc32.Checksum(edited, castagnoli)
	file, errFile := binary.Append(nil, binary.LittleEndian, head)
	if err := errors.Join(errHead, errTable, errRows, errFile); err != nil {
		panic(err)
	}
	file = append(file, edited...)
	return append(file, data[len(file):]...)
}

// TestDecodeDetectsCorruption checks that changing any byte of a release file is
// detected.
func TestDecodeDetectsCorruption(t *testing.T) {
	t.Parallel()
	data := mustEncode(t, smallDraft().Build())
	rapid.Check(t, func(t *rapid.T) {
		corrupt := bytes.Clone(data)
		at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
		corrupt[at] ^= rapid.ByteRange(1, 255).Draw(t, "bits")
		if _, err := Decode(corrupt); err == nil {
			t.Fatalf("byte %d was corrupted unnoticed", at)
		}
	})
}

func TestDecodeDetectsTruncation(t *testing.T) {
	t.Parallel()
	data := mustEncode(t, smallDraft().Build())
	for length := range data {
		if _, err := Decode(data[:length]); err == nil {
			t.Fatalf("cut to %d bytes of %d unnoticed", length, len(data))
		}
	}
}

func TestOpenAndClose(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "small.release")
	if err := WriteFile(path, mustEncode(t, smallDraft().Build())); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Text(r.Conditions[0].Name); got != "Migraine" {
		t.Errorf("the first condition is %q", got)
	}
	// An open release no longer needs its file name.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := r.Text(r.Observations[0].Name); got != "Headache" {
		t.Errorf("the first observation is %q", got)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if r.Meta.ModelID != "service-en" || r.Conditions != nil {
		t.Errorf("a closed release still has %d conditions, and is %q", len(r.Conditions), r.Meta.ModelID)
	}
}

func TestOpenRejectsInvalidFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := mustEncode(t, smallDraft().Build())
	for name, content := range map[string][]byte{"empty": nil, "truncated": data[:len(data)/2]} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, wantErr := range map[string]string{"empty": "not a release file", "truncated": "truncated", "missing": "no such file", ".": "not a release file"} {
		path := filepath.Join(dir, name)
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), wantErr) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open(%s) = %v, want an error that contains %q and the path", name, err, wantErr)
		}
	}
}

func TestWriteFileIsAtomic(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.release")
	for _, content := range []string{"first", "second"} {
		if err := WriteFile(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("it holds %q, %v, want %q", got, err, content)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("its mode is %v, %v: others must be able to read it", info.Mode(), err)
	}
	if err := WriteFile(filepath.Join(dir, "missing", "a.release"), nil); err == nil {
		t.Error("the release was written into a missing directory")
	}
	// A failed rename leaves no temporary file behind.
	if err := os.MkdirAll(filepath.Join(dir, "taken", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(dir, "taken"), []byte("x")); err == nil {
		t.Error("a directory was replaced")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the directory holds %v, %v, want a.release and taken", entries, err)
	}
}
