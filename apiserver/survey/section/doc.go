// SPDX-License-Identifier: Apache-2.0

// Package section defines the sections of a survey. Each section is one file with its next
// question, its texts and the evidence that its answers yield. The answer files validate
// answers by the answer type of the question.
//
// Package record holds the data, this package asks and validates, and package flow orders the
// sections and moves through them. A section sees a State with all previous answers, and
// stores nothing: the same State always yields the same question. Clocks, storage and HTTP do
// not belong here.
//
// The wording of questions is content. The texts of the sections' own questions are in
// content/lang/<language>/texts/surveys.yaml. The names of symptoms and risk factors, and
// questions about them, are part of the release (content/lang/<language>/observations).
package section
