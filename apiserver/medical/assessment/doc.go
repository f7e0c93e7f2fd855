// SPDX-License-Identifier: Apache-2.0

// Package assessment holds the code shared by all APIs that assess patients. It parses
// client input into the terms of package inference against a release, and describes
// inference results with the texts of the release. Its types are independent of any
// particular API: handlers convert them, and must not duplicate the decisions of this
// package. The package must not use HTTP, SQL, logging or the clock.
package assessment
