// SPDX-License-Identifier: Apache-2.0

// Package page is the patient's page: a survey in a browser, for anybody. It renders
// HTML on the server and works without JavaScript; a small script only makes it nicer.
//
// It does what the guidance platform's API can do and nothing beside it: it calls the
// registers of surveys and people as their handlers do, with what a form says in place
// of JSON. What is asked, judged and concluded is decided in package guidance, how it is
// worded in words/ and in the medical content; no rule of the domain lives here. Nothing
// in a page comes from another address, and no code, id or word of a patient is in a
// log, in the address of another page or in a Referer.
package page
