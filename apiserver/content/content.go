// SPDX-License-Identifier: Apache-2.0

// Package content embeds the medical content: concepts and numbers under core, and the
// texts of each language under lang. All of it is YAML in the format described in
// package source. No computation belongs here.
package content

import "embed"

// FS is the content as it stood when the program was built.
//
//go:embed core lang
var FS embed.FS
