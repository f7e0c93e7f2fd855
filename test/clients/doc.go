// SPDX-License-Identifier: Apache-2.0

// Package clients tests the server with the requests of public clients of the API
// family, one file per client: the calls with the headers, parameters and bodies as
// the client writes them, and the parts of the responses that it reads, decoded as its
// code does rather than as the contract says. Each row names the file and line of the
// client that it was derived from; no client code is copied.
//
// Clients of the previous version (/v2) send the age as a number, and no age with
// lists and texts; /v3 rejects both. For clients with a configurable address (the
// JavaScript example, the .NET library), the rows verify that the error says what to
// change and that calls without an age work. The chat bot has its address in its code;
// its rows are of a copy with changed address and age, and end where it reads
// should_stop, which /v3 omits for evidence without a source.
//
// Not covered: resources that /v3 never had (/lookup, /lab_tests/recommend,
// /observations, /covid19), the path /Rationale with a capital letter, as the Go
// library writes it, and the connectors of /v1 and /v2 themselves.
//
// This package contains only tests.
package clients
