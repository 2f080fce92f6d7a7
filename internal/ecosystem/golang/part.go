package golang

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/glob"
	"company/internal/shell"
)

// Of a package, its tests and their program: what it imports, whether it can be read, its
// folder, and the patterns of what its code and its tests embed.
const listDependencies = `-e -deps -test -f '{{if not .Standard}}{{.ImportPath}}|{{if .Error}}E{{end}}|{{join .Imports ","}}|{{printf "%q|%q|%q%q" .Dir .EmbedPatterns .TestEmbedPatterns .XTestEmbedPatterns}}{{end}}'`

// listFolders is the part of a canary command that lists the folders of its packages.
const listFolders = `-find -e -f '{{.Dir}}'`

// ListCommand prints the gate's folder, the folders of its packages, and then what each of
// these depends on, its tests included. Nothing is compiled.
func (Ecosystem) ListCommand(gate company.GateCommand, _ []string) string {
	list, _, _ := strings.Cut(gate.Canary, "\n")
	if gate.Plant != plantGo || !strings.Contains(list, listFolders) {
		return ""
	}
	return "printf '%s\\n' \"$PWD\" && " + list + " && echo && " + strings.Replace(list, listFolders, listDependencies, 1)
}

// dependencies are the packages in the output of ListCommand.
type dependencies struct {
	folders []string            // of the gate's packages
	imports map[string][]string // by package; that of a package's tests has .test behind its name
	dirs    map[string]string   // by package
	broken  []string            // packages that could not be read
	embeds  []embedding
	budget  int // of the comparison of embeds with files
}

// embedSteps limits what the comparison of all embedded patterns with all files costs.
const embedSteps = 1 << 28

// embedding is a pattern of files that a folder's package embeds, or its tests alone.
type embedding struct {
	dir        string
	pattern    glob.Glob
	unreadable bool // it counts as a pattern that matches all
	tests      bool
}

// embedsFile reports whether a file is one that is embedded, or was before it was
// deleted: patterns match files, and folders with all that is in them. It reports true
// where the budget does not suffice to tell.
func (d *dependencies) embedsFile(e embedding, file string) bool {
	rest, below := strings.CutPrefix(file, e.dir+"/")
	for ; below && rest != "."; rest = path.Dir(rest) {
		if e.unreadable || e.pattern.MatchWithin(rest, &d.budget) || d.budget < 0 {
			return true
		}
	}
	return false
}

// addEmbeds reads the quoted patterns of a package: those of its code, a bar, and those of
// its tests.
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
	d.imports, d.dirs, d.budget = map[string][]string{}, map[string]string{}, embedSteps
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

// PartCommand is go test in these folders. Without any it would test the gate's own folder,
// so it fails then.
func (Ecosystem) PartCommand(gate company.GateCommand, folders []string) string {
	_, test, _ := strings.Cut(gate.Canary, "\n")
	if len(folders) == 0 {
		return "exit 1"
	}
	for _, f := range folders {
		test += " " + shell.QuoteArgument(f)
	}
	return test
}

// FindPart finds the packages that a change touches and those whose code or tests depend
// on them. Files of Go belong to the package of their folder, text for people to none, and
// both to those that embed them. Of all else the packages are not known. A part without
// tests is none.
func (Ecosystem) FindPart(gate company.GateCommand, changed []string, output string) (part ecosystem.TestPart, ok bool) {
	d, root, ok := readDependencies(output)
	if !ok {
		return part, false
	}
	top := root
	if gate.Dir != "" {
		if top, ok = strings.CutSuffix(root, "/"+gate.Dir); !ok {
			return part, false
		}
	}
	touched := map[string]bool{} // folders; whether more than tests are changed in one
	for _, p := range changed {
		dir, name := ecosystem.SplitPath(p)
		isText := path.Ext(name) == ".md" && !isUnseen(dir)
		if path.Ext(name) != ".go" && !isText {
			return part, false
		}
		for _, e := range d.embeds {
			if d.embedsFile(e, path.Join(top, p)) {
				touched[e.dir] = touched[e.dir] || !e.tests
			}
		}
		if !isText {
			dir = path.Join(top, dir)
			touched[dir] = touched[dir] || !isTestFile(name)
		}
	}
	if !d.haveAll(touched) {
		return part, false
	}
	names := map[string]string{} // of packages, by folder
	for pkg, dir := range d.dirs {
		if !strings.Contains(pkg, " ") && !d.isTestProgram(pkg) {
			names[dir] = pkg
		}
	}
	reaches, hasTests := d.findReaching(touched), false
	var packages []string
	folders := slices.Compact(slices.Sorted(slices.Values(d.folders)))
	for _, dir := range folders {
		pkg, in := names[dir], strings.TrimPrefix(dir, root)
		if pkg == "" || dir != root && !strings.HasPrefix(dir, root+"/") {
			return part, false // outside of the gate's folder
		}
		if _, is := touched[dir]; is || reaches(pkg) || reaches(pkg+".test") {
			part.Names, packages = append(part.Names, "."+in), append(packages, pkg)
			hasTests = hasTests || d.dirs[pkg+".test"] == dir
		}
	}
	part.Of = len(folders)
	part.Has = func(test string) bool { return slices.Contains(packages, Ecosystem{}.PackageOf(test)) }
	return part, hasTests
}

// IsRedForAll: go test builds and runs each package by itself.
func (Ecosystem) IsRedForAll(company.GateCheck) bool { return true }

// haveAll says whether each touched folder has a package, and each other package could be
// read.
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

// isTestProgram says whether a package is the program that runs another one's tests.
func (d dependencies) isTestProgram(pkg string) bool {
	of, ok := strings.CutSuffix(pkg, ".test")
	return ok && d.dirs[of] == d.dirs[pkg]
}

// findReaching gives the question whether a package is touched or depends on one that is.
// Changed tests touch the program that runs them, and not their package.
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
