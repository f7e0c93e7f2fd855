// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/anamnesis-dev/anamnesis/apiserver/feedback"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/middleware"
)

// FeedbackStore keeps what patients meant to do. Every storage.Store does.
type FeedbackStore interface {
	PutFeedback(ctx context.Context, interview feedback.Interview) error
}

const (
	// feedbackPatience is how long storage may take to keep feedback.
	feedbackPatience = 10 * time.Second
	// retryAfter is when to come back to storage that is down, in seconds.
	retryAfter = 5
)

// SendFeedback implements enginev3.StrictServerInterface.
func (a *API) SendFeedback(ctx context.Context, request enginev3.SendFeedbackRequestObject) (enginev3.SendFeedbackResponseObject, error) {
	if request.Params.InterviewID == "" {
		return nil, badRequest("Interview-Id: missing, expected %s", expectedOf("Interview-Id"))
	}
	interview, err := readFeedback(*request.Body)
	if err != nil {
		return enginev3.SendFeedback422JSONResponse{Error: err.Error()}, nil
	}
	if middleware.CallOf(ctx).DevMode {
		return enginev3.SendFeedback200JSONResponse{}, nil
	}
	interview.Application, interview.ID, interview.ReceivedAt = middleware.CallOf(ctx).Application, request.Params.InterviewID, a.now()
	limited, cancel := context.WithTimeout(ctx, feedbackPatience)
	defer cancel()
	if err := a.feedback.PutFeedback(limited, interview); err != nil {
		if ctx.Err() == nil { // else the caller is gone
			a.log.LogAttrs(ctx, slog.LevelError, "feedback cannot be kept",
				slog.String("requestId", middleware.CallOf(ctx).RequestID), slog.Any("error", err))
		}
		return enginev3.SendFeedback503JSONResponse{UnavailableJSONResponse: enginev3.UnavailableJSONResponse{
			Headers: enginev3.UnavailableResponseHeaders{RetryAfter: retryAfter},
			Body:    enginev3.Error{Message: "the feedback could not be kept: its storage cannot be reached now; send it again later"},
		}}, nil
	}
	return enginev3.SendFeedback200JSONResponse{}, nil
}

// readFeedback reads the two intents. Its error is what to tell the client.
func readFeedback(body json.RawMessage) (feedback.Interview, error) {
	var given struct {
		Before *feedback.Intent `json:"patient_intent_before"`
		After  *feedback.Intent `json:"patient_intent_after"`
	}
	var misfit *jsonv2.SemanticError
	if err := jsonv2.Unmarshal(body, &given); errors.As(err, &misfit) {
		return feedback.Interview{}, errors.New(describeMisfit("", misfit))
	}
	for _, intent := range []struct {
		field string
		value *feedback.Intent
	}{{"patient_intent_before", given.Before}, {"patient_intent_after", given.After}} {
		if intent.value == nil {
			return feedback.Interview{}, errors.New(intent.field + ": missing, expected an object with a type")
		}
		if err := intent.value.Validate(intent.field); err != nil {
			return feedback.Interview{}, err
		}
	}
	return feedback.Interview{Before: *given.Before, After: *given.After}, nil
}
