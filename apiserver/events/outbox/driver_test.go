// SPDX-License-Identifier: Apache-2.0

package outbox

import (
	"context"
	"errors"
	"testing"

	"github.com/riverqueue/river/riverdriver"
)

var errClosed = errors.New("the database is closed")

// A closed listener is one whose database is closed.
type closed struct{ riverdriver.Listener }

func (closed) Connect(context.Context) error        { return errClosed }
func (closed) Listen(context.Context, string) error { return errClosed }
func (closed) WaitForNotification(context.Context) (*riverdriver.Notification, error) {
	return nil, errClosed
}

// A listener that is to end says so whatever else is wrong, and nothing else says it.
func TestListenersEnd(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancelLate := context.WithTimeout(t.Context(), 0)
	defer cancelLate()
	for name, want := range map[string]struct {
		ctx context.Context //nolint:containedctx // of a case
		err error
	}{
		"to go on": {t.Context(), errClosed},
		"to end":   {ended, context.Canceled},
		"too slow": {late, errClosed},
	} {
		l := endingListener{closed{}}
		_, waited := l.WaitForNotification(want.ctx)
		for what, err := range map[string]error{
			"Connect": l.Connect(want.ctx), "Listen": l.Listen(want.ctx, ""), "WaitForNotification": waited,
		} {
			if !errors.Is(err, want.err) {
				t.Errorf("%s: %s answers %v, want %v", name, what, err, want.err)
			}
		}
	}
}
