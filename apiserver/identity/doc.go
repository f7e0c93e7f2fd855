// SPDX-License-Identifier: Apache-2.0

// Package identity authenticates callers and authorizes them: the applications of the
// tenant and their keys, the scopes, and the tokens issued to applications. Applications
// and signing keys are loaded from directories that may change at run time.
//
// HTTP does not belong here: handlers read headers and bodies and translate errors. Keys
// and tokens never appear in errors or logs.
package identity
