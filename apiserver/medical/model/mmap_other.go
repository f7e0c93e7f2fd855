// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package model

import "os"

// mapFile reads a whole file into memory on platforms without mmap.
func mapFile(path string) (data []byte, unmap func() error, err error) {
	data, err = os.ReadFile(path)
	return data, func() error { return nil }, err
}
