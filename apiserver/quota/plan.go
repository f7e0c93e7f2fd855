// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Service is what a plan limits: some endpoints, whose calls count together.
type Service string

// The services.
const (
	Explain   Service = "explain"
	Suggest   Service = "suggest"
	Rationale Service = "rationale"
	Triage    Service = "triage"
)

// services are the services of endpoints, which are routes as usage counts them.
// The others have no limits.
var services = map[string]Service{
	"POST /v3/explain":   Explain,
	"POST /v3/suggest":   Suggest,
	"POST /v3/red_flags": Suggest,
	"POST /v3/rationale": Rationale,
	"POST /v3/triage":    Triage,
}

// endpoints are those that have a service.
var endpoints = slices.Sorted(maps.Keys(services))

// Limits are how many calls an application may make to each service in a
// calendar month of UTC. A service that is left out has no limit; one with 0
// may not be called at all.
type Limits struct {
	Explain   *int64 `yaml:"explain"`
	Suggest   *int64 `yaml:"suggest"`
	Rationale *int64 `yaml:"rationale"`
	Triage    *int64 `yaml:"triage"`
}

// Of returns the limit of a service, nil when there is none.
func (l Limits) Of(service Service) *int64 {
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

// Plans are limits by the name of the plan. A plan that is not among them, and
// the empty one, has none.
type Plans map[string]Limits

// trialCalls is how many calls to each service the plan trial allows unless it
// says otherwise.
const trialCalls = 100

// NewPlans checks plans that somebody wrote, and adds the plan trial when it is
// not among them. One that is there is taken as it is.
func NewPlans(written map[string]Limits) (Plans, error) {
	plans := Plans{}
	for _, name := range slices.Sorted(maps.Keys(written)) {
		if name == "" {
			return nil, errors.New("a plan without a name; applications without a plan have no limits")
		}
		for _, service := range []Service{Explain, Suggest, Rationale, Triage} {
			if limit := written[name].Of(service); limit != nil && *limit < 0 {
				return nil, fmt.Errorf("%s.%s is %d; expected the calls that are allowed in a month, 0 for none", name, service, *limit)
			}
		}
		plans[name] = written[name]
	}
	if _, written := plans["trial"]; !written {
		calls := int64(trialCalls)
		plans["trial"] = Limits{Explain: &calls, Suggest: &calls, Rationale: &calls, Triage: &calls}
	}
	return plans, nil
}
