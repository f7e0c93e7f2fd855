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

// keys are those with a name.
var keys = map[string]string{
	"Tab": kb.Tab, "Enter": kb.Enter, "Space": " ", "Escape": kb.Escape, "Backspace": kb.Backspace,
	"ArrowUp": kb.ArrowUp, "ArrowDown": kb.ArrowDown, "ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight,
	"Home": kb.Home, "End": kb.End, "PageUp": kb.PageUp, "PageDown": kb.PageDown,
}

// Press presses one key after the other, wherever the focus is: a character, or
// a key by its name, as Tab, Enter, Space, Escape or ArrowDown, with Shift+
// before it or not.
func (tab *Tab) Press(keys ...string) {
	tab.t.Helper()
	do(tab, "press "+strings.Join(keys, ", "), press(keys))
}

func press(names []string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		for _, name := range names {
			action, err := key(name)
			if err != nil {
				return err
			}
			if _, err := action(ctx, target); err != nil {
				return fmt.Errorf("press %s: %w", name, err)
			}
		}
		return nil
	})
}

// key is the press of one key.
func key(name string) (chromedp.Action[chromedp.Void], error) {
	plain, shifted := strings.CutPrefix(name, "Shift+")
	code, named := keys[plain]
	if !named {
		code = plain
	}
	if utf8.RuneCountInString(code) != 1 {
		return nil, fmt.Errorf("there is no key %q; one is a character, or has a name as Tab or ArrowDown", plain)
	}
	if shifted {
		return chromedp.KeyEvent(code, chromedp.KeyModifiers(kb.ModifierShift)), nil
	}
	return chromedp.KeyEvent(code), nil
}

// Element is an element of the page.
type Element struct {
	Tag  string `json:"tag"`  // in lower case
	ID   string `json:"id"`   // the attribute
	Name string `json:"name"` // the attribute, as fields of forms have it
	Text string `json:"text"` // what is to be read in it, or of a field its value
}

// Focused is the element that keys go to; body when there is none.
func (tab *Tab) Focused() Element {
	tab.t.Helper()
	return Evaluate[Element](tab, `(element => ({
		tag: element.localName,
		id: element.id,
		name: element.getAttribute("name") ?? "",
		text: (element.innerText || element.value || "").trim(),
	}))(document.activeElement ?? document.body)`)
}
