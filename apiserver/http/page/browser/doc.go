// SPDX-License-Identifier: Apache-2.0

// Package browser drives Chromium in tests of the patients' pages: what a person sees,
// reaches with the keyboard, hears from a screen reader and waits for. Open gives each test a
// tab of its own and fails the test for any browser error. All tabs share one browser,
// which starts with the first tab and ends with Run, to be called from TestMain.
//
// The environment locates the browser and axe-core (see package programs). If one is
// missing, tests fail; they never skip:
//
//	go run ./hack/setup browser -- go test ./apiserver/http/page/...
//
// The package does not depend on our pages, only tests import it, and the browser reaches
// loopback addresses only.
package browser
