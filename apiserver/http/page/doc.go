// SPDX-License-Identifier: Apache-2.0

// Package page serves the survey pages for patients, accessible to everyone in a browser. It
// renders HTML on the server and works without JavaScript; a small script only improves the
// experience.
//
// The pages have the same capabilities as the API of the guidance platform: they call the
// survey and users services like the API's handlers, with form values instead of JSON. The
// survey packages determine questions, triage and results; the wording is in
// content/lang/<language>/texts/page.yaml and in the medical content. Domain rules do not
// belong here. Pages load nothing from other hosts, and codes, IDs and input of patients
// never appear in a log, in the URL of another page or in a Referer.
package page
