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

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/browser/programs"
)

// A Violation is an axe-core rule that the page violates.
type Violation struct {
	Rule   string          `json:"id"`     // such as "label"
	Impact string          `json:"impact"` // minor, moderate, serious or critical
	Help   string          `json:"help"`   // what the rule requires
	URL    string          `json:"helpUrl"`
	Nodes  []ViolationNode `json:"nodes"`
}

// A ViolationNode is an element that violates a rule.
type ViolationNode struct {
	HTML    string `json:"html"`
	Target  string `json:"target"`  // selector of the element
	Summary string `json:"summary"` // how to fix it
}

// String returns a message for the test.
func (v Violation) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s (%s): %s; see %s", v.Rule, v.Impact, v.Help, v.URL)
	for _, node := range v.Nodes {
		fmt.Fprintf(&text, "\n  at %s: %s\n    %s", node.Target, node.HTML, strings.ReplaceAll(node.Summary, "\n", "\n    "))
	}
	return text.String()
}

// axeTags selects the rules: WCAG up to 2.2 AA and best practices.
var axeTags = []string{"wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"}

// Axe returns the violations found by axe-core, checking the named rules or, by default, all
// rules of WCAG 2.2 A and AA and best practices. It excludes results that need human review.
// It runs isolated from the page's scripts and Content-Security-Policy.
func (tab *Tab) Axe(rules ...string) []Violation {
	tab.t.Helper()
	script := tab.readAxe()
	if tab.options.NoJavaScript {
		// Axe itself needs promises and timers. The page's scripts were skipped when it was
		// parsed and do not run now.
		tab.setScriptsEnabled(true)
		defer tab.setScriptsEnabled(false)
	}
	return runAction(tab, "run axe", runAxe(script, axeExpression(rules)))
}

// readAxe reads axe-core.
func (tab *Tab) readAxe() string {
	tab.t.Helper()
	path, err := programs.Path(programs.AxeEnv)
	if err != nil {
		tab.t.Fatalf("axe-core is not available: %v", err)
	}
	script, err := os.ReadFile(path)
	if err != nil {
		tab.t.Fatalf("reading axe-core: %v", err)
	}
	return string(script)
}

// setScriptsEnabled enables or disables JavaScript.
func (tab *Tab) setScriptsEnabled(enabled bool) {
	tab.t.Helper()
	runAction(tab, "switch scripts", sendCommand("switch scripts", emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: !enabled}))
}

// axeExpression returns the expression that runs the rules.
func axeExpression(rules []string) string {
	options := map[string]any{"resultTypes": []string{"violations"}}
	if len(rules) > 0 {
		options["runOnly"] = map[string]any{"type": "rule", "values": rules}
	} else {
		options["runOnly"] = map[string]any{"type": "tag", "values": axeTags}
		options["rules"] = map[string]any{"target-size": map[string]bool{"enabled": true}} // part of WCAG 2.2 but off by default
	}
	text, _ := json.Marshal(options) // cannot fail: only strings and maps
	return `axe.run(document, ` + string(text) + `).then(result => result.violations.map(violation => ({
		...violation,
		nodes: violation.nodes.map(node => ({html: node.html, target: node.target.flat().join(" "), summary: node.failureSummary})),
	})))`
}

// runAxe runs axe in an isolated world, which shares only the document with the page, but not
// its scripts and its policy.
func runAxe(script, call string) chromedp.Action[[]Violation] {
	return func(ctx context.Context, target *chromedp.Target) ([]Violation, error) {
		tree, err := cdp.Call(ctx, target, page.GetFrameTree, cdp.Empty{})
		if err != nil {
			return nil, fmt.Errorf("finding document: %w", err)
		}
		world, err := cdp.Call(ctx, target, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: tree.FrameTree.Frame.ID, WorldName: "axe"})
		if err != nil {
			return nil, fmt.Errorf("creating isolated world for axe: %w", err)
		}
		within := func(params *runtime.EvaluateParams) { params.ContextID = world.ExecutionContextID }
		if _, err := chromedp.Evaluate[chromedp.Void](script+"\n;({})", within)(ctx, target); err != nil {
			return nil, fmt.Errorf("loading axe: %w", err)
		}
		return chromedp.Evaluate[[]Violation](call, within, chromedp.EvalAwaitPromise)(ctx, target)
	}
}
