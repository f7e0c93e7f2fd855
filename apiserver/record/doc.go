// SPDX-License-Identifier: Apache-2.0

// Package record holds the data of surveys: users, who sign in and answer; patients,
// whose health a survey is about; surveys with their steps; and their results; and the
// errors of reading and writing them. It is pure: it validates input and normalizes it
// for comparison. Storage, access control and transport belong elsewhere. Package section defines what each section asks and
// package flow moves through a survey; both build on this package.
package record
