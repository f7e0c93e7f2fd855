// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/controllers/problem/problemtest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestCheckVolume(t *testing.T) {
	t.Parallel()
	claim := func(phase corev1.PersistentVolumeClaimPhase) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "acme-data", CreationTimestamp: metav1.NewTime(noon)},
			Status:     corev1.PersistentVolumeClaimStatus{Phase: phase},
		}
	}
	for name, test := range map[string]struct {
		facts    volumeFacts
		age      time.Duration
		want     string
		contains string
	}{
		"just made":              {volumeFacts{}, 0, "waiting VolumePending", "just created"},
		"bound":                  {volumeFacts{claim: claim(corev1.ClaimBound)}, time.Hour, "", ""},
		"lost":                   {volumeFacts{claim: claim(corev1.ClaimLost)}, time.Hour, "stalled VolumeLost", "acme-data no longer exists"},
		"pending":                {volumeFacts{claim: claim(corev1.ClaimPending)}, time.Minute, "waiting VolumePending", "not bound yet"},
		"pending, and told why":  {volumeFacts{claim: claim(corev1.ClaimPending), latestEvent: "ProvisioningFailed: no space"}, time.Minute, "waiting VolumePending", "ProvisioningFailed: no space"},
		"pending for too long":   {volumeFacts{claim: claim(corev1.ClaimPending), latestEvent: "no space"}, 7*time.Minute + 1, "stalled VolumeBindFailed", "within 7m0s: no space"},
		"no class, for a moment": {volumeFacts{claim: claim(corev1.ClaimPending), missingClass: "fast"}, time.Second, "waiting VolumePending", ""},
		"no class":               {volumeFacts{claim: claim(corev1.ClaimPending), missingClass: "fast", availableClasses: []string{"a", "b"}}, time.Minute, "stalled VolumeBindFailed", "available: a, b"},
		"no class at all":        {volumeFacts{claim: claim(corev1.ClaimPending), missingClass: "fast"}, time.Minute, "stalled VolumeBindFailed", "available: none"},
	} {
		test.facts.deadline, test.facts.now = 7*time.Minute, noon.Add(test.age)
		found := checkVolume(test.facts)
		if found == nil {
			problemtest.Expect(t, name, nil, test.want)
			continue
		}
		problemtest.Expect(t, name, found, test.want)
		if !strings.Contains(found.Message, test.contains) {
			t.Errorf("%s: got %q, want one that contains %q", name, found.Message, test.contains)
		}
	}
}

func TestSaltedChecksumHidesContent(t *testing.T) {
	t.Parallel()
	first, repeated, otherContent, otherInstance := saltedChecksum("a", "postgres://x"), saltedChecksum("a", "postgres://x"), saltedChecksum("a", "postgres://y"), saltedChecksum("b", "postgres://x")
	if first != repeated || first == otherContent || first == otherInstance {
		t.Errorf("got checksums %s, %s, %s, %s, want only the first two to be equal", first, repeated, otherContent, otherInstance)
	}
}
