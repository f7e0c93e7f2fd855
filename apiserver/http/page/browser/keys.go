// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// namedKeys maps names to keys.
var namedKeys = map[string]string{
	"Tab": kb.Tab, "Enter": kb.Enter, "Space": " ", "Escape": kb.Escape, "Backspace": kb.Backspace,
	"ArrowUp": kb.ArrowUp, "ArrowDown": kb.ArrowDown, "ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight,
	"Home": kb.Home, "End": kb.End, "PageUp": kb.PageUp, "PageDown": kb.PageDown,
}

// Press presses keys in sequence, regardless of the focus. A key is a character or a name
// such as Tab, Enter, Space, Escape or ArrowDown, optionally prefixed with Shift+.
func (tab *Tab) Press(keys ...string) {
	tab.t.Helper()
	runAction(tab, "press "+strings.Join(keys, ", "), press(keys))
}

func press(names []string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		for _, name := range names {
			action, err := keyAction(name)
			if err != nil {
				return err
			}
			if _, err := action(ctx, target); err != nil {
				return fmt.Errorf("pressing %s: %w", name, err)
			}
		}
		return nil
	})
}

// keyAction returns the action that presses one key.
func keyAction(name string) (chromedp.Action[chromedp.Void], error) {
	plain, shifted := strings.CutPrefix(name, "Shift+")
	code, named := namedKeys[plain]
	if !named {
		code = plain
	}
	if utf8.RuneCountInString(code) != 1 {
		return nil, fmt.Errorf("unknown key %q: use a character or a name such as Tab or ArrowDown", plain)
	}
	if shifted {
		return chromedp.KeyEvent(code, chromedp.KeyModifiers(kb.ModifierShift)), nil
	}
	return chromedp.KeyEvent(code), nil
}

// An Element is an element of the page.
type Element struct {
	Tag  string `json:"tag"`  // in lower case
	ID   string `json:"id"`   // id attribute
	Name string `json:"name"` // name attribute of a form field
	Text string `json:"text"` // visible text, or the value of a field
}

// Focused returns the focused element, or body if no element has the focus.
func (tab *Tab) Focused() Element {
	tab.t.Helper()
	return Evaluate[Element](tab, `(element => ({
		tag: element.localName,
		id: element.id,
		name: element.getAttribute("name") ?? "",
		text: (element.innerText || element.value || "").trim(),
	}))(document.activeElement ?? document.body)`)
}
