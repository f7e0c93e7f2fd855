// SPDX-License-Identifier: Apache-2.0

// Package record defines the stored records: users, patients, surveys with their steps,
// and results, with the errors of reading and writing them. It is pure: it validates input
// and normalizes it for comparison. Storage, access control and transport belong elsewhere.
// Package section, which defines the questions of each section, and package flow, which
// advances a survey, build on this package.
package record
