// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"errors"
	"fmt"
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
	Explain   *int64 `yaml:"explain"`
	Suggest   *int64 `yaml:"suggest"`
	Rationale *int64 `yaml:"rationale"`
	Triage    *int64 `yaml:"triage"`
}

// For returns the limit of a service, or nil if it is unlimited.
func (l Limits) For(service Operation) *int64 {
	switch service {
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

// trialLimit is the default limit for each service in the trial plan.
const trialLimit = 100

// NewPlans validates user-defined plans and adds the trial plan unless it is defined.
func NewPlans(written map[string]Limits) (Plans, error) {
	plans := Plans{}
	for _, name := range slices.Sorted(maps.Keys(written)) {
		if name == "" {
			return nil, errors.New("plan name must not be empty; applications without a plan have no limits")
		}
		for _, service := range []Operation{Explain, Suggest, Rationale, Triage} {
			if limit := written[name].For(service); limit != nil && *limit < 0 {
				return nil, fmt.Errorf("%s.%s is %d; expected the number of calls allowed per month, 0 for none", name, service, *limit)
			}
		}
		plans[name] = written[name]
	}
	if _, written := plans["trial"]; !written {
		calls := int64(trialLimit)
		plans["trial"] = Limits{Explain: &calls, Suggest: &calls, Rationale: &calls, Triage: &calls}
	}
	return plans, nil
}
