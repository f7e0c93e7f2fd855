// SPDX-License-Identifier: Apache-2.0

// Package section defines the sections of a survey. Each section is one file with its
// next question, its texts and the evidence that its answers yield. Answers are
// validated in one place, by the question's answer type, in the answer files.
//
// Dependencies point one way: package record holds the data, this package asks and
// validates, package flow puts sections in order and moves through them. A section
// sees a State, everything answered so far, and stores nothing: the same State yields
// the same question. There is no clock, storage or HTTP here.
//
// The wording of questions is content. A section's own questions are in
// content/lang/<language>/texts/surveys.yaml; questions about symptoms and risk factors, and
// their names, come from the release (content/lang/<language>/observations).
package section
