// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/feedback"
)

// A FeedbackStore stores interview feedback. Every storage.Store implements it.
type FeedbackStore interface {
	PutFeedback(ctx context.Context, interview feedback.InterviewFeedback) error
}

const (
	// feedbackTimeout limits how long storing feedback may take.
	feedbackTimeout = 10 * time.Second
	// retryAfterSeconds is the Retry-After value, in seconds, when storage is down.
	retryAfterSeconds = 5
)

// SendFeedback implements enginev3.StrictServerInterface.
func (a *API) SendFeedback(ctx context.Context, request enginev3.SendFeedbackRequestObject) (enginev3.SendFeedbackResponseObject, error) {
	if request.Params.InterviewID == "" {
		return nil, badRequest("Interview-Id: missing, expected %s", expectedValue("Interview-Id"))
	}
	interview, err := readFeedback(*request.Body)
	if err != nil {
		return enginev3.SendFeedback422JSONResponse{Error: err.Error()}, nil
	}
	if middleware.RequestInfoFrom(ctx).DevMode {
		return enginev3.SendFeedback200JSONResponse{}, nil
	}
	interview.Application, interview.ID, interview.ReceivedAt = middleware.RequestInfoFrom(ctx).Application, request.Params.InterviewID, a.now()
	timeoutCtx, cancel := context.WithTimeout(ctx, feedbackTimeout)
	defer cancel()
	if err := a.feedback.PutFeedback(timeoutCtx, interview); err != nil {
		if ctx.Err() == nil { // otherwise the caller has disconnected
			a.log.LogAttrs(ctx, slog.LevelError, "failed to store feedback",
				slog.String("requestId", middleware.RequestInfoFrom(ctx).RequestID), slog.Any("error", err))
		}
		return enginev3.SendFeedback503JSONResponse{UnavailableJSONResponse: enginev3.UnavailableJSONResponse{
			Headers: enginev3.UnavailableResponseHeaders{RetryAfter: retryAfterSeconds},
			Body:    enginev3.Error{Message: "storing the feedback: storage is unavailable; retry later"},
		}}, nil
	}
	return enginev3.SendFeedback200JSONResponse{}, nil
}

// readFeedback parses the two intents. Its errors are meant for the client.
func readFeedback(body json.RawMessage) (feedback.InterviewFeedback, error) {
	var decoded struct {
		Before *feedback.Intent `json:"patient_intent_before"`
		After  *feedback.Intent `json:"patient_intent_after"`
	}
	var semanticErr *jsonv2.SemanticError
	if err := jsonv2.Unmarshal(body, &decoded); errors.As(err, &semanticErr) {
		return feedback.InterviewFeedback{}, errors.New(describeSemanticError("", semanticErr))
	}
	for _, intent := range []struct {
		field string
		value *feedback.Intent
	}{{"patient_intent_before", decoded.Before}, {"patient_intent_after", decoded.After}} {
		if intent.value == nil {
			return feedback.InterviewFeedback{}, errors.New(intent.field + ": missing, expected an object with a type")
		}
		if err := intent.value.Validate(intent.field); err != nil {
			return feedback.InterviewFeedback{}, err
		}
	}
	return feedback.InterviewFeedback{Before: *decoded.Before, After: *decoded.After}, nil
}
