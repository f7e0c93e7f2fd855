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

// Encode returns the bytes of a release file. It is deterministic. Encode does not
// validate the release; Decode does.
func Encode(r *Release) ([]byte, error) {
	file := make([]byte, headerSize+tableEntrySize*len(sectionCodecs))
	var table []byte
	for kind, section := range sectionCodecs {
		offset := len(file)
		var err error
		if file, err = section.encode(file, r); err != nil {
			return nil, fmt.Errorf("encoding the %s section: %w", section.name, err)
		}
		content := file[offset:]
		file = append(file, make([]byte, alignUp(len(file))-len(file))...)
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
		SectionCount:  uint32(len(sectionCodecs)),
		FileSize:      uint64(len(file)),
		TableChecksum: crc32.Checksum(table, castagnoli),
	}
	if _, err := binary.Encode(file, binary.LittleEndian, head); err != nil {
		return nil, fmt.Errorf("encoding the header: %w", err)
	}
	copy(file[headerSize:], table)
	return file, nil
}

// metaSection stores Meta as JSON, which is human-readable and read only once.
var metaSection = sectionCodec{
	name:       "meta",
	recordSize: 1,
	encode: func(b []byte, r *Release) ([]byte, error) {
		meta, err := json.Marshal(r.Meta)
		return append(b, meta...), err
	},
	attach: func(r *Release, data []byte) {
		// Invalid JSON leaves Meta empty, which verify rejects.
		if err := json.Unmarshal(data, &r.Meta); err != nil {
			r.Meta = Meta{}
		}
	},
}

// WriteFile writes a release file atomically by renaming it into place: readers see
// either the whole file or no file, and files that are already mapped do not change.
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
	// Servers that run as other users or in other images must be able to read the file.
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
