// SPDX-License-Identifier: Apache-2.0

// Package proof shows on a real machine that the local cluster does what it
// promises. All of it is a test behind the build tag proof, since it takes
// root and two minutes.
package proof
