package cc

import (
	"path"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// Autotools is the ecosystem of projects with a configure script or the files from which it is made.
type Autotools struct{}

// Name returns the name of the toolchain.
func (Autotools) Name() string { return "autotools" }

// Programs lists the programs that need the toolchain.
func (Autotools) Programs() []string { return []string{"autoreconf", "./configure", "./autogen.sh"} }

// Manifest returns the file that identifies a project.
func (Autotools) Manifest() string { return "configure.ac" }

func isAutotoolsFile(name string) bool {
	return name == "configure.ac" || name == "configure.in" || strings.HasPrefix(name, "Makefile.") ||
		strings.HasPrefix(name, "makefile.") || name == "Makefile" || name == "Makefile-in"
}

var (
	autoComment       = lazyregexp.New(`(?m)(#|\bdnl\b).*$`)
	automakeUse       = lazyregexp.New(`\bAM_INIT_AUTOMAKE\b`)
	automakeTestRules = lazyregexp.New(
		`(?m)^\s*(TESTS|check_PROGRAMS|check_SCRIPTS)\s*\+?=|^(check|check-local|check-am)\s*:`)
	makeTest = lazyregexp.New(`(?m)^(check|test|tests)\s*:([^=]|$)`)
	// autoOption matches an option of a configure script that turns a feature on.
	autoOption = lazyregexp.New(`\bAC_ARG_ENABLE\s*\(\s*\[?\s*([A-Za-z0-9_+.-]+)`)
	// sanitizerName matches the name of an option for a sanitizer.
	sanitizerName = lazyregexp.New(`(?i)asan|ubsan|saniti[sz]e`)
)

// Detect finds the projects with a configure script.
func (e Autotools) Detect(tree *ecosystem.Tree, found []ecosystem.Component) []ecosystem.Component {
	var out []ecosystem.Component
	for _, dir := range projectFolders(tree, found, "configure.ac", "configure.in", "configure") {
		files := readAutotools(tree, dir)
		if !files.isProject {
			continue
		}
		component := ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "project with a configure script"}
		switch {
		case files.testTarget != "" && files.automake:
			component.Test = testGate(files.buildCommand(), " -k", "make -k "+files.testTarget+" VERBOSE=1", formatAutomake)
		case files.testTarget != "":
			component.Test = testGate(files.buildCommand(), " -k", "make -k "+files.testTarget, testreport.FormatPlain)
			component.Test.Command = files.buildCommand() + " && make " + files.testTarget
		case ecosystem.Covering(found, dir) != nil:
			continue
		default:
			tree.AddNote("the project in %s has no target check or test: that it builds is its check", ecosystem.DisplayDir(dir))
			component.Lint = &company.GateCommand{Command: files.buildCommand()}
		}
		if files.automake && files.hasConfigure {
			tree.AddNote("configure and Makefile.in of %s are in the repository and used as they are: a change of configure.ac "+
				"or Makefile.am needs theirs", ecosystem.DisplayDir(dir))
		}
		if component.Test != nil {
			files.noteSanitizer(tree, component.Test.Command)
		}
		out = append(out, component)
	}
	return out
}

// noteSanitizer proposes a test command with the project's own sanitizer, as for CMake.
func (p *autotoolsFiles) noteSanitizer(tree *ecosystem.Tree, command string) {
	for _, buildFile := range p.files {
		for _, m := range autoOption.FindAllStringSubmatch(buildFile.text, -1) {
			if !sanitizerName.MatchString(m[1]) || otherSanitizer.MatchString(m[1]) {
				continue
			}
			option := "--enable-" + m[1]
			if strings.Contains(buildFile.text, option+"=") { // the help text shows a value
				option += "=address"
			}
			tree.AddNote("configure has an option for a sanitizer; to judge with it: gates.test: %s",
				strings.Replace(command, "./configure && ", "./configure "+option+" && ", 1))
			return
		}
	}
}

// autotoolsFiles holds the files of a project with a configure script and the information from them.
type autotoolsFiles struct {
	dir                               string
	files                             []buildFile // without comments
	isProject, automake, hasConfigure bool
	isExecutable                      bool // configure is executable
	testTarget                        string
}

// readAutotools reads the build files of a project.
func readAutotools(tree *ecosystem.Tree, dir string) *autotoolsFiles {
	files := &autotoolsFiles{dir: dir, files: readBuildFiles(tree, dir, isAutotoolsFile)}
	input := tree.HasFile(dir, "configure.ac") || tree.HasFile(dir, "configure.in")
	files.hasConfigure = tree.HasFile(dir, "configure")
	files.isExecutable = tree.Files[path.Join(dir, "configure")].Executable
	rules, written := false, ""
	for i := range files.files {
		buildFile := &files.files[i]
		buildFile.text = autoComment.ReplaceAllString(buildFile.text, "")
		at, name := ecosystem.SplitPath(buildFile.path)
		switch {
		case name == "configure.ac" || name == "configure.in":
			files.automake = files.automake || at == dir && automakeUse.MatchString(buildFile.text)
		case name == "Makefile.am" && automakeTestRules.MatchString(buildFile.text):
			files.testTarget = "check"
		case name != "Makefile.am" && at == dir:
			rules = true
			if m := makeTest.FindStringSubmatch(buildFile.text); m != nil && written == "" {
				written = m[1]
			}
		}
	}
	if !files.automake { // automake writes such a rule into every Makefile
		files.testTarget = written
	}
	// Any script may have the name configure, so the folder must also have a Makefile.
	files.isProject = input || files.hasConfigure && rules
	return files
}

// buildCommand returns a command that builds a copy of the tree in a folder beside it, because these scripts write
// into their sources. All copied files get the same time. Otherwise make treats files that git wrote first as out of
// date. It then runs the exact version of autotools with which the project was released.
func (p *autotoolsFiles) buildCommand() string {
	at := buildFolder(p.dir)
	s := "rm -rf " + at + " && mkdir " + at + " && tar -c --mtime=@1000000000 --exclude=./.git . | tar -x -C " + at +
		" && cd " + at
	if !p.hasConfigure {
		s += " && autoreconf -fi"
	}
	configure := "./configure"
	if p.hasConfigure && !p.isExecutable {
		configure = "sh ./configure"
	}
	return s + " && " + configure + " && make -j " + buildJobs
}
