package gates

import (
	"strings"

	"company/internal/company"
)

// goComponents are the modules of a repository. Each is checked where its go.mod
// is: ./... never reaches into another one.
func (s *repoScan) goComponents() []component {
	var out []component
	dirs := s.foldersWith("go.mod")
	if len(dirs) > 0 {
		for _, name := range []string{".golangci.yml", ".golangci.yaml", ".golangci.toml"} {
			if s.hasFile("", name) {
				s.addNote("%s is there; lint is go vet, which every image has (gates.lint: golangci-lint run)", name)
			}
		}
	}
	for _, dir := range dirs {
		if !s.anyBelow(dir, ".go") {
			s.addNote("the Go module in %s has no Go files", displayDir(dir))
			continue
		}
		out = append(out, component{dir: dir, kind: "go", description: "Go module",
			lint: &company.GateCommand{Command: "go vet ./...", Report: "go vet ./... 2>&1", Parse: FormatFindings},
			test: &company.GateCommand{Command: "go test ./...", Report: "go test -json ./...", Parse: FormatGoJSON,
				Plant: plantGo, Canary: "go list -find -e -f '{{.Dir}}' ./...\ngo test -json"}})
	}
	return out
}

// anyBelow says whether there is a file with that ending in or below a folder.
func (s *repoScan) anyBelow(dir, ending string) bool {
	for p := range s.files {
		if strings.HasSuffix(p, ending) && isUnder(p, dir) {
			return true
		}
	}
	return false
}

func displayDir(dir string) string {
	if dir == "" {
		return "the root"
	}
	return printablePath(dir)
}
