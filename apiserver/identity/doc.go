// SPDX-License-Identifier: Apache-2.0

// Package identity authenticates principals: the applications of the tenant and their
// keys, and the tokens issued to applications and end users, with their scopes.
// Applications and signing keys are loaded from directories that may change at run time.
//
// What a principal may do is decided in package access. HTTP does not belong here:
// handlers read headers and bodies and translate errors. Keys and tokens never appear in
// errors or logs.
package identity
