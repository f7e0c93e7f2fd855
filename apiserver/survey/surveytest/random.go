// SPDX-License-Identifier: Apache-2.0

package surveytest

import (
	"fmt"
	"math/rand/v2"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// NewRandomRelease returns a random small model with questions of every kind: complaints with
// groups and single details, observations limited by sex or age, and risk factors. If without
// is positive, it omits the complaint with this number and its details, like a later release
// of the same model.
func NewRandomRelease(t modeltest.TB, random *rand.Rand, without int) *model.Release {
	return NewRandomReleaseBuilder(random, without).Build(t)
}

// NewRandomReleaseBuilder returns the builder of NewRandomRelease, for tests to
// extend.
func NewRandomReleaseBuilder(random *rand.Rand, without int) *modeltest.Builder {
	b := modeltest.New()
	conditions := make([]string, 3+random.IntN(5))
	for c := range conditions {
		conditions[c] = fmt.Sprintf("c_%d", c+1)
		b.Condition(conditions[c], 0.001+0.05*random.Float64(), withTriage(model.SelfCare+model.TriageLevel(random.IntN(5))))
	}
	for complaint := range 3 + random.IntN(3) {
		seed := random.Uint64() // independent of whether an earlier complaint is omitted
		if complaint+1 != without {
			addComplaint(b, complaint+1, conditions, rand.New(rand.NewPCG(seed, 1))) //nolint:gosec // the same model every time
		}
	}
	for _, risk := range []string{"p_7", "p_28", "p_8", "p_42", "p_47"} {
		b.RiskFactor(risk, 0.05+0.3*random.Float64(), randomizeApplicability(random))
		b.Factor(conditions[random.IntN(len(conditions))], risk, 3, 0.7)
	}
	return b
}

// addComplaint adds the symptom s_<number> with details numbered from s_<number>1.
func addComplaint(b *modeltest.Builder, number int, conditions []string, random *rand.Rand) {
	root := fmt.Sprintf("s_%d", number)
	b.Symptom(root, 0.02, randomizeApplicability(random))
	shares := make([]float64, len(conditions))
	for c, condition := range conditions {
		if random.IntN(3) > 0 {
			shares[c] = 0.3 + 0.6*random.Float64()
			b.Link(condition, root, shares[c])
		}
	}
	items := make([]string, 3+random.IntN(3))
	for i := range items {
		item := fmt.Sprintf("%s%d", root, i+1)
		b.Child(item, root, model.CharacterRelation, 0.002, randomizeApplicability(random))
		for c, condition := range conditions {
			if shares[c] > 0 {
				b.Link(condition, item, shares[c]*(0.02+0.13*random.Float64()))
			}
		}
		items[i] = item
	}
	switch random.IntN(3) {
	case 0:
		b.Group(model.GroupSingle, items...)
	case 1:
		b.Group(model.GroupMultiple, items...)
	}
}

// randomizeApplicability limits some observations by sex or age.
func randomizeApplicability(random *rand.Rand) func(*model.DraftObservation) {
	return func(o *model.DraftObservation) {
		switch random.IntN(12) {
		case 0:
			o.Sex = model.SexFilter(1 + random.IntN(2))
		case 1:
			o.AgeTo = 600
		case 2:
			o.Seriousness = model.Serious + model.Seriousness(random.IntN(3))
		}
	}
}
