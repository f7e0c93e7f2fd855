// SPDX-License-Identifier: Apache-2.0

// Package guidance contains the types and calls of the guidance platform API under
// /api, generated from the contract guidance.yaml. Use package client to obtain a
// configured API that manages its access tokens.
package guidance
