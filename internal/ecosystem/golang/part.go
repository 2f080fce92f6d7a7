package golang

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/company/glob"
	"company/internal/ecosystem"
	"company/internal/lib/shellquote"
)

// listDependencies makes go list print a line for each package, test package and test program. A line has the
// imports, an error mark, the folder, and the patterns that code and tests embed.
const listDependencies = `-e -deps -test -f '{{if not .Standard}}{{.ImportPath}}|{{if .Error}}E{{end}}|{{join .Imports ","}}|{{printf "%q|%q|%q%q" .Dir .EmbedPatterns .TestEmbedPatterns .XTestEmbedPatterns}}{{end}}'`

// listFolders is the part of a canary command that lists the folders of its packages.
const listFolders = `-find -e -f '{{.Dir}}'`

// ListCommand returns a command that prints the gate's folder, the folders of its packages, and their dependencies
// including tests. It does not compile.
func (Ecosystem) ListCommand(gate company.GateCommand, _ []string) string {
	list, _, _ := strings.Cut(gate.Canary, "\n")
	if gate.Plant != plantGo || !strings.Contains(list, listFolders) {
		return ""
	}
	return "printf '%s\\n' \"$PWD\" && " + list + " && echo && " + strings.Replace(list, listFolders, listDependencies, 1)
}

// dependencies holds the packages in the output of ListCommand.
type dependencies struct {
	folders []string            // folders of the gate's packages
	imports map[string][]string // by package; test programs have the suffix .test
	dirs    map[string]string   // folders, by package
	broken  []string            // packages that could not be read
	embeds  []embedding
	budget  int // steps left for comparing embed patterns with files
}

// embedSteps limits the cost of comparing all embed patterns with all files.
const embedSteps = 1 << 28

// embedding is a pattern of files that a package or its tests embed.
type embedding struct {
	dir        string
	pattern    glob.Glob
	unreadable bool // the pattern is invalid, so it counts as matching every file
	tests      bool
}

// embedsFile reports whether a pattern matches a file, or matched it before it was deleted. Patterns match files, and
// folders with all their files. It returns true if the budget is exhausted.
func (d *dependencies) embedsFile(e embedding, file string) bool {
	rest, below := strings.CutPrefix(file, e.dir+"/")
	for ; below && rest != "."; rest = path.Dir(rest) {
		if e.unreadable || e.pattern.MatchWithin(rest, &d.budget) || d.budget < 0 {
			return true
		}
	}
	return false
}

// addEmbeds reads the quoted patterns of a package: those of its code, a bar, and those of its tests.
func (d *dependencies) addEmbeds(dir, text string) {
	for tests := false; text != ""; {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			tests = tests || text[0] == '|'
			text = text[1:]
			continue
		}
		text = text[len(quoted):]
		quoted, _ = strconv.Unquote(quoted)
		pattern, err := glob.ParsePattern(strings.TrimPrefix(quoted, "all:"), glob.Plain)
		d.embeds = append(d.embeds, embedding{dir, pattern, err != nil, tests})
	}
}

func readDependencies(output string) (d dependencies, root string, ok bool) {
	d.imports = map[string][]string{}
	d.dirs = map[string]string{}
	d.budget = embedSteps
	head, tail, ok := strings.Cut(output, "\n\n")
	if !ok {
		return d, "", false
	}
	d.folders = strings.Split(strings.TrimRight(head, "\n"), "\n")
	root, d.folders = d.folders[0], d.folders[1:]
	for line := range strings.Lines(tail) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), "|", 4)
		if len(f) != 4 {
			return d, "", false
		}
		quoted, err := strconv.QuotedPrefix(f[3])
		if err != nil {
			return d, "", false
		}
		d.dirs[f[0]], _ = strconv.Unquote(quoted)
		if f[2] != "" {
			d.imports[f[0]] = strings.Split(f[2], ",")
		}
		if f[1] != "" {
			d.broken = append(d.broken, f[0])
		}
		d.addEmbeds(d.dirs[f[0]], strings.TrimPrefix(f[3][len(quoted):], "|"))
	}
	return d, root, len(d.folders) > 0 && len(d.dirs) > 0
}

// PartCommand returns a go test command for these folders. Without folders, it returns a failing command, because go
// test would test the gate's own folder.
func (Ecosystem) PartCommand(gate company.GateCommand, folders []string) string {
	_, test, _ := strings.Cut(gate.Canary, "\n")
	if len(folders) == 0 {
		return "exit 1"
	}
	for _, f := range folders {
		test += " " + shellquote.QuoteArgument(f)
	}
	return test
}

// FindPart finds the packages that a change touches, and those whose code or tests depend on them. Go files belong to
// the package in their folder. Markdown files belong to no package. Both also belong to packages that embed them. For
// other files, it returns false, because the affected packages are unknown. It also returns false for a part without
// tests.
func (Ecosystem) FindPart(
	gate company.GateCommand, changed []string, output string,
) (part ecosystem.TestPart, ok bool) {
	dependencies, root, ok := readDependencies(output)
	if !ok {
		return part, false
	}
	top := root
	if gate.Dir != "" {
		if top, ok = strings.CutSuffix(root, "/"+gate.Dir); !ok {
			return part, false
		}
	}
	touched := map[string]bool{} // folder → whether more than tests changed in it
	for _, p := range changed {
		dir, name := ecosystem.SplitPath(p)
		isText := path.Ext(name) == ".md" && !isUnseen(dir)
		if path.Ext(name) != ".go" && !isText {
			return part, false
		}
		for _, embedding := range dependencies.embeds {
			if dependencies.embedsFile(embedding, path.Join(top, p)) {
				touched[embedding.dir] = touched[embedding.dir] || !embedding.tests
			}
		}
		if !isText {
			dir = path.Join(top, dir)
			touched[dir] = touched[dir] || !isTestFile(name)
		}
	}
	if !dependencies.haveAll(touched) {
		return part, false
	}
	names := map[string]string{} // package names, by folder
	for pkg, dir := range dependencies.dirs {
		if !strings.Contains(pkg, " ") && !dependencies.isTestProgram(pkg) {
			names[dir] = pkg
		}
	}
	reaches, hasTests := dependencies.findReaching(touched), false
	var packages []string
	folders := slices.Compact(slices.Sorted(slices.Values(dependencies.folders)))
	for _, dir := range folders {
		pkg, in := names[dir], strings.TrimPrefix(dir, root)
		if pkg == "" || dir != root && !strings.HasPrefix(dir, root+"/") {
			return part, false // outside of the gate's folder
		}
		if _, is := touched[dir]; is || reaches(pkg) || reaches(pkg+".test") {
			part.Names, packages = append(part.Names, "."+in), append(packages, pkg)
			hasTests = hasTests || dependencies.dirs[pkg+".test"] == dir
		}
	}
	part.Of = len(folders)
	part.Has = func(test string) bool { return slices.Contains(packages, Ecosystem{}.PackageOf(test)) }
	return part, hasTests
}

// IsRedForAll returns true, because go test builds and runs each package separately.
func (Ecosystem) IsRedForAll(company.GateCheck) bool { return true }

// haveAll reports whether each touched folder has a package and every other package could be read.
func (d dependencies) haveAll(touched map[string]bool) bool {
	known := map[string]bool{}
	for _, dir := range d.dirs {
		known[dir] = true
	}
	for dir := range touched {
		if !known[dir] {
			return false
		}
	}
	return !slices.ContainsFunc(d.broken, func(pkg string) bool { _, ok := touched[d.dirs[pkg]]; return !ok })
}

// isTestProgram reports whether a package is the program that runs another package's tests.
func (d dependencies) isTestProgram(pkg string) bool {
	of, ok := strings.CutSuffix(pkg, ".test")
	return ok && d.dirs[of] == d.dirs[pkg]
}

// findReaching returns a function that reports whether a package is touched or depends on a touched one. Changed
// tests touch only the program that runs them, not their package.
func (d dependencies) findReaching(touched map[string]bool) func(pkg string) bool {
	known := map[string]bool{}
	var reaches func(string) bool
	reaches = func(pkg string) bool {
		if yes, ok := known[pkg]; ok {
			return yes
		}
		source, is := touched[d.dirs[pkg]]
		known[pkg] = is && (source || d.isTestProgram(pkg))
		known[pkg] = known[pkg] || slices.ContainsFunc(d.imports[pkg], reaches)
		return known[pkg]
	}
	return reaches
}
