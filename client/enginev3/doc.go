// SPDX-License-Identifier: Apache-2.0

// Package enginev3 contains the types and calls of the symptom assessment API under
// /v3, generated from the contract engine-v3.yaml. Use package client to obtain a
// configured API.
//
// Fields that the contract allows to be omitted or null are pointers; new returns a
// pointer to any value: Source: new(enginev3.SourceInitial). Values that a model adds
// to an enumeration, such as a new article section, are passed through unchanged.
package enginev3
