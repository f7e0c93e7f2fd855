// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
)

// CreateWebhook implements contract.StrictServerInterface.
func (h handlers) CreateWebhook(ctx context.Context, request contract.CreateWebhookRequestObject) (contract.CreateWebhookResponseObject, error) {
	body := request.Body
	settings, err := h.readWebhook(requiredString(body.URL), requiredString(body.AuthorizationToken), body.Reference, body.SubscribedEvents)
	if err != nil {
		return nil, err
	}
	created, err := h.Webhooks.Create(ctx, middleware.PrincipalFrom(ctx).Actor, settings)
	if err != nil {
		return nil, wrapStorageError("webhook configurations", err)
	}
	encoded := encodeWebhook(created)
	return contract.CreateWebhook201JSONResponse{
		ID: encoded.ID, URL: encoded.URL, SubscribedEvents: encoded.SubscribedEvents, Status: encoded.Status, Reference: encoded.Reference,
		AuthorizationToken: created.Secrets.Token, SigningSecret: created.Secrets.SigningSecret,
	}, nil
}

// requiredString returns an empty string for an unset value, so that validation rejects it.
func requiredString(text *string) *string {
	value := stringOrEmpty(text)
	return &value
}

// readWebhook parses a webhook configuration. Nil values remain unset.
func (h handlers) readWebhook(url, token, reference *string, subscribed *[]string) (settings webhook.Settings, err error) {
	var fieldErrs validationError
	readField := func(field string, text *string, parse func(field, text string) (string, error)) *string {
		if text == nil {
			return nil
		}
		value, err := parse(field, *text)
		fieldErrs.add(err)
		return &value
	}
	settings.URL = readField("url", url, func(field, text string) (string, error) { return event.ValidateURL(field, text, h.AllowHTTPReceivers) })
	settings.Token = readField("authorization_token", token, event.ValidateToken)
	settings.Reference = readField("reference", reference, event.ValidateReference)
	if subscribed != nil {
		types, err := event.ParseTypes("subscribed_events", *subscribed)
		fieldErrs.add(err)
		settings.Events = &types
	}
	return settings, fieldErrs.errorOrNil()
}

// ListWebhooks implements contract.StrictServerInterface.
func (h handlers) ListWebhooks(ctx context.Context, _ contract.ListWebhooksRequestObject) (contract.ListWebhooksResponseObject, error) {
	all, err := h.Webhooks.List(ctx)
	if err != nil {
		return nil, wrapStorageError("webhook configurations", err)
	}
	response := make(contract.ListWebhooks200JSONResponse, len(all))
	for i, webhook := range all {
		response[i] = encodeWebhook(webhook)
	}
	return response, nil
}

// GetWebhook implements contract.StrictServerInterface.
func (h handlers) GetWebhook(ctx context.Context, request contract.GetWebhookRequestObject) (contract.GetWebhookResponseObject, error) {
	webhook, err := h.Webhooks.Get(ctx, request.WebhookID)
	if err != nil {
		return nil, wrapStorageError("webhook configurations", err)
	}
	return contract.GetWebhook200JSONResponse(encodeWebhook(webhook)), nil
}

// ChangeWebhook implements contract.StrictServerInterface.
func (h handlers) ChangeWebhook(ctx context.Context, request contract.ChangeWebhookRequestObject) (contract.ChangeWebhookResponseObject, error) {
	body := request.Body
	var reference *string
	if body.Reference.IsSpecified() {
		value := nullableValue(body.Reference)
		reference = &value
	}
	settings, err := h.readWebhook(body.URL, body.AuthorizationToken, reference, body.SubscribedEvents)
	if err != nil {
		return nil, err
	}
	changed, err := h.Webhooks.Update(ctx, middleware.PrincipalFrom(ctx).Actor, request.WebhookID, settings)
	if err != nil {
		return nil, wrapStorageError("webhook configurations", err)
	}
	encoded := encodeWebhook(changed)
	response := contract.ChangeWebhook200JSONResponse{
		ID: encoded.ID, URL: encoded.URL, SubscribedEvents: encoded.SubscribedEvents, Status: encoded.Status, Reference: encoded.Reference,
	}
	if settings.Token != nil {
		response.AuthorizationToken = &changed.Secrets.Token
	}
	return response, nil
}

// DeleteWebhook implements contract.StrictServerInterface.
func (h handlers) DeleteWebhook(ctx context.Context, request contract.DeleteWebhookRequestObject) (contract.DeleteWebhookResponseObject, error) {
	deleted, err := h.Webhooks.Delete(ctx, middleware.PrincipalFrom(ctx).Actor, request.WebhookID)
	if err != nil {
		return nil, wrapStorageError("webhook configurations", err)
	}
	return contract.DeleteWebhook200JSONResponse(encodeWebhook(deleted)), nil
}

// RotateWebhookSecret implements contract.StrictServerInterface.
func (h handlers) RotateWebhookSecret(ctx context.Context, request contract.RotateWebhookSecretRequestObject) (contract.RotateWebhookSecretResponseObject, error) {
	rotated, err := h.Webhooks.RotateSigningSecret(ctx, middleware.PrincipalFrom(ctx).Actor, request.WebhookID)
	if err != nil {
		return nil, wrapStorageError("webhook configurations", err)
	}
	encoded := encodeWebhook(rotated)
	return contract.RotateWebhookSecret200JSONResponse{
		ID: encoded.ID, URL: encoded.URL, SubscribedEvents: encoded.SubscribedEvents, Status: encoded.Status, Reference: encoded.Reference,
		SigningSecret: rotated.Secrets.SigningSecret,
	}, nil
}

// encodeWebhook encodes a webhook without its secrets.
func encodeWebhook(webhook webhook.Webhook) contract.Webhook {
	subscribed := make([]contract.WebhookEvent, len(webhook.Events))
	for i, kind := range webhook.Events {
		subscribed[i] = contract.WebhookEvent(kind)
	}
	return contract.Webhook{
		ID: webhook.ID, URL: webhook.URL, SubscribedEvents: subscribed,
		Status: contract.WebhookStatus(webhook.Status), Reference: nilIfEmpty(webhook.Reference),
	}
}
