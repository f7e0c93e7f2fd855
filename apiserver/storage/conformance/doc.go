// SPDX-License-Identifier: Apache-2.0

// Package conformance holds every storage to the same behaviour: what package
// storage promises, tried on a real database. A storage's own tests call Run,
// and Child in their TestMain; what only one storage promises stays there.
package conformance
