// SPDX-License-Identifier: Apache-2.0

// Package clients speaks to the server as public clients of the API family do,
// in one file for each: the calls that it makes with the headers, parameters
// and bodies as it spells them, and what it reads of the answers, by readers
// that follow its code and not the contract. Each row names the file and line of
// the client that it was written from; no line of theirs stands here.
//
// Clients of the version before (/v2) send the age as a number and no age with
// lists and texts, which /v3 refuses. Of those that can be pointed at another
// address (the JavaScript example, the .NET library) the rows hold that the
// refusal says what to change, and that what carries no age works. The chat bot
// has its address in its code; its rows are of a copy whose address and age were
// changed, and they end where it reads should_stop, which /v3 leaves out for
// evidence without a source.
//
// Not covered: resources that /v3 never had (/lookup, /lab_tests/recommend,
// /observations, /covid19), the path /Rationale with a capital letter, as the Go
// library writes it, and the connectors of /v1 and /v2 themselves.
//
// It holds tests only.
package clients
