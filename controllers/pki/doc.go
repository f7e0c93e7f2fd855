// SPDX-License-Identifier: Apache-2.0

// Package pki creates and validates keys and certificates: the operator's own CA, the
// certificates it issues to Instances, certificates supplied by users, token signing
// keys, and application keys.
//
// All input and output is PEM or text. The time is an argument, randomness comes from
// crypto/rand, and the package does not depend on Kubernetes.
//
//	authority.go            the CA and its certificates
//	constraints.go          the names that the CA may issue for
//	authority_rotation.go   how a CA is replaced by its successor
//	serving.go              a server's certificate and its clients' trust bundle
//	serving_decision.go     when a change is safe for all clients
//	reissue.go              reasons for reissuing a certificate
//	validate.go             certificates supplied by users
//	keys.go                 creation of signing keys and application keys
//	application_keys.go, signing_keys.go, keyset_rotation.go
//	                        rotation of each kind of key
//	keysets.go              the keysets with which servers encrypt data
//	pem.go                  encoding of keys and certificates
package pki
