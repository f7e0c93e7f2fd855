// SPDX-License-Identifier: Apache-2.0

package guard

import "time"

// laneFindings are the most present findings of the patients in each lane. What
// an assessment takes grows with them: of symptoms drawn at random from the
// content, up to 10 take 0.6 ms on average and 2 MB, 20 take 9 ms and 3 MB, 60
// take 140 ms. Few patients have more than ten, and hardly any more
// than twenty, so that who asks about them does not wait for who asks about a
// hundred.
var laneFindings = [...]int{10, 20, 100}

// lanePatience is how long a patient waits for others of the lane.
const lanePatience = 2 * time.Second

// newLanes gives each lane as much work as leaves the processors to the ones
// before it.
func newLanes(limits Limits, turnedAway func()) (lanes [len(laneFindings)]*Gate) {
	for i, size := range []struct{ inside, waiting int }{
		{4 * limits.Processors, limits.Calls},
		{limits.Processors, limits.Calls / 4},
		{max(limits.Processors/2, 1), limits.Calls / 8},
	} {
		lanes[i] = newGate(size.inside, size.waiting, lanePatience, turnedAway)
	}
	return lanes
}

// Lane is the gate that assessments of patients with so many present findings
// pass.
func (g *Guard) Lane(findings int) *Gate {
	for i, most := range laneFindings {
		if findings <= most {
			return g.lanes[i]
		}
	}
	return g.lanes[len(g.lanes)-1]
}
