// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

func testAudit(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	portal, ada := audit.Actor{Application: "portal"}, audit.Actor{UserID: "ada"}
	records := []audit.Record{
		{At: testTime, Actor: portal, Action: audit.Create, Resource: audit.User, ResourceID: "ada"},
		{At: testTime.Add(time.Second), Actor: portal, Action: audit.List, Resource: audit.Patient},
		{At: testTime.Add(2 * time.Second), Actor: ada, Action: audit.Read, Resource: audit.Patient, ResourceID: "p1"},
		{At: testTime.Add(3 * time.Second), Action: audit.SignInFailed, Resource: audit.User},
	}
	for _, record := range records {
		transact(t, store, func(tx storage.Tx) error { return tx.InsertAuditRecord(t.Context(), record) })
	}
	pick := func(which ...int) []audit.Record {
		picked := []audit.Record{}
		for _, i := range slices.Backward(which) {
			picked = append(picked, records[i])
		}
		return picked
	}
	for name, test := range map[string]struct {
		filter audit.Filter
		want   []audit.Record
	}{
		"all":                      {audit.Filter{}, pick(0, 1, 2, 3)},
		"by an application":        {audit.Filter{Actor: portal}, pick(0, 1)},
		"by an end user":           {audit.Filter{Actor: ada}, pick(2)},
		"of an action":             {audit.Filter{Action: audit.SignInFailed}, pick(3)},
		"on a resource type":       {audit.Filter{Resource: audit.Patient}, pick(1, 2)},
		"on a resource id":         {audit.Filter{ResourceID: "ada"}, pick(0)},
		"from":                     {audit.Filter{From: testTime.Add(time.Second)}, pick(1, 2, 3)},
		"to":                       {audit.Filter{To: testTime.Add(time.Second)}, pick(0)},
		"in a period":              {audit.Filter{From: testTime.Add(time.Microsecond), To: testTime.Add(3 * time.Second)}, pick(1, 2)},
		"in a period out of range": {audit.Filter{From: time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), To: time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)}, pick(0, 1, 2, 3)},
		"several":                  {audit.Filter{Actor: portal, Action: audit.List, Resource: audit.Patient, From: testTime}, pick(1)},
		"none":                     {audit.Filter{Actor: portal, Action: audit.Delete}, pick()},
	} {
		transact(t, store, func(tx storage.Tx) error {
			page, total, err := tx.ListAuditRecords(t.Context(), test.filter, 0, 10)
			if diff := cmp.Diff(test.want, page); diff != "" || total != int64(len(test.want)) {
				t.Errorf("%s: total %d, (-want +got):\n%s", name, total, diff)
			}
			return err
		})
	}
	transact(t, store, func(tx storage.Tx) error {
		page, total, err := tx.ListAuditRecords(t.Context(), audit.Filter{}, 1, 2)
		if diff := cmp.Diff(pick(1, 2), page); diff != "" || total != 4 {
			t.Errorf("second page: total %d, (-want +got):\n%s", total, diff)
		}
		return err
	})
}

func testUserAuditRecords(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	ada, eve := newUser("g1"), newUser("g1")
	insertUser(t, store, ada)
	insertUser(t, store, eve)
	child := newPatient(ada.ID)
	transact(t, store, func(tx storage.Tx) error { return tx.InsertPatient(t.Context(), child) })
	portal := audit.Actor{Application: "portal"}
	for i, record := range []audit.Record{
		{Actor: portal, Action: audit.Create, Resource: audit.User, ResourceID: ada.ID},
		{Actor: portal, Action: audit.Create, Resource: audit.User, ResourceID: eve.ID},
		{Actor: portal, Action: audit.Read, Resource: audit.Patient, ResourceID: child.ID},
		{Actor: audit.Actor{UserID: ada.ID}, Action: audit.List, Resource: audit.Patient},
		{Actor: portal, Action: audit.List, Resource: audit.User},
	} {
		record.At = testTime.Add(time.Duration(i) * time.Second)
		transact(t, store, func(tx storage.Tx) error { return tx.InsertAuditRecord(t.Context(), record) })
	}
	for limit, want := range map[int64][]audit.Action{10: {audit.List, audit.Read, audit.Create}, 1: {audit.List}} {
		transact(t, store, func(tx storage.Tx) error {
			records, err := tx.ListUserAuditRecords(t.Context(), ada.ID, limit)
			got := make([]audit.Action, 0, len(records))
			for _, record := range records {
				got = append(got, record.Action)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			return err
		})
	}
}
