package golang

import (
	"go/build/constraint"
	"maps"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// scan holds directives and other facts from the Go files of a tree.
type scan struct {
	tags      map[string]int             // number of test files that need a tag, by tag
	generates map[string]map[string]bool // programs in go:generate lines, by folder
	mains     map[string]bool            // folders with a main package
}

var (
	generateRE   = lazyregexp.New(`(?m)^//go:generate[ \t]+(.+?)\r?$`)
	constraintRE = lazyregexp.New(`(?m)^//go:build .*$`)
	mainRE       = lazyregexp.New(`(?m)^package main\b`)
)

// scanFiles reads the project's own Go files once.
func scanFiles(tree *ecosystem.Tree) scan {
	s := scan{tags: map[string]int{}, generates: map[string]map[string]bool{}, mains: map[string]bool{}}
	files := slices.DeleteFunc(goFiles(tree), func(f ecosystem.File) bool {
		dir, _ := ecosystem.SplitPath(f.Path)
		return ecosystem.IsForeignDir(dir)
	})
	tree.ReadTexts(files, func(f ecosystem.File, text []byte) {
		dir, name := ecosystem.SplitPath(f.Path)
		if isTestFile(name) {
			for _, tag := range neededTags(name, text) {
				s.tags[tag]++
			}
		} else if mainRE.Match(text) && (goBuild{}).takes(name, text) {
			s.mains[dir] = true
		}
		aliases := map[string]string{}
		for _, m := range generateRE.FindAllSubmatch(text, -1) {
			words := strings.Fields(string(m[1]))
			if len(words) > 2 && words[0] == "-command" {
				aliases[words[1]] = generatorOf(words[2:])
				continue
			}
			program := generatorOf(words)
			if a, ok := aliases[program]; ok {
				program = a
			}
			if s.generates[dir] == nil {
				s.generates[dir] = map[string]bool{}
			}
			s.generates[dir][program] = true
		}
	})
	return s
}

// otherTags lists tags that are not a project's choice: other systems and architectures, and tags that flags of the
// go command set.
var otherTags = strings.Fields(
	`ignore race msan asan gccgo aix android darwin dragonfly freebsd hurd illumos ios js nacl netbsd openbsd plan9 solaris wasip1 windows zos
	386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x sparc64 wasm`)

// neededTags returns the tags of which each alone makes an excluded file build.
func neededTags(name string, text []byte) (out []string) {
	line := constraintRE.Find(text)
	if line == nil || (goBuild{}).takes(name, text) {
		return nil
	}
	expr, err := constraint.Parse(string(line))
	if err != nil {
		return nil
	}
	all := map[string]bool{}
	collectTags(expr, all)
	for _, tag := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(otherTags, tag) && !strings.HasPrefix(tag, "goexperiment.") &&
			(goBuild{tags: []string{tag}}).takes(name, text) {
			out = append(out, tag)
		}
	}
	return out
}

// collectTags adds the tags of a constraint.
func collectTags(x constraint.Expr, all map[string]bool) {
	switch x := x.(type) {
	case *constraint.TagExpr:
		all[x.Tag] = true
	case *constraint.NotExpr:
		collectTags(x.X, all)
	case *constraint.AndExpr:
		collectTags(x.X, all)
		collectTags(x.Y, all)
	case *constraint.OrExpr:
		collectTags(x.X, all)
		collectTags(x.Y, all)
	}
}

// maxTags limits the reported tags.
const maxTags = 3

// noteTags adds notes about tests that no gate builds.
func (s scan) noteTags(tree *ecosystem.Tree) {
	all := slices.SortedFunc(maps.Keys(s.tags), func(a, b string) int {
		if d := s.tags[b] - s.tags[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, tag := range all[:min(len(all), maxTags)] {
		tree.AddNote("%s of Go with the tag %s alone: no gate builds them (gates.test: go test -tags %s ./...)",
			company.Count(s.tags[tag], "test file"), tag, tag)
	}
}

// generatorOf returns the program in a go:generate line. It returns "go" if the program comes from the project's own
// modules.
func generatorOf(words []string) string {
	if len(words) == 0 {
		return ""
	}
	if words[0] != "go" {
		return words[0]
	}
	if len(words) > 1 && words[1] == "run" {
		for _, w := range words[2:] {
			if strings.Contains(w, "@") {
				return "go run " + w // from a registry, which a gate cannot reach
			}
			if !strings.HasPrefix(w, "-") {
				break
			}
		}
	}
	return "go"
}

// generators lists programs that every image with Go has.
var generators = []string{"go", "gofmt", "sh", "bash", "cp", "mv", "rm", "cat", "echo", "sed", "awk", "printf", "mkdir",
	"env", "touch", "perl", "make"}

// generate is the check of a module's generated code. It lists the files that differ from the output of go generate.
// It uses git to find changes, so ignored files do not count.
const generate = `g() { git -c core.quotePath=false --git-dir=/tmp/generated.git --work-tree="$PWD" "$@"; }
rm -rf /tmp/generated.git && git init -q --bare /tmp/generated.git && g add -A . || exit
go generate ./... >/tmp/generated.log 2>&1 || { cat /tmp/generated.log; exit 1; }
changed=$(g diff --name-only && g ls-files --others --exclude-standard) || exit
test -z "$changed" || { printf '%s\n' "$changed" | sed 's/$/:1: is not what go generate makes/'; exit 1; }`

// findGenerated returns checks of generated code, one for each module whose generators are in the image. A check
// counts only if the base passes it, because output may depend on a generator's version or on the time.
func (s scan) findGenerated(tree *ecosystem.Tree, modules []ecosystem.Component) (out []ecosystem.Component) {
	programs := map[string]map[string]bool{} // by module
	for dir, all := range s.generates {
		module, ok := tree.NearestWith(dir, "go.mod")
		if !ok {
			continue
		}
		if programs[module] == nil {
			programs[module] = map[string]bool{}
		}
		maps.Copy(programs[module], all)
	}
	for _, component := range modules {
		if len(programs[component.Dir]) == 0 {
			continue
		}
		var missing []string
		for _, p := range slices.Sorted(maps.Keys(programs[component.Dir])) {
			if p != "" && !slices.Contains(generators, p) && !strings.HasPrefix(p, "./") && !strings.HasPrefix(p, "../") {
				missing = append(missing, ecosystem.PrintablePath(p))
			}
		}
		if len(missing) > 0 {
			tree.AddNote("generated code in %s is not checked: go:generate runs %s", ecosystem.DisplayDir(component.Dir),
				strings.Join(missing[:min(len(missing), maxTags)], ", "))
			continue
		}
		out = append(
			out, ecosystem.Component{Dir: component.Dir, Kind: component.Kind, Label: "generated",
				Description: "Go code that is generated",
				Lint: &company.GateCommand{Command: "go generate ./...", Report: generate, Probe: generate,
					Parse: testreport.FormatFindings}})
	}
	return out
}
