// SPDX-License-Identifier: Apache-2.0

// Package enginev3 is the symptom assessment under /v3 for clients: its types
// and calls, generated from the contract engine-v3.yaml. Package client makes
// an API of it that is ready to use.
//
// What the contract lets be left out or be null is a pointer, which new makes
// of any value: Source: new(enginev3.SourceInitial). What a model adds to a
// list of words, such as a new section of articles, comes as it is.
package enginev3
