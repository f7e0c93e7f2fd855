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

// Open maps a release file into memory read-only and verifies its header, its checksums
// and all invariants on which package inference relies. It returns an error with the
// reason if the file is corrupt or truncated. Close unmaps the file.
//
// The file must not change while it is mapped: replace a release by renaming a new file
// over it, never in place.
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

// Close unmaps an opened release. Nothing obtained from the release may be used
// afterwards. Calling Close is optional for releases from Build or Decode.
func (r *Release) Close() error {
	if r.unmap == nil {
		return nil
	}
	unmap := r.unmap
	*r = Release{Meta: r.Meta}
	return unmap()
}

// Decode reads the bytes of a release file. The release uses data in place, so data must
// not change afterwards.
func Decode(data []byte) (*Release, error) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, errors.New("big-endian machines are not supported: release files are little-endian")
	}
	if len(data) > 0 && uintptr(unsafe.Pointer(&data[0]))%alignment != 0 {
		data = alignedCopy(data)
	}
	table, err := readSectionTable(data)
	if err != nil {
		return nil, err
	}
	r := &Release{}
	end := headerSize + tableEntrySize*len(sectionCodecs)
	for kind, section := range sectionCodecs {
		content, err := readSection(data, kind, table[kind], uint64(end))
		if err != nil {
			return nil, fmt.Errorf("section %d (%s): %w", kind, section.name, err)
		}
		section.attach(r, content)
		end = alignUp(int(table[kind].Offset + table[kind].Size))
	}
	if end != len(data) {
		return nil, fmt.Errorf("unexpected %d bytes after the last section", len(data)-end)
	}
	if err := verify(r); err != nil {
		return nil, err
	}
	return r, nil
}

func alignedCopy(data []byte) []byte {
	words := make([]uint64, alignUp(len(data))/alignment)
	copied := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(data))
	copy(copied, data)
	return copied
}

// readSectionTable reads the header and the section table that follows it.
func readSectionTable(data []byte) ([]tableEntry, error) {
	var head header
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return nil, errors.New("not a release file: invalid magic bytes")
	}
	if _, err := binary.Decode(data, binary.LittleEndian, &head); err != nil {
		return nil, fmt.Errorf("reading the header: %w", err)
	}
	if head.Format != FormatVersion {
		return nil, fmt.Errorf("unsupported release format %d, expected %d: rebuild the release with `model build` from this version", head.Format, FormatVersion)
	}
	if head.FileSize != uint64(len(data)) {
		return nil, fmt.Errorf("file is truncated: expected %d bytes according to its header, got %d", head.FileSize, len(data))
	}
	table := make([]tableEntry, len(sectionCodecs))
	size := tableEntrySize * len(table)
	if int(head.SectionCount) != len(table) || len(data) < headerSize+size {
		return nil, fmt.Errorf("file of %d bytes has %d sections: expected %d", len(data), head.SectionCount, len(table))
	}
	rows := data[headerSize:][:size]
	if crc32.Checksum(rows, castagnoli) != head.TableChecksum || !isZero(data[headerSize-4:headerSize]) {
		return nil, errors.New("section table is corrupt: checksum mismatch")
	}
	if _, err := binary.Decode(rows, binary.LittleEndian, table); err != nil {
		return nil, fmt.Errorf("reading the section table: %w", err)
	}
	return table, nil
}

// readSection returns the content of a section, which must begin at start.
func readSection(data []byte, kind int, e tableEntry, start uint64) ([]byte, error) {
	recordSize := uint64(sectionCodecs[kind].recordSize)
	limit := uint64(len(data))
	switch {
	case e.Kind != uint32(kind):
		return nil, fmt.Errorf("unexpected section kind %d", e.Kind)
	case uint64(e.RecordSize) != recordSize:
		return nil, fmt.Errorf("invalid record size of %d bytes, expected %d", e.RecordSize, recordSize)
	case e.Offset != start:
		return nil, fmt.Errorf("invalid section offset %d, expected %d", e.Offset, start)
	case e.Offset > limit || e.Size > limit-e.Offset || alignUp(e.Offset+e.Size) > limit:
		return nil, fmt.Errorf("section of %d bytes at offset %d exceeds the file size of %d bytes", e.Size, e.Offset, limit)
	case e.Size%recordSize != 0:
		return nil, fmt.Errorf("section size of %d bytes is not a multiple of the record size of %d bytes", e.Size, recordSize)
	}
	content, padding := data[e.Offset:][:e.Size], data[e.Offset+e.Size:alignUp(e.Offset+e.Size)]
	if crc32.Checksum(content, castagnoli) != e.Checksum || !isZero(padding) {
		return nil, errors.New("section is corrupt: checksum mismatch")
	}
	return content, nil
}

func isZero(b []byte) bool {
	return len(bytes.Trim(b, "\x00")) == 0
}
