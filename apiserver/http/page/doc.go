// SPDX-License-Identifier: Apache-2.0

// Package page serves the patients' pages: surveys in a browser, accessible to everyone. It
// renders HTML on the server and works without JavaScript; a small script only improves it.
//
// The pages can do what the guidance platform's API can do, and nothing else: they call the
// survey and users services as the API's handlers do, with form values in place of JSON.
// Questions, triage and results are decided in the survey packages; the wording is in content/lang/<language>/texts/page.yaml
// and in the medical content. Domain rules do not belong here. Pages load nothing from other
// hosts, and no code, ID or input of a patient appears in a log, in the URL of another page
// or in a Referer.
package page
