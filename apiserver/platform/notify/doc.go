// SPDX-License-Identifier: Apache-2.0

// Package notify sends messages to users. It holds the localized message templates,
// email over SMTP, text messages over a tenant's HTTP gateway, and the queue that
// decouples callers from delivery. The settings of both are defined in api/config.
//
// Callers decide about recipients, message rates and the validity of codes; this package
// stores nothing. Its only internal dependencies are api/config and package reload. No
// recipient, code or password appears in errors or logs, except in the development log
// that replaces delivery.
package notify
