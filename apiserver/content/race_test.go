// SPDX-License-Identifier: Apache-2.0

//go:build race

package content_test

// alarmSampleCount is the number of emergencies sampled per language. It is lower
// because the race detector is slow.
const alarmSampleCount = 1_000
