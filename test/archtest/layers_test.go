package archtest

import (
	"slices"
	"strings"
	"testing"
)

// layers are the packages below internal/, from the bottom up: a package
// imports packages of lower layers. A package that is not named belongs to the
// nearest one above it that is, as bus/nats to bus. One package to a line, so
// that two changes seldom meet.
var layers = strings.Split(strings.TrimSpace(`
lib/blocklist

lib/safetext
api/page
gitops/patch
lib/shellquote
lib/retry
lib/secret
lib/hosttest
lib/lazyregexp
lib/killpoint
app/startup
company/glob
company/jcs
gitops/gitexec

lib/boundedparse
lib/charset
present/termtext

lib/guess
lib/secretscan

company

lib/healthcheck

company/historytest
office/attachment
ecosystem/testreport
present/view
present/feed
lib/safedir
gitops/cleanfilter
lib/clock
toolbox/mux
gitops/gitindex
gitops/gitlogin
container/dockerapi

ecosystem

ecosystem/catalog
ecosystem/ciconfig
container/dockerfile

ecosystem/checkfinder
upkeep/notify
ledger/crashes

bus
ledger
office/config
office
ecosystem/depproxy
toolbox/toolproto
container

container/service
toolbox/serverprogram

agentrun/gateway
container/image
gitops
forge
adapters
agent/budget
agentrun/runfiles
delivery/prbody
toolbox/toolserver

gates
agent
agentrun/depaccess

agentrun/agenttools
agentrun/relay

agentrun/program
agentrun/sandbox

agentrun

manager/repomap

prepare
manager
worker
reviewer
merger
delivery

engine/dispatch
engine/orchestrator
engine/replay

upkeep/projection
upkeep
api

app

api/client

surface/diagnose
surface/terminalio
surface/mcpserver
surface/tui

surface/officeaccess

surface/foreground
app/hostops

surface/cli/command

surface/cli/agents
surface/cli/image
surface/cli/inspect
surface/cli/pr
surface/cli/project
surface/cli/serve
surface/cli/setup
surface/cli/task

surface/cli
`), "\n")

// beside are the imports within a layer that the plan allows.
var beside = map[string][]string{
	"ledger":           {"bus"},
	"office":           {"office/config"}, // where its readable files lie
	"agentrun/gateway": {"gitops", "adapters", "agent/budget"},
	"agent/budget":     {"adapters"}, // a price is of a model, and the meter wraps one
	"delivery/prbody":  {"agentrun/runfiles"},
	"api":              {"upkeep"}, // an answer is the report of a cleanup
}

// layerOf is the name in layers that a package goes by, and how far up it lies.
func layerOf(path string) (name string, height int) {
	name, ok := strings.CutPrefix(path, "company/internal/")
	if !ok {
		return "", -1
	}
	for {
		if at := slices.Index(layers, name); at >= 0 {
			for _, line := range layers[:at] {
				if line == "" {
					height++
				}
			}
			return name, height
		}
		cut := strings.LastIndex(name, "/")
		if cut < 0 {
			return name, -1
		}
		name = name[:cut]
	}
}

func TestImportsPointOneWay(t *testing.T) {
	for _, p := range packages(t) {
		from, height := layerOf(p.ImportPath)
		if from == "" || isForTests(p.ImportPath) {
			continue
		}
		if height < 0 {
			t.Errorf("%s is in no layer", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			to, low := layerOf(imp)
			switch {
			case to == "":
			case isForTests(imp):
				t.Errorf("%s imports %s, which is for tests", p.ImportPath, imp)
			case to != from && low >= height && !slices.Contains(beside[from], to):
				t.Errorf("%s imports %s: %s may not import %s", p.ImportPath, imp, from, to)
			}
		}
	}
}

// isForTests reports whether a package is imported by tests alone. Its name ends in test.
func isForTests(path string) bool { return strings.HasSuffix(path, "test") }

// A name that no package goes by is a leftover.
func TestLayersAreThere(t *testing.T) {
	var all []string
	for _, p := range packages(t) {
		all = append(all, strings.TrimPrefix(p.ImportPath, "company/internal/"))
	}
	for i, name := range layers {
		if name != "" && (!slices.Contains(all, name) || slices.Index(layers, name) != i) && !slices.Contains(coming, name) {
			t.Errorf("%s is named as a layer, and is not a package or named twice", name)
		}
	}
	for _, name := range coming {
		if slices.Contains(all, name) {
			t.Errorf("%s is there, and is still named as one that is to come", name)
		}
	}
}

// coming are rooms whose place is known before they are built.
var coming = strings.Fields(`
`)
