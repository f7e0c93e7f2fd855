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

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/browser/programs"
)

// timeout limits each browser action. It is generous to allow for machines that are busy with
// other tests.
const timeout = 30 * time.Second

// process is the Chromium shared by all tests of this process. Its profile is a temporary
// directory, and the kernel kills it when this process dies.
var process struct {
	sync.Mutex
	attended bool            // Run will end the browser
	context  context.Context //nolint:containedctx // it is the browser: the library keeps the connection in it
	end      func()
}

// Run runs the tests of a package, stops the browser if it was started, and returns the exit
// code.
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
	if err := shutDown(process.context); err != nil {
		fmt.Fprintln(os.Stderr, "stopping Chromium:", err)
		code = max(code, 1)
	}
	process.end()
	return code
}

// shutDown closes the browser gracefully, with all of its processes.
func shutDown(browser context.Context) error {
	ctx, cancel := context.WithTimeout(browser, timeout)
	defer cancel()
	return chromedp.Cancel(ctx)
}

// browserContext returns the context of the browser. It starts the browser if necessary.
func browserContext() (context.Context, error) {
	process.Lock()
	defer process.Unlock()
	if process.context != nil {
		return process.context, nil
	}
	if !process.attended {
		return nil, errors.New("browser.Run is not active: call it in the package's TestMain")
	}
	var err error
	process.context, process.end, err = startBrowser() //nolint:fatcontext // nothing nests: it is set once
	return process.context, err
}

// startBrowser starts the browser. The function end returns after all its processes have
// exited.
func startBrowser() (browser context.Context, end func(), err error) {
	path, err := programs.Path(programs.BrowserEnv)
	if err != nil {
		return nil, nil, err
	}
	allocator, end := chromedp.NewExecAllocator(context.Background(), launchFlags(path)...)
	ctx, cancel := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		end()
		return nil, nil, fmt.Errorf("starting %s: %w", path, err)
	}
	return ctx, end, nil
}

// launchFlags returns the browser flags: headless, and without access to other machines. The
// library disables the sandbox for root.
func launchFlags(path string) []chromedp.ExecAllocatorOption {
	return append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.Flag("headless", "new"),
		chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("no-pings", true),
		chromedp.Flag("disable-features", "Translate,BackForwardCache"), // makes Back request the page from the server, as under memory pressure
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"),
	)
}
