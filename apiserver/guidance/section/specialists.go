// SPDX-License-Identifier: Apache-2.0

package section

import "github.com/anamnesis-dev/anamnesis/apiserver/guidance"

// specialists asks for the doctors who treat the patient already.
type specialists struct{ unspoken }

// Name implements Section.
func (specialists) Name() string { return Specialists }

// Asks implements Section.
func (specialists) Asks() map[string][]string { return map[string][]string{Specialists: nil} }

// Next implements Section.
func (specialists) Next(c *Case) (*guidance.Question, error) {
	if c.asked(Specialists) {
		return nil, nil
	}
	return c.question(Specialists, Specialists, guidance.List, guidance.Meta{SourceList: c.sourceList(guidance.SpecialistList)}), nil
}
