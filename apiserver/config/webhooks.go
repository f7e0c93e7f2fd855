// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/events/deliver"
)

// Webhooks say how events reach their receivers.
type Webhooks struct {
	AllowPrivateAddresses bool `yaml:"allowPrivateAddresses"`
	// AllowedPorts are those that receivers may be at; none for 443 alone.
	AllowedPorts []uint16 `yaml:"allowedPorts"`
	// CA are authorities, in PEM, that are believed beside those of the system.
	CA string `yaml:"ca"`
}

func (w Webhooks) check() error {
	for i, port := range w.AllowedPorts {
		if port == 0 {
			return fmt.Errorf("allowedPorts[%d]: expected 1 to 65535", i)
		}
	}
	if _, err := deliver.Roots(w.CA); err != nil {
		return fmt.Errorf("ca: %w", err)
	}
	return nil
}

// Retention says how long things are kept.
type Retention struct {
	// Deliveries is how long attempts to tell receivers of events are kept.
	Deliveries time.Duration
}

// retention is how the file says it, each as a number of days such as 30d.
type retention struct {
	Deliveries string `yaml:"deliveries"`
}

const (
	day = 24 * time.Hour
	// keepDeliveries is how long attempts are kept unless the tenant says otherwise.
	keepDeliveries = 30 * day
	// mostDays is the longest that anything may be kept for: a hundred years.
	mostDays = 36500
)

func (r retention) read() (Retention, error) {
	deliveries, err := readDays(r.Deliveries, keepDeliveries)
	if err != nil {
		return Retention{}, fmt.Errorf("deliveries: %w", err)
	}
	return Retention{deliveries}, nil
}

var days = regexp.MustCompile(`^([0-9]{1,5})d$`)

// readDays reads a number of days, such as 30d; empty is what it is otherwise.
func readDays(text string, otherwise time.Duration) (time.Duration, error) {
	if text == "" {
		return otherwise, nil
	}
	found := days.FindStringSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("%q is no number of days such as 30d", text)
	}
	number, err := strconv.Atoi(found[1])
	if err != nil || number > mostDays {
		return 0, fmt.Errorf("%q is more than a hundred years; the most is %dd", text, mostDays)
	}
	return time.Duration(number) * day, nil
}
