// SPDX-License-Identifier: Apache-2.0

package layers

// layers lists the directories of the module from the bottom up. A package imports its own
// directory and the lines above its own in this list, never a directory on the same line or
// below. A directory includes its subdirectories, except the ones that are listed themselves.
var layers = [][]string{
	{"api"},
	{"client"},
	{"apiserver/medical/text"},
	{"apiserver/medical/model"},
	{"apiserver/medical/inference", "apiserver/medical/nlp", "apiserver/medical/search", "apiserver/medical/catalog"},
	{"apiserver/medical/assessment"},
	{"apiserver/medical/model/compile"},
	{"apiserver/medical/model/modeltest"},
	{"apiserver/content"},
	{"apiserver/record"},
	{"apiserver/webhook/event"}, // in storage's interface, unlike the rest of webhook
	{"apiserver/webhook/outbox"},
	{"apiserver/platform"},
	{"apiserver/openapi"},
	{"apiserver/storage"},
	{"apiserver/webhook"},
	{"apiserver/identity"},
	{"apiserver/survey"},
	{"apiserver/http"},
	{"apiserver/modelcmd"},
	{"apiserver/server"},
	{"apiserver"}, // the command itself
	{"controllers"},
}

// forbidden lists imports that the layers would allow: the operator and the server share the
// API types and nothing else.
var forbidden = map[string]string{"controllers": "apiserver"}

// exceptions lists the imports that point up. Do not add to it: each is to be removed.
var exceptions = map[edge]string{}

// pure lists the directories whose packages compute the same output for the same input. They
// do not read files, clocks or random numbers, and use no network, database or log.
var pure = []string{
	"apiserver/medical", "apiserver/record", "apiserver/survey/flow", "apiserver/survey/section", "apiserver/survey/fhir",
	"apiserver/webhook/event", "apiserver/http/page/body", "apiserver/platform/i18n",
}

// impure lists the packages in pure directories that are exempt.
var impure = map[string]string{
	"apiserver/medical/model":           "maps release files into memory",
	"apiserver/medical/model/modeltest": "generates random releases for tests",
}

// effects lists the packages of the standard library that pure packages must not import, and
// effectsBelow the ones that not even their dependencies may import.
var (
	effects = []string{
		"os", "os/exec", "os/signal", "os/user", "net", "net/http", "net/smtp", "syscall", "log", "log/slog",
		"database/sql", "math/rand", "math/rand/v2", "crypto/rand",
	}
	effectsBelow = []string{"net/http", "database/sql", "log/slog", "os/exec"}
	// clock lists the functions of package time that read the clock.
	clock = []string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "Sleep", "NewTimer", "NewTicker"}
)

// An edge is an import, by directory.
type edge struct{ from, to string }
