package gates

import (
	"strings"

	"company/internal/company"
)

// goParts are the modules of a repository. Each is checked where its go.mod
// is: ./... never reaches into another one.
func (s *survey) goParts() []part {
	var out []part
	dirs := s.foldersWith("go.mod")
	if len(dirs) > 0 {
		for _, name := range []string{".golangci.yml", ".golangci.yaml", ".golangci.toml"} {
			if s.has("", name) {
				s.note("%s is there; lint is go vet, which every image has (gates.lint: golangci-lint run)", name)
			}
		}
	}
	for _, dir := range dirs {
		if !s.anyBelow(dir, ".go") {
			s.note("the Go module in %s has no Go files", where(dir))
			continue
		}
		out = append(out, part{dir: dir, kind: "go", about: "Go module",
			lint: &company.GateCommand{Command: "go vet ./...", Report: "go vet ./... 2>&1", Parse: Lines},
			test: &company.GateCommand{Command: "go test ./...", Report: "go test -json ./...", Parse: GoJSON,
				Plant: plantGo, Canary: "go list -find -e -f '{{.Dir}}' ./...\ngo test -json"}})
	}
	return out
}

// anyBelow says whether there is a file with that ending in or below a folder.
func (s *survey) anyBelow(dir, ending string) bool {
	for p := range s.files {
		if strings.HasSuffix(p, ending) && under(p, dir) {
			return true
		}
	}
	return false
}

func where(dir string) string {
	if dir == "" {
		return "the root"
	}
	return printable(dir)
}
