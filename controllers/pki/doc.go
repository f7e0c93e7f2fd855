// SPDX-License-Identifier: Apache-2.0

// Package pki makes and judges keys and certificates: the operator's own
// authority, the certificates that it issues to Instances, certificates that
// somebody else made, keys that sign tokens, and keys of applications.
//
// Everything goes in and out as PEM or text. Time is an argument, chance is
// crypto/rand, and nothing here knows Kubernetes.
package pki
