// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/anamnesis-dev/anamnesis/apiserver/server/page/browser/programs"
)

// Violation is a rule of axe-core that the page breaks.
type Violation struct {
	Rule   string  `json:"id"`     // "label"
	Impact string  `json:"impact"` // minor, moderate, serious or critical
	Help   string  `json:"help"`   // what should be
	URL    string  `json:"helpUrl"`
	Where  []Place `json:"nodes"`
}

// Place is an element that breaks a rule.
type Place struct {
	HTML    string `json:"html"`
	Target  string `json:"target"`  // a selector that finds it
	Summary string `json:"summary"` // what would mend it
}

// String is a message for the test.
func (v Violation) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s (%s): %s; see %s", v.Rule, v.Impact, v.Help, v.URL)
	for _, place := range v.Where {
		fmt.Fprintf(&text, "\n  at %s: %s\n    %s", place.Target, place.HTML, strings.ReplaceAll(place.Summary, "\n", "\n    "))
	}
	return text.String()
}

// standards are the tags of the rules that hold: those of WCAG up to 2.2 AA,
// and what is good practice beyond it.
var standards = []string{"wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"}

// Axe returns what axe-core finds wrong with the page: by all rules of WCAG 2.2
// A and AA and of good practice, or by those that are named. What axe leaves to
// a person's judgement is not among it. It runs apart from the page, whose
// Content-Security-Policy and whose own scripts do not concern it.
func (tab *Tab) Axe(rules ...string) []Violation {
	tab.t.Helper()
	script := tab.axe()
	if tab.options.NoJavaScript {
		// Promises and timers of axe are not run either. The page's scripts were
		// passed over when it was read, and stay so.
		tab.runScripts(true)
		defer tab.runScripts(false)
	}
	return do(tab, "run axe", judge(script, call(rules)))
}

// axe reads axe-core.
func (tab *Tab) axe() string {
	tab.t.Helper()
	path, err := programs.Path(programs.Axe)
	if err != nil {
		tab.t.Fatalf("no axe-core to test with: %v", err)
	}
	script, err := os.ReadFile(path)
	if err != nil {
		tab.t.Fatalf("read axe-core: %v", err)
	}
	return string(script)
}

// runScripts switches whether scripts run.
func (tab *Tab) runScripts(run bool) {
	tab.t.Helper()
	do(tab, "switch scripts", send("switch scripts", emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: !run}))
}

// call is the expression that runs the rules.
func call(rules []string) string {
	options := map[string]any{"resultTypes": []string{"violations"}}
	if len(rules) > 0 {
		options["runOnly"] = map[string]any{"type": "rule", "values": rules}
	} else {
		options["runOnly"] = map[string]any{"type": "tag", "values": standards}
		options["rules"] = map[string]any{"target-size": map[string]bool{"enabled": true}} // of WCAG 2.2, and off by default
	}
	text, _ := json.Marshal(options) // strings and maps of them
	return `axe.run(document, ` + string(text) + `).then(result => result.violations.map(violation => ({
		...violation,
		nodes: violation.nodes.map(node => ({html: node.html, target: node.target.flat().join(" "), summary: node.failureSummary})),
	})))`
}

// judge runs axe in a world of its own: it sees the document, and neither the
// page's scripts nor their policy see it.
func judge(script, call string) chromedp.Action[[]Violation] {
	return func(ctx context.Context, target *chromedp.Target) ([]Violation, error) {
		tree, err := cdp.Call(ctx, target, page.GetFrameTree, cdp.Empty{})
		if err != nil {
			return nil, fmt.Errorf("find the document: %w", err)
		}
		world, err := cdp.Call(ctx, target, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: tree.FrameTree.Frame.ID, WorldName: "axe"})
		if err != nil {
			return nil, fmt.Errorf("make a world for axe: %w", err)
		}
		within := func(params *runtime.EvaluateParams) { params.ContextID = world.ExecutionContextID }
		if _, err := chromedp.Evaluate[chromedp.Void](script+"\n;({})", within)(ctx, target); err != nil {
			return nil, fmt.Errorf("load axe: %w", err)
		}
		return chromedp.Evaluate[[]Violation](call, within, chromedp.EvalAwaitPromise)(ctx, target)
	}
}
