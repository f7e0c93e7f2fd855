// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"maps"
	"slices"
)

// Operation is the unit that a plan limits: endpoints whose calls count together.
type Operation string

// The operations.
const (
	Explain   Operation = "explain"
	Suggest   Operation = "suggest"
	Rationale Operation = "rationale"
	Triage    Operation = "triage"
)

// operations maps endpoints, named by route as in usage counts, to operations. Other
// endpoints have no limits.
var operations = map[string]Operation{
	"POST /v3/explain":   Explain,
	"POST /v3/suggest":   Suggest,
	"POST /v3/red_flags": Suggest,
	"POST /v3/rationale": Rationale,
	"POST /v3/triage":    Triage,
}

// limitedEndpoints are the endpoints that have an operation.
var limitedEndpoints = slices.Sorted(maps.Keys(operations))

// Limits are the maximum numbers of calls per operation that an application may make
// in a calendar month (UTC). If unset, an operation is unlimited; 0 disables it.
type Limits struct {
	Explain   *int64
	Suggest   *int64
	Rationale *int64
	Triage    *int64
}

// For returns the limit of an operation, or nil if it is unlimited.
func (l Limits) For(operation Operation) *int64 {
	switch operation {
	case Explain:
		return l.Explain
	case Suggest:
		return l.Suggest
	case Rationale:
		return l.Rationale
	case Triage:
		return l.Triage
	}
	return nil
}

// Plans are limits by plan name. An unknown or empty plan has no limits.
type Plans map[string]Limits
