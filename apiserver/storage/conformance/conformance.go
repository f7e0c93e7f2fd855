// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
)

// NewDatabase creates an empty database that is deleted after the test, and returns its
// URL.
type NewDatabase func(t testing.TB) (url string)

// Run tests the contract of a storage. Each test uses a separate database.
func Run(t *testing.T, fresh NewDatabase) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fresh)
		})
	}
}

// tests are the tests of the suite by name.
var tests = map[string]func(*testing.T, NewDatabase){
	"AddUsage":             testAddUsage,
	"Order":                testUsageOrder,
	"Range":                testUsageRange,
	"Text":                 testUsageText,
	"Invalid":              testInvalidUsage,
	"Overflow":             testUsageOverflow,
	"Model":                testUsageModel,
	"Reopen":               testReopen,
	"Concurrent":           testConcurrentAddUsage,
	"Canceled":             testCanceledContext,
	"CanceledMidway":       testContextCanceledMidway,
	"Crash":                testCrash,
	"ConcurrentMigrations": testConcurrentMigrations,
	"NewerDatabase":        testNewerDatabase,
	"OlderDatabase":        testOlderDatabase,
	"OlderFeedback":        testOlderFeedback,
	"Ping":                 testPing,
	"NotOpen":              testNotOpen,
	"Owner":                testOwner,
	"ConcurrentOwners":     testConcurrentOwners,
	"Closed":               testClosed,

	"Batches":         testBatchIsAddedOnce,
	"BatchConcurrent": testConcurrentBatchIsAddedOnce,
	"BatchRetries":    testBatchIsRetriedUntilAdded,
	"StaleRecorder":   testStaleRecorderIsDeleted,

	"Totals":         testUsageTotals,
	"TotalsOverflow": testUsageTotalsOverflow,

	"SurveyWithSteps": testSurveyWithSteps,
	"Webhooks":        testWebhooks,
	"WebhookAttempts": testWebhookAttempts,
	"Notifications":   testNotifications,
	"Outbox":          testOutboxIsTransactional,
	"OutboxJobs":      testOutboxJobsRun,

	"Users":                    testUsers,
	"UsersToReencrypt":         testUsersToReencrypt,
	"UserAlreadyExists":        testUserAlreadyExists,
	"ConcurrentUserInserts":    testConcurrentUserInserts,
	"UserDeletion":             testUserDeletion,
	"Patients":                 testPatients,
	"PatientOfUnknownUser":     testPatientOfUnknownUser,
	"ConcurrentPatientUpdates": testConcurrentPatientUpdates,
	"Surveys":                  testSurveys,
	"Steps":                    testSteps,
	"SurveyDeletion":           testSurveyDeletion,
	"ConcurrentSurveyUpdates":  testConcurrentSurveyUpdates,
	"SurveyPagination":         testSurveyPagination,
	"SignInStates":             testSignInStates,
	"ConcurrentStateUpdates":   testConcurrentStateUpdates,
	"MagicCodes":               testMagicCodes,
	"Audit":                    testAudit,
	"UserAuditRecords":         testUserAuditRecords,
	"TransactionRollback":      testTransactionRollback,
	"TransactionCanceled":      testTransactionCanceled,
	"View":                     testView,

	"Feedback":              testFeedback,
	"FeedbackText":          testFeedbackText,
	"FeedbackByApplication": testFeedbackByApplication,
	"FeedbackInvalid":       testFeedbackInvalid,
	"FeedbackConcurrent":    testFeedbackConcurrent,
	"FeedbackCanceled":      testFeedbackCanceledContext,
	"FeedbackModel":         testFeedbackModel,
}

// day is the date used by tests that do not depend on the date.
var day = civil.Date{Year: 2026, Month: time.November, Day: 21}

// newCount returns a usage count on day.
func newCount(application, endpoint string, calls int64) usage.Count {
	return usage.Count{Date: day, Application: application, Endpoint: endpoint, Calls: calls}
}

// newBatch returns the first and only batch of a recorder.
func newBatch(counts ...usage.Count) usage.Batch {
	return usage.Batch{Recorder: uuid.NewString(), Sequence: 1, Counts: counts}
}

// openStore opens the store and closes it after the test.
func openStore(t testing.TB, url string) storage.Store {
	t.Helper()
	store, err := open.Open(t.Context(), url)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return store
}

func addUsage(t testing.TB, store storage.UsageStore, counts ...usage.Count) {
	t.Helper()
	if err := store.AddUsage(t.Context(), newBatch(counts...)); err != nil {
		t.Fatalf("add %v: %v", counts, err)
	}
}

// listAllUsage returns all usage in the store.
func listAllUsage(t testing.TB, store storage.UsageStore) []usage.Count {
	t.Helper()
	return listUsage(t, store, civil.Date{Year: 1, Month: 1, Day: 1}, civil.Date{Year: 9999, Month: 12, Day: 31})
}

func listUsage(t testing.TB, store storage.UsageStore, from, to civil.Date) []usage.Count {
	t.Helper()
	counts, err := store.ListUsage(context.WithoutCancel(t.Context()), from, to)
	if err != nil {
		t.Fatalf("usage from %s to %s: %v", from, to, err)
	}
	return counts
}

func expectUsage(t testing.TB, store storage.UsageStore, want ...usage.Count) {
	t.Helper()
	expectCounts(t, listAllUsage(t, store), want)
}

func expectCounts(t testing.TB, got, want []usage.Count) {
	t.Helper()
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}
