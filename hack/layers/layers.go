// SPDX-License-Identifier: Apache-2.0

package layers

// layers lists the directories of the module from the lowest layer to the highest. A package
// may import packages in its own directory and in lower layers, but not in other directories
// of its layer or in higher layers. A directory includes its subdirectories, except for
// subdirectories in the list.
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
	{"apiserver/webhook/event"}, // part of the storage interface, unlike the rest of webhook
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

// forbidden lists forbidden imports that the layers would allow: the operator and the server
// share only the API types.
var forbidden = map[string]string{"controllers": "apiserver"}

// exceptions maps imports from higher layers to the plan for removing them. Do not add
// exceptions.
var exceptions = map[edge]string{}

// pure lists directories of pure packages, which compute the same output for the same input.
// They do not read files, clocks or random numbers, and do not use the network, a database or
// a log.
var pure = []string{
	"apiserver/medical", "apiserver/record", "apiserver/survey/flow", "apiserver/survey/section", "apiserver/survey/fhir",
	"apiserver/webhook/event", "apiserver/http/page/body", "apiserver/platform/i18n",
}

// impure maps exempt packages in pure directories to the reason for the exemption.
var impure = map[string]string{
	"apiserver/medical/model":           "maps release files into memory",
	"apiserver/medical/model/modeltest": "generates random releases for tests",
}

// effects lists packages of the standard library that pure packages must not import.
// transitiveEffects lists packages that their dependencies must not import either.
var (
	effects = []string{
		"os", "os/exec", "os/signal", "os/user", "net", "net/http", "net/smtp", "syscall", "log", "log/slog",
		"database/sql", "math/rand", "math/rand/v2", "crypto/rand",
	}
	transitiveEffects = []string{"net/http", "database/sql", "log/slog", "os/exec"}
	// clock lists the functions of package time that read the clock.
	clock = []string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "Sleep", "NewTimer", "NewTicker"}
)

// An edge is an import from one directory of another.
type edge struct{ from, to string }
