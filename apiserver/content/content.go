// SPDX-License-Identifier: Apache-2.0

// Package content embeds the medical content: concepts and numbers under core, and the
// texts of each language under lang. All of it is YAML in the format described in
// package source, except for lang/<language>/texts, which package i18n reads. No computation
// belongs here.
package content

import "embed"

// FS is the content as it stood when the program was built.
//
//go:embed core lang
var FS embed.FS

// Texts has the texts of surveys, pages and messages alone, for packages that show them and
// have no use for the medical content.
//
//go:embed lang/*/texts
var Texts embed.FS
