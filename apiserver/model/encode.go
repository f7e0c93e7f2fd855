// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
)

// Encode turns a release into the bytes of a release file. The same release
// gives the same bytes. Encode judges nothing but its own work: Decode does.
func Encode(r *Release) ([]byte, error) {
	file := make([]byte, headerSize+tableEntrySize*len(sectionTypes))
	var table []byte
	for kind, section := range sectionTypes {
		offset := len(file)
		var err error
		if file, err = section.encode(file, r); err != nil {
			return nil, fmt.Errorf("encoding the %s section: %w", section.name, err)
		}
		content := file[offset:]
		file = append(file, make([]byte, aligned(len(file))-len(file))...)
		table, err = binary.Append(table, binary.LittleEndian, tableEntry{
			Kind:       uint32(kind),
			RecordSize: uint32(section.recordSize),
			Offset:     uint64(offset),
			Size:       uint64(len(content)),
			Checksum:   crc32.Checksum(content, castagnoli),
		})
		if err != nil {
			return nil, fmt.Errorf("encoding the section table: %w", err)
		}
	}
	head := header{
		Magic:         [len(magic)]byte([]byte(magic)),
		Format:        FormatVersion,
		SectionCount:  uint32(len(sectionTypes)),
		FileSize:      uint64(len(file)),
		TableChecksum: crc32.Checksum(table, castagnoli),
	}
	if _, err := binary.Encode(file, binary.LittleEndian, head); err != nil {
		return nil, fmt.Errorf("encoding the header: %w", err)
	}
	copy(file[headerSize:], table)
	return file, nil
}

// metaSection holds Meta as JSON: it is read once, and people can read it too.
var metaSection = sectionType{
	name:       "meta",
	recordSize: 1,
	encode: func(b []byte, r *Release) ([]byte, error) {
		meta, err := json.Marshal(r.Meta)
		return append(b, meta...), err
	},
	attach: func(r *Release, data []byte) {
		// What is not a Meta leaves it empty, which verify refuses.
		if err := json.Unmarshal(data, &r.Meta); err != nil {
			r.Meta = Meta{}
		}
	},
}

// WriteFile puts a release file in place by a rename, so that a reader finds
// the whole file or none, and no reader's map changes under it.
func WriteFile(path string, release []byte) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("writing release file: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
			err = fmt.Errorf("writing release file %s: %w", path, err)
		}
	}()
	if _, err = temp.Write(release); err != nil {
		_ = temp.Close()
		return err
	}
	// Others than the writer read it: the servers of other users and images.
	if err = temp.Chmod(0o644); err != nil {
		_ = temp.Close()
		return err
	}
	if err = temp.Sync(); err != nil {
		_ = temp.Close()
		return err
	}
	if err = temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
