// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"fmt"
	"net/url"

	"github.com/anamnesis-dev/anamnesis/client"
	"github.com/anamnesis-dev/anamnesis/client/guidance"
)

// createMagicLink creates a survey for a new patient and returns a link that opens the
// survey in a browser on this machine.
func createMagicLink(ctx context.Context, c *client.Client, listen string) (string, error) {
	user, err := c.Guidance.CreateUser(ctx, guidance.NewUser{})
	if err != nil {
		return "", err
	}
	patient, err := c.Guidance.CreatePatient(ctx, guidance.NewPatient{UserID: new(user.ID.String())})
	if err != nil {
		return "", err
	}
	survey, err := c.Guidance.CreateSurvey(ctx, nil, guidance.NewSurvey{PatientID: new(patient.ID.String()), Type: new("triage")})
	if err != nil {
		return "", err
	}
	response, err := c.Guidance.GetMagicLink(ctx, survey.ID)
	if err != nil {
		return "", err
	}
	link, err := url.Parse(response.MagicLink)
	if err != nil {
		return "", fmt.Errorf("parsing the magic link of a survey: %w", err)
	}
	link.Host = listen
	return link.String(), nil
}
