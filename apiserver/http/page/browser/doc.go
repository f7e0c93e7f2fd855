// SPDX-License-Identifier: Apache-2.0

// Package browser drives Chromium in tests of the survey pages, covering what users see,
// reach with the keyboard, hear from a screen reader and wait for. Open creates a separate
// tab for each test and fails the test on browser errors. All tabs share one browser, which
// starts with the first tab and is stopped by Run, which TestMain must call.
//
// The environment locates the browser and axe-core (see package programs). If one is
// missing, tests fail; they never skip:
//
//	go run ./hack/setup browser -- go test ./apiserver/http/page/...
//
// The package does not depend on the pages and is only imported by tests. The browser can
// access loopback addresses only.
package browser
