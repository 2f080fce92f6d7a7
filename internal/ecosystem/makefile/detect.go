// Package makefile is the ecosystem of projects that only have a Makefile.
package makefile

import (
	"regexp"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/testreport"
)

// Ecosystem is make.
type Ecosystem struct{}

// Name is the toolchain.
func (Ecosystem) Name() string { return "make" }

// Programs are the programs that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"make"} }

// Manifest is the file by which a project is known.
func (Ecosystem) Manifest() string { return "Makefile" }

var targetRE = regexp.MustCompile(`(?m)^(test|check|lint)\s*:([^=]|$)`)

// Detect finds the Makefile at the root of a repository that is of no kind that
// is known better.
func (e Ecosystem) Detect(t *ecosystem.Tree, found []ecosystem.Component) []ecosystem.Component {
	for _, name := range makefiles {
		if !t.HasFile("", name) {
			continue
		}
		if len(found) > 0 {
			t.AddNote("the Makefile's targets are not used, since the project's kind is known (gates.test: make test)")
			return nil
		}
		t.AddProject(e.Name(), "")
		targets := map[string]bool{}
		for _, m := range targetRE.FindAllStringSubmatch(t.ReadManifest("", name), -1) {
			targets[m[1]] = true
		}
		p := ecosystem.Component{Kind: e.Name(), Description: name}
		if targets["lint"] {
			p.Lint = &company.GateCommand{Command: "make lint"}
		}
		switch {
		case targets["test"]:
			p.Test = &company.GateCommand{Command: "make test", Parse: testreport.FormatPlain}
		case targets["check"]:
			p.Test = &company.GateCommand{Command: "make check", Parse: testreport.FormatPlain}
		}
		if p.Lint == nil && p.Test == nil {
			t.AddNote("%s has no target test, check or lint", name)
			return nil
		}
		return []ecosystem.Component{p}
	}
	return nil
}
