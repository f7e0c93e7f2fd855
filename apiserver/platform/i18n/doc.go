// SPDX-License-Identifier: Apache-2.0

// Package i18n reads the texts that the program shows and sends, and chooses the language
// for a reader. Every language has a directory with one file per area (page, body, surveys,
// messages) in which the texts have the same IDs and placeholders as the English ones.
//
// A regional variant such as en-us contains only the texts that differ from its base
// language, and may omit whole files. A reader who asks for a language that does not exist
// gets the closest match, or else English.
//
// The packages that use the texts define which IDs an area needs. The wording of medical
// concepts and interview questions is part of a release and does not belong here.
package i18n
