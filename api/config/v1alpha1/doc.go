// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the contract between the operator, which configures a server, and
// the server, which reads its configuration. It has three parts, each with its types,
// defaults, validation and encoding:
//
//   - ServerConfiguration is the file of the server's flag --config. It is a component
//     configuration, not a custom resource.
//   - ApplicationCredentials is a file in the directory of --credentials-dir.
//   - SMTP and SMSGateway are settings of message senders. Each setting is a key of a
//     user's Secret, and a file in the directory of --notifications-dir.
//
// The operator builds these from an Instance, in controllers/instance/resources. The
// server packages that use them define their effect. Certificates, keysets and signing
// keys are not part of this package.
//
// # Versions
//
// apiVersion and kind are optional in a ServerConfiguration, and the operator omits
// them. A file with any other apiVersion or kind than this package's is rejected, because
// this build would misread it.
//
// # Unknown fields
//
// The operator may be newer than the server: it keeps running servers of earlier images
// and rolls out new images gradually. Therefore an unknown field is not an error in a
// cluster. Decode ignores the field and returns its path, and the server logs a warning
// with the path.
//
// With --dev, where a developer writes the file, the server uses DecodeStrict, which
// rejects unknown fields, because they are most likely misspelled. Field names are
// case-sensitive.
//
// In both modes, a duplicate field, a known field of the wrong type and an invalid value
// are errors. The server then fails to start, or keeps its previous configuration if it
// is already running.
//
// Unknown members of ApplicationCredentials and unknown files of message senders are
// ignored.
package v1alpha1
