// SPDX-License-Identifier: Apache-2.0

package limiter

import "time"

// maxFindingsPerClass is the largest number of present findings per priority class. The
// cost of an assessment grows with the number of findings: with symptoms drawn at random
// from the content, up to 10 take 0.6 ms on average and 2 MB, 20 take 9 ms and 3 MB, 60
// take 140 ms. Few patients have more than ten findings and hardly any have more than
// twenty, so ordinary requests do not queue behind a request with a hundred.
var maxFindingsPerClass = [...]int{10, 20, 100}

// assessmentTimeout is how long an assessment waits for others of its class.
const assessmentTimeout = 2 * time.Second

// newAssessmentSemaphores returns a semaphore for each class, sized to leave processors to
// the cheaper classes.
func newAssessmentSemaphores(limits Limits, onReject func()) (semaphores [len(maxFindingsPerClass)]*Semaphore) {
	for i, size := range []struct{ active, waiting int }{
		{4 * limits.Processors, limits.Calls},
		{limits.Processors, limits.Calls / 4},
		{max(limits.Processors/2, 1), limits.Calls / 8},
	} {
		semaphores[i] = newSemaphore(size.active, size.waiting, assessmentTimeout, onReject)
	}
	return semaphores
}

// Assessments returns the semaphore for assessments with this many present findings.
func (l *Limiter) Assessments(findings int) *Semaphore {
	for i, maxFindings := range maxFindingsPerClass {
		if findings <= maxFindings {
			return l.assessments[i]
		}
	}
	return l.assessments[len(l.assessments)-1]
}
