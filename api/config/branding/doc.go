// SPDX-License-Identifier: Apache-2.0

// Package branding defines the colors and logos that the patient page accepts. The
// operator uses it to validate an Instance's branding, and the server to validate its
// configuration.
//
// Colors need enough contrast against white, according to WCAG 2.2:
// https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio. Logos are small images, encoded in
// configurations as data URLs. The package does not locate or render logos, and does not
// define the default colors.
package branding
