// SPDX-License-Identifier: Apache-2.0

// Package openapi contains the OpenAPI 3.1 contracts of the server's public APIs, from
// which the types and servers in the subpackages are generated. API changes start with the
// contracts. Server code does not belong here.
package openapi

import _ "embed" // for the contracts

// EngineV3 is the contract of the symptom assessment under /v3, as YAML.
//
//go:embed engine-v3.yaml
var EngineV3 []byte

// Guidance is the contract of the guidance platform under /api, as YAML.
//
//go:embed guidance.yaml
var Guidance []byte
