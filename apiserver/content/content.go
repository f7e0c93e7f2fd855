// SPDX-License-Identifier: Apache-2.0

// Package content holds the medical content: concepts and numbers under core,
// and the words of each language under lang. It is all YAML; the form of the
// files is described in package compile/source, and nothing is computed here.
package content

import "embed"

// FS is the content as it stood when the program was built.
//
//go:embed core lang
var FS embed.FS
