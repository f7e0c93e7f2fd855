// SPDX-License-Identifier: Apache-2.0

// Package events says what receivers are told: which events there are, what a delivery
// looks like and how it is signed, when one that failed is tried again, and when a
// receiver is left alone for a while. It is pure: no HTTP, no SQL, no clock and no
// chance; what of these it needs it is given.
//
// Deliveries follow Standard Webhooks (https://www.standardwebhooks.com).
package events
