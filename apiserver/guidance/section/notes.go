// SPDX-License-Identifier: Apache-2.0

package section

import "github.com/anamnesis-dev/anamnesis/apiserver/guidance"

// mostNotes is the most code points of a message to the doctor.
const mostNotes = 1000

// notes asks for what nobody asked for.
type notes struct{ unspoken }

// Name implements Section.
func (notes) Name() string { return Notes }

// Asks implements Section.
func (notes) Asks() map[string][]string { return map[string][]string{Notes: nil} }

// Next implements Section.
func (notes) Next(c *Case) (*guidance.Question, error) {
	if c.asked(Notes) {
		return nil, nil
	}
	return c.question(Notes, Notes, guidance.Text, guidance.Meta{MaxLength: mostNotes}), nil
}
