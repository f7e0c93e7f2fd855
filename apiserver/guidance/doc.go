// SPDX-License-Identifier: Apache-2.0

// Package guidance says who takes part in surveys: users, who sign in and answer,
// and patients, whose health it is about. It is pure: what comes in is checked and
// brought into the form in which it is compared; where it is kept, who may see it
// and how it travels are the business of others.
package guidance
