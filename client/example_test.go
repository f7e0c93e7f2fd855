// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/client"
	"github.com/anamnesis-dev/anamnesis/client/enginev3"
	"github.com/anamnesis-dev/anamnesis/client/guidance"
)

// A patient reports a complaint, answers one question, and gets a recommendation.
func Example() {
	ctx := context.Background()
	c, err := client.New(exampleURL, client.Credentials{AppID: "portal", AppKey: "portal/key+="})
	if err != nil {
		fmt.Println(err)
		return
	}
	interview := enginev3.Interview{Sex: enginev3.SexFemale, Age: enginev3.Age{Value: 34}}
	id := client.InterviewID("d8b7a2f0-5a3c-4f0e-9d51-7f0a5b6c7d8e")

	heard, err := c.Engine.Parse(ctx, enginev3.ParseRequest{Text: "headache, nausea", Age: interview.Age}, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, mention := range heard.Mentions {
		fmt.Println("heard:", mention.CommonName)
		interview.Evidence = append(interview.Evidence, enginev3.Evidence{
			ID: mention.ID, ChoiceID: enginev3.Choice(mention.ChoiceID), Source: new(enginev3.SourceInitial),
		})
	}

	diagnosis, err := c.Engine.Diagnose(ctx, interview, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	if question := diagnosis.Question; question != nil { // null if there are no more questions
		fmt.Println("asked:", question.Text)
		for _, item := range question.Items {
			interview.Evidence = append(interview.Evidence, enginev3.Evidence{ID: item.ID, ChoiceID: enginev3.ChoicePresent})
		}
	}

	triage, err := c.Engine.Triage(ctx, interview, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("urgency:", triage.TriageLevel)
	// Output:
	// heard: Headache
	// heard: Nausea
	// asked: Stiff neck?
	// urgency: emergency_ambulance
}

// Errors have a message and a status.
func ExampleError() {
	c, err := client.New(exampleURL, client.Credentials{AppID: "portal", AppKey: "guessed"})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.Engine.GetInfo(context.Background())
	if apiErr, ok := errors.AsType[*client.Error](err); ok {
		fmt.Println(apiErr.Status, apiErr.Message)
	}
	// Output: 403 App-Id or App-Key is missing or wrong
}

// The guidance platform requires the ID of the instance for its access tokens.
func ExampleClient_guidance() {
	c, err := client.New(exampleURL, client.Credentials{AppID: "portal", AppKey: "portal/key+=", InstanceID: "acme"})
	if err != nil {
		fmt.Println(err)
		return
	}
	page, err := c.Guidance.ListInterviewFeedback(context.Background(), &guidance.ListInterviewFeedbackParams{Limit: new(20)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(page.Items), "interviews, and more:", page.Next != nil)
	// Output: 0 interviews, and more: false
}
