// SPDX-License-Identifier: Apache-2.0

package outbox

import (
	"context"
	"errors"
	"testing"

	"github.com/riverqueue/river/riverdriver"
)

var errDatabaseClosed = errors.New("the database is closed")

// closedListener is a listener whose database is closed.
type closedListener struct{ riverdriver.Listener }

func (closedListener) Connect(context.Context) error        { return errDatabaseClosed }
func (closedListener) Listen(context.Context, string) error { return errDatabaseClosed }
func (closedListener) WaitForNotification(context.Context) (*riverdriver.Notification, error) {
	return nil, errDatabaseClosed
}

// TestListenerReturnsContextErrorWhenCanceled checks that a listener returns the
// context's error if and only if the context is done.
func TestListenerReturnsContextErrorWhenCanceled(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancelLate := context.WithTimeout(t.Context(), 0)
	defer cancelLate()
	for name, want := range map[string]struct {
		ctx context.Context //nolint:containedctx // of a case
		err error
	}{
		"to go on": {t.Context(), errDatabaseClosed},
		"to end":   {ended, context.Canceled},
		"too slow": {late, errDatabaseClosed},
	} {
		l := cancelableListener{closedListener{}}
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
