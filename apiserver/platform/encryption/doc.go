// SPDX-License-Identifier: Apache-2.0

// Package encryption protects identifying data at rest. It encrypts texts, and
// computes keyed hashes to look them up without decrypting. The keys are two Tink
// keysets in a directory, which may change while the server runs: encryption.json
// (AEAD) and lookup.json (PRF), in cleartext because the directory is a mounted
// Secret.
//
// Callers decide which data is encrypted and where it is stored. Errors contain no keys
// and no plaintext.
package encryption
