// SPDX-License-Identifier: Apache-2.0

// Package notify is how messages reach people: the words of a message in their
// language, mail over SMTP, text messages over an HTTP gateway that the tenant
// names, the settings of both, and the queue in between, so that nobody who
// calls waits for them.
//
// Who gets a message, how often, and what a code is good for are not decided
// here, and nothing is stored. The only package of ours that it needs is reload.
// No recipient, code or password reaches an error or a log, but for the log
// that takes the place of mail in development.
package notify
