// SPDX-License-Identifier: Apache-2.0

// Package content embeds the medical content: concepts and numbers under core, and the
// texts of each language under lang. All files are YAML in the format described in
// package source, except for lang/<language>/texts, which package i18n reads. This
// package must not contain any logic.
package content

import "embed"

// FS is the content at build time.
//
//go:embed core lang
var FS embed.FS

// Texts contains only the texts of surveys, pages and messages, for packages that
// display them and do not need the medical content.
//
//go:embed lang/*/texts
var Texts embed.FS
