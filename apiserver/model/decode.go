// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"unsafe"
)

// Open maps a release file into memory, read only, and verifies it: its
// header, its checksums and everything that the engine relies on. A damaged
// or truncated file is refused with the reason. Close unmaps it.
//
// The file must not change while it is mapped: a release is replaced by a
// rename, never in place.
func Open(path string) (*Release, error) {
	data, unmap, err := mapFile(path)
	if err != nil {
		return nil, fmt.Errorf("opening release file: %w", err)
	}
	r, err := Decode(data)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening release file %s: %w", path, err), unmap())
	}
	r.unmap = unmap
	return r, nil
}

// Close gives the memory of an opened release back. Nothing that the release
// handed out may be used afterwards. A release of Layout or Decode needs no
// Close, and one does it no harm.
func (r *Release) Close() error {
	if r.unmap == nil {
		return nil
	}
	unmap := r.unmap
	*r = Release{Meta: r.Meta}
	return unmap()
}

// Decode reads the bytes of a release file. The release uses them in place:
// they must not change afterwards.
func Decode(data []byte) (*Release, error) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, errors.New("release files are read in place on little-endian machines, and this one is big-endian")
	}
	if len(data) > 0 && uintptr(unsafe.Pointer(&data[0]))%alignment != 0 {
		data = alignedCopy(data)
	}
	table, err := readTable(data)
	if err != nil {
		return nil, err
	}
	r := &Release{}
	end := headerSize + tableEntrySize*len(sectionTypes)
	for kind, section := range sectionTypes {
		content, err := readSection(data, kind, table[kind], uint64(end))
		if err != nil {
			return nil, fmt.Errorf("section %d, %s: %w", kind, section.name, err)
		}
		section.attach(r, content)
		end = aligned(int(table[kind].Offset + table[kind].Size))
	}
	if end != len(data) {
		return nil, fmt.Errorf("%d bytes follow the last section", len(data)-end)
	}
	if err := verify(r); err != nil {
		return nil, err
	}
	return r, nil
}

func alignedCopy(data []byte) []byte {
	words := make([]uint64, aligned(len(data))/alignment)
	copied := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(data))
	copy(copied, data)
	return copied
}

// readTable reads the header and the section table behind it.
func readTable(data []byte) ([]tableEntry, error) {
	var head header
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return nil, errors.New("not a release file: it does not begin with the magic bytes of one")
	}
	if _, err := binary.Decode(data, binary.LittleEndian, &head); err != nil {
		return nil, fmt.Errorf("reading the header: %w", err)
	}
	if head.Format != FormatVersion {
		return nil, fmt.Errorf("a release of format %d, where this program reads format %d: compile the content again, with `model build` of this version of the program", head.Format, FormatVersion)
	}
	if head.FileSize != uint64(len(data)) {
		return nil, fmt.Errorf("%d bytes long, where the header says %d: the file is truncated or was not copied whole", len(data), head.FileSize)
	}
	table := make([]tableEntry, len(sectionTypes))
	size := tableEntrySize * len(table)
	if int(head.SectionCount) != len(table) || len(data) < headerSize+size {
		return nil, fmt.Errorf("%d sections in %d bytes, expected %d sections", head.SectionCount, len(data), len(table))
	}
	rows := data[headerSize:][:size]
	if crc32.Checksum(rows, castagnoli) != head.TableChecksum || !zero(data[headerSize-4:headerSize]) {
		return nil, errors.New("the section table does not match its checksum: the file is damaged")
	}
	if _, err := binary.Decode(rows, binary.LittleEndian, table); err != nil {
		return nil, fmt.Errorf("reading the section table: %w", err)
	}
	return table, nil
}

// readSection is the content of a section that must begin at start.
func readSection(data []byte, kind int, e tableEntry, start uint64) ([]byte, error) {
	recordSize := uint64(sectionTypes[kind].recordSize)
	limit := uint64(len(data))
	switch {
	case e.Kind != uint32(kind):
		return nil, fmt.Errorf("found a section of kind %d in its place", e.Kind)
	case uint64(e.RecordSize) != recordSize:
		return nil, fmt.Errorf("records of %d bytes, expected %d", e.RecordSize, recordSize)
	case e.Offset != start:
		return nil, fmt.Errorf("begins at byte %d, expected %d", e.Offset, start)
	case e.Offset > limit || e.Size > limit-e.Offset || aligned(e.Offset+e.Size) > limit:
		return nil, fmt.Errorf("%d bytes from byte %d on, where the file has %d in all", e.Size, e.Offset, limit)
	case e.Size%recordSize != 0:
		return nil, fmt.Errorf("%d bytes are no whole number of records of %d bytes", e.Size, recordSize)
	}
	content, padding := data[e.Offset:][:e.Size], data[e.Offset+e.Size:aligned(e.Offset+e.Size)]
	if crc32.Checksum(content, castagnoli) != e.Checksum || !zero(padding) {
		return nil, errors.New("does not match its checksum: the file is damaged")
	}
	return content, nil
}

func zero(b []byte) bool {
	return len(bytes.Trim(b, "\x00")) == 0
}
