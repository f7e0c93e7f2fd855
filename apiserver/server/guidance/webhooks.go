// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/events"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhooks"
)

// CreateWebhook implements the contract.
func (h handlers) CreateWebhook(ctx context.Context, request contract.CreateWebhookRequestObject) (contract.CreateWebhookResponseObject, error) {
	body := request.Body
	settings, err := h.readWebhook(wanted(body.URL), wanted(body.AuthorizationToken), body.Reference, body.SubscribedEvents)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	made, err := h.Webhooks.Create(limited, actor(ctx), settings)
	if err != nil {
		return nil, kept("webhook configurations", err)
	}
	shown := describeWebhook(made)
	return contract.CreateWebhook201JSONResponse{
		ID: shown.ID, URL: shown.URL, SubscribedEvents: shown.SubscribedEvents, Status: shown.Status, Reference: shown.Reference,
		AuthorizationToken: made.Secrets.Token, SigningSecret: made.Secrets.Signing,
	}, nil
}

// wanted is a text that has to be there, empty where it is not.
func wanted(text *string) *string {
	value := orEmpty(text)
	return &value
}

// readWebhook reads what a client says of a configuration. What is nil is left out.
func (h handlers) readWebhook(url, token, reference *string, subscribed *[]string) (settings webhooks.Settings, err error) {
	var wrong refusal
	read := func(field string, text *string, as func(field, text string) (string, error)) *string {
		if text == nil {
			return nil
		}
		value, err := as(field, *text)
		wrong.note(err)
		return &value
	}
	settings.URL = read("url", url, func(field, text string) (string, error) { return events.ReadURL(field, text, h.PlainReceivers) })
	settings.Token = read("authorization_token", token, events.ReadToken)
	settings.Reference = read("reference", reference, events.ReadReference)
	if subscribed != nil {
		types, err := events.ReadTypes("subscribed_events", *subscribed)
		wrong.note(err)
		settings.Events = &types
	}
	return settings, wrong.err()
}

// ListWebhooks implements the contract.
func (h handlers) ListWebhooks(ctx context.Context, _ contract.ListWebhooksRequestObject) (contract.ListWebhooksResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	all, err := h.Webhooks.List(limited)
	if err != nil {
		return nil, kept("webhook configurations", err)
	}
	answer := make(contract.ListWebhooks200JSONResponse, len(all))
	for i, webhook := range all {
		answer[i] = describeWebhook(webhook)
	}
	return answer, nil
}

// GetWebhook implements the contract.
func (h handlers) GetWebhook(ctx context.Context, request contract.GetWebhookRequestObject) (contract.GetWebhookResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	webhook, err := h.Webhooks.Get(limited, request.WebhookID)
	if err != nil {
		return nil, kept("webhook configurations", err)
	}
	return contract.GetWebhook200JSONResponse(describeWebhook(webhook)), nil
}

// ChangeWebhook implements the contract.
func (h handlers) ChangeWebhook(ctx context.Context, request contract.ChangeWebhookRequestObject) (contract.ChangeWebhookResponseObject, error) {
	body := request.Body
	var reference *string
	if body.Reference.IsSpecified() {
		value := valueOf(body.Reference)
		reference = &value
	}
	settings, err := h.readWebhook(body.URL, body.AuthorizationToken, reference, body.SubscribedEvents)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	changed, err := h.Webhooks.Change(limited, actor(ctx), request.WebhookID, settings)
	if err != nil {
		return nil, kept("webhook configurations", err)
	}
	shown := describeWebhook(changed)
	answer := contract.ChangeWebhook200JSONResponse{
		ID: shown.ID, URL: shown.URL, SubscribedEvents: shown.SubscribedEvents, Status: shown.Status, Reference: shown.Reference,
	}
	if settings.Token != nil {
		answer.AuthorizationToken = &changed.Secrets.Token
	}
	return answer, nil
}

// DeleteWebhook implements the contract.
func (h handlers) DeleteWebhook(ctx context.Context, request contract.DeleteWebhookRequestObject) (contract.DeleteWebhookResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	deleted, err := h.Webhooks.Delete(limited, actor(ctx), request.WebhookID)
	if err != nil {
		return nil, kept("webhook configurations", err)
	}
	return contract.DeleteWebhook200JSONResponse(describeWebhook(deleted)), nil
}

// RotateWebhookSecret implements the contract.
func (h handlers) RotateWebhookSecret(ctx context.Context, request contract.RotateWebhookSecretRequestObject) (contract.RotateWebhookSecretResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	rotated, err := h.Webhooks.RotateSecret(limited, actor(ctx), request.WebhookID)
	if err != nil {
		return nil, kept("webhook configurations", err)
	}
	shown := describeWebhook(rotated)
	return contract.RotateWebhookSecret200JSONResponse{
		ID: shown.ID, URL: shown.URL, SubscribedEvents: shown.SubscribedEvents, Status: shown.Status, Reference: shown.Reference,
		SigningSecret: rotated.Secrets.Signing,
	}, nil
}

// describeWebhook shows nothing that is secret.
func describeWebhook(webhook webhooks.Webhook) contract.Webhook {
	subscribed := make([]contract.WebhookEvent, len(webhook.Events))
	for i, kind := range webhook.Events {
		subscribed[i] = contract.WebhookEvent(kind)
	}
	return contract.Webhook{
		ID: webhook.ID, URL: webhook.URL, SubscribedEvents: subscribed,
		Status: contract.WebhookStatus(webhook.Status), Reference: orNull(webhook.Reference),
	}
}
