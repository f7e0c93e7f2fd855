// SPDX-License-Identifier: Apache-2.0

package server

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/dispatch"
)

// The storage interfaces that consumers declare.
type (
	usersStorage    = storage.Scope[users.Reader, users.Tx]
	surveysStorage  = storage.Scope[service.Reader, service.Tx]
	webhookStorage  = storage.Scope[webhook.Reader, webhook.Tx]
	dispatchStorage = storage.Scope[dispatch.Reader, dispatch.Tx]
)

// storage.Reader and storage.Tx implement every consumer's interface.
var (
	_ interface {
		users.Reader
		service.Reader
		webhook.Reader
		dispatch.Reader
	} = storage.Reader(nil)
	_ interface {
		users.Tx
		service.Tx
		webhook.Tx
		dispatch.Tx
	} = storage.Tx(nil)
)
