// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
)

// Fresh makes an empty database, gone after the test, and returns its URL.
type Fresh func(t testing.TB) (url string)

// Run tries everything that a storage promises, each on a database of its own.
func Run(t *testing.T, fresh Fresh) {
	for name, test := range map[string]func(*testing.T, Fresh){
		"Adds":             testAdds,
		"Order":            testOrder,
		"Range":            testRange,
		"Text":             testText,
		"Invalid":          testInvalid,
		"Overflow":         testOverflow,
		"Model":            testModel,
		"Reopen":           testReopen,
		"Concurrent":       testConcurrent,
		"Cancelled":        testCancelled,
		"CancelledMidway":  testCancelledMidway,
		"Killed":           testKilled,
		"RacingMigrations": testRacingMigrations,
		"NewerDatabase":    testNewerDatabase,
		"OlderDatabase":    testOlderDatabase,
		"OlderFeedback":    testOlderFeedback,
		"Ping":             testPing,
		"NotOpen":          testNotOpen,
		"Owner":            testOwner,
		"OwnersAtOnce":     testOwnersAtOnce,
		"Closed":           testClosed,

		"Batches":           testBatches,
		"BatchConcurrent":   testBatchConcurrent,
		"BatchUntilAdded":   testBatchUntilAdded,
		"ForgottenRecorder": testForgottenRecorder,

		"Totals":         testTotals,
		"TotalsOverflow": testTotalsOverflow,

		"SurveyWithSteps": testSurveyWithSteps,
		"Webhooks":        testWebhooks,
		"WebhookAttempts": testWebhookAttempts,
		"Notifications":   testNotifications,
		"Outbox":          testOutbox,
		"OutboxIsDone":    testOutboxIsDone,

		"Users":             testUsers,
		"UsersOfGeneration": testUsersOfGeneration,
		"UserTaken":         testUserTaken,
		"UserTakenAtOnce":   testUserTakenAtOnce,
		"UserErased":        testUserErased,
		"Patients":          testPatients,
		"PatientDangling":   testPatientDangling,
		"PatientsChanged":   testPatientsChangedAtOnce,
		"Surveys":           testSurveys,
		"Steps":             testSteps,
		"SurveyErased":      testSurveyErased,
		"SurveysChanged":    testSurveysChangedAtOnce,
		"SurveyPages":       testSurveyPages,
		"States":            testStates,
		"StatesAtOnce":      testStatesAtOnce,
		"MagicCodes":        testMagicCodes,
		"Audit":             testAudit,
		"AuditOfUser":       testAuditOfUser,
		"TransactFails":     testTransactFails,
		"TransactCancelled": testTransactCancelled,

		"Feedback":              testFeedback,
		"FeedbackText":          testFeedbackText,
		"FeedbackByApplication": testFeedbackByApplication,
		"FeedbackInvalid":       testFeedbackInvalid,
		"FeedbackConcurrent":    testFeedbackConcurrent,
		"FeedbackCancelled":     testFeedbackCancelled,
		"FeedbackModel":         testFeedbackModel,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fresh)
		})
	}
}

// day is the day that tests count on when the day does not matter.
var day = civil.Date{Year: 2026, Month: time.November, Day: 21}

// count is a usage count on day.
func count(application, endpoint string, calls int64) storage.UsageCount {
	return storage.UsageCount{Date: day, Application: application, Endpoint: endpoint, Calls: calls}
}

// batch is the only batch of a recorder.
func batch(counts ...storage.UsageCount) storage.UsageBatch {
	return storage.UsageBatch{Recorder: uuid.NewString(), Number: 1, Counts: counts}
}

// opened opens the store and closes it after the test.
func opened(t testing.TB, url string) storage.Store {
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

func add(t testing.TB, store storage.Usage, counts ...storage.UsageCount) {
	t.Helper()
	if err := store.AddUsage(t.Context(), batch(counts...)); err != nil {
		t.Fatalf("add %v: %v", counts, err)
	}
}

// kept returns everything that the store holds.
func kept(t testing.TB, store storage.Usage) []storage.UsageCount {
	t.Helper()
	return between(t, store, civil.Date{Year: 1, Month: 1, Day: 1}, civil.Date{Year: 9999, Month: 12, Day: 31})
}

func between(t testing.TB, store storage.Usage, from, to civil.Date) []storage.UsageCount {
	t.Helper()
	counts, err := store.Usage(context.WithoutCancel(t.Context()), from, to)
	if err != nil {
		t.Fatalf("usage from %s to %s: %v", from, to, err)
	}
	return counts
}

func wantKept(t testing.TB, store storage.Usage, want ...storage.UsageCount) {
	t.Helper()
	wantEqual(t, kept(t, store), want)
}

func wantEqual(t testing.TB, got, want []storage.UsageCount) {
	t.Helper()
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}
