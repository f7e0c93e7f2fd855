// SPDX-License-Identifier: Apache-2.0

// Package guidance is the guidance platform under /api for clients: its types
// and calls, generated from the contract guidance.yaml. Package client makes
// an API of it that is ready to use, and gets the tokens that it needs.
package guidance
