// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"

	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhooks"
)

// ListDeliveries implements the contract.
func (h handlers) ListDeliveries(ctx context.Context, request contract.ListDeliveriesRequestObject) (contract.ListDeliveriesResponseObject, error) {
	wanted, wrong := readPage(ctx, request.Params.Limit, request.Params.Cursor)
	if len(wrong) > 0 {
		return nil, refusal(wrong)
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	part := webhooks.Page{Skipped: wanted.skipped(), AtMost: wanted.limit}
	attempts, total, err := h.Webhooks.Deliveries(limited, request.WebhookID, part)
	if err != nil {
		return nil, kept("what was sent to receivers", err)
	}
	links, err := wanted.of(total)
	if err != nil {
		return nil, err
	}
	answer := contract.ListDeliveries200JSONResponse{
		Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next,
		Items: make([]contract.Delivery, len(attempts)),
	}
	for i, attempt := range attempts {
		answer.Items[i] = describeAttempt(attempt)
	}
	return answer, nil
}

func describeAttempt(attempt storage.WebhookAttempt) contract.Delivery {
	shown := contract.Delivery{
		ID: attempt.ID, EventType: contract.DeliveryEventType(attempt.Event.Type), WebhookID: attempt.Event.ID,
		Attempt: attempt.Number, Error: orNull(attempt.Error), AttemptedAt: *describeMoment(attempt.At),
		NextAttemptAt: describeMoment(attempt.NextAt),
	}
	if attempt.Status != 0 {
		shown.StatusCode = &attempt.Status
	}
	return shown
}

// ReplayDelivery implements the contract.
func (h handlers) ReplayDelivery(ctx context.Context, request contract.ReplayDeliveryRequestObject) (contract.ReplayDeliveryResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	event, err := h.Webhooks.Replay(limited, actor(ctx), request.WebhookID, request.DeliveryID)
	if err != nil {
		return nil, kept("what is to be sent to receivers", err)
	}
	return contract.ReplayDelivery202JSONResponse{WebhookID: event.ID}, nil
}

// TestWebhook implements the contract.
func (h handlers) TestWebhook(ctx context.Context, request contract.TestWebhookRequestObject) (contract.TestWebhookResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	event, err := h.Webhooks.Test(limited, actor(ctx), request.WebhookID)
	if err != nil {
		return nil, kept("what is to be sent to receivers", err)
	}
	return contract.TestWebhook202JSONResponse{WebhookID: event.ID}, nil
}
