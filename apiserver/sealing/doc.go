// SPDX-License-Identifier: Apache-2.0

// Package sealing keeps what identifies people unreadable at rest: it seals texts,
// and makes keyed hashes by which they are found again without being opened. The
// keys are two Tink keysets in a directory, which may change while the server runs:
// encryption.json (AEAD) and lookup.json (PRF), in clear text, since the directory
// is a mounted Secret.
//
// What is sealed and where it is kept is the business of others. No key and no
// text reaches an error.
package sealing
