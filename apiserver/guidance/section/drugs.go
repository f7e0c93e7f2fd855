// SPDX-License-Identifier: Apache-2.0

package section

import "github.com/anamnesis-dev/anamnesis/apiserver/guidance"

// drugs asks for medicines that the patient takes. Those that mean a risk factor
// count as one.
type drugs struct{}

// Name implements Section.
func (drugs) Name() string { return Drugs }

// Asks implements Section.
func (drugs) Asks() map[string][]string { return map[string][]string{Drugs: nil} }

// Needs implements Section.
func (drugs) Needs() bool { return false }

// Next implements Section.
func (drugs) Next(c *Case) (*guidance.Question, error) {
	if c.asked(Drugs) {
		return nil, nil
	}
	return c.question(Drugs, Drugs, guidance.List, guidance.Meta{SourceList: c.sourceList(guidance.DrugList)}), nil
}

// Evidence implements Section.
func (drugs) Evidence(c *Case) []guidance.Evidence { return c.meant(Drugs) }
