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

// watchObjects calls look for every state of the objects of a kind from now on,
// including short-lived ones, until stop. It starts with the existing objects.
func (p *harness) watchObjects(list client.ObjectList, look func(runtime.Object)) (stop func()) {
	p.t.Helper()
	watcher, err := client.NewWithWatch(controlplanetest.Get(p.t).AdminConfig(), client.Options{Scheme: testScheme(p.t)})
	if err != nil {
		p.t.Fatal(err)
	}
	events, err := watcher.Watch(p.t.Context(), list, client.InNamespace(p.namespace))
	if err != nil {
		p.t.Fatalf("watching %T: %v", list, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range events.ResultChan() {
			if event.Type == watch.Added || event.Type == watch.Modified {
				look(event.Object)
			}
		}
	}()
	return func() {
		events.Stop()
		<-done
	}
}

// goroutineCount returns the number of goroutines of this platform's operators.
func (p *harness) goroutineCount() int {
	p.t.Helper()
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		p.t.Fatal(err)
	}
	total, alike := 0, 0
	for line := range strings.Lines(profile.String()) {
		if before, _, isGroup := strings.Cut(line, " @ "); isGroup {
			if _, err := fmt.Sscan(before, &alike); err != nil {
				alike = 0 // the first line, which holds the total
			}
		}
		if strings.HasPrefix(line, "# labels:") && strings.Contains(line, `"`+p.namespace+`"`) {
			total += alike
		}
	}
	return total
}
