// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"sync"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// withBudget is an engine whose lattices may hold so many numbers.
func withBudget(budget int) *Engine {
	return &Engine{scratch: sync.Pool{New: func() any { return &scratch{limits: limits{tips: mostTips, numbers: budget}} }}}
}

// TestClustersStayCloseToTheExactPosterior compares what the engine does with
// many findings, on a model of a full catalogue's size, to one lattice of all
// of them.
func TestClustersStayCloseToTheExactPosterior(t *testing.T) {
	t.Parallel()
	r := syntheticRelease(t)
	exact, bounded := withBudget(math.MaxInt), New()
	for present, count := range map[int]int{11: 10, 12: 10, 13: 6, 14: 4} {
		for i, drawn := range modeltest.Patients(r, count, present) {
			p := resolved(t, r, drawn)
			want, got := infer(exact, r, p), infer(bounded, r, p)
			for c := range want {
				if math.Abs(got[c]-want[c]) > 0.01 {
					t.Errorf("patient %d with %d present: condition %d has %.4f, exactly %.4f", i, present, c, got[c], want[c])
				}
			}
		}
	}
}
