// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/anamnesis-dev/anamnesis/apiserver/server/page/browser/programs"
)

// patience is how long anything may take that a browser does. It is for a
// machine that is busy with other tests; a page is far faster.
const patience = 30 * time.Second

// process is the Chromium of all tests of this process. Its profile is a
// temporary directory, and the kernel ends it when we die.
var process struct {
	sync.Mutex
	attended bool            // Run is going to end it
	context  context.Context //nolint:containedctx // it is the browser: the library keeps the connection in it
	end      func()
}

// Run runs the tests of a package and then ends the browser that they used, if
// they did. It returns the code to exit with.
func Run(m *testing.M) int {
	process.Lock()
	process.attended = true
	process.Unlock()
	code := m.Run()
	process.Lock()
	defer process.Unlock()
	if process.context == nil {
		return code
	}
	if err := quit(process.context); err != nil {
		fmt.Fprintln(os.Stderr, "end Chromium:", err)
		code = max(code, 1)
	}
	process.end()
	return code
}

// quit has the browser end by itself, with all of its processes.
func quit(browser context.Context) error {
	ctx, cancel := context.WithTimeout(browser, patience)
	defer cancel()
	return chromedp.Cancel(ctx)
}

// running returns the context of the browser, started when it does not run.
func running() (context.Context, error) {
	process.Lock()
	defer process.Unlock()
	if process.context != nil {
		return process.context, nil
	}
	if !process.attended {
		return nil, errors.New("nothing would end the browser: the package's TestMain has to call browser.Run")
	}
	var err error
	process.context, process.end, err = start() //nolint:fatcontext // nothing nests: it is set once
	return process.context, err
}

// start starts the browser. Its processes are gone once end has returned.
func start() (browser context.Context, end func(), err error) {
	path, err := programs.Path(programs.Browser)
	if err != nil {
		return nil, nil, err
	}
	allocator, end := chromedp.NewExecAllocator(context.Background(), flags(path)...)
	ctx, cancel := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		end()
		return nil, nil, fmt.Errorf("start %s: %w", path, err)
	}
	return ctx, end, nil
}

// flags are how the browser runs: without a window, and with no way to any
// machine but this one. The library adds that root runs it without a sandbox.
func flags(path string) []chromedp.ExecAllocatorOption {
	return append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.Flag("headless", "new"),
		chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("no-pings", true),
		chromedp.Flag("disable-features", "Translate,BackForwardCache"), // Back asks the server, as when memory is short
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"),
	)
}
