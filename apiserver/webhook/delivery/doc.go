// SPDX-License-Identifier: Apache-2.0

// Package delivery performs a single HTTPS delivery attempt and returns its result. It
// enforces the address policy at dial time, after DNS resolution, so DNS rebinding
// cannot bypass it. It keeps only the status code and Retry-After of a response: anything
// more could leak data from a private network.
//
// Package event decides about retries.
package delivery
