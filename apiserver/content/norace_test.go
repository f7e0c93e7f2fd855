// SPDX-License-Identifier: Apache-2.0

//go:build !race

package content_test

// toldAlarms is how many alarms are told in each language.
const toldAlarms = 10_000
