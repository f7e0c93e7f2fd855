// SPDX-License-Identifier: Apache-2.0

//go:build race

package content_test

// toldAlarms is how many alarms are told in each language. The race detector
// slows them down.
const toldAlarms = 1_000
