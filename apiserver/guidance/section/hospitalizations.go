// SPDX-License-Identifier: Apache-2.0

package section

import "github.com/anamnesis-dev/anamnesis/apiserver/guidance"

// hospitalizations asks for stays in hospital, and what they were for. Those that mean a risk factor
// count as one.
type hospitalizations struct{}

// Name implements Section.
func (hospitalizations) Name() string { return Hospitalizations }

// Asks implements Section.
func (hospitalizations) Asks() map[string][]string { return map[string][]string{Hospitalizations: nil} }

// Needs implements Section.
func (hospitalizations) Needs() bool { return false }

// Next implements Section.
func (hospitalizations) Next(c *Case) (*guidance.Question, error) {
	if c.asked(Hospitalizations) {
		return nil, nil
	}
	return c.question(Hospitalizations, Hospitalizations, guidance.List, guidance.Meta{SourceList: c.sourceList(guidance.HospitalizationList)}), nil
}

// Evidence implements Section.
func (hospitalizations) Evidence(c *Case) []guidance.Evidence { return c.meant(Hospitalizations) }
