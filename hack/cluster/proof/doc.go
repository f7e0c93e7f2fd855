// SPDX-License-Identifier: Apache-2.0

// Package proof verifies the local cluster on a real machine. It contains only tests,
// behind the build tag proof because they need root and take two minutes.
package proof
