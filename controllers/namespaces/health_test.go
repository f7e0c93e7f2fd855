// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
)

// TestHealthReportsChangesOnce reports the results of ten watches of a namespace, and
// counts the log messages.
func TestHealthReportsChangesOnce(t *testing.T) {
	t.Parallel()
	var said []string
	log := funcr.New(func(_, line string) { said = append(said, line) }, funcr.Options{})
	registry := prometheus.NewRegistry()
	health, err := NewHealth(log, registry, []string{"clinic", "pharmacy"})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name                   string
		part, trouble          string
		lines                  []string
		said                   int
		clinicWell, othersWell float64
	}{
		{"a first list works", "Secret", "", nil, 0, 1, 1},
		{"one kind is forbidden", "Service", "cannot be read", []string{"namespace clinic: cannot be read: Service"}, 1, 0, 1},
		{"another is", "Secret", "cannot be read", []string{"namespace clinic: cannot be read: Secret, Service"}, 1, 0, 1},
		{"again", "Secret", "cannot be read", []string{"namespace clinic: cannot be read: Secret, Service"}, 1, 0, 1},
		{"something else is wrong", "RoleBinding x", "not held", []string{"namespace clinic: cannot be read: Secret, Service", "namespace clinic: not held: RoleBinding x"}, 2, 0, 1},
		{"that was repaired", "RoleBinding x", "", []string{"namespace clinic: cannot be read: Secret, Service"}, 3, 0, 1},
		{"one kind can be listed", "Service", "", []string{"namespace clinic: cannot be read: Secret"}, 3, 0, 1},
		{"all can", "Secret", "", nil, 4, 1, 1},
	} {
		health.Report("clinic", step.part, step.trouble)
		if diff := cmp.Diff(step.lines, health.Problems(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
		if len(said) != step.said {
			t.Errorf("%s: got %d log entries, want %d: %q", step.name, len(said), step.said, said)
		}
		want := map[string]float64{"clinic": step.clinicWell, "pharmacy": step.othersWell}
		if diff := cmp.Diff(want, accessibleByNamespace(t, registry)); diff != "" {
			t.Errorf("%s: metric (-want +got):\n%s", step.name, diff)
		}
	}
}

// accessibleByNamespace reads the metric by namespace.
func accessibleByNamespace(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "anamnesis_operator_namespace_accessible" {
			continue
		}
		for _, metric := range family.GetMetric() {
			found[metric.GetLabel()[0].GetValue()] = metric.GetGauge().GetValue()
		}
	}
	return found
}
