// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/delivery"
)

// Webhooks configures how webhook receivers are reached.
type Webhooks struct {
	AllowPrivateAddresses bool `yaml:"allowPrivateAddresses"`
	// AllowedPorts are the ports that receivers may use. Defaults to 443 only.
	AllowedPorts []uint16 `yaml:"allowedPorts"`
	// CA is a PEM bundle of certificate authorities trusted in addition to the system's.
	CA string `yaml:"ca"`
}

func (w Webhooks) validate() error {
	for i, port := range w.AllowedPorts {
		if port == 0 {
			return fmt.Errorf("allowedPorts[%d]: expected 1 to 65535", i)
		}
	}
	if _, err := delivery.NewRootCAs(w.CA); err != nil {
		return fmt.Errorf("ca: %w", err)
	}
	return nil
}

// Retention configures how long data is kept.
type Retention struct {
	// Deliveries is how long delivery attempts are kept.
	Deliveries time.Duration
}

// retentionYAML is Retention as written in the file, each a number of days such as 30d.
type retentionYAML struct {
	Deliveries string `yaml:"deliveries"`
}

const (
	day = 24 * time.Hour
	// defaultDeliveryRetention is the default retention of delivery attempts.
	defaultDeliveryRetention = 30 * day
	// maxDays is the maximum retention: a hundred years.
	maxDays = 36500
)

func (r retentionYAML) parse() (Retention, error) {
	deliveries, err := parseDays(r.Deliveries, defaultDeliveryRetention)
	if err != nil {
		return Retention{}, fmt.Errorf("deliveries: %w", err)
	}
	return Retention{deliveries}, nil
}

var daysPattern = regexp.MustCompile(`^([0-9]{1,5})d$`)

// parseDays parses a number of days such as 30d. If text is empty, it returns otherwise.
func parseDays(text string, otherwise time.Duration) (time.Duration, error) {
	if text == "" {
		return otherwise, nil
	}
	found := daysPattern.FindStringSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("%q is not a number of days such as 30d", text)
	}
	number, err := strconv.Atoi(found[1])
	if err != nil || number > maxDays {
		return 0, fmt.Errorf("%q exceeds a hundred years; the maximum is %dd", text, maxDays)
	}
	return time.Duration(number) * day, nil
}
