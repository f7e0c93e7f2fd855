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
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	expired, cancelExpired := context.WithTimeout(t.Context(), 0)
	defer cancelExpired()
	for name, want := range map[string]struct {
		ctx context.Context //nolint:containedctx // part of a test case
		err error
	}{
		"active context":   {t.Context(), errDatabaseClosed},
		"canceled context": {canceled, context.Canceled},
		"expired context":  {expired, errDatabaseClosed},
	} {
		l := cancelableListener{closedListener{}}
		_, waited := l.WaitForNotification(want.ctx)
		for method, err := range map[string]error{
			"Connect": l.Connect(want.ctx), "Listen": l.Listen(want.ctx, ""), "WaitForNotification": waited,
		} {
			if !errors.Is(err, want.err) {
				t.Errorf("%s: %s returned %v, want %v", name, method, err, want.err)
			}
		}
	}
}
