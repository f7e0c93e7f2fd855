// SPDX-License-Identifier: Apache-2.0

// Package pki makes and judges keys and certificates: the operator's own
// authority, the certificates that it issues to Instances, certificates that
// somebody else made, keys that sign tokens, and keys of applications.
//
// Everything goes in and out as PEM or text. Time is an argument, chance is
// crypto/rand, and nothing here knows Kubernetes.
//
//	authority.go    an authority, and what it issues
//	constraints.go  the names that it may vouch for
//	rollover.go     how one authority takes the place of another
//	serve.go        what a server proves itself by, and its clients are told
//	overlap.go      why no client is lost on the way
//	issue.go        the reasons to issue a certificate again
//	check.go        certificates that somebody else made
//	keys.go         keys that sign tokens, and keys of applications
//	application_keys.go, signing_keys.go, keysets_turn.go
//	                how each of them takes the place of another
//	keysets.go      what servers encrypt data by
//	pem.go          how keys and certificates are written
package pki
