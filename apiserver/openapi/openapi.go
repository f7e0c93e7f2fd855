// SPDX-License-Identifier: Apache-2.0

// Package openapi holds the contracts of the server's public interfaces, in
// OpenAPI 3.1. What a client may send and will get is written there first; the
// types and servers in the folders beside them are generated from them. No
// code of the server lives here.
package openapi

import _ "embed" // the contracts are embedded

// EngineV3 is the contract of the symptom assessment under /v3, as YAML.
//
//go:embed engine-v3.yaml
var EngineV3 []byte

// Guidance is the contract of the guidance platform under /api, as YAML.
//
//go:embed guidance.yaml
var Guidance []byte
