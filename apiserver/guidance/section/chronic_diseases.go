// SPDX-License-Identifier: Apache-2.0

package section

import "github.com/anamnesis-dev/anamnesis/apiserver/guidance"

// chronicDiseases asks for illnesses that the patient has for long. Those that mean a risk factor
// count as one.
type chronicDiseases struct{}

// Name implements Section.
func (chronicDiseases) Name() string { return ChronicDiseases }

// Asks implements Section.
func (chronicDiseases) Asks() map[string][]string { return map[string][]string{ChronicDiseases: nil} }

// Needs implements Section.
func (chronicDiseases) Needs() bool { return false }

// Next implements Section.
func (chronicDiseases) Next(c *Case) (*guidance.Question, error) {
	if c.asked(ChronicDiseases) {
		return nil, nil
	}
	return c.question(ChronicDiseases, ChronicDiseases, guidance.List, guidance.Meta{SourceList: c.sourceList(guidance.ChronicDiseaseList)}), nil
}

// Evidence implements Section.
func (chronicDiseases) Evidence(c *Case) []guidance.Evidence { return c.meant(ChronicDiseases) }
