// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
)

// NewDatabase creates an empty database that is deleted after the test, and returns its
// URL.
type NewDatabase func(t testing.TB) (url string)

// Run tests the contract of a storage. Each test uses a separate database.
func Run(t *testing.T, fresh NewDatabase) {
	for name, test := range map[string]func(*testing.T, NewDatabase){
		"Adds":             testAddUsage,
		"Order":            testUsageOrder,
		"Range":            testUsageRange,
		"Text":             testUsageText,
		"Invalid":          testInvalidUsage,
		"Overflow":         testUsageOverflow,
		"Model":            testUsageModel,
		"Reopen":           testReopen,
		"Concurrent":       testConcurrentAddUsage,
		"Cancelled":        testCanceledContext,
		"CancelledMidway":  testContextCanceledMidway,
		"Killed":           testCrash,
		"RacingMigrations": testConcurrentMigrations,
		"NewerDatabase":    testNewerDatabase,
		"OlderDatabase":    testOlderDatabase,
		"OlderFeedback":    testOlderFeedback,
		"Ping":             testPing,
		"NotOpen":          testNotOpen,
		"Owner":            testOwner,
		"OwnersAtOnce":     testConcurrentOwners,
		"Closed":           testClosed,

		"Batches":           testBatchIsAddedOnce,
		"BatchConcurrent":   testConcurrentBatchIsAddedOnce,
		"BatchUntilAdded":   testBatchIsRetriedUntilAdded,
		"ForgottenRecorder": testStaleRecorderIsDeleted,

		"Totals":         testUsageTotals,
		"TotalsOverflow": testUsageTotalsOverflow,

		"SurveyWithSteps": testSurveyWithSteps,
		"Webhooks":        testWebhooks,
		"WebhookAttempts": testWebhookAttempts,
		"Notifications":   testNotifications,
		"Outbox":          testOutboxIsTransactional,
		"OutboxIsDone":    testOutboxJobsRun,

		"Users":             testUsers,
		"UsersOfGeneration": testUsersToReencrypt,
		"UserTaken":         testUserAlreadyExists,
		"UserTakenAtOnce":   testConcurrentUserInserts,
		"UserErased":        testUserDeletion,
		"Patients":          testPatients,
		"PatientDangling":   testPatientOfUnknownUser,
		"PatientsChanged":   testConcurrentPatientUpdates,
		"Surveys":           testSurveys,
		"Steps":             testSteps,
		"SurveyErased":      testSurveyDeletion,
		"SurveysChanged":    testConcurrentSurveyUpdates,
		"SurveyPages":       testSurveyPagination,
		"States":            testSignInStates,
		"StatesAtOnce":      testConcurrentStateUpdates,
		"MagicCodes":        testMagicCodes,
		"Audit":             testAudit,
		"AuditOfUser":       testUserAuditRecords,
		"TransactFails":     testTransactionRollback,
		"TransactCancelled": testTransactionCanceled,

		"Feedback":              testFeedback,
		"FeedbackText":          testFeedbackText,
		"FeedbackByApplication": testFeedbackByApplication,
		"FeedbackInvalid":       testFeedbackInvalid,
		"FeedbackConcurrent":    testFeedbackConcurrent,
		"FeedbackCancelled":     testFeedbackCanceledContext,
		"FeedbackModel":         testFeedbackModel,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fresh)
		})
	}
}

// day is the date used by tests for which the date does not matter.
var day = civil.Date{Year: 2026, Month: time.November, Day: 21}

// newCount returns a usage count on day.
func newCount(application, endpoint string, calls int64) storage.UsageCount {
	return storage.UsageCount{Date: day, Application: application, Endpoint: endpoint, Calls: calls}
}

// newBatch returns the first and only batch of a recorder.
func newBatch(counts ...storage.UsageCount) storage.UsageBatch {
	return storage.UsageBatch{Recorder: uuid.NewString(), Sequence: 1, Counts: counts}
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

func addUsage(t testing.TB, store storage.UsageStore, counts ...storage.UsageCount) {
	t.Helper()
	if err := store.AddUsage(t.Context(), newBatch(counts...)); err != nil {
		t.Fatalf("add %v: %v", counts, err)
	}
}

// listAllUsage returns all usage in the store.
func listAllUsage(t testing.TB, store storage.UsageStore) []storage.UsageCount {
	t.Helper()
	return listUsage(t, store, civil.Date{Year: 1, Month: 1, Day: 1}, civil.Date{Year: 9999, Month: 12, Day: 31})
}

func listUsage(t testing.TB, store storage.UsageStore, from, to civil.Date) []storage.UsageCount {
	t.Helper()
	counts, err := store.ListUsage(context.WithoutCancel(t.Context()), from, to)
	if err != nil {
		t.Fatalf("usage from %s to %s: %v", from, to, err)
	}
	return counts
}

func expectUsage(t testing.TB, store storage.UsageStore, want ...storage.UsageCount) {
	t.Helper()
	expectCounts(t, listAllUsage(t, store), want)
}

func expectCounts(t testing.TB, got, want []storage.UsageCount) {
	t.Helper()
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}
