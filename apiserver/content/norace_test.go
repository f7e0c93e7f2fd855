// SPDX-License-Identifier: Apache-2.0

//go:build !race

package content_test

// alarmSampleCount is the number of emergencies sampled per language.
const alarmSampleCount = 10_000
