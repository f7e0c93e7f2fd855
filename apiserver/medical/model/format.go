// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"hash/crc32"
	"unsafe"
)

// A release file is used in place: every record has its Go memory layout on a
// little-endian machine. All numbers are little-endian, every section begins at a
// multiple of 8, and the bytes between sections are zero.
//
//	header, 32 bytes
//	   0  magic          8 bytes   89 'A' 'N' 'M' 0D 0A 1A 0A
//	   8  format         uint32    FormatVersion
//	  12  section count  uint32
//	  16  file size      uint64
//	  24  table checksum uint32    CRC-32C of the section table
//	  28  zero           uint32
//	section table, 32 bytes for each section, in order of kind
//	   0  kind           uint32    position in sectionCodecs, from 0
//	   4  record size    uint32
//	   8  offset         uint64    from the start of the file
//	  16  size           uint64    in bytes, without the padding that follows
//	  24  checksum       uint32    CRC-32C of the section
//	  28  zero           uint32
//	sections, contiguous except for padding
//
// The magic contains a byte over 127, both line endings and a control-Z, so that a
// transfer in text mode is detected immediately.

// FormatVersion is the version of the file format that this package reads and writes.
// Increment it when a record, a section or the meaning of either changes.
const FormatVersion = 12

const (
	magic          = "\x89ANM\r\n\x1a\n"
	headerSize     = 32
	tableEntrySize = 32
	alignment      = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is the first headerSize bytes of a file.
type header struct {
	Magic         [len(magic)]byte
	Format        uint32
	SectionCount  uint32
	FileSize      uint64
	TableChecksum uint32
	_             uint32
}

// tableEntry is one row of the section table.
type tableEntry struct {
	Kind       uint32
	RecordSize uint32
	Offset     uint64
	Size       uint64
	Checksum   uint32
	_          uint32
}

// A sectionCodec converts one section of a release to and from bytes.
type sectionCodec struct {
	name       string
	recordSize int
	// encode appends the section to b.
	encode func(b []byte, r *Release) ([]byte, error)
	// attach makes the release use data, which must be aligned and have a length that is a
	// multiple of recordSize.
	attach func(r *Release, data []byte)
}

// sectionCodecs lists the sections of a file in order.
var sectionCodecs = []sectionCodec{
	metaSection,
	recordSection("strings", func(r *Release) *[]byte { return &r.strings }),
	recordSection("conditions", func(r *Release) *[]Condition { return &r.Conditions }),
	recordSection("observations", func(r *Release) *[]Observation { return &r.Observations }),
	recordSection("aliases", func(r *Release) *[]Alias { return &r.Aliases }),
	recordSection("groups", func(r *Release) *[]Group { return &r.Groups }),
	recordSection("tuples", func(r *Release) *[]Tuple { return &r.Tuples }),
	recordSection("specialists", func(r *Release) *[]NamedItem { return &r.Specialists }),
	recordSection("categories", func(r *Release) *[]NamedItem { return &r.Categories }),
	recordSection("links by condition", func(r *Release) *[]Link { return &r.LinksByCondition }),
	recordSection("links by observation", func(r *Release) *[]Link { return &r.LinksByObservation }),
	recordSection("factors", func(r *Release) *[]Factor { return &r.Factors }),
	recordSection("condition factors", func(r *Release) *[]ConditionFactor { return &r.ConditionFactors }),
	recordSection("laboratory tests", func(r *Release) *[]LabTest { return &r.LabTests }),
	recordSection("articles", func(r *Release) *[]Article { return &r.Articles }),
	recordSection("article sections", func(r *Release) *[]ArticleSection { return &r.ArticleSections }),
	recordSection("nodes", func(r *Release) *[]Node { return &r.Nodes }),
	recordSection("wordings", func(r *Release) *[]Wording { return &r.Wordings }),
	recordSection("words", func(r *Release) *[]Word { return &r.Words }),
	recordSection("word postings", func(r *Release) *[]uint32 { return &r.WordPostings }),
	recordSection("vocabulary FST", func(r *Release) *[]byte { return &r.VocabularyFST }),
	recordSection("stem FST", func(r *Release) *[]byte { return &r.StemFST }),
	recordSection("stems", func(r *Release) *[]Stem { return &r.Stems }),
	recordSection("term references", func(r *Release) *[]Term { return &r.TermRefs }),
	recordSection("word weights", func(r *Release) *[]WordWeight { return &r.WordWeights }),
	recordSection("term patterns", func(r *Release) *[]Span { return &r.TermPatterns }),
	recordSection("pattern references", func(r *Release) *[]PatternRef { return &r.PatternRefs }),
	recordSection("termless patterns", func(r *Release) *[]uint32 { return &r.TermlessPatterns }),
	recordSection("patterns", func(r *Release) *[]Pattern { return &r.Patterns }),
	recordSection("elements", func(r *Release) *[]Element { return &r.Elements }),
	recordSection("ranges", func(r *Release) *[]Range { return &r.Ranges }),
	recordSection("deletions", func(r *Release) *[]Deletion { return &r.Deletions }),
	recordSection("misspellings", func(r *Release) *[]Misspelling { return &r.Misspellings }),
	recordSection("deletion words", func(r *Release) *[]StringRef { return &r.DeletionWords }),
	recordSection("children", func(r *Release) *[]ObservationIndex { return &r.ChildRefs }),
	recordSection("group items", func(r *Release) *[]ObservationIndex { return &r.GroupItems }),
	recordSection("tuple items", func(r *Release) *[]ObservationIndex { return &r.TupleItems }),
	recordSection("laboratory results", func(r *Release) *[]ObservationIndex { return &r.LabResultRefs }),
	recordSection("category references", func(r *Release) *[]uint32 { return &r.CategoryRefs }),
	recordSection("specialist references", func(r *Release) *[]uint32 { return &r.SpecialistRefs }),
	recordSection("drugs", func(r *Release) *[]Drug { return &r.Drugs }),
	recordSection("drug brands", func(r *Release) *[]StringRef { return &r.DrugBrands }),
	recordSection("drug factors", func(r *Release) *[]ObservationIndex { return &r.DrugRiskFactors }),
	recordSection("chronic diseases", func(r *Release) *[]ChronicDisease { return &r.ChronicDiseases }),
	recordSection("disease factors", func(r *Release) *[]ObservationIndex { return &r.DiseaseRiskFactors }),
	recordSection("hospitalizations", func(r *Release) *[]ObservationIndex { return &r.Hospitalizations }),
	recordSection("list wordings", func(r *Release) *[]Wording { return &r.ListWordings }),
	recordSection("list words", func(r *Release) *[]Word { return &r.ListWords }),
	recordSection("list word postings", func(r *Release) *[]uint32 { return &r.ListWordPostings }),
	recordSection("name ranks", func(r *Release) *[]uint32 { return &r.NameRanks }),
}

// recordSection returns the codec of a section of fixed-size records held in one field
// of the release. encoding/binary writes blank fields as zeros, so padding never leaks
// stale memory.
func recordSection[T any](name string, field func(*Release) *[]T) sectionCodec {
	size := int(unsafe.Sizeof(*new(T)))
	return sectionCodec{
		name:       name,
		recordSize: size,
		encode: func(b []byte, r *Release) ([]byte, error) {
			return binary.Append(b, binary.LittleEndian, *field(r))
		},
		attach: func(r *Release, data []byte) {
			if len(data) > 0 {
				*field(r) = unsafe.Slice((*T)(unsafe.Pointer(&data[0])), len(data)/size)
			}
		},
	}
}

// alignUp rounds n up to a multiple of alignment.
func alignUp[T ~int | ~uint64](n T) T {
	return (n + alignment - 1) &^ (alignment - 1)
}
