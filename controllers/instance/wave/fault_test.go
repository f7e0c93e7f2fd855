// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

func TestFault(t *testing.T) {
	t.Parallel()
	byServer, byTenant := v1alpha1.FailureReasonServer, v1alpha1.FailureReasonInstance
	refused := func(one *tenant) {
		stalledBy("ModelsUnavailable", time.Minute)(one)
		one.refused = true
	}
	elsewhere := func(one *tenant) { one.failure.server = lastServer }
	for name, test := range map[string]struct {
		changes []func(*tenant)
		want    fault
	}{
		"none":                             {nil, noFault},
		"a new one":                        {[]func(*tenant){func(one *tenant) { *one = tenant{} }}, noFault},
		"on its way":                       {[]func(*tenant){onItsWay(time.Minute)}, noFault},
		"on its way for very long":         {[]func(*tenant){onItsWay(36 * time.Minute)}, tenantFault},
		"on its way, with a long deadline": {[]func(*tenant){onItsWay(36 * time.Minute), func(one *tenant) { one.deadline = time.Hour }}, noFault},
		"changed at runtime long ago":      {[]func(*tenant){onItsWay(time.Hour), func(one *tenant) { one.proven = one.pin }}, noFault},
		"failed by the build":              {[]func(*tenant){onItsWay(0), failedWith(byServer, 0)}, serverFault},
		"failed by the tenant":             {[]func(*tenant){onItsWay(0), failedWith(byTenant, 0)}, tenantFault},
		"failed by who knows what":         {[]func(*tenant){onItsWay(0), failedWith("", 0)}, serverFault},
		"failed with another build":        {[]func(*tenant){onItsWay(0), failedWith(byServer, 0), elsewhere}, tenantFault},

		"proven, then failed within the soak":                  {[]func(*tenant){provenFor(9 * time.Minute), failedWith(byServer, time.Minute)}, serverFault},
		"proven, then failed after the soak":                   {[]func(*tenant){provenFor(11 * time.Minute), failedWith(byServer, time.Minute)}, tenantFault},
		"proven, then failed within, by the tenant":            {[]func(*tenant){provenFor(9 * time.Minute), failedWith(byTenant, time.Minute)}, tenantFault},
		"proven, then failed at an unknown time":               {[]func(*tenant){provenFor(9 * time.Minute), failedWith(byServer, 0), func(one *tenant) { one.failure.at = time.Time{} }}, serverFault},
		"proven long ago, failed at an unknown time":           {[]func(*tenant){failedWith(byServer, 0), func(one *tenant) { one.failure.at = time.Time{} }}, tenantFault},
		"proven, then down within the soak":                    {[]func(*tenant){provenFor(9 * time.Minute), downFor(3 * time.Minute)}, serverFault},
		"proven, then down within the soak, which is over":     {[]func(*tenant){provenFor(12 * time.Minute), downFor(3 * time.Minute)}, serverFault},
		"proven, then down for a moment":                       {[]func(*tenant){provenFor(9 * time.Minute), downFor(time.Minute)}, noFault},
		"proven, then down after the soak":                     {[]func(*tenant){provenFor(14 * time.Minute), downFor(3 * time.Minute)}, noFault},
		"proven, then half down":                               {[]func(*tenant){provenFor(9 * time.Minute), downFor(3 * time.Minute), func(one *tenant) { one.serving = true }}, serverFault},
		"proven, then not ready for another reason":            {[]func(*tenant){provenFor(9 * time.Minute), downFor(3 * time.Minute), func(one *tenant) { one.serving, one.because = true, "VolumePending" }}, noFault},
		"proven, then stalled for a reason of its own":         {[]func(*tenant){provenFor(9 * time.Minute), stalledBy("CertificateInvalid", 3*time.Minute)}, tenantFault},
		"proven, then put to sleep":                            {[]func(*tenant){provenFor(9 * time.Minute), downFor(3 * time.Minute), hibernated}, noFault},
		"proven, then suspended":                               {[]func(*tenant){provenFor(9 * time.Minute), downFor(3 * time.Minute), suspended}, noFault},
		"its image has not its models":                         {[]func(*tenant){onItsWay(0), refused}, unclearFault},
		"its image had its models, and not those it wants now": {[]func(*tenant){refused}, tenantFault},
		"stalled on its way for a reason of its own":           {[]func(*tenant){onItsWay(0), stalledBy("CertificateInvalid", 0)}, tenantFault},
	} {
		one := settled("a", newServer, test.changes...)
		if got := one.fault(noon, soak); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
}

func TestSoaked(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		changes []func(*tenant)
		want    bool
	}{
		"long ago":                           {nil, true},
		"just long enough":                   {[]func(*tenant){provenFor(soak)}, true},
		"not long enough":                    {[]func(*tenant){provenFor(soak - time.Second)}, false},
		"not proven":                         {[]func(*tenant){onItsWay(time.Hour)}, false},
		"not ready since the soak":           {[]func(*tenant){provenFor(soak), downFor(time.Second)}, false},
		"not ready since after the soak":     {[]func(*tenant){provenFor(soak + 2*time.Second), downFor(time.Second)}, true},
		"long ago, and not ready any more":   {[]func(*tenant){downFor(time.Hour)}, true},
		"ready again within the soak":        {[]func(*tenant){provenFor(12 * time.Minute), readyFor(5 * time.Minute)}, false},
		"ready again right after it":         {[]func(*tenant){provenFor(12 * time.Minute), readyFor(time.Minute)}, false},
		"ready again for as long":            {[]func(*tenant){provenFor(12 * time.Minute), readyFor(10 * time.Minute)}, true},
		"ready again long after":             {[]func(*tenant){provenFor(22 * time.Minute), readyFor(time.Minute)}, true},
		"ready before, too":                  {[]func(*tenant){provenFor(soak), readyFor(time.Hour)}, true},
		"without pods, which proves nothing": {[]func(*tenant){hibernated}, false},
	} {
		one := settled("a", newServer, test.changes...)
		if got := one.soaked(noon, soak); got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}
