// SPDX-License-Identifier: Apache-2.0

package section

import "github.com/anamnesis-dev/anamnesis/apiserver/guidance"

// mostReason is the most code points of a reason for a visit.
const mostReason = 1000

// visitReason asks why the patient comes, in the patient's own words.
type visitReason struct{ unspoken }

// Name implements Section.
func (visitReason) Name() string { return VisitReason }

// Asks implements Section.
func (visitReason) Asks() map[string][]string { return map[string][]string{VisitReason: nil} }

// Next implements Section.
func (visitReason) Next(c *Case) (*guidance.Question, error) {
	if c.asked(VisitReason) {
		return nil, nil
	}
	return c.question(VisitReason, VisitReason, guidance.Text, guidance.Meta{Required: true, MaxLength: mostReason}), nil
}
