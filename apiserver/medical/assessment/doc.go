// SPDX-License-Identifier: Apache-2.0

// Package assessment holds the code shared by all APIs that assess patients. It parses
// client input into the terms of package inference against a release, and describes
// inference results with the texts of the release. Its types belong to no particular
// API: handlers translate them, and must not duplicate the decisions made here. HTTP,
// SQL, logging and the clock do not belong here.
package assessment
