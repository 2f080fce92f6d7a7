package cc

import (
	"path"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// Autotools is the ecosystem of projects with a configure script, or with the files
// that one is made from.
type Autotools struct{}

// Name is the toolchain.
func (Autotools) Name() string { return "autotools" }

// Programs are the programs that need the toolchain.
func (Autotools) Programs() []string { return []string{"autoreconf", "./configure", "./autogen.sh"} }

// Manifest is the file by which a project is known.
func (Autotools) Manifest() string { return "configure.ac" }

func isAutotoolsFile(name string) bool {
	return name == "configure.ac" || name == "configure.in" || strings.HasPrefix(name, "Makefile.") || strings.HasPrefix(name, "makefile.") || name == "Makefile" || name == "Makefile-in"
}

var (
	autoComment       = lazyregexp.New(`(?m)(#|\bdnl\b).*$`)
	automakeUse       = lazyregexp.New(`\bAM_INIT_AUTOMAKE\b`)
	automakeTestRules = lazyregexp.New(`(?m)^\s*(TESTS|check_PROGRAMS|check_SCRIPTS)\s*\+?=|^(check|check-local|check-am)\s*:`)
	makeTest          = lazyregexp.New(`(?m)^(check|test|tests)\s*:([^=]|$)`)
	// autoOption is an option of a configure script that turns something on.
	autoOption = lazyregexp.New(`\bAC_ARG_ENABLE\s*\(\s*\[?\s*([A-Za-z0-9_+.-]+)`)
	// sanitizerName is the name of an option that is about a sanitizer.
	sanitizerName = lazyregexp.New(`(?i)asan|ubsan|saniti[sz]e`)
)

// Detect finds the projects with a configure script.
func (e Autotools) Detect(t *ecosystem.Tree, found []ecosystem.Component) []ecosystem.Component {
	var out []ecosystem.Component
	for _, dir := range projectFolders(t, found, "configure.ac", "configure.in", "configure") {
		p := readAutotools(t, dir)
		if !p.isProject {
			continue
		}
		c := ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "project with a configure script"}
		switch {
		case p.testTarget != "" && p.automake:
			c.Test = testGate(p.buildCommand(), " -k", "make -k "+p.testTarget+" VERBOSE=1", formatAutomake)
		case p.testTarget != "":
			c.Test = testGate(p.buildCommand(), " -k", "make -k "+p.testTarget, testreport.FormatPlain)
			c.Test.Command = p.buildCommand() + " && make " + p.testTarget
		case ecosystem.Covering(found, dir) != nil:
			continue
		default:
			t.AddNote("the project in %s has no target check or test: that it builds is its check", ecosystem.DisplayDir(dir))
			c.Lint = &company.GateCommand{Command: p.buildCommand()}
		}
		if p.automake && p.hasConfigure {
			t.AddNote("configure and Makefile.in of %s are in the repository and used as they are: a change of configure.ac or Makefile.am needs theirs", ecosystem.DisplayDir(dir))
		}
		if c.Test != nil {
			p.noteSanitizer(t, c.Test.Command)
		}
		out = append(out, c)
	}
	return out
}

// noteSanitizer proposes the command of a test with the project's own sanitizer, as
// that of CMake is proposed.
func (p *autotoolsFiles) noteSanitizer(t *ecosystem.Tree, command string) {
	for _, f := range p.files {
		for _, m := range autoOption.FindAllStringSubmatch(f.text, -1) {
			if !sanitizerName.MatchString(m[1]) || otherSanitizer.MatchString(m[1]) {
				continue
			}
			option := "--enable-" + m[1]
			if strings.Contains(f.text, option+"=") { // its help has a value
				option += "=address"
			}
			t.AddNote("configure has an option for a sanitizer; to judge with it: gates.test: %s", strings.Replace(command, "./configure && ", "./configure "+option+" && ", 1))
			return
		}
	}
}

// autotoolsFiles are the files of a project with a configure script, and their meaning.
type autotoolsFiles struct {
	dir                               string
	files                             []buildFile // without comments
	isProject, automake, hasConfigure bool
	isExecutable                      bool // configure is
	testTarget                        string
}

// readAutotools reads the files of a project.
func readAutotools(t *ecosystem.Tree, dir string) *autotoolsFiles {
	p := &autotoolsFiles{dir: dir, files: readBuildFiles(t, dir, isAutotoolsFile)}
	input := t.HasFile(dir, "configure.ac") || t.HasFile(dir, "configure.in")
	p.hasConfigure = t.HasFile(dir, "configure")
	p.isExecutable = t.Files[path.Join(dir, "configure")].Executable
	rules, written := false, ""
	for i := range p.files {
		f := &p.files[i]
		f.text = autoComment.ReplaceAllString(f.text, "")
		at, name := ecosystem.SplitPath(f.path)
		switch {
		case name == "configure.ac" || name == "configure.in":
			p.automake = p.automake || at == dir && automakeUse.MatchString(f.text)
		case name == "Makefile.am" && automakeTestRules.MatchString(f.text):
			p.testTarget = "check"
		case name != "Makefile.am" && at == dir:
			rules = true
			if m := makeTest.FindStringSubmatch(f.text); m != nil && written == "" {
				written = m[1]
			}
		}
	}
	if !p.automake { // which writes such a rule into every Makefile
		p.testTarget = written
	}
	// A script that is called configure may be any: it must have a Makefile to make.
	p.isProject = input || p.hasConfigure && rules
	return p
}

// buildCommand copies the tree beside itself, since scripts of this kind write into their
// sources, and builds the copy. All its files get one time: else make takes what
// git laid out first for out of date, and runs the very autotools that the project
// was released with.
func (p *autotoolsFiles) buildCommand() string {
	at := buildFolder(p.dir)
	s := "rm -rf " + at + " && mkdir " + at + " && tar -c --mtime=@1000000000 --exclude=./.git . | tar -x -C " + at + " && cd " + at
	if !p.hasConfigure {
		s += " && autoreconf -fi"
	}
	configure := "./configure"
	if p.hasConfigure && !p.isExecutable {
		configure = "sh ./configure"
	}
	return s + " && " + configure + " && make -j " + buildJobs
}
