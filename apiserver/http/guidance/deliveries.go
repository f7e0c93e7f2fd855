// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
)

// ListDeliveries implements contract.StrictServerInterface.
func (h handlers) ListDeliveries(ctx context.Context, request contract.ListDeliveriesRequestObject) (contract.ListDeliveriesResponseObject, error) {
	requested, fieldErrs := readPagination(ctx, request.Params.Limit, request.Params.Cursor)
	if len(fieldErrs) > 0 {
		return nil, validationError(fieldErrs)
	}
	attempts, total, err := h.Webhooks.ListAttempts(ctx, request.WebhookID, requested.page())
	if err != nil {
		return nil, wrapStorageError("webhook deliveries", err)
	}
	links, err := requested.links(total)
	if err != nil {
		return nil, err
	}
	response := contract.ListDeliveries200JSONResponse{
		Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next,
		Items: make([]contract.Delivery, len(attempts)),
	}
	for i, attempt := range attempts {
		response.Items[i] = encodeDelivery(attempt)
	}
	return response, nil
}

func encodeDelivery(attempt event.Attempt) contract.Delivery {
	encoded := contract.Delivery{
		ID: attempt.ID, EventType: contract.DeliveryEventType(attempt.Event.Type), WebhookID: attempt.Event.ID,
		Attempt: attempt.Number, Error: nilIfEmpty(attempt.Error), AttemptedAt: *formatTime(attempt.At),
		NextAttemptAt: formatTime(attempt.NextAttemptAt),
	}
	if attempt.StatusCode != 0 {
		encoded.StatusCode = &attempt.StatusCode
	}
	return encoded
}

// ReplayDelivery implements contract.StrictServerInterface.
func (h handlers) ReplayDelivery(ctx context.Context, request contract.ReplayDeliveryRequestObject) (contract.ReplayDeliveryResponseObject, error) {
	event, err := h.Webhooks.Redeliver(ctx, middleware.PrincipalFrom(ctx).Actor, request.WebhookID, request.DeliveryID)
	if err != nil {
		return nil, wrapStorageError("webhook deliveries", err)
	}
	return contract.ReplayDelivery202JSONResponse{WebhookID: event.ID}, nil
}

// TestWebhook implements contract.StrictServerInterface.
func (h handlers) TestWebhook(ctx context.Context, request contract.TestWebhookRequestObject) (contract.TestWebhookResponseObject, error) {
	event, err := h.Webhooks.SendPing(ctx, middleware.PrincipalFrom(ctx).Actor, request.WebhookID)
	if err != nil {
		return nil, wrapStorageError("webhook deliveries", err)
	}
	return contract.TestWebhook202JSONResponse{WebhookID: event.ID}, nil
}
