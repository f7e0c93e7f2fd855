// SPDX-License-Identifier: Apache-2.0

// Package identity says who is calling and what the caller may do: the
// applications of the tenant and their keys, the scopes, and the tokens that
// an application gets for its key. Both come from directories of files that
// may change while the server runs.
//
// No HTTP lives here: handlers read headers and bodies and translate errors.
// No key or token reaches an error or a log.
package identity
