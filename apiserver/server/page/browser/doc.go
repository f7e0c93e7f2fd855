// SPDX-License-Identifier: Apache-2.0

// Package browser drives a real Chromium through the patient's page, for tests
// alone: what a person sees, reaches with the keyboard, hears from a screen
// reader and waits for. Open gives a tab of its own to each test; whatever goes
// wrong there fails the test. All tabs are those of one browser, which starts
// with the first of them and ends with Run, to be called in TestMain.
//
// The browser and axe-core are where the environment says (package programs);
// a missing one is a failure, never a skip:
//
//	go run ./hack/setup browser -- go test ./apiserver/server/page/...
//
// Nothing here knows of a page of ours, no program imports it, and the browser
// reaches loopback only.
package browser
