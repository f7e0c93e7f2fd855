// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

func TestFault(t *testing.T) {
	t.Parallel()
	serverReason, instanceReason := v1alpha1.FailureReasonServer, v1alpha1.FailureReasonInstance
	failedPreflight := func(instance *instanceState) {
		stalledFor("ModelsUnavailable", time.Minute)(instance)
		instance.failedPreflight = true
	}
	failedElsewhere := func(instance *instanceState) { instance.failure.server = otherBuild }
	for name, test := range map[string]struct {
		changes []func(*instanceState)
		want    fault
	}{
		"none":                             {nil, noFault},
		"a new one":                        {[]func(*instanceState){func(instance *instanceState) { *instance = instanceState{} }}, noFault},
		"on its way":                       {[]func(*instanceState){movingFor(time.Minute)}, noFault},
		"on its way for very long":         {[]func(*instanceState){movingFor(36 * time.Minute)}, instanceFault},
		"on its way, with a long deadline": {[]func(*instanceState){movingFor(36 * time.Minute), func(instance *instanceState) { instance.deadline = time.Hour }}, noFault},
		"changed at runtime long ago":      {[]func(*instanceState){movingFor(time.Hour), func(instance *instanceState) { instance.lastHealthy = instance.build }}, noFault},
		"failed by the build":              {[]func(*instanceState){movingFor(0), failedWith(serverReason, 0)}, serverFault},
		"failed by the tenant":             {[]func(*instanceState){movingFor(0), failedWith(instanceReason, 0)}, instanceFault},
		"failed by who knows what":         {[]func(*instanceState){movingFor(0), failedWith("", 0)}, serverFault},
		"failed with another build":        {[]func(*instanceState){movingFor(0), failedWith(serverReason, 0), failedElsewhere}, instanceFault},

		"proven, then failed within the soak":                  {[]func(*instanceState){healthyFor(9 * time.Minute), failedWith(serverReason, time.Minute)}, serverFault},
		"proven, then failed after the soak":                   {[]func(*instanceState){healthyFor(11 * time.Minute), failedWith(serverReason, time.Minute)}, instanceFault},
		"proven, then failed within, by the tenant":            {[]func(*instanceState){healthyFor(9 * time.Minute), failedWith(instanceReason, time.Minute)}, instanceFault},
		"proven, then failed at an unknown time":               {[]func(*instanceState){healthyFor(9 * time.Minute), failedWith(serverReason, 0), func(instance *instanceState) { instance.failure.failedAt = time.Time{} }}, serverFault},
		"proven long ago, failed at an unknown time":           {[]func(*instanceState){failedWith(serverReason, 0), func(instance *instanceState) { instance.failure.failedAt = time.Time{} }}, instanceFault},
		"proven, then down within the soak":                    {[]func(*instanceState){healthyFor(9 * time.Minute), unreadyFor(3 * time.Minute)}, serverFault},
		"proven, then down within the soak, which is over":     {[]func(*instanceState){healthyFor(12 * time.Minute), unreadyFor(3 * time.Minute)}, serverFault},
		"proven, then down for a moment":                       {[]func(*instanceState){healthyFor(9 * time.Minute), unreadyFor(time.Minute)}, noFault},
		"proven, then down after the soak":                     {[]func(*instanceState){healthyFor(14 * time.Minute), unreadyFor(3 * time.Minute)}, noFault},
		"proven, then half down":                               {[]func(*instanceState){healthyFor(9 * time.Minute), unreadyFor(3 * time.Minute), func(instance *instanceState) { instance.serving = true }}, serverFault},
		"proven, then not ready for another reason":            {[]func(*instanceState){healthyFor(9 * time.Minute), unreadyFor(3 * time.Minute), func(instance *instanceState) { instance.serving, instance.readyReason = true, "VolumePending" }}, noFault},
		"proven, then stalled for a reason of its own":         {[]func(*instanceState){healthyFor(9 * time.Minute), stalledFor("CertificateInvalid", 3*time.Minute)}, instanceFault},
		"proven, then put to sleep":                            {[]func(*instanceState){healthyFor(9 * time.Minute), unreadyFor(3 * time.Minute), withHibernate}, noFault},
		"proven, then suspended":                               {[]func(*instanceState){healthyFor(9 * time.Minute), unreadyFor(3 * time.Minute), withSuspend}, noFault},
		"its image has not its models":                         {[]func(*instanceState){movingFor(0), failedPreflight}, unknownFault},
		"its image had its models, and not those it wants now": {[]func(*instanceState){failedPreflight}, instanceFault},
		"stalled on its way for a reason of its own":           {[]func(*instanceState){movingFor(0), stalledFor("CertificateInvalid", 0)}, instanceFault},
	} {
		instance := newHealthyState("a", targetBuild, test.changes...)
		if got := instance.fault(noon, soakDuration); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
}

func TestHasSoaked(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		changes []func(*instanceState)
		want    bool
	}{
		"long ago":                           {nil, true},
		"just long enough":                   {[]func(*instanceState){healthyFor(soakDuration)}, true},
		"not long enough":                    {[]func(*instanceState){healthyFor(soakDuration - time.Second)}, false},
		"not proven":                         {[]func(*instanceState){movingFor(time.Hour)}, false},
		"not ready since the soak":           {[]func(*instanceState){healthyFor(soakDuration), unreadyFor(time.Second)}, false},
		"not ready since after the soak":     {[]func(*instanceState){healthyFor(soakDuration + 2*time.Second), unreadyFor(time.Second)}, true},
		"long ago, and not ready any more":   {[]func(*instanceState){unreadyFor(time.Hour)}, true},
		"ready again within the soak":        {[]func(*instanceState){healthyFor(12 * time.Minute), readyFor(5 * time.Minute)}, false},
		"ready again right after it":         {[]func(*instanceState){healthyFor(12 * time.Minute), readyFor(time.Minute)}, false},
		"ready again for as long":            {[]func(*instanceState){healthyFor(12 * time.Minute), readyFor(10 * time.Minute)}, true},
		"ready again long after":             {[]func(*instanceState){healthyFor(22 * time.Minute), readyFor(time.Minute)}, true},
		"ready before, too":                  {[]func(*instanceState){healthyFor(soakDuration), readyFor(time.Hour)}, true},
		"without pods, which proves nothing": {[]func(*instanceState){withHibernate}, false},
	} {
		instance := newHealthyState("a", targetBuild, test.changes...)
		if got := instance.hasSoaked(noon, soakDuration); got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}
