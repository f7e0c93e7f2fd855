// SPDX-License-Identifier: Apache-2.0

// Package assessment is what every API shares that assesses patients: what they
// send, read into the engine's terms against a release, and what the engine finds,
// described in a release's words. Its types are no API's own: handlers translate
// them, and copy nothing of what is decided here. No HTTP, no SQL, no log and no
// clock lives here.
package assessment
