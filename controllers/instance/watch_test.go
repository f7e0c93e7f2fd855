// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"bytes"
	"fmt"
	"runtime/pprof"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/controllers/controlplanetest"
)

// watchObjects calls observe for the existing objects of a kind and for every later
// change, including short-lived states, until stop is called.
func (h *harness) watchObjects(list client.ObjectList, observe func(runtime.Object)) (stop func()) {
	h.t.Helper()
	watcher, err := client.NewWithWatch(controlplanetest.Get(h.t).AdminConfig(), client.Options{Scheme: testScheme(h.t)})
	if err != nil {
		h.t.Fatal(err)
	}
	events, err := watcher.Watch(h.t.Context(), list, client.InNamespace(h.namespace))
	if err != nil {
		h.t.Fatalf("watching %T: %v", list, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range events.ResultChan() {
			if event.Type == watch.Added || event.Type == watch.Modified {
				observe(event.Object)
			}
		}
	}()
	return func() {
		events.Stop()
		<-done
	}
}

// goroutineCount returns the number of goroutines of the test's operators.
func (h *harness) goroutineCount() int {
	h.t.Helper()
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		h.t.Fatal(err)
	}
	total, count := 0, 0
	for line := range strings.Lines(profile.String()) {
		if before, _, isGroup := strings.Cut(line, " @ "); isGroup {
			if _, err := fmt.Sscan(before, &count); err != nil {
				count = 0 // the first line contains the total
			}
		}
		if strings.HasPrefix(line, "# labels:") && strings.Contains(line, `"`+h.namespace+`"`) {
			total += count
		}
	}
	return total
}
